"""Paired changes: numbers of others' implementations and textbooks, every sign by enumeration, ties, zeros, time-outs,
several comparisons at once."""

import itertools
import math
import random
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lanelab.analysis import statistics as stats
from lanelab.analysis.statistics import signed_rank as ranks
from lanelab.analysis.statistics.signed_rank import law_of, signed_rank

OUT = math.inf

# Hollander and Wolfe (1973), p. 29: depression scale factors before and after a tranquilliser, as in R's ?wilcox.test.
BEFORE = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30]
AFTER = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29]


def test_the_textbook_example() -> None:
    """R: wilcox.test(BEFORE, AFTER, paired = TRUE, conf.int = TRUE) says V = 40, p = 0.03906, 0.46 (0.010 to 0.786)."""
    found = signed_rank([[one - other for one, other in zip(BEFORE, AFTER, strict=True)]])
    assert found.p == pytest.approx(0.0390625)
    assert (found.value, found.low, found.high) == pytest.approx((0.46, 0.010, 0.786))
    assert found.confidence == pytest.approx(1 - 2 * 10 / 512)


def test_critical_values_are_those_of_published_tables() -> None:
    """The largest sum of ranks with a two-sided p of at most 5%: Wilcoxon (1945) and every table since."""
    table = {6: 0, 7: 2, 8: 3, 9: 5, 10: 8, 11: 10, 12: 13, 13: 17, 14: 21, 15: 25, 16: 29, 17: 34, 18: 40, 19: 46,
             20: 52, 21: 58, 22: 65, 23: 73, 24: 81, 25: 89, 30: 137, 40: 264, 50: 434}  # fmt: skip
    assert {n: law_of((n,)).outside(0.05) - 1 for n in table} == table


@pytest.mark.parametrize("sizes", [(1,), (2,), (5,), (9,), (3, 4), (2, 2, 5), (1, 1, 1)])
def test_the_distribution_is_that_of_every_sign(sizes: tuple[int, ...]) -> None:
    every = [rank for size in sizes for rank in range(1, size + 1)]
    sums = [sum(itertools.compress(every, signs)) for signs in itertools.product((0, 1), repeat=len(every))]
    law = law_of(sizes)
    for value in range(-1, sum(every) + 2):
        assert law.at_most(value) == pytest.approx(sum(one <= value for one in sums) / len(sums))
        assert law.at_least(value) == pytest.approx(sum(one >= value for one in sums) / len(sums))


def test_beyond_the_exact_distribution_the_normal_one_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = law_of((60,))
    monkeypatch.setattr(ranks, "MOST_STEPS", 0)
    normal = ranks.Law((60,))
    for value in range(500, 1300, 25):
        assert normal.at_most(value) == pytest.approx(exact.at_most(value), abs=2e-3)
    assert abs(normal.outside(0.05) - exact.outside(0.05)) <= 2


values = st.one_of(
    st.floats(-5, 5).map(lambda value: round(value, 3)), st.integers(-2, 2).map(float), st.sampled_from([OUT, -OUT])
)


@pytest.mark.parametrize("listed", [0, 1, ranks.LISTED_FOR_EACH])
@given(st.lists(st.lists(values, min_size=1, max_size=9), min_size=1, max_size=3))
def test_those_that_are_narrowed_down_are_those_that_a_list_of_all_has(listed: int, strata: list[list[float]]) -> None:
    means = [(one + other) / 2 for each in strata for i, one in enumerate(each) for other in each[: i + 1]]
    known = sorted(mean for mean in means if not math.isnan(mean))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ranks, "LISTED_FOR_EACH", listed)
        walsh = ranks._Walsh([sorted(each) for each in strata])
        ranked = [walsh._ranked(k) for k in range(1, len(known) + 1)]
        lowest, highest = walsh.lowest(len(means)), walsh.highest(len(means))
    assert ranked == pytest.approx(known, abs=1e-9)
    assert (walsh.above(), walsh.below()) == (sum(mean > 0 for mean in known), sum(mean < 0 for mean in known))
    if known:
        assert [lowest, highest] == pytest.approx([known[-1], known[0]])


@given(st.lists(values, min_size=2, max_size=15), st.sampled_from([0.05, 0.01, 0.2]))
def test_test_and_interval_agree(one: list[float], alpha: float) -> None:
    found = signed_rank([one], alpha)
    assert found.low <= found.value <= found.high
    if found.confidence >= 1 - alpha:
        assert (found.p <= alpha) == (not found.low <= 0 <= found.high)


@given(st.lists(values, min_size=1, max_size=15))
def test_the_other_way_round_is_the_same_the_other_way_round(one: list[float]) -> None:
    found, mirrored = signed_rank([one]), signed_rank([[-value for value in one]])
    assert (mirrored.n, mirrored.p, mirrored.confidence) == (found.n, found.p, found.confidence)
    assert (-mirrored.high, -mirrored.value, -mirrored.low) == (found.low, found.value, found.high)


def test_ties_and_zeros_never_make_a_difference_likelier() -> None:
    """Against every way to break the ties."""
    tied = [0.0, 0.0, 1.0, 1.0, -1.0, 2.0, 3.0, 3.0]
    rng = random.Random(3)
    broken = [signed_rank([[value + rng.uniform(-1e-6, 1e-6) for value in tied]]) for _ in range(500)]
    found = signed_rank([tied])
    assert found.p >= max(one.p for one in broken) - 1e-12
    assert found.low <= min(one.low for one in broken) + 2e-6
    assert found.high >= max(one.high for one in broken) - 2e-6
    nothing = signed_rank([[0.0] * 8])
    assert (nothing.p, nothing.low, nothing.value, nothing.high) == (1, 0, 0, 0)


def test_pairs_are_compared_by_round() -> None:
    base = {1: 100.0, 2: 200.0, 3: 400.0, 4: 100.0}
    arm = {1: 50.0, 2: 100.0, 3: 200.0, 9: 1.0}
    found = stats.compare(base, arm)
    assert found is not None
    assert (found.n, found.ratio.value, found.ratio.low, found.ratio.high) == pytest.approx((3, 0.5, 0.5, 0.5))
    assert (found.difference.value, found.lower, found.higher, found.left_out) == (-112.5, 3, 0, 2)
    assert (found.ratio.p, found.ratio.confidence) == (0.25, 0.75)
    assert found.verdict == "faster so far"
    assert "only 75% of such runs" in found.ratio.meaning()
    assert stats.compare({1: 1.0}, {2: 1.0}) is None


def test_five_rounds_have_an_interval_of_what_they_can() -> None:
    found = stats.compare(dict.fromkeys(range(5), 100.0), {i: 90.0 + i for i in range(5)})
    assert found is not None
    assert (found.ratio.confidence, found.ratio.name) == (0.9375, "93.7% interval")
    assert (found.ratio.low, found.ratio.high) == pytest.approx((0.90, 0.94))


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
        ([0.8, 0.81, 0.79, 0.8, 0.82, 0.78, 1.01], "faster"),  # one of seven, and by little
        ([0.8, 0.81, 0.79, 0.8, 0.82, 0.78, 1.5], "no difference shown"),
    ],
)
def test_verdicts(ratios: list[float], verdict: str) -> None:
    base = dict.fromkeys(range(len(ratios)), 100.0)
    found = stats.compare(base, {i: 100 * ratio for i, ratio in enumerate(ratios)})
    assert found is not None
    assert found.verdict == verdict


def test_a_pair_with_a_time_out_is_ordered_by_its_sign() -> None:
    base = dict.fromkeys(range(8), 50_000.0)
    arm = {i: 40_000.0 + i for i in range(8)}
    found = stats.compare({**base, 0: OUT}, arm)
    assert found is not None
    assert (found.n, found.lower, found.verdict) == (8, 8, "faster")
    assert found.ratio.low == 0  # nobody knows how much faster at most
    assert found.ratio.high == pytest.approx(0.8, abs=1e-3)
    assert found.ratio.value == pytest.approx(0.8, abs=1e-3)
    both = stats.compare({**base, 0: OUT}, {**arm, 0: OUT})
    assert both is not None
    assert (both.n, both.both_timed_out, both.left_out) == (7, 1, 0)
    worse = stats.compare(base, {**arm, 0: OUT, 1: OUT})
    assert worse is not None
    assert (worse.lower, worse.higher, worse.verdict) == (6, 2, "no difference shown")
    assert worse.ratio.high == OUT
    assert stats.compare({1: OUT}, {1: OUT}) is None


def test_holm_by_hand() -> None:
    """Holm (1979): the smallest times 3, the next times 2, never less than one before."""
    assert stats.holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert stats.holm([0.5, 0.9]) == pytest.approx([1.0, 1.0])
    assert stats.holm([0.02]) == [0.02]
    assert stats.holm([]) == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_lies_between_one_comparison_and_bonferroni(ps: list[float]) -> None:
    adjusted = stats.holm(ps)
    assert all(one <= other <= min(1, len(ps) * one) + 1e-12 for one, other in zip(ps, adjusted, strict=True))
    assert min(adjusted) == pytest.approx(min(1, len(ps) * min(ps)))


def test_links_together_show_what_each_alone_does_not() -> None:
    rng = random.Random(10)
    links = [
        ({i: 100 * scale * rng.lognormvariate(0, 0.02) for i in range(6)},
         {i: 98 * scale * rng.lognormvariate(0, 0.02) for i in range(6)})
        for scale in (1, 5, 25)
    ]  # fmt: skip
    alone = [stats.compare(*link) for link in links]
    assert all(one and one.ratio.p > 0.05 for one in alone)
    pooled = stats.pool(links)
    assert pooled is not None
    assert (pooled.strata, pooled.ratio.n) == (3, 18)
    assert pooled.ratio.p < 0.05
    assert pooled.ratio.value == pytest.approx(0.98, abs=0.01)
    assert stats.pool([({1: 1.0}, {2: 1.0}), ({1: OUT}, {1: OUT})]) is None


def test_one_stratum_is_the_comparison_itself() -> None:
    base, arm = {i: 100.0 + i for i in range(9)}, {i: 95.0 + 2 * i for i in range(9)}
    one, pooled = stats.compare(base, arm), stats.pool([(base, arm)])
    assert one is not None
    assert pooled is not None
    assert pooled.ratio == one.ratio


def test_the_estimate_is_the_middle_of_all_means_of_two() -> None:
    one = [3.0, -1.0, 2.5, 8.0]
    means = [(a + b) / 2 for a, b in itertools.combinations_with_replacement(one, 2)]
    assert signed_rank([one]).value == statistics.median(means)
