"""What became of links between the self-test before the trials that used them and the one after. Pure."""

from collections import Counter
from dataclasses import dataclass

from lanelab.analysis.results.model import LinkCase, Run, SelfTest
from lanelab.driver.base.amounts import counted
from lanelab.driver.link.results import ResultData

OUT = "out"


@dataclass(frozen=True, slots=True)
class PropertyDrift:
    """One property, before and after; None where it was not measured."""

    name: str
    unit: str
    before: float | None
    after: float | None
    low: float | None  # what is tolerated afterwards
    high: float | None
    is_out: bool  # afterwards
    was_out: bool

    @property
    def change(self) -> float | None:
        return None if self.before is None or self.after is None else self.after - self.before


@dataclass(frozen=True, slots=True)
class LinkDrift:
    """One link on one bed. Without `after` it was not measured again: the bed was lost, the run was killed or stopped
    at once, links are accepted as they are."""

    link: LinkCase
    bed: int
    before: SelfTest
    after: SelfTest | None
    trials: int  # between that count
    properties: tuple[PropertyDrift, ...]

    @property
    def moved_out(self) -> list[PropertyDrift]:
        """What is out of tolerance now and was not before."""
        return [each for each in self.properties if each.is_out and not each.was_out]


def drifts(run: Run) -> list[LinkDrift]:
    """Return the drift of each link on each bed, in the order of the beds; only where trials count that used it."""
    before: dict[tuple[int, frozenset[tuple[str, str]]], SelfTest] = {}
    after: dict[tuple[int, frozenset[tuple[str, str]]], SelfTest] = {}
    for test in run.self_tests:
        (after if test.moment == "after" else before)[test.bed, test.link.path] = test
    trials = Counter((trial.bed, trial.cell.link.path) for trial in run.ok)
    return [
        _drift(bed, first, after.get((bed, link)), trials[bed, link])
        for (bed, link), first in sorted(before.items(), key=lambda each: (each[0][0], each[1].link.number))
        if trials[bed, link]
    ]


def sentences(run: Run) -> list[str]:
    """Say for each link that is no longer what it was what of it, and which trials are doubtful for that."""
    return [_sentence(drift) for drift in drifts(run) if drift.moved_out]


def not_measured_again(run: Run) -> list[LinkDrift]:
    return [drift for drift in drifts(run) if drift.after is None]


def largest(run: Run) -> list[PropertyDrift]:
    """Return for each property that was measured both times the largest change over all links and beds."""
    by_name: dict[str, PropertyDrift] = {}
    for drift in drifts(run):
        for each in drift.properties:
            if each.change is None or (each.unit == "%" and not each.before and not each.after):
                continue
            known = by_name.get(each.name)
            if known is None or abs(each.change) > abs(known.change or 0.0):
                by_name[each.name] = each
    return list(by_name.values())


def _drift(bed: int, before: SelfTest, after: SelfTest | None, trials: int) -> LinkDrift:
    first, then = _results(before), _results(after) if after else {}
    properties = tuple(_property(name, first.get(name), result) for name, result in then.items())
    return LinkDrift(before.link, bed, before, after, trials, properties)


def _results(test: SelfTest) -> dict[str, ResultData]:
    return {result["name"]: result for result in test.data["results"]}


def _property(name: str, before: ResultData | None, after: ResultData) -> PropertyDrift:
    return PropertyDrift(
        name=name,
        unit=after["unit"],
        before=before["achieved"] if before else None,
        after=after["achieved"],
        low=after["low"],
        high=after["high"],
        is_out=after["verdict"] == OUT,
        was_out=before is not None and before["verdict"] == OUT,
    )


def _sentence(drift: LinkDrift) -> str:
    what = "; ".join(_words(each) for each in drift.moved_out)
    trials = counted(drift.trials, "trial")
    return (
        f"The link {drift.link.label} was no longer what was asked for when bed {drift.bed} measured it again after "
        f"its trials: {what}. It changed somewhere between, so {trials} on it are doubtful."
    )


def _words(each: PropertyDrift) -> str:
    before = "not measured" if each.before is None else f"{each.before:.4g} {each.unit}"
    after = "nothing" if each.after is None else f"{each.after:.4g} {each.unit}"
    tolerated = "" if each.low is None or each.high is None else f" ({each.low:.4g} to {each.high:.4g} is tolerated)"
    return f"{each.name} was {before} before and {after} after{tolerated}"
