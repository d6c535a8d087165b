"""Figures of series: a number of a load over time or over users, over spans of time and over all trials of a cell."""

import itertools
import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import replace

from lanelab.analysis.results import axes
from lanelab.analysis.results.axes import Dimension
from lanelab.analysis.results.drawing import Drawing, Panel, Point, colours_of, draw, facet_words, in_order, unseparated
from lanelab.analysis.results.drawing import Series as Drawn
from lanelab.analysis.results.marks import Mark, Measured
from lanelab.analysis.results.model import Cell, Figure, Run, Trial
from lanelab.analysis.results.published_points import PublishedFigure, PublishedPoint
from lanelab.analysis.results.refusals import refusals
from lanelab.driver.base.amounts import counted
from lanelab.driver.record.load_places import TIME, USERS
from lanelab.driver.record.load_series import SERIES, SeriesKind
from lanelab.driver.record.load_spans import combined, spans
from lanelab.driver.record.metrics import LOAD
from lanelab.driver.record.series import Series
from lanelab.driver.run.folder.trial_content import read_series

COURSE = "series"  # as experiment files call the kind of figure
SHARES = 40  # of a load, where nobody says how long a span is
LEAST_S = 1.0
# What the report of a load shows besides, unless the experiment declares figures of series.
USUAL = ("pages_per_s", "requests_per_s", "page_all_ms", "users", "errors_per_s", "workers_busy", "cpu_idle",
         "server_memory_bytes")  # fmt: skip
Line = Sequence[tuple[float, float]]  # x and value of a trial's spans


def drawing_of(run: Run, figure: Figure) -> Drawing:
    """Return the numbers of any figure. Absolute ones of several machines say so."""
    drawing = _course(run, figure) if figure.kind == COURSE else draw(run, figure)
    return drawing if drawing.measured.is_change else replace(drawing, over=run.over)


def usual_courses(run: Run) -> list[Figure]:
    """Return what the report of a load has where its experiment declares no series."""
    if run.workload != LOAD or any(figure.kind == COURSE for figure in run.figures):
        return []
    words = {name: SERIES[name].words for name in USUAL}
    return [Figure(f"{text[0].upper()}{text[1:]}", TIME, name, "arm", "", COURSE) for name, text in words.items()]


def _course(run: Run, figure: Figure) -> Drawing:
    kind, along = SERIES[figure.y], figure.x or TIME
    refused = {number for number, why in refusals(run).items() if why}
    cells = [cell for cell in axes.shown(run.cells, figure.only) if cell.number not in refused]
    by_cell = run.by_cell()
    facets = [figure.facet] if figure.facet else []
    facets += unseparated(run, cells, [figure.series, *facets])
    panels: dict[str, dict[str, list[Point]]] = {}
    without = 0
    for cell in in_order(cells, [*facets, figure.series]):
        points = _points(run, cell, [trial for trial in by_cell[cell.number] if trial.ok], figure, kind)
        if not points:
            without += 1
            continue
        series = axes.place(cell, figure.series).text if figure.series else ""
        panels.setdefault(", ".join(facet_words(cell, name) for name in facets), {})[series] = points
    colours = colours_of(run, figure, panels)
    drawn = tuple(
        Panel(name, tuple(Drawn(one, colours[one], tuple(points)) for one, points in series.items()))
        for name, series in panels.items()
    )
    title = f"{kind.words[0].upper()}{kind.words[1:]}"
    return Drawing(
        figure.title or title,
        COURSE,
        Measured(f"{title} ({kind.unit})" if kind.unit else title, kind.unit, {}),
        Dimension(along, "users" if along == USERS else "time since the load began", "" if along == USERS else "s", ()),
        None,
        drawn,
        without,
        len(axes.shown(run.cells, figure.only)) - len(cells),
        figure.scale,
        tuple(arm.name for arm in run.arms),
        _published(figure, colours, kind, panels=len(drawn)),
        limit=None if figure.limit_ms is None else figure.limit_ms / kind.scale,
    )


def _points(run: Run, cell: Cell, trials: Sequence[Trial], figure: Figure, kind: SeriesKind) -> list[Point]:
    """Return the median of the trials at each span, with their range. A span of which nothing was read has none."""
    names = [name for name in (kind.name, kind.weight, USERS) if name]
    read = [read_series(run.folder, trial.number, names) for trial in trials]
    read = [series for series in read if kind.name in series]
    if not read:
        return []
    end_ms = max(one.points[-1][0] for series in read for one in series.values())
    every_ms = 1000 * (figure.every_s or max(LEAST_S, end_ms / 1000 / SHARES))
    points, segment = [], 0
    for begin, end in spans(every_ms, 0, end_ms):
        line = [each for series in read if (each := _at(series, kind, figure.x or TIME, begin, end))]
        if not line:
            segment += 1
            continue
        points.append(_point(cell, line, figure.x or TIME, kind, segment))
    return points


def _at(
    series: Mapping[str, Series], kind: SeriesKind, along: str, begin: float, end: float
) -> tuple[float, float] | None:
    value = combined(series, kind.name, begin, end)
    x = (begin + end) / 2000 if along == TIME else combined(series, USERS, begin, end)
    return None if value is None or x is None else (x, value / kind.scale)


def _point(cell: Cell, line: Line, along: str, kind: SeriesKind, segment: int) -> Point:
    x, values = statistics.median(each for each, _ in line), [value for _, value in line]
    middle, low, high = statistics.median(values), min(values), max(values)
    place = f"{x:,.4g} users" if along == USERS else f"{x:,.4g} s"
    several = f" ({low:,.4g} to {high:,.4g}, {counted(len(values), 'trial')})" if len(values) > 1 else ""
    words = f"{cell}, {place}: {middle:,.4g} {kind.unit}".rstrip() + several
    one = len(values) == 1
    mark = Mark(middle, None if one else low, None if one else high, len(values), words, "range")
    return Point(x, place, mark, str(cell), cell.number, segment)


def _published(figure: Figure, colours: Mapping[str, int], kind: SeriesKind, *, panels: int) -> PublishedFigure:
    if panels > 1:
        return PublishedFigure((), figure.published_axis, figure.published_source, len(figure.published))
    along = " users" if figure.x == USERS else " s"
    points = tuple(
        PublishedPoint(
            series, colours.get(series, 0), float(x), x, value,
            f"{', '.join(filter(None, [series, x + along]))}: published as {value:,.6g} {kind.unit}".rstrip(),
        )
        for series, x, value in figure.published
        if series in colours or not series
    )  # fmt: skip
    left_out = len(figure.published) - len(points)
    return PublishedFigure(points, figure.published_axis, figure.published_source, left_out)


def broken_at(points: Sequence[Point], limit: float) -> float | None:
    """Return where on x a line first comes to the limit, on the straight line between its points."""
    if points and points[0].mark.middle >= limit:
        return points[0].x
    for before, after in itertools.pairwise(points):
        low, high = before.mark.middle, after.mark.middle
        if low < limit <= high and before.x is not None and after.x is not None and math.isfinite(high):
            return before.x + (after.x - before.x) * (limit - low) / (high - low)
    return None


def table_of(drawing: Drawing) -> tuple[list[str], list[list[str]]]:
    """Return the numbers of a figure of series: its head, and a row for each place on x."""
    columns = [(panel.name, series) for panel in drawing.panels for series in panel.series]
    heads = [", ".join(filter(None, [panel, series.name])) or drawing.measured.title for panel, series in columns]
    wide = drawing.x.name == USERS
    rows: dict[float, dict[int, str]] = {}
    for number, (_, series) in enumerate(columns):
        for point in series.points:
            if point.x is not None:
                rows.setdefault(round(point.x) if wide else point.x, {})[number] = _number(point.mark)
    body = [[f"{x:,.5g}", *(texts.get(n, "-") for n in range(len(columns)))] for x, texts in sorted(rows.items())]
    return [drawing.x.title, *heads], body


def _number(mark: Mark) -> str:
    ends = f" ({mark.low:,.4g} to {mark.high:,.4g})" if mark.low is not None and mark.high is not None else ""
    return f"{mark.middle:,.4g}{ends}"
