"""Verdicts on what a self-test measured."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lanelab.driver.link import results
from lanelab.driver.link.results import SelfTest


def test_within_tolerance_is_ok_and_beyond_is_out() -> None:
    assert results.within("rtt", "ms", 40, 40.5, 0.5).verdict == "ok"
    assert results.within("rtt", "ms", 40, 40.51, 0.5).verdict == "out"
    assert results.within("rtt", "ms", 40, 39.49, 0.5).verdict == "out"


def test_a_failure_names_the_property_and_by_how_much() -> None:
    test = SelfTest((results.within("rtt", "ms", 40, 43.25, 0.5), results.within("rate up", "Mbit/s", 1, 1, 0.01)), 1.0)
    assert not test.passed
    assert test.failures == ["rtt is 43.25 ms, wanted 40.00 (off by +3.25; tolerated: 39.50 to 40.50)"]


def test_what_was_not_measured_or_has_no_target_does_not_fail_a_link() -> None:
    test = SelfTest(
        (results.not_measured("queue up", "packets", 900, "takes long"), results.shown("rtt deviation", "ms", 3)), 1.0
    )
    assert test.passed


def test_what_never_arrived_fails_a_link() -> None:
    test = SelfTest((results.failed("rtt", "ms", 40, "of 40 packets 0 came back"),), 1.0)
    assert test.failures == ["rtt: of 40 packets 0 came back"]


def test_it_goes_through_json_unchanged() -> None:
    test = SelfTest((results.chance("loss up", 0.01, 9, 1000), results.within("rtt", "ms", 40, 41, 0.5)), 2.5)
    assert SelfTest.from_json(test.to_json()) == test


@given(st.integers(0, 1000), st.integers(1, 10**6), st.sampled_from([1.0, 1.96, 3.29]))
def test_an_interval_holds_the_share_it_is_of(events: int, trials: int, z: float) -> None:
    events = min(events, trials)
    low, high = results.wilson(events, trials, z)
    assert 0 <= low <= events / trials + 1e-12
    assert events / trials - 1e-12 <= high <= 1


def test_the_interval_is_wilsons() -> None:
    """Ten of a hundred: the textbook's example."""
    low, high = results.wilson(10, 100, results.Z_95)
    assert (round(low, 4), round(high, 4)) == (0.0552, 0.1744)


@given(st.floats(0.001, 0.5), st.integers(100, 100_000))
def test_exactly_the_expected_number_of_losses_is_always_ok(share: float, trials: int) -> None:
    verdict = results.chance("loss", share, round(share * trials), trials).verdict
    assert verdict in ("ok", "not measured")


@pytest.mark.parametrize(("events", "verdict"), [(0, "out"), (10, "out"), (30, "ok"), (70, "out")])
def test_far_too_many_or_too_few_losses_are_out(events: int, verdict: str) -> None:
    assert results.chance("loss", 0.01, events, 3000).verdict == verdict


@pytest.mark.parametrize(("events", "verdict"), [(0, "not measured"), (1, "not measured"), (20, "out")])
def test_a_chance_that_cannot_be_told_from_none_is_not_measured(events: int, verdict: str) -> None:
    result = results.chance("loss", 0.001, events, 1000)
    assert result.verdict == verdict
    if verdict == "not measured":
        assert "needs 7599 packets: --thorough" in result.note


@given(st.floats(0.0001, 0.5), st.integers(100, 100_000))
def test_a_chance_is_ok_only_where_none_would_be_out(share: float, trials: int) -> None:
    if results.chance("loss", share, round(share * trials), trials).verdict == "ok":
        assert results.chance("loss", share, 0, trials).verdict == "out"


@pytest.mark.parametrize(("events", "verdict"), [(0, "ok"), (1, "ok"), (10, "out"), (300, "out")])
def test_losses_that_nobody_asked_for_are_out_if_more_than_a_trace(events: int, verdict: str) -> None:
    assert results.chance("loss", 0, events, 500).verdict == verdict


def test_bunched_losses_tell_less() -> None:
    assert results.chance("loss", 0.01, 55, 3000).verdict == "out"
    assert results.chance("loss", 0.01, 55, 3000, bunched=2.7).verdict == "ok"


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "-"), (0, "0"), (40.123, "40.12"), (0.0123456, "0.01235"), (1234.5, "1234"), (-0.5, "-0.5000")],
)
def test_numbers_have_four_digits(value: float | None, text: str) -> None:
    assert results.number(value) == text


def test_the_tolerated_range_of_a_chance_is_around_its_target() -> None:
    result = results.chance("loss", 0.01, 30, 3000)
    assert result.low is not None
    assert result.high is not None
    assert result.low < 1 < result.high
    assert math.isclose(result.achieved or 0, 1)
