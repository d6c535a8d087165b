"""Cells whose trials, taken together, contradict their link. Pure.

One trial is too short to tell a loss of 1% from none, or from 2%; all trials of a cell together are not. Each trial
stores how many packets of each direction would have shown that they were lost, how many were, and how many of these a
full queue may have dropped (docs/reference/verdicts.md#loss-of-a-cell). Here they are added up and compared with what
the link was asked to lose, by the exact binomial distribution:

- Too few lost: fewer than the loss asked for gives by chance. Overflows only add to them, so all are counted.
- Too many lost: more than the loss asked for gives. What a full queue may have dropped is left out.
- Losses that follow each other more or less often than they should: single ones for bursts, or bursts for single ones.

A run in which every link is right has one refused cell or more with a probability of `ALPHA` at most: each test gets
its part of that.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from lanelab.analysis.results.axes import link_of
from lanelab.analysis.results.model import Cell, Run, Trial
from lanelab.driver.link import Direction
from lanelab.driver.link.impairments.loss import GilbertElliott

LOSS = "link-loss"
ALPHA = 0.001  # the chance that a run whose links are right has a refused cell
TRACE = 0.001  # packets that may be lost where no loss is asked for: more than any sound link was seen to lose
SIDES, WAYS = 2, ("down", "up")
TOWARDS = {"down": "to the client", "up": "to the server"}


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why the numbers of a cell cannot be used, although each of its trials counts."""

    reason: str
    detail: str


@dataclass(frozen=True, slots=True)
class Pooled:
    """One direction of all results of a cell."""

    trials: int
    packets: int  # those whose loss would show
    lost: int
    overflowed: int  # of these, what a full queue may have dropped


def results_of(trials: Iterable[Trial]) -> list[Trial]:
    """Return those that tell of their cell's losses: beside trials that count those whose time was over, and loads that
    broke. These may be the ones that lost most; without them a right link would seem to lose too little."""
    return [trial for trial in trials if trial.ok or trial.timed_out or trial.broke]


Refused = Mapping[int, tuple[Refusal, ...]]  # by the number of a cell


@dataclass(frozen=True, slots=True)
class PooledRuns:
    """The losses of one direction of all results of a cell that tell of runs, and had room in the queue."""

    trials: int
    lost: int
    runs: int


def refusals(run: Run) -> Refused:
    """Number of a cell -> why it is refused; cells without a refusal are not there."""
    by_cell, by_number = run.by_cell(), dict[int, tuple[Refusal, ...]]()
    results = {cell.number: results_of(by_cell[cell.number]) for cell in run.cells}
    tellers = sum(pooled_runs(results[cell.number], way).trials > 0 for cell in run.cells for way in WAYS)
    tests = (max(1, len(run.cells)) * len(WAYS) + tellers) * SIDES
    for cell in run.cells:
        refused = tuple(_refusals(cell, results[cell.number], ALPHA / tests))
        if refused:
            by_number[cell.number] = refused
    return by_number


def sound_trials(run: Run) -> list[tuple[Cell, list[Trial]]]:
    """Return each cell whose link is not refused with its trials that count."""
    refused, by_cell = refusals(run), run.by_cell()
    sound = [cell for cell in run.cells if cell.number not in refused]
    return [(cell, [trial for trial in by_cell[cell.number] if trial.ok]) for cell in sound]


def pooled(trials: list[Trial], way: str) -> Pooled:
    """Return trials whose captures tell of loss in this direction."""
    telling, lost, overflowed = (f"{name}_packets_{way}" for name in ("told", "lost", "overflowed"))
    counted = [trial.measures for trial in trials if telling in trial.measures]

    def total(name: str) -> int:
        return sum(round(measures.get(name, 0)) for measures in counted)

    return Pooled(len(counted), total(telling), total(lost), total(overflowed))


def pooled_runs(trials: list[Trial], way: str) -> PooledRuns:
    """Return trials whose captures tell of runs; what a full queue drops comes in runs of its own."""
    runs, lost, overflowed = (f"{name}_{way}" for name in ("lost_runs", "lost_packets", "overflowed_packets"))
    telling = [trial.measures for trial in trials if runs in trial.measures and lost in trial.measures]
    counted = [measures for measures in telling if not measures.get(overflowed)]
    sums = (sum(round(measures[name]) for measures in counted) for name in (lost, runs))
    return PooledRuns(len(counted), *sums)


def _refusals(cell: Cell, trials: list[Trial], alpha: float) -> Iterator[Refusal]:
    link = link_of(cell.link.settings)
    for way in WAYS:
        direction: Direction = getattr(link, way)
        detail = contradiction(pooled(trials, way), direction, alpha)
        if detail:
            yield Refusal(LOSS, f"{TOWARDS[way]}, {detail}")
        detail = contradicting_runs(pooled_runs(trials, way), direction, alpha)
        if detail:
            yield Refusal(LOSS, f"{TOWARDS[way]}, {detail}")


def contradiction(seen: Pooled, direction: Direction, alpha: float) -> str | None:
    """What speaks against this loss; None: nothing does. `alpha`: of each side."""
    counted = contradicting(seen, direction, alpha)
    return _words(seen, *counted, direction.mean_loss, alpha) if counted else None


def contradicting(seen: Pooled, direction: Direction, alpha: float) -> tuple[int, int] | None:
    """Return how many of how many packets were lost, where that is too few or too many for this loss."""
    share, bunched = direction.mean_loss, _bunched(direction)
    packets, lost = math.floor(seen.packets / bunched), math.ceil(seen.lost / bunched)
    if share and at_most(lost, packets, share) < alpha:
        return seen.lost, seen.packets
    unexplained, left = seen.lost - seen.overflowed, seen.packets - seen.overflowed
    packets, lost = math.ceil(left / bunched), math.floor(unexplained / bunched)
    return (unexplained, left) if at_least(lost, packets, max(share, TRACE)) < alpha else None


def contradicting_runs(seen: PooledRuns, direction: Direction, alpha: float) -> str | None:
    """What speaks against the bursts of this loss, or against their absence; None: nothing does."""
    loss = direction.loss
    if not loss.mean_loss or not seen.lost:
        return None
    followed, pairs = seen.lost - seen.runs, loss.pairs_bunched
    few = at_most(math.ceil(followed / pairs), math.floor(seen.lost / pairs), loss.followed) < alpha
    many = at_least(math.floor(followed / pairs), math.ceil(seen.lost / pairs), max(loss.followed, TRACE)) < alpha
    if not few and not many:
        return None
    low, high = (1 / (1 - share) if share < 1 else math.inf for share in interval(followed, seen.lost, alpha))
    return (
        f"{seen.lost:,} lost packets came in runs of {seen.lost / seen.runs:.3g} in {seen.trials} trials "
        f"({1 - 2 * alpha:.3%} interval {low:.3g} to {high:.3g}), and {1 / (1 - loss.followed):.3g} was asked for"
    )


def _bunched(direction: Direction) -> float:
    """How many losses come together, about: there are fewer independent ones. Twice the burst, since times between
    bursts vary too."""
    loss = direction.loss
    return max(1.0, 2 * loss.mean_burst) if isinstance(loss, GilbertElliott) else 1.0


def _words(seen: Pooled, lost: int, packets: int, share: float, alpha: float) -> str:
    low, high = interval(lost, packets, alpha)
    wanted = f"a loss of {share:.3%}" if share else "no loss"
    return (
        f"{lost:,} of {packets:,} packets were lost in {seen.trials} trials ({lost / packets:.3%}; "
        f"{1 - 2 * alpha:.3%} interval {low:.3%} to {high:.3%}), and {wanted} was asked for"
    )


def interval(events: int, trials: int, alpha: float) -> tuple[float, float]:
    """Return the interval by Clopper and Pearson: shares that give so few, or so many, with a probability of `alpha` at
    least."""
    low = _root(lambda share: at_least(events, trials, share) - alpha) if events else 0.0
    high = _root(lambda share: alpha - at_most(events, trials, share)) if events < trials else 1.0
    return low, high


def _root(rising: Callable[[float], float]) -> float:
    below, above = 0.0, 1.0
    for _ in range(60):
        middle = (below + above) / 2
        below, above = (middle, above) if rising(middle) < 0 else (below, middle)
    return (below + above) / 2


def at_most(events: int, trials: int, share: float) -> float:
    """Return the probability of so many events or fewer."""
    return 1.0 - _tail(events + 1, trials, share) if events >= trials * share else _tail_down(events, trials, share)


def at_least(events: int, trials: int, share: float) -> float:
    """Return the probability of so many events or more."""
    if events <= trials * share:
        return 1.0 - (_tail_down(events - 1, trials, share) if events else 0.0)
    return _tail(events, trials, share)


def _tail(events: int, trials: int, share: float) -> float:
    """Return the sum from so many on, which is beyond the mean: its terms become smaller."""
    return _sum(events, trials, share, step=1)


def _tail_down(events: int, trials: int, share: float) -> float:
    return _sum(events, trials, share, step=-1)


def _sum(events: int, trials: int, share: float, *, step: int) -> float:
    if not 0 <= events <= trials:
        return 0.0
    if share in (0.0, 1.0):
        return float(events == 0 or step < 0) if share == 0 else float(events == trials or step > 0)
    term = math.exp(
        math.lgamma(trials + 1) - math.lgamma(events + 1) - math.lgamma(trials - events + 1)
        + events * math.log(share) + (trials - events) * math.log1p(-share)
    )  # fmt: skip
    total, odds, at = term, share / (1 - share), events
    while term > total * 1e-17 and 0 <= at + step <= trials:
        term *= (trials - at) / (at + 1) * odds if step > 0 else at / (trials - at + 1) / odds
        at += step
        total += term
    return min(1.0, total)
