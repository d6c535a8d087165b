"""What a run folder holds, as objects: a run, its cells and their trials. Knows nothing of how they are stored."""

import datetime
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypedDict

from lanelab.analysis.statistics.looks import Look
from lanelab.driver.base.coded import JsonObject
from lanelab.driver.experiment.claim import Claim
from lanelab.driver.link import SETTINGS
from lanelab.driver.link.results import SelfTestData
from lanelab.driver.record.evidence.parts import Part
from lanelab.driver.record.metrics import TRIALS, Metric, primary_of
from lanelab.driver.record.reasons import broke, timed_out
from lanelab.driver.run.folder import format as run_format

State = Literal["running", "finished", "stopped", "failed", "killed"]


class FactsOfMachine(TypedDict, total=False):
    """The facts that are read here, of those that MachineFacts (run/machines.py) has."""

    system: str
    kernel: str
    processor: str
    processors: int
    memory_mib: int
    clock_ahead_s: float
    clock_uncertainty_s: float
    fixed_work_ms: float | None
    noise: float | None


class Provenance(TypedDict, total=False):
    """The notes that are read by their names; a run has many more, which are shown."""

    machine: Mapping[str, object]
    workers: Mapping[str, object]
    emulated_processors: bool | None


@dataclass(frozen=True, slots=True)
class LinkCase:
    """A link of the experiment; `settings` are all effective ones, as text with units."""

    number: int
    label: str
    settings: Mapping[str, str]
    # What packets meet. Links with one path share their self-tests, whatever their labels say besides.
    path: frozenset[tuple[str, str]] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        """Work out the path once: it is asked for with every trial."""
        path = frozenset((name, str(value)) for name, value in self.settings.items() if name in SETTINGS)
        object.__setattr__(self, "path", path)


@dataclass(frozen=True, slots=True)
class Arm:
    """A treatment; `settings` are all effective ones."""

    number: int
    name: str
    settings: JsonObject


@dataclass(frozen=True, slots=True)
class Machine:
    """A machine whose beds made trials; `facts` as MachineFacts (run/machines.py) has them, where they were noted."""

    number: int
    name: str
    facts: FactsOfMachine


class Names(TypedDict):
    """The names of a cell."""

    site: str
    link: str
    arm: str


class Identity(Names):
    """The names of a cell and its id."""

    cell: str


@dataclass(frozen=True, slots=True)
class Cell:
    """One site over one link in one arm."""

    number: int
    id: str
    site: str
    link: LinkCase
    arm: Arm

    @property
    def group(self) -> tuple[str, str]:
        """Cells of one group differ in their arm only, so they can be compared."""
        return self.site, self.link.label

    @property
    def names(self) -> Names:
        """Its names, as JSON has them."""
        return {"site": self.site, "link": self.link.label, "arm": self.arm.name}

    @property
    def identity(self) -> Identity:
        """Its names and its id."""
        return {**self.names, "cell": self.id}

    def __str__(self) -> str:
        return f"{self.site}, {self.link.label}, {self.arm.name}"


def name_of(named: Arm | Machine) -> str:
    return named.name


def names_of(cell: Cell) -> Names:
    return cell.names


def identity_of(cell: Cell) -> Identity:
    return cell.identity


@dataclass(frozen=True, slots=True)
class Failure:
    reason: str
    detail: str


@dataclass(frozen=True, slots=True)
class Flag:
    name: str
    detail: str


@dataclass(frozen=True, slots=True)
class Trial:
    """One execution of the run's workload. Only one that is ok counts."""

    number: int
    session: int
    bed: int  # which of the run's beds: the first is 1
    cell: Cell
    round: int
    attempt: int
    started: datetime.datetime
    wall_s: float
    ok: bool
    measures: Mapping[str, float]  # by name: plt_ms, requests, bytes_down, …; only those that it has
    value: float | None  # of the run's primary metric
    failures: tuple[Failure, ...]
    flags: tuple[Flag, ...] = ()  # reasons to doubt a trial that counts
    machine: int = 1  # the number of the one that its bed was on
    versions: str = ""  # digest of the versions that it was made with: Run.versions
    origin: str = ""  # the run that made it, where it is taken from another one

    @property
    def parts_ms(self) -> Mapping[Part, float]:
        """Return the parts of its load time; none where it has no parts. What an older lanelab did not tell apart is in
        another part, so the part itself is 0 there."""
        has_parts = any(part.measure in self.measures for part in Part)
        return {part: self.measures.get(part.measure, 0.0) for part in Part} if has_parts else {}

    @property
    def timed_out(self) -> bool:
        """Whether it took too long, and nothing else was wrong with it: then it is a result of its cell."""
        return not self.ok and timed_out([failure.reason for failure in self.failures])

    @property
    def broke(self) -> bool:
        """Whether its own requests failed on a sound bed: then it was tried again, and its cell looks faster for it."""
        return not self.ok and broke([failure.reason for failure in self.failures])


@dataclass(frozen=True, slots=True)
class Session:
    """One stretch of the run, from a start or resume to its end; `provenance` is whatever was noted then."""

    number: int
    started_utc: str
    ended_utc: str | None
    ending: str | None
    provenance: Provenance


@dataclass(frozen=True, slots=True)
class SelfTest:
    """The bed measured itself with this link."""

    number: int
    session: int
    bed: int
    link: LinkCase
    moment: str  # before or after the trials that used the link
    at_utc: str
    at: datetime.datetime
    passed: bool
    data: SelfTestData


@dataclass(frozen=True, slots=True)
class Figure:
    """A chart that the experiment asks for. Empty texts are chosen by what the run has."""

    title: str = ""
    x: str = ""
    y: str = ""
    series: str = "arm"
    facet: str = ""
    kind: str = ""
    only: tuple[tuple[str, tuple[str, ...]], ...] = ()  # cells that have one of these values
    scale: str = ""  # of the values: zero, fit or log
    published: tuple[tuple[str, str, float], ...] = ()  # (series, x, value), in the unit of the axis
    published_axis: float | None = None  # where the published axis of the values ended
    published_source: str = ""
    every_s: float | None = None  # of a series
    limit_ms: float | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """What results are judged by, as it was before the first trial."""

    order: str
    looks: tuple[Look, ...]  # when the run may have ended because enough was known
    timeout_s: float
    compared: tuple[tuple[Cell, Cell], ...] = ()  # (base, arm)
    not_compared: tuple[str, ...] = ()  # what is compared with nothing, and why

    @property
    def is_interleaved(self) -> bool:
        """Return whether arms were measured in turns, so that what changes with time hits all of them alike."""
        return self.order != "sequential"


@dataclass(frozen=True, slots=True)
class Run:
    """Everything about a run except what is large: records, requests and artifacts are read one by one."""

    folder: Path
    workload: str
    name: str
    description: str
    state: State
    created_utc: str
    experiment: str  # verbatim
    meta: Mapping[str, str]
    sessions: tuple[Session, ...]
    links: tuple[LinkCase, ...]
    arms: tuple[Arm, ...]
    cells: tuple[Cell, ...]
    trials: tuple[Trial, ...]
    self_tests: tuple[SelfTest, ...]
    figures: tuple[Figure, ...]
    plan: Plan
    claims: tuple[Claim, ...] = ()  # as they were before the first trial
    claims_digest: str = ""  # noted with them then
    variant: str = ""  # of the experiment
    machines: tuple[Machine, ...] = ()
    versions: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # by their digest

    @property
    def primary(self) -> Metric:
        """The metric that the trials are for."""
        return primary_of(self.workload)

    @property
    def steps(self) -> tuple[str, ...]:
        """Return the names of the steps of its journey; of none where trials load one page."""
        return tuple(json.loads(self.meta.get(run_format.JOURNEY, "[]")))

    @property
    def scale(self) -> float:
        """Return the scale of its loads, against what the experiment says."""
        return float(self.meta.get(run_format.SCALE) or 1)

    @property
    def trials_word(self) -> str:
        """What its trials are called: page loads."""
        return TRIALS[self.workload]

    @property
    def ok(self) -> list[Trial]:
        """Trials that count."""
        return [trial for trial in self.trials if trial.ok and trial.value is not None]

    @property
    def is_finished(self) -> bool:
        """Return whether it has all that it asked for. What another says is so far."""
        return self.state == "finished"

    @property
    def failed(self) -> list[Trial]:
        return [trial for trial in self.trials if not trial.ok]

    def by_cell(self) -> dict[int, list[Trial]]:
        """Return number of a cell -> its trials in order, for every cell."""
        trials: dict[int, list[Trial]] = {cell.number: [] for cell in self.cells}
        for trial in self.trials:
            trials[trial.cell.number].append(trial)
        return trials

    def values(self, metric: str = "") -> dict[int, dict[int, float]]:
        """Return number of a cell -> round -> value, of the first trial that counts; of the primary metric unless one
        is named."""
        name = metric or self.primary.name
        values: dict[int, dict[int, float]] = {cell.number: {} for cell in self.cells}
        for trial in self.ok:
            if name in trial.measures:
                values[trial.cell.number].setdefault(trial.round, trial.measures[name])
        return values

    def first_results(self, *, broken: bool = False) -> dict[int, dict[int, Trial]]:
        """Number of a cell -> round -> the trial that gave its first result; a time-out is one. `broken`: so is a load
        that broke, as if it had not been tried again."""
        firsts: dict[int, dict[int, Trial]] = {cell.number: {} for cell in self.cells}
        for trial in self.trials:
            if trial.timed_out or (trial.ok and trial.value is not None) or (broken and trial.broke):
                firsts[trial.cell.number].setdefault(trial.round, trial)
        return firsts

    def broken_rounds(self) -> dict[int, frozenset[int]]:
        """Return number of a cell -> rounds in which a load broke before there was a result."""
        return {
            cell: frozenset(number for number, trial in rounds.items() if trial.broke)
            for cell, rounds in self.first_results(broken=True).items()
        }

    def outcomes(self, *, broken: bool = False) -> dict[int, dict[int, float]]:
        """Return number of a cell -> round -> its first result: the primary metric's value, or of a trial that timed
        out what is worse than every value. `broken`: of a load that broke, too."""
        return {
            cell: {number: self.outcome(trial) for number, trial in rounds.items()}
            for cell, rounds in self.first_results(broken=broken).items()
        }

    def outcome(self, trial: Trial) -> float:
        """Return the primary metric's value of a trial that counts, of any other what is worse than every value."""
        return trial.value if trial.ok and trial.value is not None else self.primary.worst

    def made_on(self, *, broken: bool = False) -> dict[int, dict[int, int]]:
        """Return number of a cell -> round -> the machine that made its first result."""
        return {
            cell: {number: trial.machine for number, trial in rounds.items()}
            for cell, rounds in self.first_results(broken=broken).items()
        }

    @property
    def machines_used(self) -> list[Machine]:
        """Return those that made trials."""
        used = {trial.machine for trial in self.trials}
        return [machine for machine in self.machines if machine.number in used]

    @property
    def over(self) -> str:
        """ "over 3 machines", where absolute numbers are of several; "" else."""
        many = len({trial.machine for trial in self.ok})
        return f"over {many} machines" if many > 1 else ""

    def limit_of(self, metric: str) -> float:
        """Return where figures draw loads that timed out: at the time that they had, or beyond all that came to their
        end, since of a journey each step has that time. What is drawn there took longer. Infinite: they are not drawn
        with this metric."""
        if metric != self.primary.name or self.primary.higher_is_better:
            return math.inf
        longest = max((trial.value for trial in self.ok if trial.value is not None), default=0.0)
        return max(self.plan.timeout_s * 1000, math.nextafter(longest, math.inf))
