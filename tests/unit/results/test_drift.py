"""Drift within a run: found with its size and direction, and rarely where there is none."""

import random
import statistics

import pytest

from lanelab.analysis.results.drift import MOST_PAIRS, drift, shuffle, shuffle_steps, theil_sen
from lanelab.analysis.statistics.ranks import ranks


def made_drift(change: float, seed: int, n: int = 60) -> list[tuple[str, float, float]]:
    rng = random.Random(seed)
    return [
        (f"cell {i % 4}", float(i), 1000 * (1 + i % 4) * (1 + change * i / n) * rng.lognormvariate(0, 0.01))
        for i in range(n)
    ]


def test_drift_is_found_with_its_size_and_direction() -> None:
    slower, faster = drift(made_drift(0.08, 1)), drift(made_drift(-0.08, 1))
    assert slower.is_shown
    assert slower.change_percent == pytest.approx(8, abs=2)
    assert "slower" in slower.words()
    assert faster.is_shown
    assert "faster" in faster.words()


def test_drift_is_rarely_seen_where_there_is_none() -> None:
    assert sum(drift(made_drift(0, seed, n=24)).is_shown for seed in range(60)) <= 3


def test_too_few_trials_say_nothing_about_drift() -> None:
    found = drift([("a", 0.0, 1.0), ("a", 1.0, 2.0), ("b", 2.0, 1.0)])
    assert (found.n, found.p, found.is_shown) == (0, None, False)
    assert "Too few" in found.words()
    assert drift([]).p is None


def test_drift_of_values_all_alike() -> None:
    found = drift([("a", float(i), 5.0) for i in range(20)])
    assert (found.change_percent, found.p, found.is_shown) == (0, 1.0, False)


def test_theil_sen_does_not_mind_an_outlier() -> None:
    line = [(float(i), 2.0 * i) for i in range(20)]
    line[3] = (3.0, 1e6)
    assert theil_sen(line) == pytest.approx(2, rel=0.01)
    many = [(float(i), 2.0 * i) for i in range(1000)]
    assert theil_sen(many) == 2


def test_ranks_share_the_mean_of_ties() -> None:
    assert ranks([10, 20, 20, 5]) == [2, 3.5, 3.5, 1]


@pytest.mark.parametrize("length", [0, 1, 2, 3, 62, 64, 65])
def test_the_quick_shuffle_gives_what_pythons_gives_and_takes_as_much_chance(length: int) -> None:
    quick, slow = random.Random(5), random.Random(5)
    here, there = list(map(float, range(length))), list(map(float, range(length)))
    for _ in range(20):
        shuffle(here, shuffle_steps(length), quick.getrandbits)
        slow.shuffle(there)
        assert here == there
    assert quick.getstate() == slow.getstate()


def test_of_very_many_pairs_those_are_taken_that_pythons_chance_gives() -> None:
    many = [(float(x), 3 * x + random.Random(x).random() ** 9) for x in range(700)]
    rng = random.Random(4)
    pairs = [(rng.randrange(700), rng.randrange(700)) for _ in range(MOST_PAIRS)]
    slopes = [(many[j][1] - many[i][1]) / (many[j][0] - many[i][0]) for i, j in pairs if i != j]
    assert theil_sen(many, seed=4) == statistics.median(slopes)
