"""Rounds whose trials were made on several beds, as after a kill."""

from lanelab.analysis.results.claims.place import judge_place
from lanelab.analysis.results.claims.rules import levels_after
from lanelab.analysis.results.claims.samples import Observed
from lanelab.analysis.results.claims.verdict import Verdict
from lanelab.analysis.results.claims.words import base_words, estimate_words
from lanelab.analysis.results.sections.claims import summary
from lanelab.analysis.statistics.looks import only_look
from tests.kit.claim_verdicts import judged, only
from tests.kit.made_claims import made_claim, with_effect
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
