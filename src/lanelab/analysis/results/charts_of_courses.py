"""The service level in charts of series: its line, and where each arm first comes to it."""

from typing import Any

from lanelab.analysis.results import palette
from lanelab.analysis.results.chart_parts import described
from lanelab.analysis.results.courses import broken_at
from lanelab.analysis.results.drawing import Drawing, Panel

DASHES = [2, 3]


def limit_of_course(alt: Any, drawing: Drawing, panel: Panel, x: Any, y: Any) -> list[Any]:  # noqa: ANN401
    """Draw the limit. `x` and `y` are the channels of what was measured, so that all share axes."""
    limit = drawing.limit
    if limit is None:
        return []
    unit = drawing.measured.unit
    line = alt.Chart(alt.Data(values=[{"median": limit, "text": f"limit: {limit:,.6g} {unit}"}])).encode(y=y)
    words = line.mark_text(align="left", baseline="bottom", dx=4, dy=-3, fontSize=11, color=palette.MUTED)
    layers = [
        line.mark_rule(strokeWidth=1.2, strokeDash=DASHES, color=palette.INK),
        words.encode(text="text:N", x=alt.value(0)),
    ]
    for series in panel.series:
        at = broken_at(series.points, limit)
        if at is None:
            continue
        place = f"{at:,.4g} {drawing.x.unit or drawing.x.name}"
        mark = {"x": at, "median": limit, "words": described(f"{series.name or panel.name}: {place}".lstrip(": "))}
        colour = palette.of(series.colour).light
        point = alt.Chart(alt.Data(values=[mark])).mark_point(
            filled=False, size=160, opacity=1, strokeWidth=2, color=colour, shape="diamond"
        )
        layers.append(point.encode(x=x, y=y, description="words:N"))
    return layers
