"""How often the statistics of several machines are right, by simulation: intervals that are pooled over machines, false
alarms of disagreement, and how often a machine that is off is named. Pure, and seeded."""

import random
from collections.abc import Iterator, Mapping, Sequence

from lanelab.analysis.statistics import compare
from lanelab.analysis.statistics.disagreement import apart
from lanelab.analysis.statistics.looks import ALPHA
from lanelab.driver.base.amounts import counted
from tools.simulations.arms import Table

PACES = (1.0, 1.6, 0.7)  # what machines take, against the first
ALIKE, UNLIKE = (0.02, 0.02, 0.02), (0.01, 0.02, 0.06)  # standard deviations of trials of each machine
DEALS: Mapping[str, Sequence[int]] = {  # how many rounds each machine makes
    "3 x 4 rounds": (4, 4, 4),
    "3 x 10 rounds": (10, 10, 10),
    "2, 6 and 22 rounds": (2, 6, 22),
}
TRUE = 0.9  # of the arm to the base


def _rounds(rng: random.Random, deal: Sequence[int], sds: Sequence[float], *, together: bool) -> tuple[
    dict[int, float], dict[int, float], dict[int, int], dict[int, int]
]:  # fmt: skip
    """Return base and arm by round, and the machines that made them. `together`: one machine makes both of a round;
    else any makes either."""
    on = [machine for machine, many in enumerate(deal) for _ in range(many)]
    others = on if together else rng.sample(on, len(on))
    base = {n: PACES[one] * rng.lognormvariate(0, sds[one]) for n, one in enumerate(on)}
    arm = {n: TRUE * PACES[one] * rng.lognormvariate(0, sds[one]) for n, one in enumerate(others)}
    return base, arm, dict(enumerate(on)), dict(enumerate(others))


def pooled_holds(deal: Sequence[int], sds: Sequence[float], runs: int, seed: int = 1) -> tuple[float, float, float]:
    """Return how often the interval over machines holds the true change; how often a change is told from none; and how
    wide the interval is."""
    rng, held, named_runs, width = random.Random(f"{seed}/{deal}/{sds}"), 0, 0, 0.0  # noqa: S311 - chance for statistics
    for _ in range(runs):
        base, arm, on, others = _rounds(rng, deal, sds, together=True)
        comparison = compare(base, arm, machines=(on, others))
        if comparison and comparison.ratio.low is not None and comparison.ratio.high is not None:
            held += comparison.ratio.low <= TRUE <= comparison.ratio.high
            named_runs += comparison.ratio.p <= ALPHA
            width += comparison.ratio.high - comparison.ratio.low
    return held / runs, named_runs / runs, width / runs


def across(deal: Sequence[int], sds: Sequence[float], runs: int, seed: int = 1) -> tuple[float, float, float]:
    """The same where trials of a round are made on any machine, and pairs are made all the same."""
    rng, held, named_runs, width = random.Random(f"{seed}/{deal}/{sds}"), 0, 0, 0.0  # noqa: S311
    for _ in range(runs):
        base, arm, _, _ = _rounds(rng, deal, sds, together=False)
        comparison = compare(base, arm)
        if comparison and comparison.ratio.low is not None and comparison.ratio.high is not None:
            held += comparison.ratio.low <= TRUE <= comparison.ratio.high
            named_runs += comparison.ratio.p <= ALPHA
            width += comparison.ratio.high - comparison.ratio.low
    return held / runs, named_runs / runs, width / runs


def false_alarms(deal: Sequence[int], sds: Sequence[float], comparisons: int, runs: int, seed: int = 1) -> float:
    """Return runs whose machines agree: how often at least one is named."""
    rng, alarms = random.Random(f"{seed}/{deal}/{sds}/{comparisons}"), 0  # noqa: S311
    for _ in range(runs):
        alarms += any(
            apart(_logs(rng, deal, sds, [0.0] * len(deal)), comparisons * len(deal), ALPHA) for _ in range(comparisons)
        )
    return alarms / runs


def named(off: float, rounds: int, machines: int, comparisons: int, runs: int, seed: int = 1) -> tuple[float, float]:
    """The last machine's change is off by so many standard deviations of log ratios, in one comparison of several: how
    often it is named there, and how often another is."""
    rng, right, wrong = random.Random(f"{seed}/{off}/{rounds}/{machines}"), 0, 0  # noqa: S311
    offs = [*[0.0] * (machines - 1), off]
    for _ in range(runs):
        logs = _logs(rng, [rounds] * machines, [1.0] * machines, offs)
        groups = {one.group for one in apart(logs, comparisons * machines, ALPHA)}
        right += machines - 1 in groups
        wrong += bool(groups - {machines - 1})
    return right / runs, wrong / runs


def _logs(
    rng: random.Random, deal: Sequence[int], sds: Sequence[float], offs: Sequence[float]
) -> dict[int, list[float]]:
    return {
        machine: [off + rng.gauss(0, sd) for _ in range(many)]
        for machine, (many, sd, off) in enumerate(zip(deal, sds, offs, strict=True))
    }


def tables(runs: int) -> Iterator[Table]:
    """Yield those of docs/statistics.md."""
    kinds = {"alike": ALIKE, "unlike": UNLIKE}
    yield Table(
        "Three machines of unlike speed: how often the interval holds the true change",
        ["rounds", "pairs within machines, machines of like noise", "of unlike noise",
         "pairs across machines", "a true -10% is told within", "across", "width of the interval within", "across"],
        [(words, _coverage(deal, runs)) for words, deal in DEALS.items()],
    )  # fmt: skip
    yield Table(
        "Runs whose machines agree, and one is named all the same",
        [
            "rounds of each machine",
            *(f"{counted(many, 'comparison')}, {kind} noise" for many in (1, 6, 45) for kind in kinds),
        ],
        [(", ".join(map(str, deal)),
          [false_alarms(deal, sds, many, max(200, runs // (2 * many)))
           for many in (1, 6, 45) for sds in kinds.values()])
         for deal in ((6, 6, 6), (10, 10, 10), (20, 20, 20), (20, 20, 6))],
    )  # fmt: skip
    yield Table(
        "A machine whose change is off: how often it is named, and how often another is",
        ["off by, rounds of each", *(f"{machines} machines, {counted(many, 'comparison')}: {which}"
                                     for machines, many in ((3, 1), (3, 6), (5, 6)) for which in ("it", "another"))],
        [(f"{off:g} sd, {rounds}",
          [share for machines, many in ((3, 1), (3, 6), (5, 6)) for share in named(off, rounds, machines, many, runs)])
         for off in (1, 2) for rounds in (10, 20)],
    )  # fmt: skip


def _coverage(deal: Sequence[int], runs: int) -> list[float]:
    like, unlike, mixed = pooled_holds(deal, ALIKE, runs), pooled_holds(deal, UNLIKE, runs), across(deal, ALIKE, runs)
    return [like[0], unlike[0], mixed[0], like[1], mixed[1], like[2], mixed[2]]
