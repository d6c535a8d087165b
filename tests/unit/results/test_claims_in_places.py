"""Verdicts on claims about several places, and on several claims together."""

import dataclasses

import pytest

from lanelab.analysis.results.claims.verdict import Verdict
from lanelab.driver.experiment.claim import Place, Point, Quantifier
from tests.kit.claim_verdicts import judged
from tests.kit.made_claims import Loads, made_claim, places, with_effect

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
