"""Charts that show single trials: as dots with quartiles, and as the share that took no longer."""

import math
from collections.abc import Sequence
from typing import Any

from lanelab.analysis.results import chart_rows, palette
from lanelab.analysis.results.chart_parts import described, legend
from lanelab.analysis.results.chart_scales import span
from lanelab.analysis.results.drawing import Drawing, Panel


def boxes(alt: Any, drawing: Drawing, panel: Panel, size: tuple[int, int], _direct: bool) -> Any:  # noqa: ANN401
    """Return every trial as a dot, with quartiles and median."""
    where, lines = chart_rows.categories(alt, drawing, panel)
    extent = span(drawing, panel, of_trials=True)
    scale, colour = extent.scale(alt), alt.Color("colour:N", scale=None)
    pairs = [(series, point) for series in panel.series for point in series.points]
    rows = [
        {
            **chart_rows.row_of(series, point, extent),
            "colour": chart_rows.colour_of(drawing, series, point),
            "q1": extent.clip(summary.quartile_1),
            "q3": extent.clip(summary.quartile_3),
            "least": extent.clip(summary.low),
            "most": extent.clip(summary.high),
        }
        for series, point in pairs
        if (summary := point.mark.summary)
    ]
    dots = [
        {
            "category": point.text,
            "series": series.name,
            "value": value,
            "colour": chart_rows.colour_of(drawing, series, point),
            "words": described(f"{point.label}: {value:,.1f} {drawing.measured.unit}", point.cell),
        }
        for series, point in pairs
        for value in point.mark.values
        if math.isfinite(value)
    ]
    base = alt.Chart(alt.Data(values=rows)).encode(**where)
    x = alt.X("q1:Q", title=extent.title(drawing.measured.title), scale=scale, axis=extent.axis(alt))
    layers = [
        base.mark_rule(strokeWidth=1.4).encode(x=alt.X("least:Q", scale=scale), x2="most:Q", color=colour),
        base.mark_bar(opacity=0.28, size=16 if lines < 12 else 11).encode(
            x=x, x2="q3:Q", color=colour, description="words:N"
        ),
        base.mark_tick(thickness=2.6, size=20 if lines < 12 else 14, color=palette.INK).encode(
            x=alt.X("median:Q", scale=scale)
        ),
        alt.Chart(alt.Data(values=dots))
        .mark_circle(size=24, opacity=0.8)
        .encode(x=alt.X("value:Q", scale=scale), color=colour, description="words:N", **where),
    ]
    height = max(40, lines * (30 if lines < 12 else 20))
    return alt.layer(*layers, *legend(alt, drawing, show=True)).properties(width=size[0], height=height)


def cdf(alt: Any, drawing: Drawing, panel: Panel, size: tuple[int, int], _direct: bool) -> Any:  # noqa: ANN401
    """Return the share of trials that took no longer than x."""
    extent = span(drawing, panel, of_trials=True)
    x = alt.X("value:Q", title=extent.title(drawing.measured.title), scale=extent.scale(alt), axis=extent.axis(alt))
    y = alt.Y("share:Q", title="share of trials", axis=alt.Axis(format="%"), scale=alt.Scale(domain=[0, 1]))
    layers = []
    for series in panel.series:
        values = sorted(value for point in series.points for value in point.mark.values)
        steps = [{"value": extent.low, "share": 0.0}, *_steps(values)]
        steps.append({"value": extent.high, "share": steps[-1]["share"]})
        layers.append(
            alt.Chart(alt.Data(values=steps))
            .mark_line(
                interpolate="step-after",
                strokeWidth=2.2,
                color=palette.of(series.colour).light,
                strokeDash=palette.dash(series.colour),
            )
            .encode(x=x, y=y)
        )
    return alt.layer(*layers, *legend(alt, drawing, show=True)).properties(width=size[0], height=size[1])


def _steps(values: Sequence[float]) -> list[dict[str, float]]:
    """Of all that were made: a trial that timed out counts, and is no step."""
    finished = [value for value in values if math.isfinite(value)]
    return [{"value": value, "share": number / len(values)} for number, value in enumerate(finished, 1)]
