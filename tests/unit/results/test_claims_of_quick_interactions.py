"""Claims about `inp` of a step: an interaction too quick to be told took at most 16 ms, and is not left out."""

from collections.abc import Callable, Mapping

import pytest

from lanelab.analysis.results.claims.judge import judge
from lanelab.analysis.results.claims.verdict import Judged
from lanelab.driver.experiment.claim import Claim, ClaimKind
from tests.kit.claim_verdicts import DIRECTION, HELD, OPEN, REFUTED, UNTESTED, only
from tests.kit.made_claims import made_claim, made_run, with_effect

QUICK, SLOW = 0.0, 40.0  # of a quick interaction nothing is told
Took = Callable[[str, int], float]  # of an arm and a round: what its interaction took


def found(took: Took, claim: Claim, rounds: int = 12) -> Judged:
    """The verdict where browsers tell interactions from 16 ms on."""

    def measures(arm: str, _rtt: int, number: int) -> Mapping[str, float]:
        latency_ms = took(arm, number)
        return {"inp_ms@go": max(latency_ms, 16.0), "inp_censored@go": float(latency_ms < 16)}

    return judge(made_run(with_effect("change", 1), rounds=rounds, claims=[claim], measures=measures))[0]


def of_inp(
    kind: ClaimKind = "change", *, low: float | None, high: float | None, side: int = -1, told: float = 0.0
) -> Claim:
    published = (told,) if told else ()
    return made_claim(kind, low=low, high=high, side=side, published=published, metric="inp@go")


LOWER, HIGHER = of_inp(low=None, high=0.99), of_inp(low=1.01, high=None, side=1)


def slow_in(slow: str) -> Took:
    """One arm takes 40 or 48 ms, the other one is too quick to be told."""
    return lambda arm, number: SLOW + 8 * (number % 2) if arm == slow else QUICK


def test_an_arm_that_is_too_quick_to_be_told_is_lower_by_at_least_so_much() -> None:
    lower = found(slow_in("a"), LOWER)
    assert lower.verdict == HELD
    assert "at most: in 12 of 12 rounds interactions were too quick to be told" in lower.detail
    effect = only(lower).effect
    assert effect
    assert effect.interval_95
    assert effect.interval_95.low == 0, "how much lower nobody knows"
    assert effect.interval_95.high < 0.5
    assert found(slow_in("a"), of_inp(low=0.3, high=0.45, told=0.4)).verdict == DIRECTION
    assert found(slow_in("a"), HIGHER).verdict == REFUTED


def test_a_base_that_is_too_quick_to_be_told_makes_the_arm_higher_by_at_least_so_much() -> None:
    higher = found(slow_in("b"), HIGHER)
    assert higher.verdict == HELD
    assert "at least: in 12 of 12 rounds interactions were too quick to be told" in higher.detail
    assert found(slow_in("b"), LOWER).verdict == REFUTED


def test_two_arms_that_are_too_quick_to_be_told_are_not_compared() -> None:
    both = found(lambda _arm, _round: QUICK, LOWER)
    assert both.verdict == UNTESTED
    assert "in each round, on both sides, interactions were too quick to be told" in both.detail


def test_the_rounds_in_which_one_arm_was_slow_do_not_stand_for_all() -> None:
    """In 8 of 20 rounds one arm is slow: of the other 12 nobody knows which is quicker."""
    seldom = found(lambda arm, number: SLOW if arm == "b" and number % 5 < 2 else QUICK, HIGHER, rounds=20)
    assert seldom.verdict == OPEN
    assert "at least: in 8 of 20 rounds" in seldom.detail
    assert "more or less: in 12 of 20 rounds" in seldom.detail


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [(30.0, 50.0, REFUTED), (5.0, 20.0, OPEN)],
)
def test_a_number_that_is_too_small_to_be_told_is_at_most_that(low: float, high: float, verdict: object) -> None:
    claim = of_inp("value", low=low, high=high, told=(low + high) / 2)
    assert found(lambda _arm, _round: QUICK, claim).verdict == verdict


def test_a_contrast_is_not_known_where_something_is_too_quick_to_be_told() -> None:
    contrast = found(slow_in("a"), made_claim("contrast", metric="inp@go"))
    assert contrast.verdict == UNTESTED
    assert "interactions were too quick to be told, so the contrast is not known" in contrast.detail
