"""The page load that is under way: what is up for it, and what has failed of it."""

import contextlib
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from lanelab.driver.arm.browsers.browser import Page
from lanelab.driver.arm.browsers.failures import BrowserError
from lanelab.driver.arm.gateway.gateway import Gateway
from lanelab.driver.arm.quic_stacks import H3
from lanelab.driver.arm.servers.certificates import Leaf
from lanelab.driver.base.amounts import counted
from lanelab.driver.base.errors import BedError, RecordError, StoreError
from lanelab.driver.bed.node import Node
from lanelab.driver.record.evidence.capture import RouterStall
from lanelab.driver.record.evidence.moving import Played
from lanelab.driver.record.evidence.spoken import NodeDatagrams
from lanelab.driver.record.reasons import Failure, Flag, FlagName, Reason
from lanelab.driver.site.prepare.variant import RECORDED
from lanelab.driver.trial.datagrams import counted as counted_by
from lanelab.driver.trial.recorders.trial_recorders import TrialRecorders
from lanelab.driver.trial.serving import Served
from lanelab.driver.trial.spec import TrialSpec


@dataclass
class UnderWay:
    """One trial in the bed process."""

    spec: TrialSpec
    folder: Path
    addresses: Mapping[str, str]  # of the site's hosts
    leaf: Leaf | None  # the server's certificate
    shown: Leaf | None  # the gateway's, where there is one
    prepare_s: float = 0.0
    settings_s: float = 0.0
    served: Served | None = None
    gateway: Gateway | None = None
    page: Page | None = None
    loaded: bool = False  # or the attempt failed; the browser can be asked for what it knows
    cut_off: bool = False  # before its end, so that the server may have more to send
    recorders: TrialRecorders | None = None
    played: Played | None = None  # of a link that moves
    stalls: tuple[RouterStall, ...] | None = None  # of the router during the load
    failures: list[Failure] = field(default_factory=list)
    flags: list[Flag] = field(default_factory=list)

    @property
    def scheme(self) -> str | None:
        """Return that of all pages; None: as they were recorded."""
        return None if self.spec.arm.schemes == RECORDED else self.spec.arm.page_scheme

    @property
    def url(self) -> str:
        return self.spec.site.url(self.scheme or self.spec.site.entry_scheme)

    @contextlib.contextmanager
    def failing(self, reason: Reason) -> Iterator[None]:
        """An error in here fails the trial, and not the bed. An InputError goes on: what the user wrote wrongly, as a
        server directive that the server does not know, is no failure of a trial."""
        try:
            yield
        except BrowserError as error:
            self.fail(error.reason, str(error))
        except RecordError as error:
            self.fail(Reason.EVIDENCE_MISSING, str(error))
        except BedError as error:
            self.fail(reason, str(error))

    def fail(self, reason: Reason, detail: str) -> None:
        self.failures.append(Failure(reason, detail))

    def datagrams(self, client: Node) -> NodeDatagrams | None:
        """Return what the client node's kernel has counted until now; None over TCP, or the trial failed."""
        if self.spec.arm.protocol == H3 and not self.failures:
            with self.failing(Reason.EVIDENCE_MISSING):
                return counted_by(client)
        return None

    def flag_left(self, still_open: int) -> None:
        """Note that connections of the load before are still there: what they send meets this one."""
        if still_open:
            what = f"{counted(still_open, 'connection')} of the load before had not been closed when this one began"
            self.flags.append(Flag(FlagName.CONNECTIONS_LEFT, what))

    def take_failures(self) -> None:
        """Take over what went wrong with the recorders."""
        if self.recorders:
            self.failures += self.recorders.failures
            self.recorders.failures.clear()

    def keep_files(self) -> None:
        """Copy them out of memory into the folder that the controller named."""
        try:
            for path in sorted(self.folder.iterdir()):
                shutil.copyfile(path, self.spec.folder / path.name)
        except OSError as error:
            what = f"cannot write the trial's files to {self.spec.folder}: {error.strerror}"
            remedy = "Free some space, and go on with --resume: what was stored before is intact"
            raise StoreError(what, remedy) from error

    def drop_recorders(self) -> None:
        """There will be no load to record."""
        recorders, self.recorders = self.recorders, None
        if recorders:
            recorders.close()
