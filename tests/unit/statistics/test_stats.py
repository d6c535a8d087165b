"""Medians with intervals: values worked out by hand, laws that hold for any values, and how often an interval is
right."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lanelab.analysis import statistics as stats
from lanelab.analysis.statistics import compare
from lanelab.analysis.statistics.median import innermost

PLTS = st.lists(st.floats(1, 1e5), min_size=1, max_size=25)


def test_of_three_values_the_interval_is_the_range() -> None:
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
    four = stats.summarise([1.0, 2.0, 3.0, 4.0])
    assert four is not None
    assert (four.quartile_1, four.median, four.quartile_3) == (1.75, 2.5, 3.25)


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
    if n < stats.ENOUGH:
        assert (found.low, found.high) == (values[0], values[-1])
        assert found.confidence < stats.LEVEL
    else:
        assert found.confidence >= stats.LEVEL
        assert tosses_within(n, max(reached) + 1) < stats.LEVEL  # nothing narrower would do


def test_ranks_of_the_interval_are_those_of_published_tables() -> None:
    """Conover, Practical Nonparametric Statistics, table A3: the binomial distribution at 1/2."""
    assert [innermost(n)[0] for n in (6, 8, 9, 11, 12, 15, 17, 20, 25, 30)] == [1, 1, 2, 2, 3, 4, 5, 6, 8, 10]


def test_of_seven_values_nothing_narrower_than_the_range_will_do() -> None:
    assert tosses_within(7, 2) == 0.875
    found = stats.estimate([100.0, 101.0, 102.0, 103.0, 104.0, 105.0, 106.0])
    assert (found.low, found.high) == (100, 106)
    assert "at least 98.4% of such runs" in found.meaning()


def test_a_trial_that_timed_out_took_longer_than_every_other() -> None:
    out = math.inf
    found = stats.summarise([100.0, 101, 102, 103, 104, 105, out])
    assert found is not None
    assert (found.median, found.estimate.low, found.estimate.high) == (103, 100, out)
    assert (found.low, found.high, found.quartile_1, found.quartile_3) == (100, out, 101.5, 104.5)
    assert (found.mean, found.stdev, found.stdev_percent) == (None, None, None)
    assert stats.estimate([1.0, out, out]).median == out
    assert stats.estimate([1.0, 2.0, out, out]).median == out
    assert stats.quartiles([1.0, out]) == (out, out)
    assert stats.quartiles([out] * 5) == (out, out)
    assert stats.outliers([100, 101, 99, 100, out]) == [4]
    assert stats.outliers([100, 101, out, out, out]) == []


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


def test_outliers_are_found_but_not_in_what_is_merely_exact() -> None:
    assert stats.outliers([100, 101, 99, 100, 250]) == [4]
    assert stats.outliers([100, 100, 100, 100, 100.5]) == []
    assert stats.outliers([100, 900]) == []


def test_a_look_claims_what_all_looks_together_have() -> None:
    """A look that may spend 2% has an interval that misses in less; the run, that could have ended at another look, in
    5%."""
    base = dict.fromkeys(range(12), 100.0)
    arm = {number: 90.0 + number / 10 for number in range(12)}
    found = compare(base, arm, alpha=0.02, looks=3)
    assert found is not None
    for change in (found.ratio, found.difference):
        assert (change.confidence, change.name) == (0.95, "95% interval")
        assert change.meaning() == (
            "n = 12: the interval holds the true change in at least 95% of such runs, all 3 looks together"
        )
    alone = compare(base, arm, alpha=0.02)
    assert alone is not None
    assert alone.ratio.confidence > 0.98
    assert (alone.ratio.low, alone.ratio.high) == (found.ratio.low, found.ratio.high)
    few = compare({1: 1.0, 2: 1.0, 3: 1.0}, {1: 2.0, 2: 2.0, 3: 2.1}, alpha=0.02, looks=3)
    assert few is not None
    assert few.ratio.confidence == 0.75
