"""Loads that broke and were tried again: those that are left are the ones that did not break, so a verdict has to hold
without them and with them as slower than all others."""

import io
import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from lanelab.analysis.results import export, tables
from lanelab.analysis.results.against import sentences
from lanelab.analysis.results.claims.judge import judge
from lanelab.analysis.results.claims.verdict import JudgedPlace, Verdict
from lanelab.analysis.results.compare_runs import against
from lanelab.analysis.results.layout.data import data_of
from lanelab.analysis.results.model import Run
from lanelab.analysis.results.pooled_places import pooled
from lanelab.analysis.results.report.page import page
from lanelab.analysis.results.run_folder import read_run
from lanelab.analysis.results.sections.claims import behind, summary
from lanelab.analysis.results.sections.findings import findings, warnings
from lanelab.analysis.results.sections.of_run import results_on_terminal
from lanelab.analysis.statistics import Comparison
from lanelab.driver.experiment.claim import ClaimKind
from lanelab.driver.record.reasons import Reason, broke, timed_out
from tests.kit.claim_verdicts import DIRECTION, HELD, OPEN, UNTESTED, judged, only
from tests.kit.made_claims import Breaks, made_claim, made_run, noise, point, with_effect
from tests.kit.made_run import ARMS, Made, make_run

TWO = {"http": ARMS["http"], "h2": ARMS["h2"]}
ROUNDS = 12


# --- what a load that broke is


@pytest.mark.parametrize(
    "reasons",
    [
        [Reason.FAILED_OBJECT],
        [Reason.NAVIGATION_FAILED],
        [Reason.PROTOCOL_FALLBACK],
        [Reason.SCRIPT_FAILED],
        [Reason.MISSING_OBJECT, Reason.FAILED_OBJECT],
        [Reason.FAILED_OBJECT, Reason.WIRE_MISMATCH, Reason.SERVER_ERROR_LOG],  # which come of it
        [Reason.FAILED_REQUESTS],  # of users
        [Reason.TIMEOUT, Reason.WIRE_MISMATCH],  # no result as it is
        [Reason.TIMEOUT, Reason.CAPTURE_LOST_PACKETS],
    ],
)
def test_a_load_broke_where_its_own_requests_failed(reasons: list[Reason]) -> None:
    assert broke(reasons)


@pytest.mark.parametrize(
    "reasons",
    [
        [],
        [Reason.CAPTURE_LOST_PACKETS],
        [Reason.LINK_RTT],
        [Reason.BELOW_BOUND],  # too quick is not slow
        [Reason.FAILED_OBJECT, Reason.ROUTER_STOPPED],
        [Reason.FAILED_OBJECT, Reason.CONTENT_CHANGED],
        [Reason.TIMEOUT, Reason.ROUTER_LOST_PACKETS],
    ],
)
def test_it_did_not_where_the_bed_failed(reasons: list[Reason]) -> None:
    assert not broke(reasons)


def test_a_time_out_is_a_result_and_not_tried_again() -> None:
    reasons = [Reason.TIMEOUT, Reason.FAILED_OBJECT]
    assert timed_out(reasons)
    assert not broke(reasons)


# --- comparisons


def compared(broken: int, of: str = "b", *, effect: float = 0.7, rounds: int = ROUNDS) -> Comparison:
    """The first loads of an arm break. The other arm takes 1000 ms, and `b` this share of it."""
    run = made_run(
        with_effect("change", effect), rounds=rounds, breaks=lambda arm, _rtt, number: arm == of and number <= broken
    )
    (row,) = tables.comparisons(only_pair(run))
    assert row.comparison
    assert (row.broken, row.broken_base) == ((broken, 0) if of == "b" else (0, broken))
    return row.comparison


def only_pair(run: Run) -> Run:
    cells = {cell.id: cell for cell in run.cells}
    return replace(run, plan=replace(run.plan, compared=((cells["a20"], cells["b20"]),)))


@pytest.mark.parametrize(("broken", "verdict"), [(0, "faster"), (1, "faster"), (2, "open: loads broke")])
def test_a_faster_arm_is_called_so_where_it_stays_so_with_the_loads_that_broke(broken: int, verdict: str) -> None:
    """Of 12 rounds in which one trial is slower than all others, the signed-rank test takes one."""
    comparison = compared(broken)
    assert (comparison.verdict, comparison.is_shown) == (verdict, verdict == "faster")
    assert (comparison.n, comparison.lower) == (ROUNDS, ROUNDS), "its numbers are those of the loads that did not break"
    assert comparison.ratio.value == pytest.approx(0.7, rel=0.01)


@pytest.mark.parametrize("broken", [1, 6, ROUNDS])
def test_loads_of_the_slower_arm_may_break(broken: int) -> None:
    assert compared(broken, "a").verdict == "faster"


def test_arms_that_are_alike_but_for_what_broke_are_not_told_alike() -> None:
    comparison = compared(ROUNDS, effect=1.0)
    (bound,) = comparison.bounds
    assert bound.ratio.value == math.inf
    assert comparison.with_broken == bound.ratio
    assert (comparison.verdict, comparison.p) == ("open: loads broke", 1.0)


def test_five_rounds_have_to_go_one_way_with_them_too() -> None:
    assert compared(0, rounds=5).verdict == "faster so far"
    assert compared(1, rounds=5).verdict == "open: loads broke"
    assert compared(1, "a", rounds=5).verdict == "faster so far"


def of_both(rounds: int) -> Breaks:
    """In so many rounds loads of both arms break."""
    return lambda _arm, _rtt, number: number <= rounds


@pytest.mark.parametrize(
    ("broken", "faster"),
    [
        (of_both(0), True),
        (of_both(1), True),
        (of_both(2), False),
        (of_both(ROUNDS), False),
        (lambda arm, _rtt, number: number <= 2 if arm == "b" else 6 < number < 9, False),
        (lambda arm, _rtt, number: number <= 1 if arm == "b" else number > 3, True),
    ],
)
def test_a_comparison_and_a_claim_about_the_same_cells_say_the_same_of_loads_of_both(
    broken: Breaks, *, faster: bool
) -> None:
    """Which of two loads that broke would have been the slower one nobody knows: with both as slow, a round would say
    nothing, and an arm whose slow loads break would be the faster one by those that are left."""
    claim = made_claim(low=None, high=0.99, published=())
    run = only_pair(made_run(with_effect("change", 0.7), claims=[claim], breaks=broken))
    (row,), (found,) = tables.comparisons(run), judge(run)
    assert row.comparison
    assert row.comparison.verdict == ("faster" if faster else "open: loads broke")
    assert found.verdict == (HELD if faster else OPEN)
    assert (row.comparison.n, row.comparison.lower) == (ROUNDS, ROUNDS), "those of the loads that did not break"


def test_of_two_ratios_with_loads_that_broke_the_one_is_told_that_speaks_against_the_others() -> None:
    run = only_pair(made_run(with_effect("change", 0.7), breaks=of_both(ROUNDS)))
    (row,) = tables.comparisons(run)
    assert row.comparison
    assert [bound.ratio.value for bound in row.comparison.bounds] == [math.inf, 0.0]
    assert row.comparison.with_broken == row.comparison.bounds[0].ratio
    assert data_of(row)["ratio_with_broken"]["value"] is None, "it has no end"


def test_a_round_whose_loads_all_broke_counts_as_slower() -> None:
    """Nothing is left of it otherwise."""
    run = only_pair(made_run(with_effect("change", 0.7), breaks=lambda arm, _rtt, number: arm == "b" and number <= 2))
    lost = [trial for trial in run.trials if not (trial.ok and trial.cell.id == "b20" and trial.round <= 2)]
    (row,) = tables.comparisons(replace(run, trials=tuple(lost)))
    assert row.comparison
    (bound,) = row.comparison.bounds
    assert (row.comparison.n, row.comparison.left_out, bound.n) == (ROUNDS - 2, 2, ROUNDS)
    assert row.comparison.verdict == "open: loads broke"


def test_all_links_together_have_to_hold_with_them_too() -> None:
    def told(broken: int) -> tuple[bool, str]:
        run = made_run(with_effect("change", 0.7), breaks=lambda arm, _rtt, number: arm == "b" and number <= broken)
        cells = {cell.id: cell for cell in run.cells}
        pairs = tuple((cells[f"a{rtt}"], cells[f"b{rtt}"]) for rtt in (20, 40, 60))
        (row,) = pooled(replace(run, plan=replace(run.plan, compared=pairs)))
        return row.is_shown, row.words()

    assert told(0)[0]
    assert "broke" not in told(0)[1]
    assert told(1)[0]
    assert told(6)[0] is False
    assert "no difference between b and a is shown" in told(6)[1]
    assert "with them as slower than all others" in told(6)[1]


# --- what reports say


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """The first load of h2 breaks in six of twelve rounds."""
    fails = lambda trial, _attempt: trial <= 18 and trial % 3 == 2  # noqa: E731
    made = Made(
        arms=TWO, links=({"rtt": "20ms"},), rounds=ROUNDS, fails=fails, reason="failed-object", noise=0.001,
        detail="https://dummy.test/i07.png (net::ERR_QUIC_PROTOCOL_ERROR)",
    )  # fmt: skip
    return read_run(make_run(tmp_path_factory.mktemp("runs") / "run", made))


def test_a_cell_says_how_many_of_its_loads_broke_and_why(run: Run) -> None:
    http, h2 = tables.rows(run)
    assert (http.broken, dict(http.failures)) == (0, {})
    assert (h2.broken, h2.rounds, dict(h2.failures)) == (6, ROUNDS, {"failed-object": 6})
    cells = json.loads(json.dumps(data_of(export.results(run))))["cells"]
    assert [(cell["rounds_broken"], cell["failures"]) for cell in cells] == [(0, {}), (6, {"failed-object": 6})]
    words = "Loads broke and were tried again: dummy, 20ms, h2 in 6 of 12 rounds (failed-object 6)."
    assert words in terminal(run)
    assert words in page(run)


def test_a_comparison_that_hangs_on_them_is_said_to_be_open(run: Run) -> None:
    (row,) = tables.comparisons(run)
    data = data_of(row)
    assert (data["verdict"], data["rounds_broken"], data["rounds_broken_base"]) == ("open: loads broke", 6, 0)
    shown = terminal(run)
    assert "open: loads broke" in shown
    assert (
        "Open: h2 against http over 20ms. Loads broke and were tried again (in 6 rounds of h2, in 0 of http)" in shown
    )
    said = " ".join(findings(run, tables.rows(run), [row], []))
    assert said == "Whether h2 was faster than http is open, since loads broke and were tried again (12 rounds)."
    assert "Loads broke and were tried again" in " ".join(warnings(run, tables.rows(run), [row]))


def test_two_runs_that_are_compared_say_it_too(run: Run) -> None:
    said = " ".join(sentences(against(run, run, 0.05, ())))
    assert "In 6 rounds of 1 cell of the first run loads broke and were tried again: these are in no number." in said


def test_a_failure_of_the_bed_leaves_verdicts_as_they_are(tmp_path: Path) -> None:
    fails = lambda trial, _attempt: trial <= 18 and trial % 3 == 2  # noqa: E731
    made = Made(arms=TWO, links=({"rtt": "20ms"},), rounds=ROUNDS, fails=fails, reason="capture-lost-packets")
    run = read_run(make_run(tmp_path / "run", made))
    (row,) = tables.comparisons(run)
    assert row.comparison
    assert (row.comparison.verdict, row.comparison.bounds) == ("faster", ())
    assert "broke" not in terminal(run)


def terminal(run: Run) -> str:
    out = Console(file=io.StringIO(), width=400)
    out.print(results_on_terminal(run))
    assert isinstance(out.file, io.StringIO)
    return out.file.getvalue()


# --- claims

RAISES: dict[ClaimKind, int] = {"change": 20, "value": 20, "trend": 60, "spike": 40, "contrast": 40}
LOWERS: dict[ClaimKind, int] = {"trend": 20, "spike": 60, "contrast": 20}  # round trips over which a slow load does so


def of_arm(rounds: int, arm: str = "b", rtt: int = 20) -> Breaks:
    """In so many rounds the load of an arm breaks, over this round trip."""
    return lambda name, over, number: name == arm and over == rtt and number <= rounds


@pytest.mark.parametrize(("broken", "verdict"), [(1, HELD), (5, OPEN)])
@pytest.mark.parametrize("kind", RAISES)
def test_a_claim_is_reproduced_where_it_is_so_with_the_loads_that_broke(
    kind: ClaimKind, broken: int, verdict: Verdict
) -> None:
    found = judged(with_effect(kind, 0.61), made_claim(kind), breaks=of_arm(broken, rtt=RAISES[kind]))
    place = only(found)
    assert (found.verdict, place.broken) == (verdict, broken)
    assert place.effect
    assert place.effect.value == pytest.approx(0.61 * (1000 if kind == "value" else 1), rel=0.02)
    assert place.effect.interval_95
    if verdict == OPEN:
        assert found.detail.startswith(f"loads broke in {broken} rounds: without them reproduced, with them as slower")
        assert place.effect.interval_95.high == math.inf
        assert place.rounds_needed is None


def test_how_many_rounds_would_tell_is_said_of_the_loads_that_did_not_break() -> None:
    found = judged(with_effect("change", 0.75, 0.4), made_claim(), breaks=of_arm(1))
    assert found.verdict == OPEN
    assert "rounds would" in found.detail
    assert found.detail.endswith(", by the loads that did not break")


@pytest.mark.parametrize("kind", LOWERS)
def test_slow_loads_that_lower_a_number_leave_its_direction(kind: ClaimKind) -> None:
    found = judged(with_effect(kind, 0.61), made_claim(kind), breaks=of_arm(5, rtt=LOWERS[kind]))
    assert found.verdict == DIRECTION
    effect = only(found).effect
    assert effect
    assert effect.interval_95
    assert effect.interval_95.low == 0


def test_a_load_that_counts_for_nothing_in_a_number_may_break() -> None:
    """Of a slope over three places that in the middle."""
    found = judged(with_effect("trend", 0.61), made_claim("trend"), breaks=of_arm(12, rtt=40))
    assert (found.verdict, only(found).broken) == (HELD, 12)


def test_of_a_base_that_breaks_the_direction_is_left() -> None:
    """It would be slower still."""
    found = judged(with_effect("change", 0.61), made_claim(), breaks=of_arm(5, "a"))
    assert found.verdict == DIRECTION
    assert found.detail == (
        "magnitude open; loads broke in 5 rounds: without them reproduced, with them as slower than all others "
        "direction only"
    )


def test_what_may_lie_between_is_not_refuted() -> None:
    """Without the loads that broke the effect is below what was published, with them above: in between is all of it."""
    found = judged(with_effect("change", 0.4), made_claim(), breaks=of_arm(10))
    assert found.verdict == OPEN
    assert "without them direction only" in found.detail


@pytest.mark.parametrize("verdict", [HELD, UNTESTED])
def test_a_bed_has_a_number_where_most_of_its_rounds_have(verdict: Verdict) -> None:
    """Of three beds with four rounds each: the first has one load that broke, or two."""
    found = judged(with_effect("change", 0.61), made_claim(), beds=3, breaks=of_arm(1 if verdict == HELD else 2))
    assert found.verdict == verdict
    if verdict == UNTESTED:
        assert "loads broke in 2 rounds: without them reproduced" in found.detail
        assert "half of the rounds or more have no number" in found.detail


def test_a_verdict_says_in_how_many_rounds_loads_broke() -> None:
    found = judged(with_effect("change", 0.61), made_claim(), breaks=of_arm(1))
    assert found.detail == ""
    assert "Rounds in which loads broke and were tried again: 1 of 12 of made." in summary([found])
    assert any("loads broke in 1 of 12 rounds" in line for line in behind(found))
    assert data_of(only(found))["rounds_broken"] == 1
    sound = judged(with_effect("change", 0.61), made_claim())
    assert "broke" not in summary([sound])


def test_another_metric_is_of_the_loads_that_did_not_break_and_says_so() -> None:
    bytes_down = lambda arm, _rtt, number: {"bytes_down": 1e6 * (0.61 if arm == "b" else 1) + number}  # noqa: E731
    found = judged(with_effect("change", 1.0), made_claim(metric="bytes_down"), measures=bytes_down, breaks=of_arm(6))
    assert (found.verdict, only(found).broken) == (HELD, 6)
    assert "other metrics are of the loads that did not break" in summary([found])


def test_loads_of_other_cells_change_nothing() -> None:
    claims = [made_claim(at=[replace(made_claim().places[0], points=(point(60, base=True),))])]
    run = made_run(with_effect("change", 0.61), claims=claims, breaks=of_arm(12))
    (found,) = judge(run)
    place: JudgedPlace = only(found)
    assert (found.verdict, place.broken) == (HELD, 0)


def test_arms_that_are_alike_are_not_told_to_differ_because_slow_loads_of_one_break() -> None:
    """The loads of b that take longer than most break, and are tried again until they do not."""
    factor = noise(0.3)
    again = noise(0.02, seed=9)

    def slow(arm: str, rtt: int, number: int) -> bool:
        return arm == "b" and factor(arm, rtt, number) > 1.1

    def load(arm: str, rtt: int, number: int) -> float:
        return 850 * again(arm, rtt, number) if slow(arm, rtt, number) else 1000 * factor(arm, rtt, number)

    (row,) = tables.comparisons(only_pair(made_run(load, rounds=60, breaks=slow)))
    assert row.comparison
    assert row.comparison.ratio.p < 0.05, "or this says nothing"
    assert row.comparison.verdict == "open: loads broke"
