"""Figures of runs that were made up: what is drawn, and where."""

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lanelab.analysis.results import axes, charts_of_grids, marks, render, tables
from lanelab.analysis.results.chart_parts import LABEL_GAP, label_rows
from lanelab.analysis.results.chart_scales import Span, span
from lanelab.analysis.results.charts import chart
from lanelab.analysis.results.drawing import draw, figures_of
from lanelab.analysis.results.load_view import load_view
from lanelab.analysis.results.model import Figure
from lanelab.analysis.results.refusals import Refusal
from lanelab.analysis.results.report import page, save_figures, write_report
from lanelab.analysis.results.report.waterfall import MOST_ROWS, waterfall
from lanelab.analysis.results.run_folder import read_run
from tests.kit.made_claims import LATE
from tests.kit.made_claims import made_run as run_in_memory
from tests.kit.made_run import ARMS, Made, make_run
from tests.kit.made_trials import loaded, made_requests
from tests.kit.report_pages import Parsed


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_run(tmp_path_factory.mktemp("runs") / "quick", Made(rounds=8))


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


def test_what_timed_out_never_came_to_its_end() -> None:
    """Where loads are drawn at the time that they had, the line of those that took no longer does not reach all."""
    run = run_in_memory(lambda _arm, _rtt, number: LATE if number <= 8 else 1000.0 + number)
    only = (("arm", ("a",)), ("rtt", ("20ms",)))
    shares = drawn_values(chart(draw(run, Figure("T", "", "plt", "arm", "", "cdf", only))), "share")
    assert max(shares) == pytest.approx(4 / 12)
    bars = json.dumps(chart(draw(run, Figure("T", "arm", "plt", "", "", "bar", only))))
    assert '"text": "> 60,000"' in bars
    grid = json.dumps(chart(draw(run, Figure("T", "rtt", "plt", "arm", "", "heatmap"))))
    assert grid.count('"text": "> 60,000"') == 6
    dots = json.dumps(chart(draw(run, Figure("T", "arm", "plt", "", "", "box", only))))
    assert "a: > 60,000.0 ms" in dots
    assert "a: 1,012.0 ms" in dots


def test_a_median_between_a_load_that_ended_and_one_that_did_not_took_longer_too() -> None:
    """As in tables: the half of what both took is known of neither."""
    run = run_in_memory(lambda _arm, _rtt, number: LATE if number <= 6 else 8000.0 + number)
    row, mark = tables.rows(run)[0], marks.marks(run, "plt", "").marks[run.cells[0].number]
    assert row.summary
    assert (row.shown(row.summary.median), mark.short) == ("> 60,000", "> 60,000")
    assert mark.summary is not None
    assert (mark.middle, mark.summary.quartile_3, max(mark.values)) == (60_000, 60_000, 60_000)
    assert mark.summary.quartile_1 == pytest.approx(8009.75)


def test_a_journey_may_take_longer_than_the_time_that_each_step_has() -> None:
    """Its load time is that of its steps together. One that timed out is beyond all that came to their end."""
    steps = {"journey": json.dumps(["front", "article"])}
    run = run_in_memory(lambda _arm, _rtt, number: LATE if number == 1 else 100_000.0 + number)
    run = replace(run, meta={**run.meta, **steps})
    cell = run.cells[0].number
    mark = marks.marks(run, "plt", "").marks[cell]
    late_one, *ended = mark.values
    assert ended == [100_000.0 + number for number in range(2, 13)]
    assert late_one > max(ended)
    assert (mark.middle, mark.is_late(late_one), mark.is_late(ended[-1])) == (100_007.5, True, False)
    late = run_in_memory(lambda _arm, _rtt, number: LATE if number <= 8 else 100_000.0)
    row = tables.rows(late)[0]
    assert row.summary
    assert row.shown(row.summary.median) == "> 100,000"
    assert {one.value for one in tables.timed(late)} == {100_000.0, row.limit}
    assert row.limit > 100_000


def test_the_first_trial_of_a_round_that_counts_is_the_one_everywhere() -> None:
    """Whoever made a round twice may not choose: figures have the trial that tables and comparisons have."""
    run = run_in_memory(
        lambda _arm, _rtt, number: 1000.0 + number, measures=lambda _arm, _rtt, _number: {"ttfb_ms": 90.0}
    )
    again = (
        replace(trial, number=trial.number + 1000, attempt=2, value=5.0, measures={"plt_ms": 5.0, "ttfb_ms": 1.0})
        for trial in run.trials
    )
    twice = replace(run, trials=(*run.trials, *again))
    assert twice.outcomes() == run.outcomes()
    assert twice.values() == run.values()
    assert twice.values("ttfb_ms") == run.values("ttfb_ms")


def drawn_values(specification: object, name: str) -> list[float]:
    """Everything of that name in the data of a chart."""
    if isinstance(specification, dict):
        own = [specification[name]] if isinstance(specification.get(name), float) else []
        return own + [one for below in specification.values() for one in drawn_values(below, name)]
    if isinstance(specification, list | tuple):
        return [one for below in specification for one in drawn_values(below, name)]
    return []


def test_cells_that_a_figure_does_not_tell_apart_get_panels(tmp_path: Path) -> None:
    run = read_run(make_run(tmp_path / "r", Made(sites=("a", "b"), rounds=1)))
    drawing = draw(run, Figure("T", "rtt", "plt", "arm", "", "line"))
    assert [panel.name for panel in drawing.panels] == ["a", "b"]


def test_only_some_cells(quick: Path) -> None:
    drawing = draw(read_run(quick), Figure("T", "arm", "fcp", "", "", "bar", (("rtt", ("20ms",)),)))
    assert len(list(drawing.points())) == 4


def test_without_figures_the_likely_one_is_drawn(tmp_path: Path) -> None:
    one = read_run(
        make_run(tmp_path / "one", Made(arms={"h2": ARMS["h2"]}, links=[{"rtt": "40ms"}], rounds=1, figures=()))
    )
    assert [(figure.x, figure.kind) for figure in figures_of(one)] == [("arm", "bar"), ("arm", "parts")]
    sites = read_run(make_run(tmp_path / "sites", Made(sites=("a", "b"), rounds=2, figures=())))
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


def test_figures_are_saved(quick: Path) -> None:
    saved, *others = save_figures(quick, "svg")
    assert saved.name == "01-page-load-time-over-the-round-trip.svg"
    assert [each.name for each in others] == ["02-change-of-page-load-time.svg"]
    assert "var(--" not in saved.read_text()
    assert write_report(quick).read_text().startswith("<!doctype html>")


def test_a_change_of_too_few_rounds_is_in_brackets_as_its_verdict_says(tmp_path: Path) -> None:
    """Both intervals are on one side of 0. The bracket follows the comparison."""
    links = [{"rate": rate, "rtt": rtt} for rate in ("1mbit", "4mbit") for rtt in ("10ms", "50ms")]
    arms = {name: ARMS[name] for name in ("http", "h2")}
    for rounds, verdicts in ((2, {"too few rounds"}), (8, {"faster", "no difference shown"})):
        run = read_run(make_run(tmp_path / str(rounds), Made(links=links, arms=arms, rounds=rounds)))
        specification: Any = chart(draw(run, Figure("T", "rtt", "change", "rate", "", "heatmap")))
        compared = [row.comparison for row in tables.comparisons(run) if row.comparison]
        assert {comparison.verdict for comparison in compared} == verdicts
        texts = [row["text"] for rows in specification["datasets"].values() for row in rows]
        bare = [text for text in texts if not (text.startswith("(") and text.endswith("%)"))]
        assert (len(texts), len(bare)) == (4, sum(comparison.verdict == "faster" for comparison in compared))


def test_dark_text_can_be_read_on_every_cell_of_a_heatmap() -> None:
    def luminance(colour: tuple[int, ...]) -> float:
        parts = [part / 255 / 12.92 if part <= 10 else ((part / 255 + 0.055) / 1.055) ** 2.4 for part in colour]
        return sum(share * part for share, part in zip((0.2126, 0.7152, 0.0722), parts, strict=True))

    ink = luminance(tuple(bytes.fromhex(charts_of_grids.INK[1:])))
    ends = (charts_of_grids.LOWER, charts_of_grids.EVEN, charts_of_grids.HIGHER, charts_of_grids.LEAST)
    assert all((luminance(end) + 0.05) / (ink + 0.05) >= 7 for end in (*ends, charts_of_grids.MOST))


def test_where_bases_differ_each_series_says_its_own(tmp_path: Path) -> None:
    run = read_run(make_run(tmp_path / "run", Made(rounds=6)))
    base, one, other = (cell for cell in run.cells if cell.link == run.cells[0].link and cell.arm.name != "h2")
    run = replace(run, plan=replace(run.plan, compared=((base, one), (one, other))))
    drawing = draw(run, Figure("T", "rtt", "change", "arm", "", "line"))
    assert drawing.series_names == [
        f"{one.arm.name} against {base.arm.name}",
        f"{other.arm.name} against {one.arm.name}",
    ]
    alone = draw(replace(run, plan=replace(run.plan, compared=((base, one),))), Figure("T", "rtt", "change", "arm"))
    assert alone.series_names == [one.arm.name]
    assert alone.measured.pairs == f"{one.arm.name} against {base.arm.name}"
