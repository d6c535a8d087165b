"""Verdicts on claims about several places, and on several claims together."""

import dataclasses
import math
from typing import Any

import pytest

from lanelab.analysis.results.claims.verdict import Verdict
from lanelab.analysis.results.layout.model import Fold
from lanelab.analysis.results.sections.claims import behind, below, lines_of
from lanelab.driver.experiment.claim import Claim, ClaimKind, Place, Point, Quantifier
from tests.kit.claim_verdicts import judged, only
from tests.kit.made_claims import LATE, Loads, made_claim, places, with_effect

HELD, DIRECTION, REFUTED, OPEN, UNTESTED = Verdict  # in its order
NOISY = 0.75  # an effect between the region and none, where trials are so noisy that nothing is known


def in_places(*effects: float, sd: float = 0.005) -> Loads:
    each = {
        rtt: with_effect("change", effect, 0.4 if effect == NOISY else sd)
        for rtt, effect in zip((20, 40, 60), effects, strict=True)
    }
    return lambda arm, rtt, number: each[rtt](arm, rtt, number)


@pytest.mark.parametrize(
    ("quantifier", "exceptions", "effects", "verdict"),
    [
        ("every", 0, (0.61, 0.61, 0.61), HELD),
        ("every", 0, (0.61, 0.80, 0.61), DIRECTION),
        ("every", 0, (0.61, 0.61, 1.30), REFUTED),
        ("every", 0, (0.61, 0.80, NOISY), OPEN),
        ("any", 0, (0.61, 1.30, 1.30), HELD),
        ("any", 0, (0.80, 1.30, 1.30), DIRECTION),
        ("any", 0, (1.30, 1.30, 1.30), REFUTED),
        ("any", 0, (NOISY, 1.30, 1.30), OPEN),
        ("all but", 1, (0.61, 0.61, 1.30), HELD),
        ("all but", 1, (0.61, 0.80, 1.30), DIRECTION),
        ("all but", 1, (0.61, 1.30, 1.30), REFUTED),
        ("all but", 1, (0.61, NOISY, 1.30), OPEN),
    ],
)
@pytest.mark.parametrize("beds", [1, 5])
def test_a_claim_about_several_places(
    quantifier: Quantifier, exceptions: int, effects: tuple[float, ...], verdict: Verdict, beds: int
) -> None:
    claim = made_claim(quantifier=quantifier, exceptions=exceptions, at=places("change", 3))
    found = judged(in_places(*effects), claim, beds=beds, rounds=15)
    assert found.verdict == verdict
    assert (found.p is None) == (verdict == OPEN)


def test_a_place_that_was_not_tested_spoils_every_unless_another_refutes_it() -> None:
    missing = Place("elsewhere", (Point("", "b999", "a999", None),))
    claim = made_claim(quantifier="every", at=[*places("change", 2), missing])
    found = judged(with_effect("change", 0.61), claim)
    assert (found.verdict, found.detail) == (UNTESTED, "the run has no cell b999 at elsewhere")
    found = judged(with_effect("change", 1.3), claim)
    assert (found.verdict, found.detail) == (REFUTED, "reversed at page, 20ms and page, 40ms")
    assert judged(with_effect("change", 0.61), dataclasses.replace(claim, quantifier="any")).verdict == HELD


def test_the_place_that_is_not_as_published_is_named() -> None:
    claim = made_claim(quantifier="every", at=places("change", 3))
    assert judged(in_places(0.61, 0.8, 0.61), claim).detail == "magnitude refuted at page, 40ms"
    found = judged(in_places(0.61, 0.8, NOISY), claim)
    assert found.detail == "reproduced in 1, direction only in 1 and inconclusive in 1 of 3 places"


def test_one_place_of_many_has_to_be_further_off_than_one_alone() -> None:
    """Of six rounds that all speak against it p is 2^-5, which is below 5% alone, and not three times."""
    claim = made_claim(quantifier="every", at=places("change", 3))
    assert judged(in_places(0.61, 0.61, 1.0, sd=0.002), claim, rounds=6).verdict == OPEN
    alone = made_claim(at=places("change", 3)[2:])
    assert judged(in_places(0.61, 0.61, 1.0, sd=0.002), alone, rounds=6).verdict == REFUTED


# --- a mean over places


def mean_of(*places_: Place, kind: ClaimKind = "change", **made: Any) -> Claim:
    points = tuple(point for place in places_ for point in place.points)
    return made_claim(kind, quantifier="mean", at=[Place(f"on average over {len(places_)} places", points)], **made)


@pytest.mark.parametrize("beds", [1, 5])
@pytest.mark.parametrize(
    ("effects", "mean"), [((0.61, 0.61, 0.61), 0.61), ((0.5, 0.61, 0.7), 0.598), ((0.9, 0.9, 0.3), 0.624)]
)
def test_a_mean_is_one_number_of_all_its_places(effects: tuple[float, ...], mean: float, beds: int) -> None:
    found = judged(in_places(*effects), mean_of(*places("change", 3)), beds=beds, rounds=15)
    assert found.verdict == HELD
    effect = only(found).effect
    assert effect is not None
    assert effect.value == pytest.approx(mean, rel=0.02)


def test_a_mean_is_known_where_no_single_place_is() -> None:
    """Five rounds of five beds, where trials vary by half of themselves."""
    claim = made_claim(low=None, high=0.95, published=(), at=places("change", 3), quantifier="any")
    noisy = in_places(*[0.61] * 3, sd=0.3)
    assert judged(noisy, claim, beds=5, rounds=5).verdict == OPEN
    together = mean_of(*places("change", 3), low=None, high=0.95, published=())
    assert judged(noisy, together, beds=5, rounds=5).verdict == HELD


def test_a_mean_of_places_that_go_opposite_ways_says_so() -> None:
    claim = mean_of(*places("change", 3), low=0.95, high=1.05, side=0, published=(), equivalent=True)
    found = judged(in_places(0.8, 1.0, 1.25), claim)
    assert (found.verdict, found.detail) == (HELD, "single places go opposite ways")
    assert judged(in_places(1.0, 1.0, 1.0), claim).detail == ""


def test_a_mean_says_what_it_is_over() -> None:
    found = judged(in_places(0.61, 0.61, 0.61), mean_of(*places("change", 3)))
    assert "  The mean is over page, 20ms; page, 40ms; page, 60ms." in behind(found)
    trend = judged(with_effect("trend", 0.61), mean_of(*places("trend"), *places("trend"), kind="trend"))
    assert "  The mean is over page, 20ms to page, 60ms; page, 20ms to page, 60ms." in behind(trend)
    (part,) = (part for part in below(lines_of([found])[0]) if isinstance(part, Fold))
    assert "over page, 20ms; page, 40ms; page, 60ms" in " ".join(map(str, part.parts))
    assert not any("The mean" in line for line in behind(judged(with_effect("change", 0.61), made_claim())))


@pytest.mark.parametrize(("late_arm", "words"), [("b", "at least"), ("a", "at most")])
def test_a_mean_is_told_by_the_bound_of_a_trial_that_timed_out(late_arm: str, words: str) -> None:
    loads = with_effect("change", 0.61, sd=0.05)
    late = judged(
        lambda arm, rtt, number: LATE if (arm, rtt, number) == (late_arm, 40, 3) else loads(arm, rtt, number),
        mean_of(*places("change", 3)),
    )
    effect, whole = only(late).effect, only(judged(loads, mean_of(*places("change", 3)))).effect
    assert late.verdict == HELD
    assert f"{words}: in 1 of 12 rounds a trial timed out" in late.detail
    assert effect is not None
    assert whole is not None
    assert (effect.value > whole.value) == (late_arm == "b")


def test_a_mean_of_which_half_of_the_rounds_timed_out_has_no_end() -> None:
    loads = with_effect("change", 0.61)
    late = judged(
        lambda arm, rtt, number: LATE if arm == "b" and rtt == 40 and number % 2 else loads(arm, rtt, number),
        mean_of(*places("change", 3)),
    )
    effect = only(late).effect
    assert late.verdict == OPEN
    assert effect is not None
    assert effect.interval_95 is not None
    assert effect.interval_95.high == math.inf


def test_rounds_of_a_mean_in_which_both_arms_timed_out_in_one_place_may_be_anything() -> None:
    """The rounds that are left would be those in which the slowest place was quick."""
    loads = with_effect("change", 0.61)
    late = judged(
        lambda arm, rtt, number: LATE if rtt == 60 and number <= 4 else loads(arm, rtt, number),
        mean_of(*places("change", 3)),
    )
    assert late.verdict == OPEN
    assert "more or less: in 4 of 12 rounds a trial timed out" in late.detail


def test_a_mean_has_trends_spikes_and_contrasts_of_each_place() -> None:
    """The same place twice is no other than that place."""
    for kind in ("trend", "spike", "contrast"):
        loads = with_effect(kind, 0.61)
        (place,) = places(kind)
        twice = only(judged(loads, mean_of(place, place, kind=kind))).effect
        once = only(judged(loads, made_claim(kind))).effect
        assert twice is not None
        assert once is not None
        assert twice.value == pytest.approx(once.value)
        assert twice.interval_95 == pytest.approx(once.interval_95)
