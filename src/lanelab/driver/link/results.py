"""What a self-test found: target against achieved, with a tolerance and a verdict for each property. Pure."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypedDict

from lanelab.driver.base.amounts import counted
from lanelab.driver.base.coded import Coded, Json, parsed
from lanelab.driver.link.arrivals import Losses
from lanelab.driver.link.chances import ALPHA, likely

Verdict = Literal["ok", "out", "shown", "not measured"]
Z_95 = 1.959964
PAIRS = 0.5  # of lost packets: followed by another one, where losses come in twos on average
TRACE = 0.001  # of losses, duplicates and overtaking that nobody asked for: a busy machine's, not the link's


@dataclass(frozen=True, slots=True)
class Result(Coded):
    """One property of the link. `low` and `high` are what is tolerated, in the same unit as target and achieved."""

    name: str
    unit: str
    target: float | None
    achieved: float | None
    low: float | None
    high: float | None
    verdict: Verdict
    note: str = ""

    @property
    def off_by(self) -> float:
        """Return how far achieved is from the target."""
        return (self.achieved or 0) - (self.target or 0)


class ResultData(TypedDict):
    """A result as it is stored."""

    name: str
    unit: str
    target: float | None
    achieved: float | None
    low: float | None
    high: float | None
    verdict: str
    note: str


class SelfTestData(TypedDict):
    """A self-test as it is stored."""

    passed: bool
    took_s: float
    failures: Sequence[str]
    results: Sequence[ResultData]


@dataclass(frozen=True, slots=True)
class SelfTest(Coded):
    """All of them, and how long it took to find out."""

    results: tuple[Result, ...]
    took_s: float

    @property
    def passed(self) -> bool:
        return all(result.verdict != "out" for result in self.results)

    @property
    def not_measured(self) -> list[str]:
        """Return which properties could not be told."""
        return [result.name for result in self.results if result.verdict == "not measured"]

    @property
    def failures(self) -> list[str]:
        """Return which property is out of tolerance, and by how much."""
        return [describe_failure(result) for result in self.results if result.verdict == "out"]

    def to_json(self) -> dict[str, Json]:
        return {
            "passed": self.passed,
            "took_s": round(self.took_s, 3),
            "failures": self.failures,
            "results": [result.to_json() for result in self.results],
        }

    @classmethod
    def decoded(cls, data: object) -> "SelfTest":
        """Return a self-test from its JSON, without what follows from the results."""
        whole = parsed(dict[str, object], data, "self-test")
        return super(SelfTest, cls).decoded({name: whole[name] for name in ("results", "took_s") if name in whole})


def describe_failure(result: Result) -> str:
    if result.achieved is None:
        return f"{result.name}: {result.note}"
    bounds = f"tolerated: {number(result.low)} to {number(result.high)}"
    return (
        f"{result.name} is {number(result.achieved)} {result.unit}, wanted {number(result.target)} "
        f"(off by {result.off_by:+.4g}; {bounds})"
    )


def number(value: float | None) -> str:
    """Write four significant digits, as a person would."""
    if value is None:
        return "-"
    if value == 0:
        return "0"
    digits = max(0, 3 - math.floor(math.log10(abs(value))))
    return f"{value:.{min(digits, 5)}f}"


def within(name: str, unit: str, target: float, achieved: float, tolerance: float, note: str = "") -> Result:
    """Return a property that must be within `tolerance` of its target."""
    low, high = target - tolerance, target + tolerance
    return Result(name, unit, target, achieved, low, high, "ok" if low <= achieved <= high else "out", note)


def at_most(name: str, unit: str, achieved: float, most: float) -> Result:
    """A property that should be 0 and must not be above `most`."""
    return Result(name, unit, 0.0, achieved, 0.0, most, "ok" if achieved <= most else "out")


def shown(name: str, unit: str, achieved: float, note: str = "") -> Result:
    """Return a property without a target, worth seeing."""
    return Result(name, unit, None, achieved, None, None, "shown", note)


def failed(name: str, unit: str, target: float | None, note: str) -> Result:
    return Result(name, unit, target, None, None, None, "out", note)


def not_measured(name: str, unit: str, target: float | None, why: str) -> Result:
    return Result(name, unit, target, None, None, None, "not measured", why)


def wilson(events: float, trials: float, z: float) -> tuple[float, float]:
    """Return the interval for a proportion (Wilson's score interval), which holds for few events too."""
    if trials <= 0:
        return 0.0, 1.0
    share = events / trials
    centre = (share + z * z / (2 * trials)) / (1 + z * z / trials)
    half = z / (1 + z * z / trials) * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    return max(0.0, centre - half) if events else 0.0, min(1.0, centre + half)


def chance(name: str, target: float, events: int, trials: int, *, bunched: float = 1.0) -> Result:
    """Return something that happens to a packet with a given chance. `bunched`: how many events come together on
    average, since then there are fewer independent ones. In percent. What is tolerated is what this target gives in all
    but one of a thousand tests; where nothing is asked for, what a trace of 0.1% would give."""
    if trials == 0:
        return failed(name, "%", target * 100, "no packet arrived")
    low_95, high_95 = wilson(events / bunched, trials / bunched, Z_95)
    note = f"95% interval {number(low_95 * 100)} to {number(high_95 * 100)}, of {trials} packets"
    achieved = events / trials
    low, high = likely(trials / bunched, target or TRACE)
    low = low if target else 0.0
    verdict: Verdict = "ok" if low <= achieved <= high else "out"
    if verdict == "ok" and target and not low:  # none at all would pass too
        needed = math.ceil(math.log(ALPHA / 2) / math.log1p(-target) * bunched) + 1
        verdict = "not measured"
        note += f"; to tell it from none needs {needed} packets: --thorough sends more"
    return Result(name, "%", target * 100, achieved * 100, low * 100, high * 100, verdict, note)


def bursts(name: str, share: float, losses: Losses, *, alone: float, bunched: float = 1.0) -> Result:
    """Return how losses follow each other, told as the mean length of their runs. `share`: the part of lost packets
    behind which the next one is lost too; `alone`: the same if each were lost by itself; `bunched`: how many of those
    pairs come together."""
    target = 1 / (1 - share)
    if losses.lost < 2:
        return not_measured(name, "packets", target, f"{_lost(losses.lost)}: two are needed at least")
    low, high = likely(losses.lost / bunched, share)
    followed = (losses.lost - losses.runs) / losses.lost
    note = f"{losses.lost} lost in {losses.runs} runs, the longest of {losses.longest}"
    verdict: Verdict = "ok" if low <= followed <= high else "out"
    other = PAIRS if math.isclose(share, alone) else alone  # a wrong link that must not pass for this one
    if verdict == "ok" and low <= other <= high:
        verdict = "not measured"
        note += f"; {_lost(losses.lost)}: too few to tell single losses from bursts, --thorough sends more packets"
    longest = 1 / (1 - high) if high < 1 else float(losses.lost)
    return Result(name, "packets", target, 1 / (1 - followed), 1 / (1 - low), longest, verdict, note)


def _lost(count: int) -> str:
    return f"{counted(count, 'packet')} lost"
