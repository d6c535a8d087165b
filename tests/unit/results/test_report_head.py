"""The head of a report: what the run is about, what was found, and one box with what keeps that from being believed."""

import dataclasses
import re
from pathlib import Path

from lanelab.analysis.results import tables
from lanelab.analysis.results.drawing import draw, figures_of
from lanelab.analysis.results.pooled_places import pooled
from lanelab.analysis.results.report.page import page
from lanelab.analysis.results.run_folder import read_run
from lanelab.analysis.results.sections.cells import groups, place
from lanelab.analysis.results.sections.findings import findings, warnings
from lanelab.analysis.results.sections.head import title_of
from lanelab.analysis.results.sections.seen import Seen
from tests.kit.made_run import ARMS, Made, make_run

TWO = {"http": ARMS["http"], "h2": ARMS["h2"]}
NONE_FAIL = lambda _trial, _attempt: False  # noqa: E731


def test_findings_come_before_one_box_of_warnings(tmp_path: Path) -> None:
    run = read_run(make_run(tmp_path / "run", Made(arms=TWO, rounds=3, fails=NONE_FAIL)))
    rows, compared = tables.rows(run), tables.comparisons(run)
    assert findings(run, rows, compared, pooled(run))[0].startswith("h2 was faster than http so far")
    assert any("provisional" in each for each in warnings(run, rows, compared))
    text = page(run)
    found = text.index("h2 was faster than http so far")
    (box,) = re.findall(r'<ul class="warnings">.*?</ul>', text)
    assert found < text.index(box)
    assert "provisional" in box
    assert "was faster" not in box


def test_a_run_without_a_doubt_has_no_box(tmp_path: Path) -> None:
    run = read_run(make_run(tmp_path / "run", Made(arms=TWO, rounds=8, fails=NONE_FAIL)))
    assert warnings(run, tables.rows(run), tables.comparisons(run)) == []
    assert '<ul class="warnings">' not in page(run)


def test_the_title_is_what_the_run_is_about(tmp_path: Path) -> None:
    run = read_run(make_run(tmp_path / "run", Made(fails=NONE_FAIL)))
    assert title_of(run) == run.description
    assert f"<h1>{run.description}</h1>" in page(run)
    assert f"lanelab report: {run.name}" in page(run)


def test_links_with_losses_down_are_numbers_of_one_axis(tmp_path: Path) -> None:
    """One link has no loss, the other one loses packets on the way down alone."""
    links = ({"rtt": "50ms"}, {"rtt": "50ms", "loss_down": "2%"})
    run = read_run(make_run(tmp_path / "run", Made(arms=TWO, links=links, rounds=3, fails=NONE_FAIL)))
    run = dataclasses.replace(run, figures=())
    drawing = draw(run, figures_of(run)[0])
    assert (drawing.x.name, drawing.x.unit) == ("loss_down", "%")
    assert [place.number for place in drawing.x.places] == [0, 2]


def test_links_that_differ_in_several_settings_are_called_by_their_labels(tmp_path: Path) -> None:
    short, long = {"rate": "10mbit", "queue": "20p"}, {"rate": "10mbit", "queue": "200p"}
    links = (short, long, {**long, "discipline": "fq_codel"})
    run = read_run(make_run(tmp_path / "run", Made(arms=TWO, links=links, rounds=3, fails=NONE_FAIL)))
    panels = {
        panel.name
        for figure in figures_of(dataclasses.replace(run, figures=()))
        for panel in draw(run, figure).panels
        if panel.name
    }
    assert panels <= {link.label for link in run.links}
    assert panels


def test_rows_of_several_sites_say_which(tmp_path: Path) -> None:
    """Both sites have a link of the same label."""
    run = read_run(make_run(tmp_path / "run", Made(arms=TWO, sites=("dummy", "shop"), rounds=3, fails=NONE_FAIL)))
    cell, seen = run.cells[0], Seen(run)
    assert groups(seen) == ("site", "link")
    assert place(cell, seen).words == (cell.site, cell.link.label)
