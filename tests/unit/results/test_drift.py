"""Drift within a run: found with its size and direction, and rarely where there is none."""

import random

import pytest

from lanelab.analysis.results.drift import drift, theil_sen
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
