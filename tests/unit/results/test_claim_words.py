"""Verdicts on claims in words: joined to their detail, with what an interval is across and what it leaves out."""

import dataclasses

import pytest

from lanelab.analysis.results.claims.claim_family import wrong_by_chance
from lanelab.analysis.results.claims.estimates import OverBeds
from lanelab.analysis.results.claims.missing_rounds import numbers_needed
from lanelab.analysis.results.claims.rules import Levels
from lanelab.analysis.results.claims.verdict import Effect, Interval, Judged, JudgedPlace, Verdict
from lanelab.analysis.results.claims.words import base_words, effect_words, estimate_words, verdict_words
from tests.kit.made_claims import made_claim as made_value
from tools.simulations.claims import equivalent, made_claim

ALONE = Effect(8, 1, False, 0.9, Interval(0.8, 1.0), Interval(0.7, 1.1), 0.5, 0.5, 0.5, 0.5)
OVER = dataclasses.replace(ALONE, n=12, beds=3, between_beds=True)
RANKED = dataclasses.replace(OVER, by_ranks=True)
COUNT = dataclasses.replace(ALONE, interval_90=None, interval_95=None)


def judged(*effects: Effect | None) -> Judged:
    claim = made_claim()
    places = tuple(JudgedPlace(claim.places[0], Verdict.INCONCLUSIVE, "", each, (), None) for each in effects)
    return Judged(claim, Verdict.INCONCLUSIVE, "", None, places, "", changed=False)


def test_a_verdict_is_joined_to_its_detail() -> None:
    assert verdict_words(Verdict.INCONCLUSIVE, "in all 3 places") == "inconclusive in all 3 places"
    assert verdict_words(Verdict.REPRODUCED, "in 2 of 3 places") == "reproduced in 2 of 3 places"
    assert verdict_words(Verdict.NOT_REPRODUCED, "reversed") == "not reproduced: reversed"
    assert verdict_words(Verdict.REPRODUCED, "") == "reproduced"


def test_an_interval_of_one_bed_says_by_how_much_it_is_too_narrow() -> None:
    assert base_words(OVER) == "3 beds"
    assert base_words(dataclasses.replace(OVER, unit="machine")) == "3 machines"
    assert base_words(COUNT) == "this run alone"
    assert base_words(ALONE) == (
        "this run alone; if beds differ as much as rounds do, it is 3.0 times too narrow for what other beds would give"
    )
    assert "2.2 times too narrow" in base_words(dataclasses.replace(ALONE, beds=2))


@pytest.mark.parametrize(
    ("value", "words"),
    [(39.9, "39.9 ms"), (999.4, "999 ms"), (999.5, "1,000 ms"), (999.96, "1,000 ms"), (1e3, "1,000 ms")],
)
def test_a_value_has_three_digits_that_count_and_no_power_of_ten(value: float, words: str) -> None:
    assert effect_words(made_value("value"), value) == words


@pytest.mark.parametrize(
    ("effects", "parts"),
    [
        ((), []),
        ((None, COUNT), []),
        ((OVER,), ["Effects over beds are the mean of one number for each bed"]),
        ((RANKED,), ["Effects by ranks of beds are the middle of one number for each bed (pseudo-median)."]),
        ((OVER, RANKED), ["Effects over beds are the mean", "Effects by ranks of beds are the middle"]),
        (
            (ALONE, OVER),
            ["mean of one number for each bed", "middle of its rounds", "3.0 times too narrow", "(8 rounds)"],
        ),
    ],
)
def test_a_table_of_claims_names_its_estimates(effects: tuple[Effect | None, ...], parts: list[str]) -> None:
    words = estimate_words([judged(*effects)])
    assert all(part in words for part in parts)
    assert bool(words) == bool(parts)
    assert ("mean" in words) == (OVER in effects), "nothing is called a mean that is none"


def test_how_many_verdicts_are_wrong_by_chance() -> None:
    assert wrong_by_chance(0.3, 6) == "On average at most 0.3 of these 6 verdicts are wrong by chance."
    assert wrong_by_chance(0.05, 1) == ""


@pytest.mark.parametrize(("sd", "needed"), [(0.05, 8), (0.09, 23), (0.11, None), (1.0, None)])
def test_how_many_beds_would_tell_is_said_up_to_eight_times_as_many(sd: float, needed: int | None) -> None:
    """Of no effect within 5%. With an effect that lies nearer to the edge than its own standard error nobody can say
    how far it lies."""
    assert numbers_needed(equivalent(made_claim()), OverBeds([-sd, 0.0, sd]), Levels()) == needed
