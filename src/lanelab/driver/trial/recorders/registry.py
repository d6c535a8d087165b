"""The recorders that lanelab knows, in the order in which they start. To add one, write its file and its row below."""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lanelab.driver.arm.browsers.browser import NETLOG
from lanelab.driver.arm.browsers.failures import BrowserError
from lanelab.driver.base.coded import Coded
from lanelab.driver.base.errors import RecordError
from lanelab.driver.base.settings.kinds import FLAG
from lanelab.driver.base.settings.setting import Setting
from lanelab.driver.record.reasons import Reason
from lanelab.driver.trial.recorders.machine import Machine
from lanelab.driver.trial.recorders.recorder import Context, Recorder, Recording, Weight
from lanelab.driver.trial.recorders.screenshot import Screenshot
from lanelab.driver.trial.recorders.server_series import ServerSeries
from lanelab.driver.trial.recorders.tcpdump import Tcpdump
from lanelab.driver.trial.recorders.trace import TraceRecorder
from lanelab.driver.trial.recorders.vitals import Vitals

FILE = "netlog.json"
BYTES, REQUEST_BYTES = 150_000, 10_000  # compressed: of any load, and more for each request


@dataclass(frozen=True, slots=True)
class NetlogOptions(Coded):
    """It has none."""


class Netlog(Recorder[NetlogOptions]):
    name = "netlog"
    options_type = NetlogOptions
    setting = Setting("netlog", FLAG, "false", "keep Chromium's own log of its network for each trial: large", "true")
    reason = Reason.BROWSER_FAILED
    packed = (FILE,)
    wishes = asks = frozenset({NETLOG})

    @classmethod
    def disk_bytes(cls, options: NetlogOptions, weight: Weight) -> float:  # noqa: ARG003
        return BYTES + REQUEST_BYTES * weight.objects

    def start(self, context: Context) -> None:
        self._context = context

    def stop(self) -> Recording:
        """The browser ends: only then is its log whole."""
        if self._context.page is None:
            raise BrowserError("this trial has no browser that could have a log")
        self._context.page.netlog(self._context.folder / FILE)
        return Recording(files=(FILE,))


# The last to start is the first to stop: the machine is watched during the load alone, and the log of the browser's
# network, for which the browser must end, comes last. A trace has ended before the page is asked for its vitals.
RECORDERS: Mapping[str, type[Recorder[Any]]] = {
    recorder.name: recorder for recorder in (Netlog, Tcpdump, Screenshot, Vitals, TraceRecorder, ServerSeries, Machine)
}


def options_from_json(data: Mapping[str, object]) -> dict[str, Coded]:
    """Return the options of the recorders of a trial, by their names."""
    unknown = sorted(data.keys() - RECORDERS.keys())
    if unknown:
        raise RecordError(f"there is no recorder {unknown[0]!r}", key=f"recorders.{unknown[0]}")
    return {name: RECORDERS[name].options_type.from_json(each, f"recorders.{name}") for name, each in data.items()}


def wishes(options: Mapping[str, Coded]) -> frozenset[str]:
    """What the browser must do from its start for these recorders."""
    return frozenset().union(*(RECORDERS[name].wishes for name in options))


def packed(options: Mapping[str, Coded]) -> tuple[str, ...]:
    """Return the files of these recorders that are stored compressed."""
    return tuple(itertools.chain.from_iterable(RECORDERS[name].packed for name in options))
