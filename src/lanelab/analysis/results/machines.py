"""The machines of a run as reports show them: what each is, what it made, how they compare, and what was taken from
other runs. Pure."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypedDict

from lanelab.analysis.results.agreement import Agreement, agreement
from lanelab.analysis.results.between_beds import CellRow, ChangeRow, results
from lanelab.analysis.results.between_beds import percent as share_words
from lanelab.analysis.results.between_machines import Levels, Speed, changes, levels, medians, speeds
from lanelab.analysis.results.layout.data import Fields, key, spread
from lanelab.analysis.results.model import Arm, Cell, Machine, Names, Run
from lanelab.analysis.results.numbers import listed
from lanelab.analysis.statistics.one_bed import ENOUGH_BEDS
from lanelab.driver.base.amounts import counted


def _facts(machine: Machine) -> Fields:
    return {"machine": machine.number, "name": machine.name, "facts": machine.facts}


@dataclass(frozen=True, slots=True)
class MachineRow:
    """The part of one machine in the run."""

    machine: Machine = field(metadata=spread(_facts))
    beds: int
    trials: int
    failed: int
    refused: tuple[str, ...] = field(metadata=key("links_refused"))  # labels of links that it was refused for


class OfMachine(TypedDict):
    """The result of one machine."""

    machine: str
    n: int
    value: float
    counts: bool


class CellOfMachines(Names):
    """One number of the run, by machines."""

    machines: list[OfMachine]
    value: float | None
    low: float | None
    high: float | None


class ChangeOfMachines(CellOfMachines):
    """An arm against a base, on the same site and link."""

    base: str
    rounds_left_out: int


class MachinesJson(TypedDict):
    """The machines of a run, and what they make of its numbers."""

    machines: tuple[MachineRow, ...]
    agreement: Agreement | None
    speeds: tuple[Speed, ...]
    sd_trials: float | None
    sd_beds: float | None
    sd_machines: float | None
    words: list[str]
    versions_that_differ: tuple[str, ...]
    trials_from_other_runs: Mapping[str, int]
    cells: list[CellOfMachines]
    changes: list[ChangeOfMachines]


@dataclass(frozen=True, slots=True)
class MachinesOfRun:
    rows: tuple[MachineRow, ...]  # also of machines that made nothing
    cells: tuple[CellRow, ...]  # the numbers of their beds are those of machines
    changes: tuple[ChangeRow, ...]
    speeds: tuple[Speed, ...]
    levels: Levels | None
    agreement: Agreement | None
    versions: tuple[str, ...]  # sentences on those that differ
    origins: Mapping[str, int]  # run -> trials that were taken from it

    @property
    def used(self) -> int:
        return sum(row.trials > 0 for row in self.rows)

    @property
    def are_several(self) -> bool:
        """Return whether there is more to say than the name of one."""
        return len(self.rows) > 1

    def name(self, number: int) -> str:
        return next(row.machine.name for row in self.rows if row.machine.number == number)

    def warnings(self) -> list[str]:
        """Return what nobody may overlook."""
        return [self.agreement.headline] if self.agreement and self.agreement.found else []

    def sentences(self) -> list[str]:
        """Return what they say together, the most important first."""
        if not self.are_several:
            return [*self.versions]
        agreement = self.agreement
        return [*(agreement.words() if agreement else []), *self._speeds(), *self._levels(), *self.versions]

    def _speeds(self) -> list[str]:
        words = [_speed_words(speed) for speed in self.speeds]
        what = "numbers" if any(speed.more_of for speed in self.speeds) else "times"
        return [f"Absolute {what}: {listed(words)}."] if words else []

    def _levels(self) -> list[str]:
        levels = self.levels
        if levels is None or levels.machines is None:
            return []
        if levels.beds is None:
            shares = f"machines (each has one bed, so with their beds') {share_words(levels.machines)}"
        else:
            shares = f"machines {share_words(levels.machines)}, beds of one machine {share_words(levels.beds)}"
        few = f" An interval between machines takes {ENOUGH_BEDS} of them." if self.used < ENOUGH_BEDS else ""
        words = f"Standard deviations over all cells: {shares}, trials on one bed {share_words(levels.trials)}."
        return [words + few]

    def origin_words(self) -> str:
        """Return what was taken from other runs; "": nothing."""
        if not self.origins:
            return ""
        each = [f"{number} from {origin}" for origin, number in self.origins.items()]
        many = sum(self.origins.values())
        return f"{counted(many, 'trial was', 'trials were')} taken from other runs: {listed(each)}."

    def to_json(self) -> MachinesJson:
        return {
            "machines": self.rows,
            "agreement": self.agreement,
            "speeds": self.speeds,
            "sd_trials": self.levels.trials if self.levels else None,
            "sd_beds": self.levels.beds if self.levels else None,
            "sd_machines": self.levels.machines if self.levels else None,
            "words": self.sentences(),
            "versions_that_differ": self.versions,
            "trials_from_other_runs": self.origins,
            "cells": [self._row(row) for row in self.cells],
            "changes": [{**self._row(row), "base": row.base.name, "rounds_left_out": row.left_out}
                        for row in self.changes],
        }  # fmt: skip

    def _row(self, row: CellRow | ChangeRow) -> CellOfMachines:
        numbers = row.numbers
        machines: list[OfMachine] = [
            {"machine": self.name(one.bed), "n": one.n, "value": one.value, "counts": one.counts}
            for one in numbers.beds
        ]
        return {
            **row.cell.names,
            "machines": machines,
            "value": numbers.value,
            "low": numbers.low,
            "high": numbers.high,
        }


def machines_of_run(run: Run, pairs: Iterable[tuple[Cell, Arm]]) -> MachinesOfRun:
    """Work out the machines of a run. `pairs` are the cells that are compared, each with its base."""
    several = len(run.machines_used) > 1
    by_cell = results(run) if several else {}
    return MachinesOfRun(
        rows=tuple(_rows(run)),
        cells=tuple(medians(run, by_cell)) if several else (),
        changes=tuple(changes(run, pairs, by_cell)) if several else (),
        speeds=tuple(speeds(run)) if several else (),
        levels=levels(by_cell) if several else None,
        agreement=agreement(run),
        versions=tuple(versions_that_differ(run)),
        origins=dict(sorted(Counter(trial.origin for trial in run.trials if trial.origin).items())),
    )


def _rows(run: Run) -> Iterable[MachineRow]:
    refused = _refused(run)
    for machine in run.machines:
        trials = [trial for trial in run.trials if trial.machine == machine.number]
        yield MachineRow(
            machine,
            len({trial.bed for trial in trials}),
            len(trials),
            sum(not trial.ok for trial in trials),
            tuple(sorted(refused.get(machine.name, ()))),
        )


def _refused(run: Run) -> dict[str, set[str]]:
    """Machine -> labels of the links that one of its workers was refused for."""
    by_machine: dict[str, set[str]] = {}
    for session in run.sessions:
        workers: Mapping[str, Any] = session.provenance.get("workers") or {}
        for worker in workers.values():
            labels = {str(each["label"]) for each in worker.get("refused_links", ())}
            by_machine.setdefault(str(worker["machine"]), set()).update(labels)
    return by_machine


def versions_that_differ(run: Run) -> list[str]:
    """Return one sentence for each program whose trials were not all made with the same version."""
    used: dict[str, set[str]] = {}
    named = {machine.number: machine.name for machine in run.machines}
    for trial in run.trials:
        if trial.versions in run.versions:
            used.setdefault(trial.versions, set()).add(named.get(trial.machine, f"machine {trial.machine}"))
    programs = dict.fromkeys(name for digest in used for name in run.versions[digest])
    sentences = []
    for program in programs:
        by_version: dict[str, set[str]] = {}
        for digest, names in used.items():
            by_version.setdefault(run.versions[digest].get(program, "none"), set()).update(names)
        if len(by_version) > 1:
            each = [f"{version} on {listed(sorted(names))}" for version, names in sorted(by_version.items())]
            sentences.append(f"Versions differ, {program}: {'; '.join(each)}.")
    return sentences


def _speed_words(speed: Speed) -> str:
    ratio, ends = speed.ratio, ""
    if ratio.is_enough:
        ends = f" ({ratio.low:.3f} to {ratio.high:.3f})"
    alike = "" if speed.differs or not ratio.is_enough else ", no difference shown"
    one, other = speed.machine.name, speed.against.name
    if speed.more_of:
        return f"{one} has {ratio.value:.3f}{ends} times the {speed.more_of} of {other}{alike}"
    return f"{one} takes {ratio.value:.3f}{ends} times as long as {other}{alike}"
