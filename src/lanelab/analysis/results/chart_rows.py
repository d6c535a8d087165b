"""The rows of data behind charts, and the rows that bars and boxes are drawn in."""

from typing import TypeAlias, TypedDict

from lanelab.analysis.results import palette, vega
from lanelab.analysis.results.chart_parts import described
from lanelab.analysis.results.chart_scales import Span
from lanelab.analysis.results.drawing import Drawing, Panel, Point, Series
from lanelab.analysis.results.optimal_marks import OPTIMUM

Channels: TypeAlias = dict[str, vega.Part | str]  # by name


class Row(TypedDict):
    """The numbers and words of a mark."""

    x: float | None
    category: str
    series: str
    median: float
    low: float
    high: float
    label: float
    words: str
    text: str


class BarRow(Row):
    colour: str


class CourseRow(Row):
    segment: int


def row_of(series: Series, point: Point, extent: Span) -> Row:
    mark = point.mark
    low, high = (mark.middle if end is None else extent.clip(end) for end in (mark.low, mark.high))
    return {
        "x": point.x,
        "category": point.text,
        "series": series.name,
        "median": mark.middle,
        "low": low,
        "high": high,
        "label": max(high, 0.0),
        "words": described(mark.words, point.cell),
        "text": mark.short,
    }


def categories(drawing: Drawing, panel: Panel) -> tuple[Channels, int]:
    """Return rows from top to bottom: one for each place on x, in it one for each series. And how many lines that
    takes."""
    order = [place.text for place in drawing.x.places]
    shown = [text for text in order if any(text == p.text for series in panel.series for p in series.points)]
    title = None if drawing.x.name in ("arm", "site", "link") else drawing.x.words
    y = vega.shown("category:N", sort=shown, title=title, axis=vega.options(labelLimit=260, ticks=False, domain=False))
    names = [series.name for series in panel.series]
    if len(names) < 2:
        return {"y": y}, len(shown)
    offset = vega.shown("series:N", sort=names, scale=vega.options(paddingInner=0.15))
    return {"y": y, "yOffset": offset}, len(shown) * len(names)


def colour_of(drawing: Drawing, series: Series, point: Point) -> str:
    """Return the colour of the series, or of the arm where each row is an arm."""
    if drawing.x.name == "arm" and not series.name:
        return palette.of([*drawing.arms, OPTIMUM].index(point.text)).light
    return palette.of(series.colour).light
