"""A chart of a run for programs, drawn as the report draws it."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from lanelab.analysis.results import axes
from lanelab.analysis.results.chart_heads import with_head
from lanelab.analysis.results.charts import chart
from lanelab.analysis.results.courses import drawing_of
from lanelab.analysis.results.drawing import figures_of
from lanelab.analysis.results.medians import measure_named
from lanelab.analysis.results.model import Figure, Run
from lanelab.driver.api.arguments import argument, known
from lanelab.driver.base.errors import InputError

if TYPE_CHECKING:
    from altair.typing import ChartType

CHANGE = "change"
KINDS = ("line", "bar", "box", "cdf", "heatmap", "parts")
DIMENSIONS = ("arm", "site", "link")


def chart_of(run: Run, y: str | None, places: Mapping[str, str | None], kind: str | None, title: str) -> "ChartType":
    """Return the chart. `places`: what x, series and facet are. ArgumentError where the run has no such thing."""
    if y is not None and y != CHANGE:
        with argument("y"):
            y = measure_named(run, y).removesuffix("_ms")
    if kind is not None:
        known(kind, KINDS, "kind", f"there is no kind {kind!r} of charts")
    for key, name in places.items():
        if name is not None:
            known(name, [*DIMENSIONS, *axes.varying(run)], key, f"cells of this run do not differ in {name!r}")
    first = figures_of(run)[0]
    x = places["x"] or (first.x if kind != "cdf" else "")
    series = places["series"] or ("arm" if x != "arm" and kind != "parts" else "")
    figure = Figure(title, x, y or run.primary.key, series, places["facet"] or "", kind or "")
    drawing = drawing_of(run, figure)
    specification = chart(drawing)
    if specification is None:
        raise InputError("there is nothing to draw: no trial that counts has it", "print(run) says why")
    import altair  # noqa: PLC0415 - large

    drawn: ChartType = altair.Chart.from_dict(dict(with_head(specification, run, drawing, title)))
    return drawn
