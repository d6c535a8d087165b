"""Charts that show single trials: as dots with quartiles, and as the share that took no longer."""

from collections.abc import Sequence

from lanelab.analysis.results import chart_rows, palette, vega
from lanelab.analysis.results.chart_parts import Specification, described, legend, specification
from lanelab.analysis.results.chart_scales import span
from lanelab.analysis.results.drawing import Drawing, Panel
from lanelab.analysis.results.drift import Point
from lanelab.analysis.results.model import Run

LEAST_SPAN_PERCENT = 2.0  # of the axis of drift: noise of a part of a percent should look small
MINUTES_FROM_S = 180


def boxes(drawing: Drawing, panel: Panel, size: tuple[int, int], _direct: bool) -> vega.Layers:
    """Return every trial as a dot, with quartiles and median."""
    where, lines = chart_rows.categories(drawing, panel)
    extent = span(drawing, panel, of_trials=True)
    scale, colour = extent.scale(), vega.shown("colour:N", scale=None)
    rows = [
        {
            **chart_rows.row_of(series, point, extent),
            "colour": chart_rows.colour_of(drawing, series, point),
            "q1": extent.clip(summary.quartile_1),
            "q3": extent.clip(summary.quartile_3),
            "least": extent.clip(summary.low),
            "most": extent.clip(summary.high),
        }
        for series in panel.series
        for point in series.points
        if (summary := point.mark.summary)
    ]
    base = vega.Chart(rows).encode(**where)
    x = vega.shown("q1:Q", title=extent.title(drawing.measured.title), scale=scale, axis=extent.axis())
    layers = [
        base.mark("rule", strokeWidth=1.4).encode(x=vega.shown("least:Q", scale=scale), x2="most:Q", color=colour),
        base.mark("bar", opacity=0.28, size=16 if lines < 12 else 11).encode(
            x=x, x2="q3:Q", color=colour, description="words:N"
        ),
        base.mark("tick", thickness=2.6, size=20 if lines < 12 else 14, color=palette.INK).encode(
            x=vega.shown("median:Q", scale=scale)
        ),
        vega.Chart(_dots(drawing, panel))
        .mark("circle", size=24, opacity=0.8)
        .encode(x=vega.shown("value:Q", scale=scale), color=colour, description="words:N", **where),
    ]
    height = max(40, lines * (30 if lines < 12 else 20))
    return vega.Layers([*layers, *legend(drawing, show=True)], width=size[0], height=height)


def _dots(drawing: Drawing, panel: Panel) -> list[dict[str, object]]:
    """Return a dot for each trial. One that timed out is at the time that it had, and says that it took longer."""
    return [
        {
            "category": point.text,
            "series": series.name,
            "value": value,
            "colour": chart_rows.colour_of(drawing, series, point),
            "words": described(f"{point.label}: {point.mark.least(value)} {drawing.measured.unit}", point.cell),
        }
        for series in panel.series
        for point in series.points
        for value in point.mark.values
    ]


def cdf(drawing: Drawing, panel: Panel, size: tuple[int, int], _direct: bool) -> vega.Layers:
    """Return the share of trials that took no longer than x."""
    extent = span(drawing, panel, of_trials=True)
    x = vega.shown("value:Q", title=extent.title(drawing.measured.title), scale=extent.scale(), axis=extent.axis())
    y = vega.shown("share:Q", title="share of trials", axis=vega.options(format="%"), scale=vega.options(domain=[0, 1]))
    layers = []
    for series in panel.series:
        marks = [point.mark for point in series.points]
        finished = sorted(value for mark in marks for value in mark.values if not mark.is_late(value))
        steps = [{"value": extent.low, "share": 0.0}, *_steps(finished, of=sum(len(mark.values) for mark in marks))]
        steps.append({"value": extent.high, "share": steps[-1]["share"]})
        layers.append(
            vega.Chart(steps)
            .mark(
                "line",
                interpolate="step-after",
                strokeWidth=2.2,
                color=palette.of(series.colour).light,
                strokeDash=palette.dash(series.colour),
            )
            .encode(x=x, y=y)
        )
    return vega.Layers([*layers, *legend(drawing, show=True)], width=size[0], height=size[1])


def _steps(finished: Sequence[float], *, of: int) -> list[dict[str, float]]:
    """Of all that were made: a trial that timed out counts, and is no step."""
    return [{"value": value, "share": number / of} for number, value in enumerate(finished, 1)]


def drift_chart(run: Run, points: Sequence[Point]) -> Specification | None:
    """Draw every trial's deviation from its cell's median over the time of its bed; None where no cell has enough."""
    if not points:
        return None
    cells = {cell.number: cell for cell in run.cells}
    arms = [arm.name for arm in run.arms]
    minutes = points[-1].at_s > MINUTES_FROM_S
    clock = f"{'minutes' if minutes else 'seconds'} since the first trial"
    clock += " of its bed" if len({point.series.place for point in points}) > 1 else ""
    rows = [
        {
            "at": point.at_s / 60 if minutes else point.at_s,
            "percent": point.percent,
            "colour": palette.of(arms.index(cells[point.series.cell].arm.name)).light,
            "words": described(f"{cells[point.series.cell]}: {point.percent:+.1f}%"),
        }
        for point in points
    ]
    reach = max(LEAST_SPAN_PERCENT, *(abs(point.percent) for point in points)) * 1.08
    base = vega.Chart(rows)
    zero = vega.Chart([{"zero": 0}]).mark("rule", color=palette.MUTED).encode(y="zero:Q")
    dots = base.mark("circle", size=34, opacity=0.75).encode(
        x=vega.shown("at:Q", title=clock, axis=vega.options(grid=False)),
        y=vega.shown(
            "percent:Q", title="% from the cell's median", scale=vega.options(domain=[-reach, reach], nice=False)
        ),
        color=vega.shown("colour:N", scale=None),
        description="words:N",
    )
    return specification([vega.Layers([zero, dots], width=660, height=170)], "drift")
