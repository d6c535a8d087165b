"""Rounds whose trials were made on several beds, as after a kill."""

from lanelab.analysis.results.claims.place import judge_place
from lanelab.analysis.results.claims.rules import levels_after
from lanelab.analysis.results.claims.samples import Observed
from lanelab.analysis.results.claims.verdict import Verdict
from lanelab.analysis.statistics.looks import only_look
from tests.kit.made_study import claims


def test_a_round_that_was_made_on_two_beds_alone_is_too_little() -> None:
    change = claims(1)[0]
    observed = [Observed(round=1, bed=None, log=-0.4, trials=(1, 2))]
    judged = judge_place(change, change.places[0], observed, levels_after(only_look(1), 1), whole=False)
    assert judged.verdict == Verdict.NOT_TESTED
    assert "too few rounds: 1" in judged.detail
    assert judged.trials == (1, 2)
