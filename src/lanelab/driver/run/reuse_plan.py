"""Which trials of other runs stand for trials that a run still lacks. Pure.

What is compared is reused together: all cells that are compared with one another, from one round of one run, made on
one bed with the same versions, or none of them. No trial is used twice, and none in place of one that is there.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from lanelab.driver.base.amounts import counted
from lanelab.driver.experiment.model import Cell, Experiment
from lanelab.driver.experiment.schedule.blocks import blocks
from lanelab.driver.run.folder.sources import SourceTrial

DIGEST = re.compile(r"[0-9a-f]{64}")
Component = tuple[Cell, ...]
Round = tuple[str, str, int]  # run, bed, and number of the round there


@dataclass(frozen=True, slots=True)
class Available:
    """A run that trials may be taken from."""

    run: str  # identifier
    is_of_fixed_number: bool
    beds: Mapping[int, str]  # uid of each
    trials: Sequence[SourceTrial]  # those that were asked for likewise


@dataclass(frozen=True, slots=True)
class Taken:
    """Trials of one component of one round, with the cell that each is of here, and its attempt."""

    run: str
    bed: str  # uid
    round: int  # here
    trials: tuple[tuple[SourceTrial, Cell, int], ...]

    @property
    def results(self) -> int:
        return len({cell.id for _, cell, _ in self.trials})


@dataclass
class Plan:
    taken: list[Taken] = field(default_factory=list)
    wanted: int = 0  # trials that the run lacks
    why_not: Counter[str] = field(default_factory=Counter)  # words -> trials that were there and are not reused

    @property
    def reused(self) -> int:
        return sum(each.results for each in self.taken)

    @property
    def runs(self) -> int:
        return len({each.run for each in self.taken})

    def sentence(self) -> str:
        """Return how much of the run is reused, and what not, and why."""
        left = self.wanted - self.reused
        runs = counted(self.runs, "run")
        text = f"reused {self.reused} of {self.wanted} trials from {runs}"
        if not left:
            return text
        parts = [f"{number} {words}" for words, number in self.why_not.most_common()]
        new = left - sum(self.why_not.values())
        if new:
            parts.append(f"{new} were never made")
        return f"{text}; {left} not: {', '.join(parts)}"


def components(experiment: Experiment) -> list[Component]:
    """The cells that are compared with one another, directly or by others; each cell is in one."""
    joined: dict[str, set[str]] = {cell.id: {cell.id} for cell in experiment.cells}
    for base, arm in experiment.pairs.cells:
        both = joined[base.id] | joined[arm.id]
        for cell in both:
            joined[cell] = both
    groups = {min(joined[cell.id]): joined[cell.id] for cell in experiment.cells}
    return [tuple(cell for cell in experiment.cells if cell.id in ids) for ids in groups.values()]


class Planner:
    """Plans once for an experiment."""

    def __init__(
        self,
        experiment: Experiment,
        trial_keys: Mapping[str, str],
        versions: Collection[str],
        begun: Collection[tuple[str, int]],
        used: Iterable[str] = (),
    ) -> None:
        """Begin without a plan. `versions`: digests of those that this run may have. `begun`: cells and rounds that
        have trials here. `used`: identities of trials that are here already."""
        self._experiment, self._trial_keys, self._versions = experiment, trial_keys, frozenset(versions)
        self._begun, self._used = begun, set(used)
        self._block_of_bed: dict[str, int] = {}
        self._plan = Plan()
        self.others: set[str] = set()  # digests of versions for which trials were left

    def plan(self, available: Iterable[Available], says_of: Mapping[str, str] | None = None) -> Plan:
        """Plan what is reused. `says_of` has words for trials of other versions, by their digest."""
        by_key: dict[str, dict[Round, list[SourceTrial]]] = defaultdict(lambda: defaultdict(list))
        fixed = {}
        for run in available:
            fixed[run.run] = run.is_of_fixed_number
            for trial in run.trials:
                if trial.bed in run.beds:
                    by_key[trial.trial_key][run.run, run.beds[trial.bed], trial.round].append(trial)
        for component in components(self._experiment):
            self._plan_component(component, by_key, fixed, says_of or {})
        self._plan.taken.sort(key=lambda each: each.round)
        return self._plan

    def _plan_component(
        self,
        component: Component,
        by_key: Mapping[str, Mapping[Round, Sequence[SourceTrial]]],
        fixed: Mapping[str, bool],
        says_of: Mapping[str, str],
    ) -> None:
        of_cell = {cell.id: by_key.get(self._trial_keys[cell.id], {}) for cell in component}
        rounds = list(dict.fromkeys(place for cell in component for place in of_cell[cell.id]))
        places = self._rounds_that_lack(component)
        self._plan.wanted += len(places) * len(component)
        left: Counter[str] = Counter()
        waiting = []
        for place in rounds:
            by_cell = {cell.id: list(of_cell[cell.id].get(place, ())) for cell in component}
            chosen, why_not, number = self._whole(component, by_cell, place, fixed, says_of)
            if chosen:
                waiting.append((place, chosen))
            elif number:
                left[why_not] += number
        taken = 0
        for number, block in places:
            waiting = [one for one in waiting if not self._is_used(one[1])]  # two of the runs may have the same trial
            index = next((i for i, (place, _) in enumerate(waiting) if self._may(place[1], block)), None)
            if index is None:
                continue
            place, chosen = waiting.pop(index)
            self._block_of_bed[place[1]] = block
            self._used |= {trial.identity for trial, _, _ in chosen}
            self._plan.taken.append(Taken(place[0], place[1], number, tuple(chosen)))
            taken += 1
        lacking = (len(places) - taken) * len(component)
        if lacking and waiting:
            left["are of a bed whose rounds belong together"] += len(waiting) * len(component)
        for why, number in left.most_common():
            noted = min(number, lacking)
            lacking -= noted
            if noted:
                self._plan.why_not[why] += noted

    def _is_used(self, chosen: Sequence[tuple[SourceTrial, Cell, int]]) -> bool:
        return any(trial.identity in self._used for trial, _, _ in chosen)

    def _may(self, bed: str, block: int) -> bool:
        """Return whether rounds of a block may have this bed: each block of rounds has its own beds."""
        return self._block_of_bed.get(bed, block) == block

    def _rounds_that_lack(self, component: Component) -> list[tuple[int, int]]:
        """Round and block of those in which no trial of these cells has begun."""
        places = []
        for block, (first, last) in enumerate(blocks(self._experiment.repeat, self._experiment.beds), 1):
            for number in range(first, last + 1):
                if not any((cell.id, number) in self._begun for cell in component):
                    places.append((number, block))
        return places

    def _whole(
        self,
        component: Component,
        trials_of: Mapping[str, Sequence[SourceTrial]],
        place: Round,
        fixed: Mapping[str, bool],
        says_of: Mapping[str, str],
    ) -> tuple[list[tuple[SourceTrial, Cell, int]], str, int]:
        """Return all attempts of these cells in a round of another run, up to the result; else why not, and of how many
        results."""
        results = {}
        for cell in component:
            fresh = [trial for trial in trials_of[cell.id] if trial.is_result and trial.identity not in self._used]
            if fresh:
                results[cell.id] = fresh[0]
        versions = {trial.versions for trial in results.values()}
        lacking = [cell.arm.name for cell in component if cell.id not in results]
        if not results:
            return [], "", 0
        if self._experiment.repeat.ci is not None and not fixed[place[0]]:
            return [], "are of a run that chose when to stop by its results", len(results)
        if others := versions - self._versions:
            self.others |= others
            return [], says_of.get(min(others), "were made with other versions"), len(results)
        if lacking:
            return [], f"have no partner for arm {', '.join(dict.fromkeys(lacking))}", len(results)
        if len(versions) > 1 or len({trial.identity for trial in results.values()}) < len(results):
            return [], "were made with different versions in one round", len(results)
        chosen = []
        for cell in component:
            tried = self._attempts_until(results[cell.id], trials_of[cell.id])
            chosen += [(trial, cell, attempt) for attempt, trial in enumerate(tried, 1)]
        return chosen, "", 0

    def _attempts_until(self, result: SourceTrial, trials: Sequence[SourceTrial]) -> list[SourceTrial]:
        """Return the attempts of a cell up to its result, in order."""
        before = [
            trial
            for trial in trials
            if trial.attempt < result.attempt
            and trial.cell == result.cell
            and trial.versions == result.versions
            and trial.identity not in self._used
        ]
        return [*sorted(before, key=lambda trial: trial.attempt), result]


def difference(theirs: Mapping[str, str], ours: Iterable[Mapping[str, str]]) -> str:
    """Say in what other versions differ from those of ours that are the nearest."""
    nearest = min((_differing(theirs, one) for one in ours), key=len, default=[])
    if not nearest:
        return "were made with other versions"
    shown = [f"another {name} ({_short(before)} -> {_short(now)})" for name, before, now in nearest[:2]]
    more = f" and {len(nearest) - 2} more" if len(nearest) > 2 else ""
    return f"were made with {' and '.join(shown)}{more}"


def _differing(theirs: Mapping[str, str], ours: Mapping[str, str]) -> list[tuple[str, str, str]]:
    names = sorted(theirs.keys() | ours.keys(), key=lambda name: (not name.startswith("client chrom"), name))
    differ = ((name, theirs.get(name, "none"), ours.get(name, "none")) for name in names)
    return [(name, before, now) for name, before, now in differ if before != now]


def _short(text: str, most: int = 48) -> str:
    if DIGEST.fullmatch(text):
        return text[:12]
    return text if len(text) <= most else f"{text[: most - 3]}..."
