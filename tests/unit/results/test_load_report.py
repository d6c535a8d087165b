"""What users see of a load test: figures of its course, claims about one place of it, the report, the terminal."""

import dataclasses
import re
from itertools import groupby
from pathlib import Path

import pytest
from click.testing import CliRunner
from rich.console import Console

from lanelab.analysis.results import conditions, export
from lanelab.analysis.results.charts import chart
from lanelab.analysis.results.claims.judge import judge
from lanelab.analysis.results.claims.verdict import Verdict
from lanelab.analysis.results.courses import broken_at, drawing_of, table_of, usual_courses
from lanelab.analysis.results.drawing import Drawing
from lanelab.analysis.results.explain.run import cautions
from lanelab.analysis.results.load_reports import reported, threshold_sentences
from lanelab.analysis.results.report.page import page
from lanelab.analysis.results.run_folder import read_run, with_places
from lanelab.analysis.results.sections.of_run import results_on_terminal as results
from lanelab.analysis.results.study.page import judge_study
from lanelab.analysis.results.study.run import read_study_run
from lanelab.driver.cli.claims import claims
from lanelab.driver.experiment.dimensions import words_of_scale
from lanelab.driver.record.load_places import LoadPlace, metric_of_claim, place_named
from lanelab.driver.run.folder import format as run_format
from tests.kit.changed_run import changing
from tests.kit.made_load_run import claim_of, make_load_run, series_of
from tests.kit.made_study import make_study_run


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_load_run(tmp_path_factory.mktemp("runs") / "ramp")


def drawn(folder: Path, number: int) -> Drawing:
    run = read_run(folder)
    return drawing_of(run, run.figures[number])


def test_a_series_is_drawn_over_users_with_the_range_of_its_trials(folder: Path) -> None:
    drawing = drawn(folder, 0)
    http = drawing.panels[0].series[0]

    assert [series.name for series in drawing.panels[0].series] == ["HTTP", "SPDY"]
    assert len(http.points) == 40
    assert http.points[0].mark.middle == pytest.approx(1050)
    assert http.points[0].mark.low == pytest.approx(1000)
    assert http.points[0].mark.high == pytest.approx(1100)
    assert http.points[-1].x == pytest.approx(987, abs=1)
    assert drawing.published.points[0].x == 120


def test_where_each_arm_breaks_the_limit_is_drawn(folder: Path) -> None:
    http, spdy = drawn(folder, 0).panels[0].series

    assert broken_at(http.points, 3000) == pytest.approx(131, abs=3)
    assert broken_at(spdy.points, 3000) == pytest.approx(786, abs=10)
    assert broken_at(spdy.points, 30_000) is None


def test_a_span_without_points_breaks_the_line(folder: Path) -> None:
    http = drawn(folder, 1).panels[0].series[0]
    before, after = (list(group) for _, group in groupby(http.points, key=lambda point: point.segment))

    assert before[-1].x is not None
    assert before[-1].x < 600
    assert (after[0].x or 0) > 660
    assert http.points[0].mark.middle == pytest.approx(90)  # stored as a share, drawn in percent


def test_figures_of_series_are_charts_with_tables(folder: Path) -> None:
    run = read_run(folder)
    for figure in run.figures:
        drawing = drawing_of(run, figure)
        assert chart(drawing)
        heads, rows = table_of(drawing)
        assert len(heads) == 3
        assert all(len(row) == 3 for row in rows)
    assert usual_courses(run) == []
    usual = usual_courses(dataclasses.replace(run, figures=()))
    assert [bool(chart(drawing_of(run, figure))) for figure in usual if figure.y in ("users", "workers_busy")] == [
        True, False,
    ]  # fmt: skip


def test_the_report_says_what_a_load_did(folder: Path) -> None:
    text = page(read_run(folder))

    assert '<section id="load">' in text
    for words in ("k6 1.8.1", "not ended", "time-out", "25% of 1", "client: 0, server: 1", "limit: 3,000 ms"):
        assert words in text, words
    assert "How long pages took" in text
    assert re.search(r"HTTP: 1\d\d(\.\d)? users", text)


def test_the_terminal_says_what_no_percentile_has(folder: Path) -> None:
    console = Console(width=200, record=True, file=None, quiet=False)
    with console.capture() as captured:
        console.print(results(read_run(folder)))

    assert "HTTP: pages first took as long as the limit at 131 users (" in captured.get()
    assert "23 pages had not ended, the longest after 55 s" in captured.get()


# --- claims


def test_a_claim_is_about_a_series_where_there_are_so_many_users(folder: Path) -> None:
    claim = claim_of("page_ms@users=200", low=None, high=0.99)
    run = with_places(read_run(folder), [claim])
    found = {(trial.cell.arm.name, trial.round): trial.measures[claim.metric] for trial in run.trials}

    assert found["HTTP", 1] == pytest.approx(7000, rel=0.01)
    assert found["SPDY", 2] == pytest.approx(1100)
    metric = metric_of_claim(claim.metric)
    assert metric
    assert (metric.words, metric.unit) == ("page response time at 200 users", "ms")
    (judged,) = judge(run, [dataclasses.replace(claim, side=-1)])
    assert judged.verdict == Verdict.NOT_TESTED
    assert "too few rounds: 2" in judged.places[0].detail
    assert "measured -85.7%" in judged.places[0].detail


def test_a_claim_that_a_study_has_since_is_about_the_series_as_well(folder: Path, tmp_path: Path) -> None:
    """It counts as changed, and is judged by what was measured: not by nothing."""
    claim = dataclasses.replace(claim_of("page_ms@users=200", low=None, high=0.99), side=-1)
    read = read_study_run(make_study_run(tmp_path / "study", begun=[]))
    read = dataclasses.replace(read, runs={1: read_run(folder)})
    (found,) = (each.judged for each in judge_study(read, {1: [claim]}).all if each.judged.claim.name == claim.name)
    assert found.changed
    assert "measured -85.7%" in found.places[0].detail


def test_a_place_that_a_load_did_not_come_to_has_no_value() -> None:
    series = series_of("HTTP", 1)

    assert LoadPlace("page_ms", "users", 1001).value(series) is None
    assert LoadPlace("page_ms", "time", 1300).value(series) is None
    assert LoadPlace("cpu_idle", "time", 630).value(series) is None  # in a gap
    assert LoadPlace("cpu_idle", "time", 120).value(series) == pytest.approx(0.9)
    assert LoadPlace("workers_busy", "time", 120).value(series) is None
    assert LoadPlace("cpu_idle", "time", 120).value(series, until_ms=135_000) == pytest.approx(0.9)
    assert LoadPlace("cpu_idle", "time", 120).value(series, until_ms=134_000) is None  # its generator was the limit


def test_growth_is_between_two_places() -> None:
    series = series_of("HTTP", 1)

    growth = LoadPlace("users", "users", 88, since=38)
    assert growth.value(series) == pytest.approx(50)
    assert growth.metric.words == "growth of users from 38 to 88 users"
    by_time = LoadPlace("users", "time", 120, since=60)
    assert by_time.metric.words == "growth of users from 60 to 120 s after the load began"
    assert LoadPlace("cpu_idle", "time", 900, since=630).value(series) is None  # the earlier one is in a gap
    assert growth.value(series, until_ms=100_000) is None


def test_a_claim_says_nothing_of_a_place_from_where_the_generator_was_the_limit(tmp_path: Path) -> None:
    folder = make_load_run(tmp_path / "ramp")
    claim = claim_of("page_ms@users=200", low=None, high=0.99)
    assert all(claim.metric in trial.measures for trial in with_places(read_run(folder), [claim]).trials)
    with changing(folder) as database:
        database.execute("insert into measures select trial, 'generator_full_s', 60 from trials")
    run = with_places(read_run(folder), [claim])
    assert not any(claim.metric in trial.measures for trial in run.trials)


def test_names_of_places_read_back() -> None:
    growth = LoadPlace("cpu_idle", "time", 120, since=60.5)
    for place in (LoadPlace("page_ms", "users", 200), LoadPlace("cpu_idle", "time", 120), growth):
        assert place_named(place.name) == place
    assert place_named("page_ms") is None
    assert place_named("tea@users=2") is None


def with_limits(folder: Path, *, http: tuple[float, bool], spdy: tuple[float, bool]) -> Path:
    """Six rounds in which this is where each arm broke, and whether it did not."""
    made = make_load_run(folder, rounds=6)
    with changing(made) as database:
        for cell, (users, censored) in ((1, http), (2, spdy)):
            for name, value in (("users_at_limit", users), ("users_at_limit_censored", float(censored))):
                database.execute(
                    "UPDATE measures SET value = ? * (1 + trial / 1000.0 * (? = 'users_at_limit')) WHERE name = ? AND"
                    " trial IN (SELECT trial FROM trials WHERE cell = ?)",
                    (value, name, name, cell),
                )
    return made


def test_what_was_not_reached_is_at_least_that(tmp_path: Path) -> None:
    """SPDY carried 1,000 users to the end: more than twice as many is certain, and within 6 to 9 times is not."""
    run = read_run(with_limits(tmp_path / "run", http=(133, False), spdy=(1000, True)))

    (more,) = judge(run, [claim_of("users_at_limit", low=2.0)])
    assert more.verdict == Verdict.REPRODUCED
    assert "at least" in more.places[0].detail
    assert more.places[0].effect
    assert more.places[0].effect.interval_95
    assert more.places[0].effect.interval_95.high == float("inf")
    within = dataclasses.replace(claim_of("users_at_limit", low=6.0, high=9.0), published=(7.0,))
    (judged,) = judge(run, [within])
    assert judged.verdict == Verdict.DIRECTION_ONLY  # how much more nobody knows
    less = dataclasses.replace(claim_of("users_at_limit", low=None, high=0.99), side=-1)
    assert judge(run, [less])[0].verdict == Verdict.NOT_REPRODUCED


def test_a_base_that_was_not_reached_makes_the_ratio_at_most_that(tmp_path: Path) -> None:
    run = read_run(with_limits(tmp_path / "run", http=(1000, True), spdy=(500, False)))

    (judged,) = judge(run, [claim_of("users_at_limit", low=1.01)])
    assert judged.verdict == Verdict.NOT_REPRODUCED
    (judged,) = judge(run, [dataclasses.replace(claim_of("users_at_limit", low=0.4, high=0.6), side=-1)])
    assert judged.verdict != Verdict.REPRODUCED


def test_two_that_were_not_reached_say_nothing(tmp_path: Path) -> None:
    run = read_run(with_limits(tmp_path / "run", http=(1000, True), spdy=(1000, True)))

    assert judge(run, [claim_of("users_at_limit", low=1.01)])[0].verdict == Verdict.NOT_TESTED


def test_thresholds_say_in_how_many_trials_they_were_met(folder: Path) -> None:
    told = threshold_sentences(reported(read_run(folder)))
    assert any(line.endswith("page_95 at most 3,000: met in 1 of 2 trials, it was 2,000 to 4,000") for line in told)
    assert any(line.endswith("latency_95 at most 50: met in 0 of 2 trials, no trial has it") for line in told)
    assert any("of the script's own, thresholds on metrics 'my_ttfb' have been crossed" in line for line in told)
    assert "page_95 at most 3,000" in page(read_run(folder))


def test_a_script_with_more_names_than_are_kept_is_said_everywhere(tmp_path: Path, folder: Path) -> None:
    path = "'$.evidence.generator.script_left_out'"
    with changing(make_load_run(tmp_path / "run")) as database:
        database.execute(f"UPDATE trials SET record = json_set(record, {path}, json('true')) WHERE trial = 1")  # noqa: S608
    run = read_run(tmp_path / "run")
    words = "HTTP: the script measures under more than 500 names: those that came later are left out, in 1 of 2 trials"

    console = Console(width=300)
    with console.capture() as shown:
        console.print(results(run))
    assert words in shown.get()
    assert words in page(run)
    assert [words in said for said in export.everything(run)["script_left_out"]] == [True]
    assert [row["script_left_out"] for row in export.trial_rows(run)] == [True, False, False, False]
    assert "more than 500 names" not in page(read_run(folder))
    assert export.results(read_run(folder))["script_left_out"] == []


def test_what_a_script_measured_is_in_the_report(folder: Path) -> None:
    assert "med 12.5 ms, p95 40 ms" in page(read_run(folder))


def test_a_scaled_run_says_so_instead_of_judging_claims(folder: Path) -> None:
    run = with_places(read_run(folder), [claim := claim_of("page_ms@users=200", low=None, high=0.99)])
    (judged,) = judge(dataclasses.replace(run, meta={**run.meta, run_format.SCALE: "0.1"}), [claim])
    assert judged.verdict == Verdict.NOT_TESTED
    assert "the run has 0.1 of the load that the claim is about (--scale)" in judged.detail


def test_a_scaled_run_says_so_in_every_output(tmp_path: Path) -> None:
    made = make_load_run(tmp_path / "run", claims=[claim_of("users_at_limit")])
    assert conditions.caveats(read_run(made)) == []
    with changing(made) as database:
        database.execute("INSERT INTO meta VALUES (?, '0.5')", (run_format.SCALE,))
    run = read_run(made)
    said = words_of_scale(0.5)
    assert said.startswith("The load is scaled (--scale 0.5): 0.5 of the users or arrivals that its experiment says")

    console = Console(width=300)
    with console.capture() as shown:
        console.print(results(run))
    assert said in shown.get()
    assert said in page(run)
    assert said in export.results(run)["caveats"]
    assert said in list(cautions(run, run.cells))
    assert said in " ".join(CliRunner().invoke(claims, [str(made)], catch_exceptions=False).stdout.split())
