"""What was published, in the charts of what was measured."""

from dataclasses import replace
from typing import Any

import pytest

from lanelab.analysis.results import render
from lanelab.analysis.results.charts import chart
from lanelab.analysis.results.drawing import draw
from lanelab.analysis.results.model import Run
from lanelab.analysis.results.report import page
from lanelab.analysis.results.run_folder import read_run
from tests.kit.made_run import Made, make_run
from tests.kit.made_study import PUBLISHED

FIGURE: dict[str, Any] = {
    "title": "Load times",
    "x": "rtt",
    "y": "plt",
    "series": "arm",
    "kind": "line",
    "facet": None,
    "only": {},
}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    made = Made(figures=[{**FIGURE, "published": PUBLISHED}])
    return read_run(make_run(tmp_path_factory.mktemp("published") / "run", made))


@pytest.mark.parametrize("kind", ["line", "bar"])
def test_each_published_point_is_a_mark_and_the_axis_reaches_as_far(run: Run, kind: str) -> None:
    drawing = draw(run, replace(run.figures[0], kind=kind))
    specification = chart(drawing)
    assert specification is not None
    picture = render.svg(specification)
    for series, x, value in run.figures[0].published:
        assert f"<title>{series}, {x}: published as {value:,.0f} ms</title>" in picture
    assert "end of the published axis" in picture
    assert "4,000" in picture  # no load time is near it: the axis has this tick because of what was published


def test_a_figure_of_several_panels_says_that_it_has_no_place_for_points(run: Run) -> None:
    drawing = draw(run, replace(run.figures[0], facet="arm"))
    assert drawing.published.points == ()
    assert drawing.published.left_out == 4
    assert drawing.published.axis == 4000


def test_the_report_says_what_hollow_marks_are_and_where_they_are_from(run: Run) -> None:
    text = page(run)
    assert "Hollow marks are as published (the made figure, read off with a ruler)." in text
    assert "where the published axis ended: 4,000." in text


def test_marks_lead_to_their_cell_only_where_a_page_has_it(run: Run) -> None:
    specification = chart(draw(run, run.figures[0]))
    assert specification is not None
    linked = render.inline_svg(specification, "figure", "f1", "f1-cell-")
    for cell in run.cells:
        assert f'<a href="#f1-cell-{cell.number}"><path' in linked
    assert "<a " not in render.inline_svg(specification, "figure", "f1")
    assert "<a " not in render.svg(specification)
