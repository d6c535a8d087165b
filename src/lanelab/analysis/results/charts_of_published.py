"""What was published, as hollow marks and the end of an axis, within charts of what was measured."""

from lanelab.analysis.results import palette, vega
from lanelab.analysis.results.chart_parts import described
from lanelab.analysis.results.chart_rows import BarRow, Channels
from lanelab.analysis.results.drawing import Drawing

DASHES = [5, 4]
FONT_SIZE = 11
WORDS = "end of the published axis"
LEAST_OF_LINE = 3  # published points of a series, from which a line between them says something


def published_over_x(drawing: Drawing, x: vega.Part, y: vega.Part) -> list[vega.Chart]:
    """Draw published points in a chart of lines. `x`, `y`: the channels of what was measured, so that both share
    axes."""
    layers = _axis_end(drawing, y, "y")
    for series in dict.fromkeys(point.series for point in drawing.published.points):
        points = [point for point in drawing.published.points if point.series == series]
        rows = [{"x": point.x, "median": point.value, "words": described(point.words)} for point in points]
        colour = palette.of(points[0].colour).light
        base = vega.Chart(rows).encode(x=x, y=y)
        if len(points) >= LEAST_OF_LINE:
            layers.append(base.mark("line", strokeWidth=1.2, opacity=0.7, color=colour, strokeDash=DASHES))
        hollow = base.mark(
            "point",
            filled=False,
            size=90,
            opacity=1,
            strokeWidth=2,
            color=colour,
            shape=palette.shape(points[0].colour),
        )
        layers.append(hollow.encode(description="words:N"))
    return layers


def published_in_rows(drawing: Drawing, where: Channels, x: vega.Part) -> list[vega.Chart]:
    """Draw published points in a chart of bars. `where`: the channels of rows; `x`: that of lengths."""
    rows = [
        {"category": point.text, "series": point.series, "median": point.value, "words": described(point.words)}
        for point in drawing.published.points
    ]
    layers = _axis_end(drawing, x, "x")
    if rows:
        hollow = vega.Chart(rows).mark(
            "point", filled=False, size=80, opacity=1, strokeWidth=2, color=palette.INK, shape="diamond"
        )
        layers.append(hollow.encode(x=x, description="words:N", **where))
    return layers


def beside_published(drawing: Drawing, row: BarRow) -> BarRow:
    """A row of bars whose number is behind the published mark, and says what was published."""
    for point in drawing.published.points:
        if point.text == row["category"] and point.series == row["series"]:
            label = max(row["label"], point.value)
            return {**row, "label": label, "text": f"{row['text']} (published {point.value:,.6g})"}
    return row


def _axis_end(drawing: Drawing, channel: vega.Part, name: str) -> list[vega.Chart]:
    if drawing.published.axis is None:
        return []
    base = vega.Chart([{"median": drawing.published.axis, "text": WORDS}]).encode(**{name: channel})
    # The words stay within the chart: above the line of a chart of lines, left of that of a chart of bars.
    text = base.mark(
        "text",
        align="left" if name == "y" else "right",
        baseline="bottom",
        dx=4 if name == "y" else -4,
        dy=-3 if name == "y" else 0,
        fontSize=FONT_SIZE,
        color=palette.MUTED,
    ).encode(text="text:N", **{"x" if name == "y" else "y": {"value": 0}})
    return [base.mark("rule", strokeWidth=1, strokeDash=DASHES, color=palette.MUTED), text]
