"""Whether the machines of a run agree on what arms change. A machine that does not is named. Pure."""

import math
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from lanelab.analysis.results.between_beds import results
from lanelab.analysis.results.between_machines import Logs, changes_by_machine, mean_of
from lanelab.analysis.results.layout.data import LEFT_OUT, Fields, fields_of, key
from lanelab.analysis.results.model import Machine, Run
from lanelab.analysis.results.numbers import change_words, listed, probability
from lanelab.analysis.statistics import ENOUGH, Change
from lanelab.analysis.statistics.disagreement import apart
from lanelab.analysis.statistics.looks import ALPHA
from lanelab.analysis.statistics.signed_rank import signed_rank
from lanelab.driver.base.amounts import counted, form_for

Compared = tuple[str, Logs]  # what was compared where, and its changes


def _ends(change: Change) -> Fields:
    return fields_of(change, "confidence", "p", "looks")


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A machine whose change is another than that of the rest."""

    where: str
    machine: str
    change: Change = field(metadata=key("change", _ends))
    others: tuple[str, ...]
    of_others: Change = field(metadata=key("change_of_others", _ends))
    p: float = field(metadata=key("p_adjusted"))  # with all machines and comparisons in mind
    mutual: bool = field(metadata=LEFT_OUT)  # there are two machines: which of them is off cannot be said

    ALSO: ClassVar = ("words",)

    def words(self) -> str:
        return (
            f"{self.where}: {self.machine} has {_change(self.change)}, {listed(self.others)} "
            f"{form_for(len(self.others), 'has', 'have')} {_change(self.of_others)} (p {_p(self.p)})."
        )


@dataclass(frozen=True, slots=True)
class Agreement:
    found: tuple[Disagreement, ...]
    tested: int = field(metadata=key("comparisons"))  # in which at least two machines have enough rounds
    tests: int  # of machines, in all comparisons together
    untested: int = field(metadata=key("comparisons_with_too_few_rounds"))

    ALSO: ClassVar = ("machines_that_disagree", "words")

    @property
    def machines_that_disagree(self) -> list[str]:
        """Return those that disagree."""
        return list(dict.fromkeys(each.machine for each in self.found))

    @property
    def headline(self) -> str:
        """Who disagrees; "": nobody is shown to."""
        return self.words()[0] if self.found else ""

    def words(self) -> list[str]:
        """Return what is to be said first, then the details."""
        if not self.tested and not self.untested:
            return []
        few = f"too few rounds to tell whether machines agree: it takes {ENOUGH} on each of two machines"
        if not self.tested:
            return [f"Of {counted(self.untested, 'comparison')} none can be judged: {few}."]
        left = f" In {self.untested} more there are {few}." if self.untested else ""
        where = (
            f"{counted(self.tested, 'comparison')} ({counted(self.tests, 'test')}, false alarms in at most 5% of runs)"
        )
        if not self.found:
            return [f"No machine is shown to disagree with the others in {where}.{left}"]
        shown = [each for i, each in enumerate(self.found) if not (each.mutual and i % 2)]
        more = [f"And {len(shown) - MOST_TOLD} more such."] if len(shown) > MOST_TOLD else []
        return [self._headline(where) + left, *(each.words() for each in shown[:MOST_TOLD]), *more]

    def _headline(self, where: str) -> str:
        many = Counter(each.machine for each in self.found if not each.where.startswith(OVER_ALL))
        often = sorted(self.machines_that_disagree, key=lambda name: -many[name])
        if all(each.mutual for each in self.found):
            places = f"in {many[often[0]]} of {where}" if many else f"over all together, and in none of {where} alone"
            return f"The two machines disagree {places}; which of them is off cannot be said."
        if not many:
            names = f"{listed(often)} {form_for(len(often), 'disagrees', 'disagree')}"
            return f"{names} with the other machines over all sites and links together, and in none of {where} alone."
        each = [f"in {many[often[0]]}", *(f"{name} in {many[name]}" for name in often[1:])]
        return f"{often[0]} disagrees with the other machines {listed(each)} of {where}."


MOST_TOLD = 8
OVER_ALL = "Over all"


def agreement(run: Run) -> Agreement | None:
    """None where one machine made all trials, or nothing is compared."""
    named = {machine.number: machine for machine in run.machines_used}
    if len(named) < 2 or not run.plan.is_interleaved or not run.plan.compared:
        return None
    by_cell = results(run)
    alone: list[Compared] = []
    by_arms: dict[tuple[str, str], list[Logs]] = {}
    for base, cell in run.plan.compared:
        logs = changes_by_machine(base, cell, by_cell, run.primary.worst)
        alone.append((f"{cell} against {base.arm.name}", logs))
        by_arms.setdefault((cell.arm.name, base.arm.name), []).append(logs)
    together = [
        (f"{OVER_ALL} {len(logs)} sites and links, {arm} against {base}", _together(logs))
        for (arm, base), logs in by_arms.items()
        if len(logs) > 1
    ]
    enough, joint = _enough(alone), _enough(together)
    tests = sum(len(logs) for _, logs in [*joint, *enough])
    disagree = _named([*joint, *enough], tests, named)
    return Agreement(tuple(disagree), len(enough), tests, len(alone) - len(enough))


def _enough(compared: Sequence[Compared]) -> list[Compared]:
    """With those machines that have enough rounds, where at least two have."""
    kept = (
        (where, {machine: rounds for machine, rounds in logs.items() if len(rounds) >= ENOUGH})
        for where, logs in compared
    )
    return [(where, logs) for where, logs in kept if len(logs) > 1]


def _named(compared: Sequence[Compared], family: int, named: Mapping[int, Machine]) -> list[Disagreement]:
    disagreements = []
    for where, logs in compared:
        values = {machine: list(by_round.values()) for machine, by_round in logs.items()}
        for one in apart(values, family, ALPHA):
            disagreements.append(
                Disagreement(
                    where,
                    named[one.group].name,
                    Change.of_logarithms(signed_rank([values[one.group]])),
                    tuple(named[other].name for other in one.others),
                    Change.of_logarithms(signed_rank([values[other] for other in one.others])),
                    one.p,
                    len(logs) == 2,
                )
            )
    return disagreements


def _together(comparisons: Sequence[Logs]) -> Logs:
    """By machine and round, the mean of what changes are beyond those that all machines have: a machine that is off a
    little everywhere is seen here. The common change is put back, so that it reads as one."""
    rounds: dict[int, dict[int, list[float]]] = {}
    middles = []
    for logs in comparisons:
        medians = [statistics.median(each.values()) for each in logs.values()]
        if len(medians) < 2 or not all(map(math.isfinite, medians)):
            continue
        middles.append(statistics.fmean(medians))
        for machine, each in logs.items():
            for number, log in each.items():
                rounds.setdefault(machine, {}).setdefault(number, []).append(log - middles[-1])
    common = statistics.fmean(middles) if middles else 0.0
    return {
        machine: {number: common + mean_of(some) for number, some in each.items()} for machine, each in rounds.items()
    }


def _p(p: float) -> str:
    words = probability(p)
    return words if words.startswith("<") else f"= {words}"


def _change(change: Change) -> str:
    if change.low is None or change.high is None:
        return change_words(change.value)
    return f"{change_words(change.value)} ({change_words(change.low)} to {change_words(change.high)})"
