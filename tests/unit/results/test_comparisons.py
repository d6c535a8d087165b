"""What a run compares, and what it says: time-outs, arms that were not interleaved, runs that may go on."""

import io
import json
import re
from pathlib import Path

import pytest
from rich.console import Console

from lanelab.analysis.results import export, pooled_places, tables
from lanelab.analysis.results.model import Run
from lanelab.analysis.results.pooled_places import pooled
from lanelab.analysis.results.report.page import page
from lanelab.analysis.results.run_folder import read_run
from lanelab.analysis.results.sections.findings import findings, warnings
from lanelab.analysis.results.sections.of_run import results_on_terminal
from tests.kit.made_run import ARMS, Made, make_run

TWO = {"http": ARMS["http"], "h2": ARMS["h2"]}
NONE_FAIL = lambda _trial, _attempt: False  # noqa: E731


def said(run: Run) -> str:
    rows, compared = tables.rows(run), tables.comparisons(run)
    return " ".join([*findings(run, rows, compared, pooled(run)), *warnings(run, rows, compared)])


def shown(run: Run) -> str:
    out = Console(file=io.StringIO(), width=250)
    out.print(results_on_terminal(run))
    assert isinstance(out.file, io.StringIO)
    return out.file.getvalue()


def test_a_trial_that_timed_out_is_in_medians_and_comparisons(tmp_path: Path) -> None:
    """Of the first of two arms most time out: dropped, they would make it look fast."""
    fails = lambda trial, _attempt: trial % 2 == 1 and trial > 6  # noqa: E731
    made = Made(arms=TWO, links=({"rtt": "20ms"},), rounds=8, retries=0, reason="timeout", fails=fails, noise=0.001)
    run = read_run(make_run(tmp_path / "run", made))
    http, h2 = tables.rows(run)
    assert (http.ok, http.failed, http.timed_out, h2.timed_out) == (3, 5, 5, 0)
    assert http.summary is not None
    assert (http.summary.n, http.shown(http.summary.median)) == (8, "> 60,000")
    (row,) = tables.comparisons(run)
    assert row.comparison is not None
    assert (row.comparison.n, row.comparison.faster, row.comparison.verdict) == (8, 8, "faster")
    assert "> 60,000" in shown(run)
    assert "5 trials timed out" in said(run)
    assert "&gt; 60,000" in page(run)
    text = json.dumps(export.results(run), allow_nan=False)
    assert json.loads(text)["cells"][0]["plt_ms"]["median"] is None


def test_other_failures_are_not_time_outs(tmp_path: Path) -> None:
    fails = lambda trial, _attempt: trial == 1  # noqa: E731
    run = read_run(make_run(tmp_path / "run", Made(arms=TWO, rounds=6, retries=0, fails=fails)))
    first = tables.rows(run)[0]
    assert (first.ok, first.timed_out) == (5, 0)
    assert first.summary is not None
    assert first.summary.n == 5


def test_arms_that_were_not_interleaved_are_not_compared(tmp_path: Path) -> None:
    run = read_run(make_run(tmp_path / "run", Made(arms=TWO, rounds=8, order="sequential", fails=NONE_FAIL, drift=0.3)))
    assert tables.comparisons(run) == []
    assert pooled_places.pooled(run) == []
    for text in (said(run), shown(run), page(run)):
        assert "Arms were not interleaved (order: sequential), so none are compared" in text
    drift = tables.run_drift(run)
    assert not drift.is_shown
    assert "cannot be looked for" in drift.words()


@pytest.mark.parametrize("state", ["stopped", "failed"])
def test_what_a_run_says_that_may_go_on_is_so_far(tmp_path: Path, state: str) -> None:
    run = read_run(make_run(tmp_path / "run", Made(arms=TWO, rounds=8, state=state, fails=NONE_FAIL)))
    verdicts = {row.comparison.verdict for row in tables.comparisons(run) if row.comparison}
    assert verdicts == {"faster so far"}
    assert "h2 was faster than http so far in both comparisons" in said(run)
    assert "so far" in pooled_places.pooled(run)[0].words()


def test_three_rounds_say_how_often_chance_does_the_same(tmp_path: Path) -> None:
    run = read_run(make_run(tmp_path / "run", Made(arms=TWO, rounds=3, fails=NONE_FAIL)))
    assert "h2 was faster than http so far" in said(run)
    chance = (
        "3 rounds all go one way by chance in 1 of 4 comparisons of equal arms, and in at least one of 2 comparisons"
    )
    for text in (said(run), shown(run), page(run)):
        assert f"{chance} in about 44% of runs. A test of 2 comparisons takes 7 rounds." in text
        assert "at most 5% of" not in text


@pytest.mark.parametrize(("rounds", "share"), [(3, 78), (4, 52), (5, 30)])
def test_the_chance_is_that_of_the_runs_own_comparisons(tmp_path: Path, rounds: int, share: int) -> None:
    """2 links x 4 arms."""
    run = read_run(make_run(tmp_path / "run", Made(rounds=rounds, fails=NONE_FAIL)))
    (percent,) = re.findall(r"at least one of 6 comparisons in about (\d+)% of runs", shown(run))
    assert abs(int(percent) - share) <= 2


def test_one_comparison_of_few_rounds_is_a_matter_of_coins(tmp_path: Path) -> None:
    run = read_run(make_run(tmp_path / "run", Made(arms=TWO, links=({"rtt": "20ms"},), rounds=5, fails=NONE_FAIL)))
    words = (
        "5 rounds all go one way by chance in 1 of 16 comparisons of equal arms. A test of 1 comparison takes 6 rounds."
    )
    assert words in shown(run)
    assert "at least one of" not in shown(run)


def test_verdicts_of_six_rounds_and_more_count_all_comparisons(tmp_path: Path) -> None:
    run = read_run(make_run(tmp_path / "run", Made(rounds=8, fails=NONE_FAIL)))
    for text in (shown(run), page(run)):
        assert (
            "Verdicts and p count all 6 of them (Holm): at most 5% of runs without any difference have even one" in text
        )
        assert "so far" not in text.split("Verdicts and p count")[0].split("against http, by round")[-1]
        assert "provisional" not in text


def test_there_is_no_p_beside_so_far(tmp_path: Path) -> None:
    """Below six rounds, and while a run may go on; where some cells have enough rounds, beside these alone."""
    few = read_run(make_run(tmp_path / "few", Made(rounds=5, fails=NONE_FAIL)))
    going = read_run(make_run(tmp_path / "going", Made(rounds=8, state="stopped", fails=NONE_FAIL)))
    for run in (few, going):
        assert "faster so far" in shown(run)
        assert not re.search(r"faster in +p ", shown(run))
        assert ">p</th>" not in page(run)
    assert all(", p " not in row.words() and "so far" in row.words() for row in pooled_places.pooled(going))
    fails = lambda trial, _attempt: trial % 8 == 0 and trial > 8 * 4  # noqa: E731 - h2 on the second link, from round 5
    mixed = read_run(make_run(tmp_path / "mixed", Made(rounds=8, retries=0, fails=fails)))
    lines = [line for line in shown(mixed).splitlines() if "faster" in line and "of" in line]
    assert any(line.rstrip().endswith("-   faster so far") for line in lines)
    assert any(re.search(r"0\.\d+ +faster", line) for line in lines)
    assert "Verdicts and p of 6 rounds and more count all 6" in shown(mixed)


def test_one_sentence_for_all_links(tmp_path: Path) -> None:
    run = read_run(make_run(tmp_path / "run", Made(rounds=8, fails=NONE_FAIL)))
    rows = pooled_places.pooled(run)
    assert [row.arm.name for row in rows] == ["http keepalive", "https", "h2"]
    assert all(row.words().startswith("Over all 2 sites and links together, ") and row.is_shown for row in rows)
    assert rows[2].words() in page(run).replace("&lt;", "<")
    assert "% interval " in rows[2].words()
    assert "this counts all 3 pairs of arms" in rows[2].words()


def test_interval_and_p_of_all_links_are_one_test(tmp_path: Path) -> None:
    """The interval leaves out no change exactly where p is at most 5%, also of runs that show little."""
    for seed in range(12):
        made = Made(rounds=5, noise=0.15, seed=seed, fails=NONE_FAIL)
        for row in pooled_places.pooled(read_run(make_run(tmp_path / f"run{seed}", made))):
            ratio = row.pooled.ratio
            assert ratio.low is not None
            assert ratio.high is not None
            assert (not ratio.low <= 1 <= ratio.high) == (row.p <= 0.05) == row.is_shown


def test_what_too_few_rounds_cannot_show_over_all_links_is_left_out(tmp_path: Path) -> None:
    """2 links of 3 rounds: the least p is 2/64, of 3 pairs of arms 9%. Of one pair it is 3%."""
    run = read_run(make_run(tmp_path / "four", Made(rounds=3, fails=NONE_FAIL)))
    assert pooled_places.pooled(run) == []
    assert "Over all" not in shown(run) + said(run) + page(run)
    assert (
        len(pooled_places.pooled(read_run(make_run(tmp_path / "two", Made(arms=TWO, rounds=3, fails=NONE_FAIL))))) == 1
    )


def test_pairs_are_those_of_the_plan_and_what_is_left_out_is_named(tmp_path: Path) -> None:
    pairs = [(f"{2:016x}", f"{4:016x}"), (f"{1:016x}", f"{4:016x}")]
    made = Made(rounds=6, fails=NONE_FAIL, compared=pairs, not_compared=["dummy, 60ms: h2 is the only arm there"])
    run = read_run(make_run(tmp_path / "run", made))
    assert [(row.cell.arm.name, row.base.name) for row in tables.comparisons(run)] == [
        ("h2", "http keepalive"), ("h2", "http"),
    ]  # fmt: skip
    for text in (shown(run), page(run)):
        assert "Dummy, 60ms: h2 is the only arm there." in text


def test_the_looks_of_a_run_share_the_5_percent(tmp_path: Path) -> None:
    run = read_run(make_run(tmp_path / "run", Made(arms=TWO, rounds=8, looks=((8, 0.0167), (16, 0.02), (30, 0.025)))))
    (row,) = {row.comparison.alpha for row in tables.comparisons(run) if row.comparison}
    assert row == 0.0167
    estimate = tables.rows(run)[0].summary
    assert estimate is not None
    assert "all 3 looks together" in estimate.estimate.meaning()


def test_a_change_without_an_end_has_no_number(tmp_path: Path) -> None:
    """Most loads of an arm timed out: neither words nor tooltips say `inf`, and drift sees them."""
    slow = lambda trial, _attempt: trial % 2 == 0 and trial > 4  # noqa: E731 - a field of Made
    made = Made(arms=TWO, links=({"rtt": "20ms"},), rounds=9, retries=0, reason="timeout", fails=slow)
    run = read_run(make_run(tmp_path / "run", made))
    assert "by more than can be told, since loads timed out, in 7 of 9 rounds" in said(run)
    assert "inf " not in said(run)
    assert "median inf" not in str(page(run))
    assert len(tables.timed(run)) == 18
    assert max(one.value for one in tables.timed(run)) == 60_000
