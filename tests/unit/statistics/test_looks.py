"""When a run that goes on until it knows enough looks, and what each look may claim."""

import itertools
import math
from statistics import NormalDist

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lanelab.analysis.statistics.looks import ALPHA, alone, look_after, looks, only_look


def test_boundaries_are_those_of_published_tables() -> None:
    """Five equal looks, two-sided 5%: Pocock's spending function of Lan and DeMets (1983), as in Reboussin, DeMets, Kim
    and Lan (2000), and O'Brien and Fleming's."""
    shares = [0.2, 0.4, 0.6, 0.8, 1.0]
    pocock = [ALPHA * math.log(1 + (math.e - 1) * share) for share in shares]
    assert _boundaries(shares, pocock) == pytest.approx([2.438, 2.427, 2.410, 2.397, 2.386], abs=5e-4)
    z = NormalDist().inv_cdf(1 - ALPHA / 4)
    fleming = [4 * (1 - NormalDist().cdf(z / math.sqrt(share))) for share in shares]
    assert _boundaries(shares, fleming) == pytest.approx([4.877, 3.357, 2.680, 2.290, 2.031], abs=5e-4)


def _boundaries(shares: list[float], spent: list[float]) -> list[float]:
    return [NormalDist().inv_cdf(1 - level / 2) for level in alone(shares, spent)]


def test_looks_double_and_the_last_is_at_the_most() -> None:
    assert [look.trials for look in looks(8, 30)] == [8, 16, 30]
    assert [look.trials for look in looks(10, 100)] == [10, 20, 40, 80, 100]
    assert [look.trials for look in looks(8, 16)] == [8, 16]
    assert looks(10, 10) == only_look(10)


def test_a_look_that_could_claim_nothing_is_left_out() -> None:
    """Six trials have an interval of 96.9% at most, and the first of four looks has to be surer."""
    assert [look.trials for look in looks(6, 30)] == [12, 24, 30]
    assert looks(2, 5) == only_look(5)


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 60), st.integers(0, 500))
def test_looks_share_what_one_would_have(least: int, more: int) -> None:
    planned = looks(least, least + more)
    assert planned[-1].trials == least + more
    assert all(ALPHA / len(planned) <= look.alpha + 1e-9 <= ALPHA + 2e-9 for look in planned)
    assert sum(look.alpha for look in planned) >= ALPHA - 1e-9
    assert all(one.trials < other.trials <= 2 * one.trials for one, other in itertools.pairwise(planned))


def test_before_a_look_no_more_is_claimed_than_it_may() -> None:
    planned = looks(8, 30)
    assert [look_after(planned, trials).trials for trials in (1, 8, 9, 16, 29, 30, 31)] == [8, 8, 16, 16, 30, 30, 30]
