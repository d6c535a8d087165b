"""Tables, charts, export and report of runs that were made up."""

import csv
import io
import json
import random
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from rich.console import Console

from lanelab.analysis.results import axes, export, marks, numbers, render, tables
from lanelab.analysis.results.chart_parts import LABEL_GAP, label_rows
from lanelab.analysis.results.chart_scales import Span, span
from lanelab.analysis.results.charts import chart
from lanelab.analysis.results.drawing import draw, figures_of
from lanelab.analysis.results.layout.model import Words
from lanelab.analysis.results.load_view import load_view
from lanelab.analysis.results.model import Figure
from lanelab.analysis.results.refusals import Refusal
from lanelab.analysis.results.report import page, save_figures, write_report
from lanelab.analysis.results.report.waterfall import MOST_ROWS, waterfall
from lanelab.analysis.results.run_folder import read_run
from lanelab.analysis.results.sections.cells import columns
from lanelab.analysis.results.sections.findings import findings, warnings
from lanelab.analysis.results.sections.of_run import results_on_terminal
from lanelab.analysis.results.sections.seen import Seen
from lanelab.analysis.results.trial_table import trial_section
from lanelab.driver.base.errors import StoreError
from lanelab.driver.cli.main import lanelab
from lanelab.driver.record.reasons import Reason
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.run.folder.trial_content import artifact_path, each_series
from lanelab.driver.run.folder.trial_records import read_record
from tests.kit.changed_run import changing
from tests.kit.made_run import ARMS, Made, make_run
from tests.kit.made_trials import loaded, made_requests
from tests.kit.report_pages import EVIL, Parsed

MADE: dict[str, Callable[[], Made]] = {
    "quick": lambda: Made(rounds=8),
    "one cell": lambda: Made(links=[{"rtt": "40ms"}], arms={"h2": ARMS["h2"]}, rounds=1, figures=()),
    "failures": lambda: Made(fails=lambda _trial, _attempt: True, rounds=1, retries=0),
    "nothing": lambda: Made(rounds=0, state="running"),
    "evil": lambda: Made(
        name=EVIL, description=EVIL, arms={EVIL: {}, "b": {}}, text=EVIL, detail=EVIL, rounds=2,
        figures=[{"title": EVIL, "x": "rtt", "y": "plt", "series": "arm", "kind": "line"}],
    ),
    "no requests": lambda: Made(rounds=1, with_requests=False),
    "sites": lambda: Made(sites=("a", "b"), rounds=2, figures=()),
}  # fmt: skip


@pytest.fixture(scope="module", params=MADE)
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_run(tmp_path_factory.mktemp("runs") / "run", MADE[request.param]())


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_run(tmp_path_factory.mktemp("runs") / "quick", Made(rounds=8))


def test_the_page_is_whole_and_asks_nothing_of_anyone(folder: Path) -> None:
    text = page(read_run(folder))
    found = Parsed(text)
    assert found.open == []
    assert not {"link", "img", "iframe", "object"} & set(found.tags)
    assert found.tags.count("script") == 1
    assert "script-src 'sha256-" in text.replace("&#x27;", "'")
    assert all(link.startswith("#") for link in found.links)
    assert found.styles == []
    assert "default-src 'none'" in text.replace("&#x27;", "'")
    assert "@import" not in text
    assert "url(http" not in text
    assert text.isprintable() or not re.search(r"[\x00-\x08\x0b-\x1f]", text)
    ids = re.findall(r' id="([^"]+)"', text)
    assert len(ids) == len(set(ids))


def test_the_same_run_gives_the_same_page(quick: Path) -> None:
    assert page(read_run(quick)) == page(read_run(quick))


def test_the_page_tells_what_matters(quick: Path) -> None:
    text = page(read_run(quick))
    for words in ("h2 was faster than http in both comparisons", "protocol-fallback", "AMD EPYC 7B13", "links: {rate"):
        assert words in text
    assert "<title>dummy, 10mbit 20ms, http: median" in text.replace("\u200b", "")


def test_a_run_without_trials_that_count_says_so(tmp_path: Path) -> None:
    failures = make_run(tmp_path / "f", MADE["failures"]())
    assert "every one failed" in page(read_run(failures))
    assert "No trial has been made yet" in page(read_run(make_run(tmp_path / "n", MADE["nothing"]())))


@pytest.mark.parametrize(
    ("links", "rounds", "said"),
    [
        (1, 1, "Too few rounds to compare h2 with http: 1 round."),
        (1, 2, "Too few rounds to compare h2 with http: 2 rounds."),
        (2, 2, "Too few rounds to compare h2 with http, in any of 2 comparisons."),
    ],
)
def test_too_few_rounds_are_not_called_no_difference(tmp_path: Path, links: int, rounds: int, said: str) -> None:
    made = Made(links=Made().links[:links], rounds=rounds, fails=lambda _trial, _attempt: False)
    run = read_run(make_run(tmp_path / "run", made))
    rows, compared = tables.rows(run), tables.comparisons(run)
    assert said in findings(run, rows, compared)
    assert not any("no difference" in each for each in [*findings(run, rows, compared), *warnings(run, rows, compared)])


def test_the_terminal_shows_every_run(folder: Path) -> None:
    out = Console(file=io.StringIO(), width=200)
    out.print(results_on_terminal(read_run(folder)))


def test_the_table_has_each_cell(quick: Path) -> None:
    rows = tables.rows(read_run(quick))
    assert len(rows) == 8
    assert {row.ok for row in rows} == {8}
    http, h2 = rows[4], rows[7]
    assert http.summary is not None
    assert h2.summary is not None
    assert http.summary.median > h2.summary.median
    assert (http.medians["connections"], h2.medians["connections"]) == (24, 1)
    bound = http.medians["bound_ms"]
    assert bound is not None
    assert http.ratio == http.summary.median / bound
    compared = [row for row in tables.comparisons(read_run(quick)) if row.cell.arm.name == "h2"]
    assert [row.comparison.verdict for row in compared if row.comparison] == ["faster", "faster"]


def test_the_median_trial_is_the_middle_one(quick: Path) -> None:
    trials = next(iter(read_run(quick).by_cell().values()))
    found = tables.median_trial(trials)
    assert found is not None
    ordered = sorted(trial.value or 0 for trial in trials if trial.ok)
    assert found.value == ordered[3]
    assert tables.median_trial([]) is None


@pytest.mark.parametrize("kind", ["line", "bar", "box", "cdf"])
@pytest.mark.parametrize("facet", ["", "rtt", "arm"])
def test_every_kind_of_figure_is_drawn(quick: Path, kind: str, facet: str) -> None:
    figure = Figure("T", "" if kind == "cdf" else "rtt" if facet != "rtt" else "arm", "plt", "", facet, kind)
    drawing = draw(read_run(quick), figure)
    assert sum(len(series.points) for panel in drawing.panels for series in panel.series) == 8
    specification = chart(drawing)
    assert specification is not None
    assert render.svg(specification).startswith("<svg")
    assert render.png(specification, 1).startswith(b"\x89PNG")


@pytest.mark.parametrize("scale", ["zero", "fit", "log"])
@pytest.mark.parametrize("kind", ["line", "box", "cdf"])
def test_an_axis_begins_where_it_is_told_to(quick: Path, kind: str, scale: str) -> None:
    figure = Figure("T", "" if kind == "cdf" else "rtt", "plt", "arm", "", kind, scale=scale)
    drawing = draw(read_run(quick), figure)
    extent = span(drawing, drawing.panels[0], of_trials=kind != "line")
    least = min(min(point.mark.values) for point in drawing.points())
    assert extent.logarithmic == (scale == "log")
    assert (extent.low == 0) == (scale == "zero")
    assert extent.low < least
    specification = chart(drawing)
    assert specification is not None
    assert ("does not begin at 0" in json.dumps(specification)) == (scale == "fit")


def test_the_change_by_each_arm_is_drawn_with_its_interval(quick: Path) -> None:
    """Against the base, which has none of its own; below 0 it is faster."""
    run = read_run(quick)
    drawing = draw(run, Figure("T", "rtt", "change", "arm", "", "line"))
    assert drawing.series_names == ["http keepalive", "https", "h2"]
    compared = {str(row.cell): row.comparison for row in tables.comparisons(run)}
    for point in drawing.points():
        comparison = compared[point.label]
        assert comparison is not None
        assert point.mark.middle == pytest.approx(100 * (comparison.ratio.value - 1))
        assert point.mark.low is not None
        assert point.mark.high is not None
        assert point.mark.low <= point.mark.middle <= point.mark.high < 0
    extent = span(drawing, drawing.panels[0])
    assert extent.low < 0 < extent.high
    text = render.svg(chart(drawing) or {})
    assert "http keepalive: -" in text.replace("\u200b", "")


def test_a_cell_whose_link_was_another_is_not_drawn(quick: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor is a change against it."""
    run = read_run(quick)
    base = run.cells[0]
    monkeypatch.setattr(marks, "refusals", lambda _run: {base.number: (Refusal("link", "another"),)})
    values = draw(run, Figure("T", "rtt", "plt", "arm", "", "line"))
    changes = draw(run, Figure("T", "rtt", "change", "arm", "", "line"))
    assert (values.refused, len(list(values.points()))) == (1, 7)
    assert (changes.refused, len(list(changes.points()))) == (3, 3)
    assert {point.label for point in changes.points()} == {str(cell) for cell in run.cells[5:]}
    assert "3 cells are not drawn: the link was not the one" in page(run)


def test_a_grid_is_a_table_in_colours(tmp_path: Path) -> None:
    links = [{"rate": rate, "rtt": rtt} for rate in ("1mbit", "4mbit", "10mbit") for rtt in ("10ms", "50ms", "100ms")]
    arms = {name: ARMS[name] for name in ("http", "h2")}
    run = read_run(make_run(tmp_path / "run", Made(links=links, arms=arms, rounds=6, with_requests=False)))
    grids = [figure for figure in figures_of(run) if figure.kind == "heatmap"]
    assert [(figure.x, figure.series, figure.y) for figure in grids] == [
        ("rtt", "rate", "plt"),
        ("rtt", "rate", "change"),
    ]
    values, changes = (draw(run, figure) for figure in grids)
    assert len(list(values.points())) == 18
    assert len(list(changes.points())) == 9
    for drawing in (values, changes):
        specification = chart(drawing)
        assert specification is not None
        assert render.svg(specification).startswith("<svg")


def test_the_parts_of_load_times_are_bars_that_add_up(tmp_path: Path) -> None:
    parts = {"part_connect_ms": 100.0, "part_transmission_ms": 700.0, "part_idle_ms": 0.0}
    run = read_run(make_run(tmp_path / "run", Made(rounds=3, machine=parts)))
    drawing = draw(run, next(figure for figure in figures_of(run) if figure.kind == "parts"))
    assert {point.mark.middle for point in drawing.points()} == {800.0}
    text = render.svg(chart(drawing) or {}).replace("\u200b", "")
    assert "transmission 700.0 ms" in text
    assert ">idle<" not in text


def test_a_change_without_bounds_ends_with_the_axis() -> None:
    """An arm that timed out in some rounds may be any number of times slower."""
    extent = Span(-10, 40)
    assert extent.clip(float("inf")) == 40
    assert extent.clip(-3) == -3


def test_cells_that_a_figure_does_not_tell_apart_get_panels(tmp_path: Path) -> None:
    run = read_run(make_run(tmp_path / "r", Made(sites=("a", "b"), rounds=1)))
    drawing = draw(run, Figure("T", "rtt", "plt", "arm", "", "line"))
    assert [panel.name for panel in drawing.panels] == ["a", "b"]


def test_only_some_cells(quick: Path) -> None:
    drawing = draw(read_run(quick), Figure("T", "arm", "fcp", "", "", "bar", (("rtt", ("20ms",)),)))
    assert len(list(drawing.points())) == 4


def test_without_figures_the_likely_one_is_drawn(tmp_path: Path) -> None:
    one = read_run(make_run(tmp_path / "one", MADE["one cell"]()))
    assert [(figure.x, figure.kind) for figure in figures_of(one)] == [("arm", "bar"), ("arm", "parts")]
    sites = read_run(make_run(tmp_path / "sites", MADE["sites"]()))
    assert [(figure.x, figure.y) for figure in figures_of(sites)] == [
        ("rtt", "plt"),
        ("rtt", "change"),
        ("arm", "plt"),
    ]


def test_places_on_an_axis_are_numbers_with_units(quick: Path) -> None:
    cells = read_run(quick).cells
    rtt, rate = axes.dimension(cells, "rtt"), axes.dimension(cells, "rate")
    assert ([place.number for place in rtt.places], rtt.unit) == ([20, 100], "ms")
    assert ([place.number for place in rate.places], rate.unit) == ([10], "Mbit/s")
    assert not axes.dimension(cells, "arm").numeric


def test_labels_keep_their_distance_and_stay_within() -> None:
    placed = label_rows([5, 6, 7, 199], 200)
    assert placed[:3] == [5, 5 + LABEL_GAP, 5 + 2 * LABEL_GAP]
    low = label_rows([190, 195, 200], 200)
    assert low[2] == 200
    assert low == sorted(low)
    assert low[1] - low[0] >= LABEL_GAP


def test_a_waterfall_of_odd_requests() -> None:
    plain = made_requests(random.Random(1), 12, "h2")[0]
    none = dict.fromkeys(plain["timings"], -1)
    odd: list[dict[str, Any]] = [
        {**plain, "url": "", "started_ms": 0, "ended_ms": None, "timings": none},
        {**plain, "url": "https://h/" + "x" * 200 + "?q", "started_ms": 5, "ended_ms": 9,
         "timings": {**none, "connect": 3, "ssl": 2}},
        {**plain, "url": "data:,\x00\x1b\ud800", "started_ms": 0, "ended_ms": 3, "timings": none, "status": None,
         "connection": None, "error": "ERR"},
    ]  # fmt: skip
    found = waterfall(load_view(loaded(odd, plt_navigation_ms=12), None, None), 12)
    assert found is not None
    assert "never finished" in found
    assert Parsed(found).open == []
    assert waterfall(load_view(loaded([]), None, None), 12) is None


def test_every_request_of_a_large_page_is_drawn() -> None:
    """The first ones at once, the others folded, with how many there are."""
    many = made_requests(random.Random(1), 900, "h2") * 10
    found = waterfall(load_view(loaded(many), None, None), 900)
    assert found is not None
    assert f"{len(many) - MOST_ROWS} more requests" in found
    assert found.count('class="hit"') == len(many)


def test_csv_has_a_row_for_each_trial_and_each_request(quick: Path) -> None:
    run, file = read_run(quick), io.StringIO()
    assert export.write_csv(export.trial_rows(run), file) == len(run.trials)
    rows = list(csv.DictReader(io.StringIO(file.getvalue())))
    assert rows[0]["rtt_ms"] == "20.0"
    assert rows[0]["arm.keepalive"] == "false"
    assert {row["status"] for row in rows} == {"ok", "failed"}
    assert sum(1 for _ in export.request_rows(run)) == 24 * len(run.trials)


def test_series_are_exported_point_by_point(quick: Path) -> None:
    run, file = read_run(quick), io.StringIO()
    assert export.write_csv(export.series_rows(run), file) == 2 * len(run.trials)
    first, second, *_ = csv.DictReader(io.StringIO(file.getvalue()))
    assert [(row["trial"], row["series"], row["t_ms"], row["value"]) for row in (first, second)] == [
        ("1", "load", "0.0", "0.5"),
        ("1", "load", "100.0", "0.5"),
    ]
    (trial, *_) = export.everything(run)["trials"]
    assert trial["record"]["series"] == {"load": {"unit": "processes", "points": [[0.0, 0.5], [100.0, 0.5]]}}


def test_a_trial_that_is_stored_during_an_export_is_left_out(quick: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run, whole = read_run(quick), each_series
    monkeypatch.setattr(export, "each_series", lambda folder: [*whole(folder), (10_000, "load", 0.0, 0.5)])
    assert len(export.everything(run)["trials"]) == len(run.trials)


@pytest.mark.parametrize(
    "words",
    [
        "run --resume {}",
        "show {}",
        "show {} --trial 1",
        "report {}",
        "export {} --format csv",
        "export {} --format har",
    ],
)
def test_every_command_says_the_same_of_a_run_of_another_format(tmp_path: Path, words: str) -> None:
    folder = make_run(tmp_path / "run", Made(rounds=1))
    with changing(folder) as database:
        database.execute("UPDATE meta SET value = '1' WHERE key = 'format'")
    with pytest.raises(StoreError) as refused:
        CliRunner().invoke(lanelab, words.format(folder).split(), catch_exceptions=False, standalone_mode=False)
    assert str(refused.value) == (
        f"the run in {folder} has format 1, and this lanelab reads format 6. "
        "Use the lanelab that made it, or make the run again"
    )


def test_parquet_has_types(quick: Path, tmp_path: Path) -> None:
    import pyarrow.parquet as pq  # noqa: PLC0415

    export.write_parquet(export.trial_rows(read_run(quick)), tmp_path / "t.parquet")
    schema = pq.read_schema(tmp_path / "t.parquet")
    kinds = {name: str(schema.field(name).type) for name in ("started", "plt_ms", "bytes_down", "arm.keepalive", "arm")}
    assert kinds == {
        "started": "timestamp[ms, tz=UTC]", "plt_ms": "double", "bytes_down": "int64", "arm.keepalive": "bool",
        "arm": "string",
    }  # fmt: skip


def test_every_run_can_be_exported(folder: Path, tmp_path: Path) -> None:
    run = read_run(folder)
    export.write_parquet(export.trial_rows(run), tmp_path / "t.parquet")
    export.write_parquet(export.request_rows(run), tmp_path / "r.parquet")
    data = json.loads(json.dumps(export.everything(run, requests=True)))
    assert len(data["trials"]) == len(run.trials)
    written, lacking = export.write_hars(run, tmp_path / "har", median=True)
    assert (len(written), lacking) == (sum(1 for row in tables.rows(run) if row.summary), 0)


def test_figures_are_saved(quick: Path) -> None:
    saved, *others = save_figures(quick, "svg")
    assert saved.name == "01-page-load-time-over-the-round-trip.svg"
    assert [each.name for each in others] == ["02-change-of-page-load-time.svg"]
    assert "var(--" not in saved.read_text()
    assert write_report(quick).read_text().startswith("<!doctype html>")


@pytest.mark.parametrize(
    "words",
    ["show {}", "show {} --json", "show {} --trial 7", "show {} --trial 7 --json", "export {} --format csv",
     "export {} --format json", "export {} --format csv --requests",
     "export {} --format csv --series", "runs {}/..", "runs {}/.. --json",
     "report {} --output {}/out/r.html"],
)  # fmt: skip
def test_commands(quick: Path, words: str) -> None:
    found = CliRunner().invoke(lanelab, words.format(quick, quick).split(), catch_exceptions=False)
    assert found.exit_code == 0
    assert found.output
    if "json" in words:
        assert json.loads(found.stdout)


def test_the_record_of_a_trial_is_the_one_stored(quick: Path) -> None:
    found = CliRunner().invoke(lanelab, ["show", str(quick), "--trial", "7", "--json"], catch_exceptions=False)
    assert TrialRecord.from_json(json.loads(found.stdout)) == read_record(quick, 7)


def test_what_the_gateway_costs_comes_after_the_tables_and_where_there_is_something_to_say(tmp_path: Path) -> None:
    arms = {"a": {"via": "gateway"}, "b": {"via": "gateway"}}
    out = Console(file=io.StringIO(), width=200)
    with out.capture() as some:
        out.print(results_on_terminal(read_run(make_run(tmp_path / "some", Made(rounds=3, arms=arms)))))
    text = some.get()
    assert text.index("n = 3: the interval") < text.index("All arms go through the gateway")
    with out.capture() as none:
        out.print(results_on_terminal(read_run(make_run(tmp_path / "none", Made(rounds=0, arms=arms)))))
    assert "gateway" not in none.get()


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("nothing", "No trial has been made yet."),
        ("failures", "None of 8 trials counts: every one failed. Nothing can be said about page load times."),
    ],
)
def test_a_run_of_which_nothing_counts_has_no_empty_tables(tmp_path: Path, kind: str, said: str) -> None:
    folder = make_run(tmp_path / "run", MADE[kind]())
    shown = CliRunner().invoke(lanelab, ["show", str(folder)], catch_exceptions=False).stdout
    assert said in " ".join(shown.split())
    assert not {"median", "against", "pseudo-median"} & set(shown.split())
    assert ("protocol-fallback 8" in shown) == (kind == "failures")
    text = page(read_run(folder))
    assert '<table class="results">' not in text
    assert 'id="comparisons"' not in text
    assert 'id="figures"' not in text


def test_a_trial_is_shown_with_what_it_is_and_what_is_missing_of_it(tmp_path: Path) -> None:
    folder = make_run(tmp_path / "run", Made(rounds=1, arms={"clear": {"via": "gateway", "tls": "off"}}))
    (artifact_path(folder, 1, "page.har.gz")).unlink()
    found = CliRunner().invoke(lanelab, ["show", str(folder), "--trial", "1"], catch_exceptions=False)
    assert "trial 1: dummy, 10mbit 20ms, clear, round 1: ok" in found.stderr
    assert "the link had none" in " ".join(found.stdout.split())
    assert re.search(r"page\.har\.gz +missing", found.stdout)
    run = read_run(folder)
    bare = replace(run.trials[0], measures={})
    lost = trial_section(bare, TrialRecord.not_started("page_load", "", Reason.BED_LOST, "gone"), [])
    assert lost.parts == (Words("failed: bed-lost: gone", "warn"),)


def test_next_to_nothing_is_shown_as_such(tmp_path: Path) -> None:
    """A warm load may ask the link for a few bytes, or for none; then its bound is 0, and there is no ratio to it."""
    assert [numbers.kilobytes(value) for value in (None, 0, 12, 340, 9_960, 1_174_000)] == [
        "-", "0", "0.1", "0.3", "10.0", "1,174",
    ]  # fmt: skip
    assert [numbers.ratio(value) for value in (None, 1.084, 241.3)] == ["-", "1.08", "241"]
    assert [numbers.difference(value) for value in (-0.4, 3, -1230)] == ["-0.4", "+3.0", "-1,230"]
    folder = make_run(tmp_path / "run", Made(rounds=6, fails=lambda _trial, _attempt: False))
    with changing(folder) as database:
        names, own = "'bytes_down', 'connections', 'bound_ms'", "SELECT trial FROM trials WHERE cell = 2"
        database.execute(f"UPDATE measures SET value = 0 WHERE name IN ({names}) AND trial IN ({own})")  # noqa: S608
    run = read_run(folder)
    row = tables.rows(run)[1]
    assert (row.medians["bytes_down"], row.medians["connections"], row.ratio) == (0, 0, None)
    assert [column.of(row) for column in columns(Seen(run))[-3:]] == ["0", "0", "-"]
    assert chart(draw(run, Figure("T", "rtt", "bytes_down", "arm", "", "line"))) is not None
    assert "<td" in page(run)
