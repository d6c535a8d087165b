"""The figures of a run: within the report, and as files."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

from lanelab.analysis.results import axes, render
from lanelab.analysis.results.chart_heads import IN_BRACKETS
from lanelab.analysis.results.chart_scales import WITH_PUBLISHED, own_scales
from lanelab.analysis.results.charts import chart, is_guide
from lanelab.analysis.results.courses import COURSE, drawing_of, table_of, usual_courses
from lanelab.analysis.results.drawing import Drawing, figures_of
from lanelab.analysis.results.layout.markup import Html, el
from lanelab.analysis.results.layout.model import Fold, Words, text_table
from lanelab.analysis.results.layout.page import parts_on_page, scroll, section_on_page
from lanelab.analysis.results.model import Run
from lanelab.analysis.results.optimal_marks import about_optimum
from lanelab.analysis.results.published_points import about_published
from lanelab.analysis.results.report import loads
from lanelab.analysis.results.report.atomic_files import write_whole
from lanelab.analysis.results.run_folder import read_run
from lanelab.driver.base.amounts import counted, form_for

FIGURES = "figures"
SEQUENCE = "sequence"  # a kind of figure that is drawn from captures


def pictures(run: Run) -> Iterator[tuple[Drawing, dict[str, Any]]]:
    """Yield each figure of the run that has something to show."""
    for figure in (*figures_of(run), *usual_courses(run)):
        if figure.kind == SEQUENCE:
            continue
        drawing = drawing_of(run, figure)
        specification = chart(drawing)
        if specification:
            yield drawing, specification


def figures(run: Run, drawn: Sequence[loads.Drawn]) -> Html | None:
    drawings = [picture(f"f{i}", drawing, specification) for i, (drawing, specification) in enumerate(pictures(run), 1)]
    for figure in run.figures:
        if figure.kind == SEQUENCE:
            cells = axes.shown(run.cells, figure.only)
            packets = loads.packets_figure([each for each in drawn if each.cell in cells], figure.title)
            drawings += [packets] if packets else []
    if not drawings:
        return None
    return section_on_page("figures", form_for(len(drawings), "Figure"), drawings)


_ABOUT = {
    "line": "Medians; bands and whiskers: {interval}.",
    "bar": "Medians; whiskers: {interval}.",
    "heatmap": "Medians.",
    "parts": "Medians of each part (docs/reference/parts.md); they need not add up to the median of the whole.",
    "box": "Every trial as a dot; boxes: middle half of the trials; tick: median.",
    COURSE: "Medians of the trials over spans of time; bands are their range. A gap is where nothing was read.",
    "cdf": "The share of trials that took no longer.",
}


def picture(name: str, drawing: Drawing, specification: dict[str, Any], *below: Html, cells: str = "") -> Html:
    """Return a chart with its caption. `name`: what ids within it begin with; `cells`: what the addresses of the page's
    cells begin with, where its marks lead to them."""
    missing = f" {drawing.without} cells have no trial that counts, and are not drawn." if drawing.without else ""
    caption = el("figcaption", el("b", drawing.title), " ", _about(drawing), missing, _refused(drawing))
    if drawing.kind == COURSE:
        heads, rows = table_of(drawing)
        numbers = text_table(heads, rows, right=heads)
        below = (*below, *parts_on_page([Fold(Words("Numbers"), (numbers,))]))
    image = Html(render.inline_svg(specification, drawing.title, name, cells))
    return el("figure", caption, scroll(image), *below, class_="wide" if len(drawing.panels) > 1 else None)


def _refused(drawing: Drawing) -> Html | None:
    if not drawing.refused:
        return None
    cells = counted(drawing.refused, "cell is", "cells are")
    return el("span", f" {cells} not drawn: the link was not the one that was asked for.", class_="warn")


def _about(drawing: Drawing) -> str:
    """Return what the marks are, and what they are not."""
    names = {point.mark.interval for point in drawing.points() if point.mark.low is not None}
    interval = names.pop() if len(names) == 1 else "interval"
    words = _ABOUT.get(drawing.kind, "").format(interval=interval)
    if drawing.measured.is_change:
        base = drawing.measured.base
        which = f"Each arm against {base}" if base else drawing.measured.pairs or "Each arm against its base"
        words = f"{which}, round by round: below 0 is less. " + (
            IN_BRACKETS
            if drawing.kind == "heatmap"
            else f"Whiskers: {interval}; if one crosses 0, no difference is shown."
        )
        further = drawing.measured.further
        words += f" {further} further comparisons of the same cells are in the table alone." if further else ""
    words += f" All of it is {drawing.over}, which may differ in speed." if drawing.over else ""
    words += " Each panel has a scale of its own." if own_scales(drawing) else ""
    words += about_published(drawing.published) if drawing.kind in WITH_PUBLISHED else ""
    words += about_optimum(drawing.optimal)
    words += " Dotted lines only lead the eye: nothing was measured between." if is_guide(drawing) else ""
    return words


def save_figures(folder: Path, kind: Literal["svg", "png"]) -> list[Path]:
    """Return each figure as a file in the run folder."""
    saved = []
    for i, (drawing, specification) in enumerate(pictures(read_run(folder)), 1):
        name = re.sub(r"[^a-z0-9]+", "-", drawing.title.lower()).strip("-")[:60] or "figure"
        target = folder / FIGURES / f"{i:02}-{name}.{kind}"
        content = render.svg(specification).encode() if kind == "svg" else render.png(specification)
        write_whole(target, content)
        saved.append(target)
    return saved
