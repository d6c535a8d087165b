"""Every trial's deviation from its cell's median, over the time of the run."""

from collections.abc import Sequence

from lanelab.analysis.results import palette
from lanelab.analysis.results.chart_parts import Specification, altair, described, specification
from lanelab.analysis.results.drift import Point, Series
from lanelab.analysis.results.model import Run

LEAST_SPAN_PERCENT = 2.0  # of the axis: noise of a part of a percent should look small
MINUTES_FROM_S = 180


def drift_chart(run: Run, points: Sequence[Point]) -> Specification | None:
    """Return the specification; None where no cell has enough trials."""
    if not points:
        return None
    alt = altair()
    cells = {cell.number: cell for cell in run.cells}
    arms = [arm.name for arm in run.arms]
    minutes = points[-1].at_s > MINUTES_FROM_S
    rows = [
        {
            "at": point.at_s / 60 if minutes else point.at_s,
            "percent": point.percent,
            "colour": palette.of(arms.index(cells[_cell(point)].arm.name)).light,
            "words": described(f"{cells[_cell(point)]}: {point.percent:+.1f}%"),
        }
        for point in points
    ]
    reach = max(LEAST_SPAN_PERCENT, *(abs(point.percent) for point in points)) * 1.08
    base = alt.Chart(alt.Data(values=rows))
    zero = alt.Chart(alt.Data(values=[{"zero": 0}])).mark_rule(color=palette.MUTED).encode(y="zero:Q")
    dots = base.mark_circle(size=34, opacity=0.75).encode(
        x=alt.X(
            "at:Q", title=f"{'minutes' if minutes else 'seconds'} since the first trial", axis=alt.Axis(grid=False)
        ),
        y=alt.Y("percent:Q", title="% from the cell's median", scale=alt.Scale(domain=[-reach, reach], nice=False)),
        color=alt.Color("colour:N", scale=None),
        description="words:N",
    )
    return specification(alt.layer(zero, dots).properties(width=660, height=170), "drift")


def _cell(point: Point) -> int:
    return point.group.cell if isinstance(point.group, Series) else int(str(point.group))
