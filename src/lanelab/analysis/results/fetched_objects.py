"""The objects of fetches: of each cell, each object's medians over the trials that count."""

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lanelab.analysis.results.model import Cell, Run
from lanelab.analysis.results.refusals import sound_trials
from lanelab.driver.record.evidence.fetch import FetchEvidence
from lanelab.driver.record.metrics import FETCH


@dataclass(frozen=True, slots=True)
class ObjectLine:
    """One object in one cell."""

    number: int  # in the order of asking
    url: str
    trials: int
    ms: float
    first_byte_ms: float | None
    body_bytes: int


@dataclass(frozen=True, slots=True)
class FetchedCell:
    cell: Cell
    protocols: tuple[str, ...]
    connections: tuple[int, ...]  # that carried an object, in each trial: each number once
    objects: tuple[ObjectLine, ...]


def fetched_cells(run: Run) -> list[FetchedCell]:
    """Return the cells that have a trial which counts, and whose link is not refused. None of a run of another
    workload."""
    if run.workload != FETCH:
        return []
    from lanelab.driver.run.folder.trial_records import each_record  # noqa: PLC0415 - only fetches need records

    evidence = {number: record.fetch for number, record in each_record(run.folder) if record.fetch}
    cells = []
    for cell, trials in sound_trials(run):
        sound = [evidence[trial.number] for trial in trials if trial.number in evidence]
        if sound:
            cells.append(_of_cell(cell, sound))
    return cells


def _of_cell(cell: Cell, sound: Sequence[FetchEvidence]) -> FetchedCell:
    times: dict[str, list[float]] = {}
    first: dict[str, list[float]] = {}
    sizes: dict[str, int] = {}
    protocols: dict[str, None] = {}
    connections: set[int] = set()
    for evidence in sound:
        wires = {each.request: each for each in evidence.gateway.requests} if evidence.gateway else {}
        used = set()
        for each in evidence.fetch.measured if evidence.fetch else ():
            wire = wires.get(each.request)
            if each.ended_ms is not None:
                times.setdefault(each.url, []).append(each.ended_ms - each.began_ms)
                sizes[each.url] = each.body_bytes
            if wire is not None:
                protocols[wire.protocol] = None
                used.add(wire.connection)
                if wire.first_byte_ms is not None:
                    first.setdefault(each.url, []).append(wire.first_byte_ms - each.began_ms)
        connections.add(len(used - {None}))
    lines = tuple(
        ObjectLine(number, url, len(some), statistics.median(some), _median(first.get(url, ())), sizes[url])
        for number, (url, some) in enumerate(times.items(), 1)
    )
    return FetchedCell(cell, tuple(protocols), tuple(sorted(connections)), lines)


def _median(values: Iterable[float]) -> float | None:
    known = list(values)
    return statistics.median(known) if known else None
