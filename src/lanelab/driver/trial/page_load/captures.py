"""The captures of a trial, while it is judged: each is read once, whoever looks at it."""

import functools
from collections.abc import Mapping
from pathlib import Path

from lanelab.driver.base.errors import LanelabError
from lanelab.driver.bed.addresses import ADDRESSES
from lanelab.driver.record.evidence.capture import CaptureCounts
from lanelab.driver.record.evidence.packets import PacketSummary
from lanelab.driver.trial.packets.packets import summarise
from lanelab.driver.trial.packets.timeline import Timeline, read_timeline
from lanelab.driver.trial.page_load.gateways import KEYS

CLIENT = "client"


class Captures:
    """The captures in the folder of a trial."""

    def __init__(self, folder: Path, counts: Mapping[str, CaptureCounts]) -> None:
        self.folder, self._counts = folder, counts
        self._timelines: dict[str, Timeline] = {}

    @property
    def nodes(self) -> tuple[str, ...]:
        return tuple(self._counts)

    def file(self, node: str) -> Path:
        return self.folder / self._counts[node].file

    @functools.cached_property
    def keys(self) -> str:
        """Return what the client logged of its keys; nothing where it had none."""
        file = self.folder / KEYS
        return file.read_text() if file.is_file() else ""

    def summary(self, node: str) -> PacketSummary:
        """Return the summary; LanelabError where it cannot be read."""
        return summarise(self.file(node), client=ADDRESSES[CLIENT], keys=self.keys)

    def timeline(self, node: str) -> Timeline:
        """Return the timeline; LanelabError where it cannot be read."""
        if node not in self._timelines:
            self._timelines[node] = read_timeline(self.file(node), ADDRESSES[CLIENT], self.keys)
        return self._timelines[node]

    def whole_timeline(self, packets: Mapping[str, PacketSummary], node: str) -> Timeline | None:
        """One that is cut or lost packets tells nothing."""
        summary = packets.get(node)
        if summary is None or summary.incomplete is not None or self._counts[node].dropped:
            return None
        return self.timeline(node)

    def clients_or_why(self, packets: Mapping[str, PacketSummary]) -> Timeline | str:
        """Return the client's; or why there is none."""
        if CLIENT not in packets:
            return "there is no capture of the client"
        if dropped := self._counts[CLIENT].dropped:
            return f"the capture of the client lacks {dropped} packets"
        try:
            return self.timeline(CLIENT)
        except LanelabError as error:
            return f"the capture of the client cannot be read: {error}"
