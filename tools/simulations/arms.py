"""How often the statistics are right, by simulation: coverage, power, and errors of whole runs. Pure, and seeded.

`lanelab bench statistics` prints the tables of docs/statistics.md; tests check what they must hold.
"""

import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

from lanelab.analysis.statistics import KNOWN, compare, estimate, holm, pool
from lanelab.analysis.statistics.looks import ALPHA, Look, looks
from lanelab.analysis.statistics.paired import p_of_all
from lanelab.analysis.statistics.signed_rank import signed_rank

Noise = Callable[[random.Random], float]  # around a median of 0
SIZES = (6, 8, 10, 15, 20, 30)


def _tied(rng: random.Random) -> float:
    return float(round(rng.gauss(0, 1.5)))


NOISES: Mapping[str, Noise] = {
    "normal": lambda rng: rng.gauss(0, 1),
    "heavy tails (Student, 2 degrees)": lambda rng: rng.gauss(0, 1) / math.sqrt(rng.expovariate(1)),
    "two peaks": lambda rng: rng.choice((-3, 3)) + rng.gauss(0, 1),
    "ties (rounded)": _tied,
    "skewed (exponential)": lambda rng: rng.expovariate(1) - math.log(2),
}


@dataclass(frozen=True, slots=True)
class Table:
    title: str
    heads: Sequence[str]
    rows: Sequence[tuple[str, Sequence[float]]]  # shares

    def markdown(self) -> str:
        lines = [f"| {' | '.join(self.heads)} |", f"| --- |{' --: |' * (len(self.heads) - 1)}"]
        lines += [f"| {name} | {' | '.join(f'{100 * share:.1f}%' for share in shares)} |" for name, shares in self.rows]
        return f"### {self.title}\n\n" + "\n".join(lines) + "\n"


def median_holds(noise: Noise, n: int, runs: int, seed: int = 1) -> float:
    """Return how often the interval of a median holds the true one."""
    rng, held = random.Random(f"{seed}/{n}"), 0  # noqa: S311 - chance for statistics, not for secrets
    for _ in range(runs):
        interval = estimate(noise(rng) for _ in range(n))
        held += interval.low is not None and interval.high is not None and interval.low <= 0 <= interval.high
    return held / runs


def change_holds(noise: Noise, n: int, runs: int, seed: int = 1) -> float:
    """How often the interval of a change holds the true one: both arms have the same noise, one besides a change."""
    rng, held = random.Random(f"{seed}/{n}"), 0  # noqa: S311
    for _ in range(runs):
        shift = signed_rank([[noise(rng) - noise(rng) for _ in range(n)]])
        held += shift.low <= 0 <= shift.high
    return held / runs


def power(effect: float, n: int, runs: int, seed: int = 1) -> float:
    """Return how often a change of so many standard deviations of the pairs' log ratios is told, as the only
    comparison."""
    rng, hits = random.Random(f"{seed}/{n}"), 0  # noqa: S311
    for _ in range(runs):
        hits += signed_rank([[rng.gauss(effect, 1) for _ in range(n)]]).p <= ALPHA
    return hits / runs


def false_alarms(links: int, arms: int, rounds: int, runs: int, seed: int = 1) -> tuple[float, float, float]:
    """Return runs in which no arm differs: how often at least one comparison is believed without Holm, with it, and how
    often a test over all links is."""
    rng, plain, adjusted, over_links = random.Random(f"{seed}/{rounds}"), 0, 0, 0  # noqa: S311
    for _ in range(runs):
        values = [[{i: rng.lognormvariate(0, 0.03) for i in range(rounds)} for _ in range(arms)] for _ in range(links)]
        pairs = [(link[0], arm) for link in values for arm in link[1:]]
        ps = [comparison.ratio.p for comparison in (compare(base, arm) for base, arm in pairs) if comparison]
        pooled = [pool([(link[0], link[arm]) for link in values]) for arm in range(1, arms)]
        plain += min(ps) <= ALPHA
        adjusted += min(holm(ps)) <= ALPHA
        over_links += min(holm([one.ratio.p for one in pooled if one])) <= ALPHA
    return plain / runs, adjusted / runs, over_links / runs


SPREAD, RETRIES = 0.3, 2  # of load times under loss, as logarithms; how often a load that broke is tried again


def called_faster(
    share: float, n: int, runs: int, *, effect: float = 0.0, slow: bool = True, seed: int = 1
) -> tuple[float, float]:
    """Return how often an arm is called faster of whose loads this share breaks and is tried again: by the loads that
    did not break alone, and by a verdict. `slow`: its slowest loads break, not any."""
    rng, hits = random.Random(f"{seed}/{n}/{share}/{slow}"), [0, 0]  # noqa: S311
    limit = NormalDist(effect, SPREAD).inv_cdf(1 - share)

    def load() -> tuple[float, bool]:
        log = rng.gauss(effect, SPREAD)
        return math.exp(log), log > limit if slow else rng.random() < share

    for _ in range(runs):
        base = {number: rng.lognormvariate(0, SPREAD) for number in range(n)}
        tries = {number: [load() for _ in range(RETRIES + 1)] for number in base}
        left = {number: next((ms for ms, broke in each if not broke), None) for number, each in tries.items()}
        without = compare(base, {number: ms for number, ms in left.items() if ms is not None})
        bound = compare(base, {number: math.inf if each[0][1] else each[0][0] for number, each in tries.items()})
        if without and bound:
            both = replace(without, bounds=(bound,), adjusted_p=p_of_all(without.ratio, [bound.ratio]))
            hits[0] += without.verdict == "faster"
            hits[1] += both.verdict == "faster"
    return hits[0] / runs, hits[1] / runs


def until_holds(of: str, planned: Sequence[Look], spread: float, runs: int, ci: float = 0.02) -> float:
    """Return how often the interval at which a run ends holds what is true. It ends at the first look at which the
    interval reaches no further than `ci`."""
    rng, held = random.Random(f"{of}/{spread}"), 0  # noqa: S311
    for _ in range(runs):
        base, arm = ({i: rng.lognormvariate(0, spread) for i in range(planned[-1].trials)} for _ in range(2))
        low, high = next(_ends(of, planned, base, arm, ci))
        held += low <= 1 <= high
    return held / runs


def _ends(
    of: str, planned: Sequence[Look], base: Mapping[int, float], arm: Mapping[int, float], ci: float
) -> Iterator[tuple[float, float]]:
    for look in planned:
        one, other = ({i: values[i] for i in range(look.trials)} for values in (base, arm))
        if of == "median":
            low, middle, high = KNOWN.median(list(one.values()), look.alpha)
            reach = ci * middle
        else:
            low, middle, high = KNOWN.change(one, other, look.alpha) or (-math.inf, 1.0, math.inf)
            reach = ci
        if max(high - middle, middle - low) <= reach or look == planned[-1]:
            yield low, high


def every_round(least: int, most: int) -> tuple[Look, ...]:
    """Return what must not be done: a look after each round, each with all of the 5%."""
    return tuple(Look(trials, ALPHA) for trials in range(least, most + 1))


def tables(runs: int) -> Iterator[Table]:
    """Yield those of docs/statistics.md."""
    sizes = [f"n = {n}" for n in SIZES]
    yield Table("Medians: how often the interval holds the true median", ["values", *sizes],
                [(name, [median_holds(noise, n, runs) for n in SIZES]) for name, noise in NOISES.items()])  # fmt: skip
    yield Table("Changes: how often the interval holds the true change", ["noise of both arms", *sizes],
                [(name, [change_holds(noise, n, runs) for n in SIZES]) for name, noise in NOISES.items()])  # fmt: skip
    yield Table("Power: how often a change is told from chance", ["change, in standard deviations", *sizes],
                [(f"{effect:g}", [power(effect, n, runs) for n in SIZES]) for effect in (0, 0.5, 1, 2)])  # fmt: skip
    yield Table("Runs without any difference that show one", ["links x arms, rounds", "without Holm", "as lanelab does",
                "over all links"],
                [(f"{links} x {arms}, {rounds}", false_alarms(links, arms, rounds, max(100, runs // 10)))
                 for links, arms, rounds in ((2, 4, 8), (9, 6, 12))])  # fmt: skip
    planned, careless = looks(8, 30), every_round(6, 30)
    yield Table("until: {ci: 2%, max: 30}: how often the last interval is right", ["spread of trials", "median",
                "change", "median, looked at after every round"],
                [(f"{100 * spread:g}%", [until_holds("median", planned, spread, runs),
                                         until_holds("change", planned, spread, max(100, runs // 4)),
                                         until_holds("median", careless, spread, runs)])
                 for spread in (0.01, 0.02, 0.03, 0.04)])  # fmt: skip
    ways = ("by the loads that are left", "as lanelab does")
    yield Table("Loads of one arm break and are tried again: how often it is called faster", ["share, rounds",
                *(f"arms alike, the slowest break: {way}" for way in ways),
                *(f"30% faster, any break: {way}" for way in ways)],
                [(f"{100 * share:g}%, {n}", (*called_faster(share, n, runs),
                                             *called_faster(share, n, runs, effect=math.log(0.7), slow=False)))
                 for share in (0.02, 0.1, 0.2) for n in (12, 30)])  # fmt: skip
