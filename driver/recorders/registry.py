"""The recorders that lanelab knows, in the order in which they start. To add one, write its file and its row below."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

from driver.recorders.machine import Machine
from driver.recorders.netlog import Netlog
from driver.recorders.recorder import Recorder
from driver.recorders.screenshot import Screenshot
from driver.recorders.server_series import ServerSeries
from driver.recorders.tcpdump import Tcpdump
from driver.recorders.trace import TraceRecorder
from driver.recorders.vitals import Vitals
from model.coded import Coded
from model.errors import RecordError

# The last to start is the first to stop: the machine is watched during the load alone, and the log of the browser's
# network, for which the browser must end, comes last. A trace has ended before the page is asked for its vitals.
RECORDERS: Mapping[str, type[Recorder[Any]]] = {
    recorder.name: recorder for recorder in (Netlog, Tcpdump, Screenshot, Vitals, TraceRecorder, ServerSeries, Machine)
}


def options_from_json(data: Mapping[str, Any]) -> dict[str, Coded]:
    """The options of the recorders of a trial, by their names."""
    unknown = sorted(data.keys() - RECORDERS.keys())
    if unknown:
        raise RecordError(f"there is no recorder {unknown[0]!r}", key=f"recorders.{unknown[0]}")
    return {name: RECORDERS[name].options_type.from_json(each, f"recorders.{name}") for name, each in data.items()}


def wishes(options: Mapping[str, Coded]) -> frozenset[str]:
    """What the browser must do from its start for these recorders."""
    return frozenset().union(*(RECORDERS[name].wishes for name in options))


def packed(options: Mapping[str, Coded]) -> tuple[str, ...]:
    """The files of these recorders that are stored compressed."""
    return tuple(itertools.chain.from_iterable(RECORDERS[name].packed for name in options))
