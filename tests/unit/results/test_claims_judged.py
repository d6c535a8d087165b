"""Verdicts on claims: every kind, every verdict, every quantifier, and what keeps a claim from being tested."""

import dataclasses
import math

import pytest

from lanelab.analysis.results.claims.claim_family import together
from lanelab.analysis.results.claims.judge import judge
from lanelab.analysis.results.claims.rules import levels_after
from lanelab.analysis.results.claims.several_places import over_looks
from lanelab.analysis.results.claims.verdict import Verdict
from lanelab.analysis.results.layout.data import data_of
from lanelab.analysis.results.model import Failure, Run
from lanelab.analysis.results.sections.claims import behind, summary
from lanelab.analysis.statistics.looks import ALPHA, looks
from lanelab.driver.base.errors import InputError
from lanelab.driver.experiment.claim import Claim, ClaimKind, Place, Point
from lanelab.driver.record.reasons import Reason
from tests.kit.claim_verdicts import DIRECTION, HELD, OPEN, REFUTED, UNTESTED, connections, judged, only
from tests.kit.made_claims import LATE, RTTS, Loads, made_claim, made_run, places, point, with_effect

KINDS: tuple[ClaimKind, ...] = ("change", "trend", "spike", "contrast", "value")


# --- kinds and verdicts


@pytest.mark.parametrize("beds", [1, 3])
@pytest.mark.parametrize(
    ("effect", "sd", "verdict", "detail"),
    [
        (0.61, 0.005, HELD, ""),
        (0.80, 0.005, DIRECTION, "magnitude refuted"),
        (0.69, 0.005, DIRECTION, "magnitude open"),
        (1.30, 0.005, REFUTED, "reversed"),
        (1.00, 0.002, REFUTED, ""),
    ],
)
@pytest.mark.parametrize("kind", ["change", "trend", "spike", "contrast"])
def test_an_effect_has_the_verdict_that_its_intervals_allow(
    kind: ClaimKind, effect: float, sd: float, verdict: Verdict, detail: str, beds: int
) -> None:
    found = judged(with_effect(kind, effect, sd), made_claim(kind), beds=beds)
    assert (found.verdict, found.detail) == (verdict, detail)
    effect_found = only(found).effect
    assert effect_found is not None
    assert effect_found.value == pytest.approx(effect, rel=4 * sd)
    assert effect_found.between_beds == (beds == 3)
    assert (effect_found.n, effect_found.beds) == (12, beds)
    assert found.p is not None
    assert found.p <= 0.05


@pytest.mark.parametrize("beds", [1, 3])
@pytest.mark.parametrize(("effect", "verdict"), [(0.61, HELD), (0.80, REFUTED), (0.40, REFUTED), (0.69, OPEN)])
def test_a_value_has_no_direction(effect: float, verdict: Verdict, beds: int) -> None:
    found = judged(with_effect("value", effect), made_claim("value"), beds=beds)
    assert found.verdict == verdict
    measured = only(found).effect
    assert measured is not None
    assert measured.value == pytest.approx(1000 * effect, rel=0.02)
    assert measured.p_direction == measured.p_reversed == 1


@pytest.mark.parametrize("kind", KINDS)
def test_a_noisy_effect_is_inconclusive_and_says_how_many_rounds_would_settle_it(kind: ClaimKind) -> None:
    found = judged(with_effect(kind, 0.75, 0.4), made_claim(kind))
    assert found.verdict == OPEN
    assert found.p is None
    needed = only(found).rounds_needed
    about = f"about {needed} rounds would probably settle it" if needed else "more than 96 rounds would be needed"
    assert about in found.detail, "8 times as many are the most that are named"


def test_the_rounds_that_would_settle_a_claim_do_so_in_most_runs() -> None:
    few = judged(with_effect("change", 0.61, 0.12), made_claim(), rounds=8)
    needed = only(few).rounds_needed
    assert few.verdict in (OPEN, DIRECTION)
    needed = needed or 40
    settled = [judged(with_effect("change", 0.61, 0.12, seed), made_claim(), rounds=needed) for seed in range(20)]
    assert sum(each.verdict == HELD for each in settled) >= 10


def test_across_beds_the_advice_is_a_number_of_beds() -> None:
    found = judged(with_effect("change", 0.95, 0.2), made_claim(), beds=3)
    assert found.verdict == OPEN
    needed = only(found).rounds_needed
    assert needed is not None
    assert f"about {needed} rounds on {needed // 4} beds" in found.detail


@pytest.mark.parametrize("kind", KINDS)
def test_five_rounds_on_one_bed_are_too_few(kind: ClaimKind) -> None:
    found = judged(with_effect(kind, 0.61), made_claim(kind), rounds=5)
    assert found.verdict == UNTESTED
    assert "too few rounds: 5" in found.detail
    assert judged(with_effect(kind, 0.61), made_claim(kind), rounds=6).verdict == HELD
    assert judged(with_effect(kind, 0.61), made_claim(kind), rounds=3, beds=3).verdict == HELD


def test_a_claim_about_a_direction_alone_takes_a_95_percent_interval_beyond_at_least() -> None:
    lower = made_claim(low=None, high=0.99, published=())
    assert judged(with_effect("change", 0.9), lower).verdict == HELD
    found = judged(with_effect("change", 1.1), lower)
    assert (found.verdict, found.detail) == (REFUTED, "reversed")
    found = judged(with_effect("change", 1.0, 0.001), lower)
    assert (found.verdict, found.detail) == (REFUTED, "")
    assert judged(with_effect("change", 0.99), lower).verdict == OPEN


def test_what_is_not_lower_may_be_higher() -> None:
    for name, low, high, fast, slow in (("not lower", 0.95, None, 0.8, 1.3), ("not higher", None, 1.05, 1.3, 0.8)):
        claim = made_claim(low=low, high=high, published=(), side=0)
        assert judged(with_effect("change", 1.0), claim).verdict == HELD, name
        assert judged(with_effect("change", slow), claim).verdict == HELD, name
        found = judged(with_effect("change", fast), claim)
        assert (found.verdict, found.detail) == (REFUTED, ""), name
    assert judged(with_effect("change", 0.95), made_claim(low=0.95, high=None, published=(), side=0)).verdict == OPEN


def test_equivalence_has_no_direction() -> None:
    alike = made_claim(low=0.95, high=1.05, published=(), side=0, equivalent=True)
    assert judged(with_effect("change", 1.01), alike).verdict == HELD
    assert judged(with_effect("change", 1.2), alike).verdict == REFUTED
    assert judged(with_effect("change", 0.8), alike).verdict == REFUTED
    assert judged(with_effect("change", 1.05), alike).verdict == OPEN


def test_intervals_and_p_values_say_the_same() -> None:
    for seed in range(40):
        for beds in (1, 3):
            place = only(judged(with_effect("change", 0.68, 0.02, seed), made_claim(), beds=beds))
            made = place.effect
            assert made is not None
            assert made.interval_90 is not None
            assert made.interval_95 is not None
            assert (made.p_inside <= 0.05) == (made.interval_90.low > 0.53 and made.interval_90.high < 0.69)
            assert (made.p_direction <= 0.025) == (made.interval_95.high < 0.99)
            assert (made.p_outside <= 0.05) == (made.interval_95.low > 0.69 or made.interval_95.high < 0.53)


def test_what_both_places_of_a_contrast_share_is_no_effect() -> None:
    """b takes 61% of the time of a in both places, and a whole round may be slow in one of them."""
    own = with_effect("change", 0.61, 0.002)

    def loads(arm: str, rtt: int, number: int) -> float:
        return own(arm, rtt, number) * (1 + (number * rtt) % 7)

    found = only(judged(loads, made_claim("contrast", low=0.95, high=1.05, side=0, published=(), equivalent=True)))
    assert found.verdict == HELD
    assert found.effect
    assert found.effect.value == pytest.approx(1, rel=0.005)
    assert len(found.trials) == 4 * 12


# --- what keeps a claim from being tested


def test_a_cell_that_the_run_lacks_is_named() -> None:
    elsewhere = Place("elsewhere", (Point("", "b999", "a999", None),))
    found = judged(with_effect("change", 0.61), made_claim(at=[elsewhere]))
    assert (found.verdict, found.detail) == (UNTESTED, "the run has no cell b999")


def test_a_cell_that_contradicts_its_link_is_not_judged() -> None:
    lossy = {"measures": lambda arm, _rtt, _number: {
        "told_packets_down": 1000.0, "lost_packets_down": 100.0 if arm == "b" else 0.0,
        "overflowed_packets_down": 0.0, "told_packets_up": 0.0, "lost_packets_up": 0.0, "overflowed_packets_up": 0.0,
    }}  # fmt: skip
    found = judged(with_effect("change", 0.61), made_claim(), **lossy)
    assert found.verdict == UNTESTED
    assert "the cell page, 20ms, b is refused: link-loss" in found.detail


def test_a_metric_that_no_trial_has_is_no_effect() -> None:
    found = judged(with_effect("value", 1.0), made_claim("value", metric="connections_used"))
    assert (found.verdict, found.detail) == (UNTESTED, "no trial of page, 20ms, b counts and has the metric")


def test_a_metric_that_this_version_does_not_know_is_refused_with_the_claim() -> None:
    with pytest.raises(InputError, match="the claim made is about 'warp_factor'"):
        judged(with_effect("value", 1.0), made_claim("value", metric="warp_factor"))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("negative", ["a", "b", "ab"])
def test_values_below_0_have_no_ratio(kind: ClaimKind, negative: str) -> None:
    """A start lag is below 0 where a request leaves before the page's last byte has come."""

    def measures(arm: str, rtt: int, number: int) -> dict[str, float]:
        return {"start_lag_ms": (-10.0 if arm in negative else 10.0) * (rtt + number)}

    found = judged(with_effect(kind, 1.0), made_claim(kind, metric="start_lag_ms"), measures=measures)
    compares = any(one.base for one in found.claim.places[0].points)
    if compares or "b" in negative:
        assert (found.verdict, found.detail) == (
            UNTESTED, "the value of a trial is below 0, which has no ratio to another one"
        )  # fmt: skip
    else:
        assert found.verdict != UNTESTED, "it is about b alone"


@pytest.mark.parametrize("kind", ["change", "trend", "spike", "contrast"])
def test_arms_that_were_not_interleaved_are_not_compared(kind: ClaimKind) -> None:
    found = judged(with_effect(kind, 0.61), made_claim(kind), order="sequential")
    assert (found.verdict, found.detail) == (UNTESTED, "arms were not interleaved (order: sequential)")


def drifting(arm: str, rtt: int, number: int) -> float:
    return with_effect("change", 0.61)(arm, rtt, number) * (1 + 0.03 * number)


def test_drift_spoils_values_and_spares_pairs_and_counts() -> None:
    found = judged(drifting, made_claim("value"))
    assert found.verdict == UNTESTED
    assert "page loads became" in found.detail
    assert judged(drifting, made_claim()).verdict == HELD
    count = made_claim("value", low=24, high=24, published=(24.0,), metric="connections_used")
    assert judged(drifting, count, **connections(24)).verdict == HELD


def test_pairs_from_different_beds_count_within_a_run_and_not_across_beds() -> None:
    moved = {"bed_of": lambda arm, number: (number - 1) // 4 + 1 + (arm == "b" and number == 4)}
    measured = only(judged(with_effect("change", 0.61), made_claim(), **moved)).effect
    assert measured is not None
    assert (measured.n, measured.beds, measured.between_beds) == (11, 3, True)


def test_trials_behind_a_verdict_are_those_of_its_cells() -> None:
    run = made_run(with_effect("change", 0.61), claims=[made_claim()])
    place = only(judge(run)[0])
    behind = {trial.cell.id for trial in run.trials if trial.number in place.trials}
    assert behind == {"a20", "b20"}
    assert len(place.trials) == 24


# --- rounds that give no number


def failing(run: Run, cell: str, upto: int) -> Run:
    """The trials of a cell fail in the first rounds."""
    why = (Failure(Reason.MISSING_OBJECT, ""),)
    trials = (
        dataclasses.replace(trial, ok=False, value=None, measures={}, failures=why)
        if trial.cell.id == cell and trial.round <= upto
        else trial
        for trial in run.trials
    )
    return dataclasses.replace(run, trials=tuple(trials))


def test_rounds_in_which_one_arm_failed_are_counted_and_told() -> None:
    """Where the slow trials of one arm fail, the rest of them looks faster than it is."""
    whole = made_run(with_effect("change", 0.61), rounds=20, claims=[made_claim()])
    (found,) = judge(failing(whole, "b20", 8))
    place = only(found)
    assert place.effect is not None
    assert (place.effect.n, place.left_out) == (12, 8)
    assert data_of(place)["rounds_left_out"] == 8
    assert "are left out: 8 of 20 of made. Where slow trials" in summary([found])
    assert any("8 of 20 rounds left out" in line for line in behind(found))
    (sound,) = judge(whole)
    assert only(sound).left_out == 0
    assert "left out" not in summary([sound])
    assert not any("left out" in line for line in behind(sound))


def test_a_failed_trial_of_another_cell_costs_a_claim_no_round() -> None:
    whole = made_run(with_effect("change", 0.61), claims=[made_claim()])
    assert only(judge(failing(whole, "b60", 8))[0]).left_out == 0


def test_rounds_in_which_neither_came_to_its_end_are_counted_too() -> None:
    effect = with_effect("change", 0.61)
    found = judged(lambda arm, rtt, number: LATE if number <= 2 else effect(arm, rtt, number), made_claim())
    assert only(found).left_out == 2


@pytest.mark.parametrize(("kind", "rtt"), [("trend", 60), ("contrast", 40), ("spike", 40)])
def test_what_several_changes_make_may_be_anything_where_neither_arm_of_one_came_to_its_end(
    kind: ClaimKind, rtt: int
) -> None:
    """The rounds that are left would be those in which both were quick."""
    late = judged(late_in("ab", rtt, 4, with_effect(kind, 0.61)), made_claim(kind, at=at_points(kind)))
    assert late.verdict == OPEN
    assert "more or less: in 4 of 12 rounds a trial timed out" in late.detail


def late_in(arms: str, rtt: int, rounds: int, usual: Loads) -> Loads:
    """Loads of which those of these arms timed out over a round trip, in the first rounds."""
    return lambda arm, at, number: LATE if arm in arms and at == rtt and number <= rounds else usual(arm, at, number)


def at_points(kind: ClaimKind) -> tuple[Place, ...]:
    """A spike is of values by default: here of changes."""
    return (Place("page", tuple(point(rtt, base=True) for rtt in RTTS)),) if kind == "spike" else places(kind)


def slower(kind: ClaimKind) -> Claim:
    return made_claim(kind, low=1.2, high=None, side=1, published=(), at=at_points(kind))


@pytest.mark.parametrize(("kind", "rtt"), [("trend", 60), ("contrast", 40), ("spike", 40)])
def test_a_trial_that_timed_out_is_a_bound_of_what_several_changes_make(kind: ClaimKind, rtt: int) -> None:
    claim = slower(kind)
    found = judged(late_in("b", rtt, 2, with_effect(kind, 1.3, sd=0.02)), claim)
    assert found.verdict == HELD
    assert "at least: in 2 of 12 rounds a trial timed out" in found.detail
    base = judged(late_in("a", rtt, 2, with_effect(kind, 1.3, sd=0.02)), claim)
    assert "at most: in 2 of 12 rounds a trial timed out" in base.detail


def test_a_place_that_counts_for_nothing_may_time_out() -> None:
    """The middle one of three says nothing of a trend."""
    found = judged(late_in("ab", 40, 4, with_effect("trend", 0.61)), made_claim("trend"))
    assert (found.verdict, found.detail) == (HELD, "")


@pytest.mark.parametrize(("beds", "verdict"), [(12, HELD), (6, HELD), (5, UNTESTED)])
def test_over_beds_a_bound_takes_ranks_and_so_six_beds(beds: int, verdict: Verdict) -> None:
    """Student's t of a number that may lie anywhere beyond is none."""
    usual = with_effect("contrast", 1.5, sd=0.02)
    found = judged(late_in("b", 40, 1, usual), slower("contrast"), rounds=beds, beds=beds)
    assert found.verdict == verdict
    assert ("by ranks of beds, since a trial timed out" in found.detail) == (verdict == HELD)
    assert ("a verdict by ranks takes 6 beds" in found.detail) == (verdict == UNTESTED)


@pytest.mark.parametrize("beds", [1, 8])
@pytest.mark.parametrize(("late_arm", "side"), [("b", 1), ("b", -1), ("a", 1), ("a", -1)])
def test_bounds_of_trials_that_timed_out_are_wrong_no_more_often_than_numbers(
    late_arm: str, side: int, beds: int
) -> None:
    """A fifth of the loads in one cell takes longer than the 60 s that they have, and there is no effect."""
    claim = made_claim(
        "contrast", low=1.001 if side > 0 else None, high=None if side > 0 else 0.999, side=side, published=()
    )
    held, runs = 0, 300
    for seed in range(runs):
        usual = with_effect("contrast", 1.0, sd=0.4, seed=seed)

        def loads(arm: str, rtt: int, number: int, usual: Loads = usual) -> float:
            took = 43 * usual(arm, rtt, number)
            return LATE if took > 60_000 and (arm, rtt) == (late_arm, 40) else took

        held += judged(loads, claim, rounds=8, beds=beds).verdict in (HELD, DIRECTION)
    assert held / runs <= 0.025 + 4 * math.sqrt(0.025 * 0.975 / runs)


def test_a_value_whose_trials_failed_says_so() -> None:
    value = made_claim("value")
    run = failing(made_run(with_effect("value", 0.61), rounds=20, claims=[value]), "b20", 5)
    assert only(judge(run)[0]).left_out == 5


# --- several looks


def test_a_run_that_may_have_looked_before_needs_more() -> None:
    planned = looks(8, 30)
    alone = judged(with_effect("change", 0.685, 0.005), made_claim(), rounds=8)
    watched = judged(with_effect("change", 0.685, 0.005), made_claim(), rounds=8, looks=planned)
    one, other = only(alone).effect, only(watched).effect
    assert one is not None
    assert other is not None
    assert one.interval_95 is not None
    assert other.interval_95 is not None
    assert other.interval_95.high >= one.interval_95.high
    assert other.interval_90 is not None
    assert one.interval_90 is not None
    assert other.interval_90.high >= one.interval_90.high
    assert alone.p is not None
    assert watched.p is None or watched.p > alone.p


def test_every_verdict_of_a_look_has_a_p_of_at_most_5_percent() -> None:
    """And one that is good for all looks: a smaller one takes a factor."""
    levels = levels_after(looks(8, 30), 8)
    assert levels.looks > 1
    assert over_looks(ALPHA, levels) == ALPHA
    assert over_looks(0.001, levels) == 0.001 * levels.looks
    assert over_looks(0.06, levels) > ALPHA


def test_six_rounds_of_a_run_with_several_looks_are_too_few() -> None:
    assert judged(with_effect("change", 0.61), made_claim(), rounds=6, looks=looks(8, 30)).verdict == UNTESTED


# --- claims that were edited


def test_claims_are_held_against_those_of_the_run() -> None:
    kept = [made_claim(name="kept"), made_claim(name="moved"), made_claim(name="gone")]
    run = made_run(with_effect("change", 0.61), claims=kept)
    assert [each.changed for each in judge(run)] == [False, False, False]
    now = [kept[0], dataclasses.replace(kept[1], high=0.75), made_claim(name="added")]
    assert [(each.claim.name, each.changed) for each in judge(run, now)] == [
        ("kept", False), ("moved", True), ("added", True)
    ]  # fmt: skip
    assert judge(run, now)[1].claim.high == 0.75


def test_claims_that_were_edited_in_the_run_itself_are_marked() -> None:
    run = made_run(with_effect("change", 0.61), claims=[made_claim()])
    assert [each.changed for each in judge(dataclasses.replace(run, claims_digest="0" * 64))] == [True]


# --- all together


def test_verdicts_together_are_adjusted_and_those_that_were_not_tested_are_not_counted() -> None:
    claims = [
        made_claim(name="holds"),
        made_claim(name="count", kind="value", low=24, high=24, published=(24.0,), metric="connections_used"),
        made_claim(name="nowhere", at=[Place("", (point(999, base=True),))]),
    ]
    run = made_run(with_effect("change", 0.61), claims=claims, measures=connections(24)["measures"])  # type: ignore[arg-type]
    found = judge(run)
    whole = together(found)
    assert whole.tested == 2
    assert whole.false_at_most == pytest.approx(0.1)
    assert whole.adjusted == (found[0].p, 0.0, None)


def test_an_inconclusive_claim_counts_among_those_that_were_tested() -> None:
    claims = [made_claim(name="one"), made_claim(name="open", low=0.61, high=0.69)]
    found = judge(made_run(with_effect("change", 0.61, 0.002), claims=claims))
    first = found[0].p
    assert [each.verdict for each in found] == [HELD, DIRECTION]
    undecided = dataclasses.replace(found[1], verdict=OPEN, p=None)
    whole = together([found[0], undecided])
    assert first is not None
    assert whole.adjusted == (2 * first, None)
    assert whole.tested == 2
