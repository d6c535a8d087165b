"""Claims over beds: rounds that several made, as after a kill, beds that differ, and beds of which one is endless."""

import math
import random
from collections.abc import Sequence

import pytest

from lanelab.analysis.results.claims.place import judge_place
from lanelab.analysis.results.claims.rules import levels_after
from lanelab.analysis.results.claims.samples import Observed
from lanelab.analysis.results.claims.verdict import Verdict
from lanelab.analysis.results.claims.words import base_words, estimate_words
from lanelab.analysis.results.sections.claims import summary
from lanelab.analysis.statistics.looks import only_look
from tests.kit.claim_verdicts import DIRECTION, HELD, OPEN, UNTESTED, judged, only
from tests.kit.made_claims import LATE, Loads, made_claim, with_effect
from tests.kit.made_study import claims


def test_a_round_that_was_made_on_two_beds_alone_is_too_little() -> None:
    change = claims(1)[0]
    observed = [Observed(round=1, bed=None, log=-0.4, trials=(1, 2))]
    found = judge_place(change, change.places[0], observed, levels_after(only_look(1), 1), whole=False)
    assert found.verdict == Verdict.NOT_TESTED
    assert "too few rounds: 1" in found.detail
    assert found.trials == (1, 2)


def test_a_verdict_on_rounds_that_two_beds_made_together_can_be_shown() -> None:
    """As in a sweep on one machine, whose beds share the links of a round: no bed has a number of its own."""
    found = judged(with_effect("change", 0.61), made_claim(), bed_of=lambda arm, _number: 1 + (arm == "b"))
    assert found.verdict == Verdict.REPRODUCED
    effect = only(found).effect
    assert effect is not None
    assert (effect.n, effect.beds, effect.between_beds) == (12, 1, False)
    assert base_words(effect).startswith("this run alone")
    assert "this run alone" in estimate_words([found])


def test_rounds_that_beds_shared_are_not_told_as_rounds_without_a_number() -> None:
    """None of their trials failed: it is no slow ones that are missing."""

    def bed_of(arm: str, number: int) -> int:
        return (number + (arm == "b" and number <= 6)) % 3 + 1

    found = judged(with_effect("change", 0.61), made_claim(), beds=3, bed_of=bed_of)
    place = only(found)
    assert place.effect is not None
    assert (place.effect.n, place.effect.beds, place.left_out) == (6, 3, 0)
    assert "give no number" not in summary([found])


# --- how many would tell


@pytest.mark.parametrize(
    ("sd", "needed", "words"),
    [
        (0.09, 92, "about 92 rounds on 23 beds would probably settle it"),
        (0.11, None, "more than 96 rounds on 24 beds would be needed, if the effect is where it seems to be"),
    ],
)
def test_more_beds_than_eight_times_as_many_are_not_counted(sd: float, needed: int | None, words: str) -> None:
    """Of no effect within 5%, by three beds of four rounds each: 269 beds would be no more than a guess."""
    alike = made_claim(low=0.95, high=1.05, published=(), side=0, equivalent=True)
    observed = [Observed(4 * bed + n, bed + 1, sd * (bed - 1), (n,)) for bed in range(3) for n in range(1, 5)]
    found = judge_place(alike, alike.places[0], observed, levels_after(only_look(12), 12), whole=False)
    assert (found.verdict, found.rounds_needed, found.detail) == (OPEN, needed, words)


# --- beds that are used one after the other, and values


def slower_by(factors: Sequence[float], rounds: int, seed: int = 5) -> Loads:
    """Loads of 610 ms where each bed takes longer by a factor of its own."""
    usual = with_effect("value", 0.61, 0.005, seed)
    return lambda arm, rtt, number: usual(arm, rtt, number) * factors[(number - 1) * len(factors) // rounds]


def test_beds_that_differ_are_no_drift_of_a_value_over_them() -> None:
    """Of beds whose own standard deviation is 2%, a third come in order, which looks like drift of the run."""
    rng, untested, runs = random.Random(1), 0, 40
    wide = made_claim("value", low=0.4, high=0.9)
    for seed in range(runs):
        beds = [rng.lognormvariate(0, 0.02) for _ in range(3)]
        untested += judged(slower_by(beds, 9, seed), wide, rounds=9, beds=3).verdict == UNTESTED
    assert untested <= 2, "1% of runs without drift, by the test for it"


def test_what_beds_differ_by_is_in_the_interval_of_a_value() -> None:
    rising = slower_by([0.97, 1.0, 1.03], 12)
    found = only(judged(rising, made_claim("value"), rounds=12, beds=3))
    assert found.effect is not None
    assert found.effect.interval_95 is not None
    assert found.effect.between_beds
    assert found.effect.interval_95.low < 0.97 * 610
    assert found.effect.interval_95.high > 1.03 * 610
    alone = judged(rising, made_claim("value"), rounds=12, bed_of=lambda _arm, _number: 1)
    assert (alone.verdict, "of the run to its end" in alone.detail) == (UNTESTED, True), "of one bed it is drift"


def test_a_value_that_drifts_on_each_bed_is_not_tested() -> None:
    usual = with_effect("value", 0.61)
    found = judged(
        lambda arm, rtt, number: usual(arm, rtt, number) * (1 + 0.02 * ((number - 1) % 6)),
        made_claim("value"), rounds=18, beds=3,
    )  # fmt: skip
    assert found.verdict == UNTESTED
    assert "slower from the beginning of a bed to its end" in found.detail


def test_a_run_that_drifts_from_bed_to_bed_gives_few_false_verdicts() -> None:
    """The truth is the mean over the time of the run, at the edge of the region."""
    claim = made_claim("value")
    rng, levels, false, runs = random.Random(1), levels_after(only_look(12), 12), 0, 400
    for _ in range(runs):
        observed = [
            Observed(n, (n - 1) // 4 + 1, math.log(690) + 0.03 * (n - 6.5) / 6 + rng.gauss(0, 0.01), (n,))
            for n in range(1, 13)
        ]
        false += judge_place(claim, claim.places[0], observed, levels, whole=False).verdict == HELD
    assert false / runs <= 0.05 + 4 * math.sqrt(0.05 * 0.95 / runs)


# --- beds of which one is endless

SLOWER = made_claim(low=1.2, high=1.4, side=1, published=(1.3,))


def late_on(beds: Sequence[int], rounds: int, of: int) -> Loads:
    """Loads that take 30% longer in one arm, and time out in it on some of the beds."""
    usual = with_effect("change", 1.3)
    return lambda arm, rtt, number: (
        LATE if arm == "b" and (number - 1) * of // rounds + 1 in beds else usual(arm, rtt, number)
    )


@pytest.mark.parametrize(
    ("beds", "late", "verdict"),
    [(6, [2], DIRECTION), (8, [2, 5], DIRECTION), (12, [2], HELD), (6, [1, 2, 3], DIRECTION)],
)
def test_a_bed_that_timed_out_is_slower_than_every_other(beds: int, late: list[int], verdict: Verdict) -> None:
    found = judged(late_on(late, 2 * beds, beds), SLOWER, rounds=2 * beds, beds=beds)
    effect = only(found).effect
    assert found.verdict == verdict
    assert effect is not None
    assert (effect.between_beds, effect.beds, effect.n) == (True, beds, 2 * beds)
    assert f"by ranks of beds, since on {len(late)} of {beds} beds half of the rounds" in found.detail
    assert "mean" not in estimate_words([found])
    assert "by ranks of beds are the middle" in estimate_words([found])


def test_three_beds_of_which_one_is_endless_settle_nothing() -> None:
    """Whatever its number is: Student's t of one that lies far off is 1."""
    found = judged(late_on([1], 12, 3), SLOWER, rounds=12, beds=3)
    assert found.verdict == UNTESTED
    assert "on 1 of 3 beds half of the rounds or more have no number" in found.detail
    assert "whatever they come to, a verdict by ranks takes 6 beds" in found.detail
    late = late_on([1], 12, 3)
    assert judged(lambda arm, rtt, number: min(late(arm, rtt, number), 1e6), SLOWER, beds=3).verdict == OPEN


def test_beds_that_are_endless_alike_leave_it_to_their_rounds() -> None:
    found = judged(late_on([1, 2, 3], 12, 3), SLOWER, rounds=12, beds=3)
    effect = only(found).effect
    assert found.verdict == DIRECTION
    assert effect is not None
    assert not effect.between_beds
