"""Statistics: known values worked out by hand, laws that hold for any values, and how often the interval is right."""

from __future__ import annotations

import itertools
import math
import random
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis import stats
from analysis.drift import drift, ranks, theil_sen

PLTS = st.lists(st.floats(1, 1e5), min_size=1, max_size=25)


def every_resample(values: list[float]) -> list[float]:
    return sorted(statistics.median(draw) for draw in itertools.product(values, repeat=len(values)))


@pytest.mark.parametrize("n", range(2, 7))
@pytest.mark.parametrize("level", [0.5, 0.8, 0.9, 0.95])
def test_the_interval_is_that_of_all_resamples(n: int, level: float) -> None:
    values = [100.0, 101.5, 104.0, 110.0, 111.0, 130.0][:n]
    medians = every_resample(values)
    tail = (1 - level) / 2
    low = medians[math.ceil(tail * len(medians) - 1e-9) - 1]
    high = medians[math.ceil((1 - tail) * len(medians) - 1e-9) - 1]
    assert stats.bootstrap_interval(values, level) == pytest.approx((low, high))


def test_of_three_values_the_interval_is_the_range() -> None:
    # P(the lowest is the median of a resample) = P(Bin(3, 1/3) >= 2) = 7/27, far above 2.5%
    found = stats.estimate([120.0, 100.0, 110.0])
    assert (found.n, found.median, found.low, found.high) == (3, 110.0, 100.0, 120.0)
    assert (found.confidence, found.name) == (0.75, "75% interval")
    assert "only 75%" in found.meaning()


def test_one_value_has_no_interval() -> None:
    found = stats.estimate([5.0])
    assert (found.low, found.high, found.confidence) == (None, None, 0)
    assert "n = 1" in found.meaning()


def test_known_summary() -> None:
    found = stats.summarise([4, 1, 3, 2, 5])
    assert found is not None
    assert (found.median, found.quartile_1, found.quartile_3, found.low, found.high) == (3, 2, 4, 1, 5)
    assert found.stdev_percent == pytest.approx(100 * math.sqrt(2.5) / 3)
    assert stats.summarise([]) is None
    one = stats.summarise([7.0])
    assert one is not None
    assert (one.quartile_1, one.quartile_3, one.stdev, one.stdev_percent) == (7, 7, None, None)


@pytest.mark.parametrize("n", [7, 8, 15, 30, 31, 100, 1001, 1002])
def test_the_interval_is_that_of_simulated_resamples(n: int) -> None:
    rng = random.Random(n)
    values = sorted(rng.gauss(1000, 50) for _ in range(n))
    draws = 4000 if n < 500 else 300
    medians = sorted(statistics.median(rng.choices(values, k=n)) for _ in range(draws))
    low, high = stats.bootstrap_interval(values)
    margin = 4 * math.sqrt(0.025 * 0.975 / draws)
    assert sum(median < low - 1e-9 for median in medians) / draws <= 0.025 + margin
    assert sum(median <= low + 1e-9 for median in medians) / draws >= 0.025 - margin
    assert sum(median > high + 1e-9 for median in medians) / draws <= 0.025 + margin
    assert sum(median >= high - 1e-9 for median in medians) / draws >= 0.025 - margin


def test_probabilities_of_all_medians_sum_to_one() -> None:
    for n in [*range(2, 40), 200, 999, 2000]:
        weighted = stats._medians([float(i) for i in range(n)])
        assert math.fsum(weight for _, weight in weighted) == pytest.approx(1, abs=1e-6)


def tosses_within(n: int, k: int) -> float:
    """Of n values, the share of all ways to lie below or above the median that leave it between the k-th lowest and
    the k-th highest: at least k below, at least k above."""
    return float(sum(math.comb(n, below) for below in range(k, n - k + 1)) / 2**n)


@pytest.mark.parametrize("n", range(3, 41))
def test_the_interval_holds_the_median_as_often_as_it_says(n: int) -> None:
    """Exactly, from the ranks that the interval reaches to; values are far apart, so that a rank can be told."""
    values = [float(2**i) for i in range(n)]
    found = stats.estimate(values)
    assert found.low is not None
    assert found.high is not None
    reached = sum(value < found.low for value in values) + 1, sum(value > found.high for value in values) + 1
    assert found.confidence == pytest.approx(tosses_within(n, max(reached)))
    low, high = stats.bootstrap_interval(values)
    assert found.low <= low <= high <= found.high
    if n < stats.ENOUGH:
        assert (found.low, found.high) == (values[0], values[-1])
        assert found.confidence < stats.LEVEL
    else:
        assert found.confidence >= stats.LEVEL
        assert tosses_within(n, max(reached) + 1) < stats.LEVEL  # nothing narrower would do


def test_of_seven_values_the_bootstrap_alone_would_claim_too_much() -> None:
    values = [100.0, 101.0, 102.0, 103.0, 104.0, 105.0, 106.0]
    assert stats.bootstrap_interval(values) == (101, 105)
    assert tosses_within(7, 2) == 0.875
    found = stats.estimate(values)
    assert (found.low, found.high) == (100, 106)
    assert "at least 98.4% of such runs" in found.meaning()


@pytest.mark.parametrize("n", range(6, 13))
def test_how_often_the_interval_holds_the_true_median(n: int) -> None:
    """Of 4000 runs with skewed noise, as page load times have."""
    rng = random.Random(42)
    held, runs = 0, 4000
    for _ in range(runs):
        found = stats.estimate(rng.lognormvariate(0, 0.3) for _ in range(n))
        assert found.low is not None
        assert found.high is not None
        held += found.low <= 1 <= found.high
    assert held / runs == pytest.approx(found.confidence, abs=4 * math.sqrt(0.05 * 0.95 / runs))
    assert held / runs >= stats.LEVEL


@pytest.mark.parametrize("n", range(6, 13))
def test_arms_that_are_alike_are_rarely_told_apart(n: int) -> None:
    rng = random.Random(7)
    alarms, runs = 0, 2000
    for _ in range(runs):
        base, arm = ({i: rng.lognormvariate(5, 0.05) for i in range(n)} for _ in range(2))
        found = stats.compare(base, arm)
        assert found is not None
        alarms += found.verdict in ("faster", "slower")
    assert alarms / runs <= 1 - stats.LEVEL


def test_a_column_is_named_by_the_weakest_of_its_intervals() -> None:
    enough, few, one = (stats.estimate([100.0] * n) for n in (6, 5, 1))
    assert stats.interval_name([enough, one]) == "95% interval"
    assert stats.interval_name([enough, few]) == "interval"
    assert stats.interval_name([one]) == stats.interval_name([]) == "interval"  # where there is none, none holds 95%
    assert few.name == "93.7% interval"  # 93.75: never rounded up


@given(PLTS)
def test_the_median_is_within_its_interval_and_the_interval_within_the_range(values: list[float]) -> None:
    found = stats.estimate(values)
    assert found.n == len(values)
    assert found == stats.estimate(reversed(values))
    if found.low is not None and found.high is not None:
        assert min(values) <= found.low <= found.median * (1 + 1e-12)
        assert found.median * (1 - 1e-12) <= found.high <= max(values)


@given(st.lists(st.integers(1, 10**6), min_size=2, max_size=20), st.sampled_from([2, 4, 0.5]))
def test_the_interval_scales_with_the_values(values: list[int], factor: float) -> None:
    one, other = stats.estimate(values), stats.estimate(value * factor for value in values)
    assert one.low is not None
    assert one.high is not None
    assert other.low == pytest.approx(one.low * factor)
    assert other.high == pytest.approx(one.high * factor)


def test_pairs_are_compared_by_round() -> None:
    base = {1: 100.0, 2: 200.0, 3: 400.0, 4: 100.0}
    arm = {1: 50.0, 2: 100.0, 3: 200.0, 9: 1.0}
    found = stats.compare(base, arm)
    assert found is not None
    assert (found.n, found.ratio.median, found.ratio.low, found.ratio.high) == (3, 0.5, 0.5, 0.5)
    assert (found.difference.median, found.lower, found.higher, found.left_out) == (-100.0, 3, 0, 2)
    assert found.sign_p == 0.25
    assert found.verdict == "faster so far"
    assert stats.compare({1: 1.0}, {2: 1.0}) is None


@pytest.mark.parametrize(
    ("ratios", "verdict"),
    [
        ([0.9], "too few rounds"),
        ([0.9, 0.9], "too few rounds"),
        ([0.9, 0.9, 1.1], "no difference shown"),
        ([1.2, 1.3, 1.1], "slower so far"),
        ([0.8, 0.81, 0.79, 0.8, 0.82, 0.78], "faster"),
        ([1.8, 1.81, 1.79, 1.8, 1.82, 1.78], "slower"),
        ([0.8, 1.2, 0.9, 1.1, 1.0, 1.01], "no difference shown"),
        ([0.8, 0.81, 0.79, 0.8, 0.82, 0.78, 1.1], "no difference shown"),  # 7 of 7 it would have to be
    ],
)
def test_verdicts(ratios: list[float], verdict: str) -> None:
    base = dict.fromkeys(range(len(ratios)), 100.0)
    found = stats.compare(base, {i: 100 * ratio for i, ratio in enumerate(ratios)})
    assert found is not None
    assert found.verdict == verdict


@given(st.integers(0, 40), st.integers(0, 40))
def test_the_sign_test_is_symmetric_and_a_probability(a: int, b: int) -> None:
    assert 0 < stats.sign_test(a, b) <= 1
    assert stats.sign_test(a, b) == stats.sign_test(b, a)


def test_sign_test_by_hand() -> None:
    assert stats.sign_test(6, 0) == pytest.approx(2 / 64)
    assert stats.sign_test(5, 1) == pytest.approx(2 * 7 / 64)
    assert stats.sign_test(0, 0) == 1


def test_outliers_are_found_but_not_in_what_is_merely_exact() -> None:
    assert stats.outliers([100, 101, 99, 100, 250]) == [4]
    assert stats.outliers([100, 100, 100, 100, 100.5]) == []
    assert stats.outliers([100, 900]) == []


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
