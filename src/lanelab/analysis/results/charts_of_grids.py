"""Heatmaps: a number for each pair of settings, with a colour that shows where it is large."""

import math

from lanelab.analysis.results import vega
from lanelab.analysis.results.chart_parts import described
from lanelab.analysis.results.drawing import Drawing, Panel, Point

# Blue and orange, which the colour-blind tell apart, and so light that dark text can be read on each of them.
LOWER, EVEN, HIGHER = (108, 172, 228), (244, 245, 246), (240, 150, 84)
LEAST, MOST = (240, 246, 252), (108, 172, 228)
INK = "#111418"  # never the page's own: cells keep their colours on a dark screen
LEAST_REACH = 5.0  # percent: a change of less is pale
CELL = 34


def heatmap(drawing: Drawing, panel: Panel, size: tuple[int, int], _direct: bool) -> vega.Layers:
    """Return numbers in cells. A change that its comparison does not show is in brackets."""
    points = [(series.name, point) for series in panel.series for point in series.points]
    data = [
        {
            "x": point.text,
            "y": row,
            "colour": _colour(drawing, point),
            "text": _text(drawing, point),
            "words": described(point.mark.words, point.cell),
        }
        for row, point in points
    ]
    columns = [place.text for place in drawing.x.places]
    rows = [place.text for place in (drawing.rows.places if drawing.rows else ())][::-1]
    x = vega.shown(
        "x:N",
        sort=columns,
        title=drawing.x.words,
        axis=vega.options(labelAngle=0, ticks=False, domain=False, labelPadding=5),
    )
    title = drawing.rows.words if drawing.rows else None
    y = vega.shown(
        "y:N", sort=rows, title=title, axis=vega.options(ticks=False, domain=False, grid=False, labelPadding=5)
    )
    base = vega.Chart(data).encode(x=x, y=y)
    cells = base.mark("rect", stroke="#ffffff", strokeWidth=1).encode(
        color=vega.shown("colour:N", scale=None), description="words:N"
    )
    text = base.mark("text", fontSize=12, color=INK).encode(text="text:N")
    width = max(size[0] if len(columns) > 4 else 60 * len(columns), 54 * len(columns))
    return vega.Layers([cells, text], width=min(width, 110 * len(columns)), height=CELL * max(1, len(rows)))


def _text(drawing: Drawing, point: Point) -> str:
    value = point.mark.middle
    if not drawing.measured.is_change:
        return point.mark.short
    words = f"{value:+.0f}%" if abs(value) >= 10 else f"{value:+.1f}%"
    return words if point.mark.is_shown else f"({words})"


def _colour(drawing: Drawing, point: Point) -> str:
    values = [each.mark.middle for each in drawing.points()]
    value = point.mark.middle
    if drawing.measured.is_change:
        reach = max([LEAST_REACH, *map(abs, values)])
        return _mix(EVEN, LOWER if value < 0 else HIGHER, abs(value) / reach)
    low, high = min(values), max(values)
    if low > 0 and high > low:  # ratios, since a grid goes over orders of magnitude
        return _mix(LEAST, MOST, math.log(value / low) / math.log(high / low))
    return _mix(LEAST, MOST, (value - low) / (high - low) if high > low else 0.0)


def _mix(start: tuple[int, int, int], end: tuple[int, int, int], share: float) -> str:
    parts = (round(a + (b - a) * share) for a, b in zip(start, end, strict=True))
    return "#" + "".join(f"{part:02x}" for part in parts)
