"""The packets of a trial's requests, the first packets of a load, and the trial that stands for a cell."""

from typing import TypedDict

from lanelab.analysis.results import tables
from lanelab.analysis.results.first_packets import FirstConnection, FirstPackets
from lanelab.analysis.results.first_packets import first_packets as first_packets_of
from lanelab.analysis.results.model import Trial
from lanelab.analysis.results.named_cells import cell_named
from lanelab.analysis.results.trial_packets import PacketLine, RequestSummary, TrialPackets
from lanelab.driver.api.opened_run import Run
from lanelab.driver.base.errors import InputError

__all__ = [
    "FirstConnection",
    "FirstPackets",
    "PacketLine",
    "RequestJson",
    "RequestSummary",
    "first_packets",
    "median_trial",
    "request_packets",
]


class RequestJson(TypedDict):
    """One request on the wire, as in the list of them, and its packets."""

    request: int
    url: str
    client_port: int | None
    connection: int | None
    stream: int | None
    first_ms: float | None
    last_ms: float | None
    packets: list[PacketLine]
    shared: int
    sent_again: int


def request_packets(run: Run, trial: int) -> TrialPackets:
    """Return the packets of a trial by its requests. Raises InputError, CaptureError or MissingProgram."""
    return TrialPackets(run.folder, trial)


def first_packets(run: Run, trial: int) -> FirstPackets:
    """Return the first packets of a load's trial by its connections. Raises InputError, CaptureError or StoreError."""
    return first_packets_of(run.folder, trial)


def median_trial(run: Run, name: str) -> Trial:
    """Return the median trial of the cell that a name means. InputError where no trial of it counts."""
    cell = cell_named(run.data, name, "--cell")
    trial = tables.median_trial(run.data.by_cell()[cell.number])
    if trial is None:
        raise InputError(f"no trial of {cell} counts", f"lanelab show {run.folder} says why", key="--cell")
    return trial
