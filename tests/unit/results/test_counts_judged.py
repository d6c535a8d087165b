"""Claims about counts, and about loads that timed out, are judged."""

from collections.abc import Sequence

import pytest

from lanelab.analysis.results.claims.verdict import Verdict
from tests.kit.claim_verdicts import DIRECTION, HELD, OPEN, REFUTED, UNTESTED, connections, judged, only
from tests.kit.made_claims import LATE, Loads, made_claim, places, with_effect

# --- counts


@pytest.mark.parametrize(
    ("counts", "region", "verdict", "detail"),
    [
        ((24,), (24, 24), HELD, ""),
        ((23,), (24, 24), REFUTED, "outside in 12 of 12 rounds"),
        ((24, 24, 24, 25), (24, 24), REFUTED, "outside in 3 of 12 rounds"),
        ((4, 5, 6), (4, 6), HELD, ""),
        ((4, 5, 7), (4, 6), REFUTED, "outside in 4 of 12 rounds"),
    ],
)
def test_a_count_without_a_margin_has_to_hold_in_every_trial(
    counts: Sequence[int], region: tuple[int, int], verdict: Verdict, detail: str
) -> None:
    published = tuple(dict.fromkeys(map(float, region)))
    claim = made_claim("value", low=region[0], high=region[1], published=published, metric="connections_used")
    found = judged(with_effect("value", 1.0), claim, **connections(*counts))
    assert (found.verdict, found.detail) == (verdict, detail)
    assert found.p == 0


def test_a_count_that_varies_within_its_margin_is_judged_by_its_interval() -> None:
    claim = made_claim("value", low=20, high=30, published=(24.0,), metric="connections_used")
    assert judged(with_effect("value", 1.0), claim, **connections(24, 25, 31)).verdict == HELD
    assert judged(with_effect("value", 1.0), claim, **connections(24, 31, 33)).verdict == OPEN


def test_a_count_that_never_varies_has_no_interval() -> None:
    claim = made_claim("value", low=24, high=24, published=(24.0,), metric="connections_used")
    effect = only(judged(with_effect("value", 1.0), claim, **connections(24))).effect
    assert effect is not None
    assert effect.value == pytest.approx(24)
    assert (effect.interval_90, effect.interval_95) == (None, None)


def now_and_then(every: int) -> dict[str, object]:
    """24 connections, and 23 in one round of a few, so that every bed has a median of 24."""
    return {"measures": lambda _arm, _rtt, number: {"connections_used": 23.0 if number % every == 0 else 24.0}}


def test_beds_with_the_same_number_leave_it_to_their_rounds() -> None:
    """Beds that agree by chance do not tell how far apart others would be."""
    claim = made_claim("value", low=20, high=30, published=(24.0,), metric="connections_used")
    found = judged(with_effect("value", 1.0), claim, rounds=12, beds=3, **now_and_then(4))
    effect = only(found).effect
    assert found.verdict == HELD
    assert effect is not None
    assert not effect.between_beds
    assert found.p is not None
    assert found.p > 0


def test_beds_with_the_same_number_and_few_rounds_tell_nothing() -> None:
    claim = made_claim("value", low=900, high=1100, published=(1000.0,))
    found = judged(lambda _arm, _rtt, _number: 1000.0, claim, rounds=3, beds=3)
    assert found.verdict == UNTESTED
    assert "exactly the same number" in found.detail


def test_a_count_that_is_mostly_0_on_one_bed_has_no_number_there() -> None:
    claim = made_claim("value", low=2, high=4, published=(3.0,), metric="retransmissions")
    some = {"measures": lambda _arm, _rtt, number: {"retransmissions": 3.0 if number % 4 == 0 or number > 4 else 0.0}}
    found = judged(with_effect("value", 1.0), claim, rounds=12, beds=3, **some)
    assert found.verdict == UNTESTED
    assert "or its value is 0" in found.detail


def test_a_count_that_is_mostly_0_on_every_bed_is_not_3() -> None:
    claim = made_claim("value", low=2, high=4, published=(3.0,), metric="retransmissions")
    some = {"measures": lambda _arm, _rtt, number: {"retransmissions": 3.0 if number % 4 == 0 else 0.0}}
    found = judged(with_effect("value", 1.0), claim, rounds=12, beds=3, **some)
    assert found.verdict == REFUTED
    effect = only(found).effect
    assert effect is not None
    assert not effect.between_beds


def test_a_change_of_a_count_from_zero_to_zero_is_no_change() -> None:
    alike = made_claim(low=0.95, high=1.05, published=(), side=0, equivalent=True, metric="retransmissions")
    nothing = {"measures": lambda _arm, _rtt, _number: {"retransmissions": 0.0}}
    assert judged(with_effect("change", 1.0), alike, **nothing).verdict == HELD
    more = {"measures": lambda arm, _rtt, _number: {"retransmissions": 3.0 if arm == "b" else 0.0}}
    assert judged(with_effect("change", 1.0), alike, **more).verdict == REFUTED


# --- time-outs


def late_in(rounds: Sequence[int], arm: str = "b", effect: float = 1.3) -> Loads:
    usual = with_effect("change", effect)
    return lambda who, rtt, number: LATE if who == arm and number in rounds else usual(who, rtt, number)


def test_a_load_that_timed_out_is_slower_than_every_other() -> None:
    slower = made_claim(low=1.2, high=1.4, published=(1.3,), side=1)
    assert judged(late_in([]), slower).verdict == HELD
    found = judged(late_in([3, 9]), slower)
    measured = only(found).effect
    assert measured is not None
    assert measured.n == 12
    assert measured.interval_95 is not None
    assert measured.interval_95.low > 1.2
    assert judged(late_in([3, 9, 4, 8]), slower).verdict == DIRECTION
    assert judged(late_in(range(1, 13)), slower).verdict == DIRECTION


def test_what_time_outs_leave_open_is_no_question_of_more_rounds() -> None:
    found = judged(late_in([3, 9, 4], effect=0.61), made_claim(at=places("change")))
    assert found.verdict == OPEN
    assert found.detail == "trials that timed out, or whose value is 0, leave its interval without an end"


def test_a_round_in_which_both_timed_out_says_nothing() -> None:
    loads = with_effect("change", 0.61)
    found = judged(lambda arm, rtt, number: LATE if number < 4 else loads(arm, rtt, number), made_claim())
    measured = only(found).effect
    assert found.verdict == HELD
    assert measured is not None
    assert measured.n == 9


def test_a_round_of_a_trend_that_timed_out_at_both_ends_may_be_anything() -> None:
    found = judged(late_in([5]), made_claim("trend"))
    assert (found.verdict, found.detail) == (REFUTED, "more or less: in 1 of 12 rounds a trial timed out")
