"""Why a verdict on a claim is what it is: in which parts of a load its difference lies."""

import pytest

from lanelab.driver.experiment.claim import Claim, ClaimKind, Place
from lanelab.driver.record.evidence.parts import Part
from tests.kit.claim_verdicts import judged
from tests.kit.made_claims import made_claim, places, with_effect


def parts(**own: float) -> dict[str, float]:
    return {part.measure: own.get(part.value, 0.0) for part in Part}


def explained(kind: ClaimKind, claim: Claim) -> str:
    """b takes 100 ms of TLS more than a, waits 150 ms less for each 20 ms of round trip, and 40 ms at 40 ms alone."""

    def made(arm: str, rtt: int, number: int) -> dict[str, float]:
        if arm == "a":
            return parts(wait=1000.0, transmission=500.0 + number)
        recovery = 40.0 if rtt == 40 else 0.0
        return parts(tls=100.0, wait=1000 - 7.5 * rtt, transmission=500.0 + number, recovery=recovery)

    def loads(arm: str, rtt: int, number: int) -> float:
        return sum(made(arm, rtt, number).values())

    assert claim.kind == kind
    return judged(loads, claim, measures=made).why


def test_why_says_in_which_parts_the_difference_lies() -> None:
    assert explained("change", made_claim()) == "waiting -150 ms, TLS +100 ms; together -50 ms"


def test_why_of_a_trend_says_what_grows() -> None:
    assert explained("trend", made_claim("trend")) == "waiting -300 ms; together -300 ms"


def test_why_of_a_spike_says_what_stands_out() -> None:
    assert explained("spike", made_claim("spike")) == "recovery from loss +40 ms; together +40 ms"


def test_why_of_a_contrast_says_what_the_one_difference_has_more_than_the_other() -> None:
    assert explained("contrast", made_claim("contrast")) == (
        "waiting -150 ms, recovery from loss +40 ms; together -110 ms"
    )


def test_why_of_several_places_is_of_the_first_and_the_last() -> None:
    found = explained("change", made_claim(quantifier="every", at=places("change", 3)))
    assert found == (
        "page, 20ms: waiting -150 ms, TLS +100 ms; together -50 ms; "
        "page, 60ms: waiting -450 ms, TLS +100 ms; together -350 ms"
    )


def test_why_says_where_its_milliseconds_go_another_way_than_the_ratio() -> None:
    """Two places of half the time each, and one of ten times the time that takes a fifth longer."""

    def loads(arm: str, rtt: int, number: int) -> float:
        base, factor = (10_000.0 + number, 1.2) if rtt == 40 else (1000.0 + number, 0.5)
        return base * (factor if arm == "b" else 1.0)

    def made(arm: str, rtt: int, number: int) -> dict[str, float]:
        return parts(transmission=loads(arm, rtt, number))

    points = tuple(point for place in places("change", 3) for point in place.points)
    mean = made_claim(quantifier="mean", at=[Place("on average over 3 places", points)])
    found = judged(loads, mean, measures=made)
    effect = found.places[0].effect
    assert effect is not None
    assert effect.value == pytest.approx(0.67, abs=0.01)
    assert "together +332 ms (the ratio goes the other way" in found.why
    assert "other way" not in judged(loads, made_claim(), measures=made).why


def test_why_of_a_count_says_what_both_arms_moved() -> None:
    def moved(arm: str, _rtt: int, _number: int) -> dict[str, float]:
        used = 1.0 if arm == "b" else 24.0
        return {"requests": 24.0, "connections_used": used, "bytes": 1_218_000.0}

    claim = made_claim(metric="connections_used")
    assert judged(with_effect("change", 1.0), claim, measures=moved).why == (
        "b, 20ms: 1 connection used, 24 requests, 1,218 kB both ways; "
        "a, 20ms: 24 connections used, 24 requests, 1,218 kB both ways"
    )


def test_why_is_silent_where_nothing_is_known() -> None:
    assert judged(with_effect("change", 0.61), made_claim()).why == ""
