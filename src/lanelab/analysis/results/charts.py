"""Charts of a run as Vega-Lite. What they show is worked out in analysis/results/drawing.py.

The baseline of lengths is 0; where positions carry the numbers the axis may begin elsewhere, and says so.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from lanelab.analysis.results import palette
from lanelab.analysis.results.chart_parts import (
    Specification,
    described,
    label_rows,
    legend,
    panel_size,
    specification,
    x_axis,
)
from lanelab.analysis.results.chart_rows import BarRow, Channels, CourseRow, categories, colour_of, row_of
from lanelab.analysis.results.chart_scales import Span, span
from lanelab.analysis.results.charts_of_grids import heatmap
from lanelab.analysis.results.charts_of_parts import part_bars
from lanelab.analysis.results.charts_of_published import beside_published, published_in_rows, published_over_x
from lanelab.analysis.results.charts_of_trials import boxes, cdf
from lanelab.analysis.results.courses import broken_at
from lanelab.analysis.results.drawing import Drawing, Panel
from lanelab.analysis.results.vega import Chart, Layers, Part, options, shown

DASHES = [2, 3]  # of a limit
TITLE = {"anchor": "start", "fontSize": 13, "fontWeight": 600, "color": palette.INK, "offset": 8}  # of a panel
SCALES = {"color": "shared", "x": "independent", "y": "independent"}  # of panels
LOG_FROM = 20  # times between the smallest and the largest x
BESIDE = 0.012  # of the axis: how far marks at one place are moved, so that they do not hide each other
LEAST_OF_LINE = 3  # measured places on x, from which a line between them says something


def chart(drawing: Drawing) -> Specification | None:
    """Return the Vega-Lite specification; None where there is nothing to draw."""
    if not any(series.points for panel in drawing.panels for series in panel.series):
        return None
    kinds: dict[str, Callable[..., Layers]] = {
        "line": _line, "bar": bars, "box": boxes, "cdf": cdf, "heatmap": heatmap, "parts": part_bars,
        "series": courses, "times": courses,
    }  # fmt: skip
    make: Callable[..., Layers] = kinds.get(drawing.kind, bars)
    width, height = panel_size(len(drawing.panels))
    direct = len(drawing.panels) <= 2 and drawing.kind in ("line", "series")
    panels = []
    for panel in drawing.panels:
        drawn = make(drawing, panel, (width, height), direct)
        panels.append(replace(drawn, title={"text": panel.name, **TITLE}) if panel.name else drawn)
    columns = 2 if len(panels) in (2, 4) else min(len(panels), 3)
    return specification(panels, drawing.title, columns=columns, spacing=26, resolve={"scale": SCALES})


def is_guide(drawing: Drawing) -> bool:
    """Return whether too few places were measured for lines to mean anything."""
    return drawing.kind == "line" and len(drawing.x.places) < LEAST_OF_LINE


def _line(drawing: Drawing, panel: Panel, size: tuple[int, int], direct: bool) -> Layers:
    """Return values over a number, with the band of their intervals. Between two places alone nothing is claimed."""
    extent = span(drawing, panel)
    numbers = sorted({place.number for place in drawing.x.places if place.number is not None})
    x = x_axis(drawing.x, numbers, logarithmic=bool(numbers[0] > 0 and numbers[-1] / numbers[0] >= LOG_FROM))
    scale, guide = extent.scale(), is_guide(drawing)
    y = shown("median:Q", title=extent.title(drawing.measured.title), scale=scale, axis=extent.axis())
    layers = _zero(drawing, "y")
    for number, series in enumerate(panel.series):
        aside = (number - (len(panel.series) - 1) / 2) * BESIDE if guide else 0.0
        rows, shift = [row_of(series, point, extent) for point in series.points], aside * (numbers[-1] - numbers[0])
        data = [{**row, "x": at + shift} for row in rows if (at := row["x"]) is not None]
        colour = palette.of(series.colour).light
        base = Chart(data).encode(x=x)
        ends: Channels = {"y": shown("low:Q", scale=scale), "y2": "high:Q"}
        band = [] if guide else [base.mark("area", opacity=0.16, color=colour).encode(**ends)]
        dash = [1, 5] if guide else palette.dash(series.colour)
        layers += [
            *band,
            base.mark("line", strokeWidth=1 if guide else 2.2, color=colour, strokeDash=dash).encode(y=y),
            base.mark("rule", strokeWidth=1.4, color=colour).encode(**ends),
            base.mark(
                "point",
                filled=True,
                size=80,
                opacity=1,
                color=colour,
                shape=palette.shape(series.colour),
                stroke=palette.PAPER,
            ).encode(y=y, description="words:N"),
        ]
    layers += published_over_x(drawing, x, y)
    if direct:
        layers += _direct_labels(panel, size, extent)
    layers += legend(drawing, show=not direct)
    return Layers(layers, width=size[0], height=size[1])


def courses(drawing: Drawing, panel: Panel, size: tuple[int, int], direct: bool) -> Layers:
    """Return numbers over time or users. Where nothing was read the line has a gap."""
    extent = span(drawing, panel)
    places = [point.x for point in drawing.points() if point.x is not None]
    places += [point.x for point in drawing.published.points if point.x is not None]
    x = shown("x:Q", title=drawing.x.title, axis=options(grid=False, format=",.6~g"),
        scale=_along(drawing, places),
    )  # fmt: skip
    scale = extent.scale()
    y = shown("median:Q", title=extent.title(drawing.measured.title), scale=scale, axis=extent.axis())
    layers = limit_of_course(drawing, panel, x, y)
    for series in panel.series:
        rows: list[CourseRow] = [{**row_of(series, point, extent), "segment": point.segment} for point in series.points]
        rows = [{**row, "median": extent.clip(row["median"])} for row in rows]
        colour = palette.of(series.colour).light
        base = Chart(rows).encode(x=x, detail="segment:N")
        ends: Channels = {"y": shown("low:Q", scale=scale), "y2": "high:Q"}
        banded = any(point.mark.low is not None for point in series.points)
        layers += [
            *([base.mark("area", opacity=0.16, color=colour).encode(**ends)] if banded else []),
            base.mark("line", strokeWidth=1.8, color=colour, strokeDash=palette.dash(series.colour)).encode(y=y),
            base.mark(
                "point", filled=True, size=26, opacity=1, color=colour, shape=palette.shape(series.colour)
            ).encode(y=y, description="words:N"),
        ]
    layers += published_over_x(drawing, x, y)
    layers += _direct_labels(panel, size, extent) if direct else []
    layers += legend(drawing, show=not direct)
    return Layers(layers, width=size[0], height=size[1])


def _along(drawing: Drawing, places: Sequence[float]) -> Part:
    """Times of single requests spread over powers of ten; the course of a load does not."""
    if drawing.kind == "times":
        return options(type="log", domain=[min(places) / 1.05, max(places) * 1.05], nice=False)
    return options(domain=[0, max(places) * 1.02 or 1], nice=False)


def _zero(drawing: Drawing, channel: str) -> list[Chart]:
    """Return the line of no change."""
    if not drawing.measured.is_change:
        return []
    rule = Chart([{"zero": 0}]).mark("rule", color=palette.INK, strokeWidth=1.2)
    return [rule.encode(**{channel: "zero:Q"})]


def _direct_labels(panel: Panel, size: tuple[int, int], extent: Span) -> list[Chart]:
    """Return the name of each series at the end of its line: no legend to look up."""
    ends = [(series, series.points[-1].mark.middle) for series in panel.series if series.points and series.name]
    heights = label_rows([size[1] * (1 - extent.share(end)) for _, end in ends], size[1])
    return [
        Chart([{"text": series.name}])
        .mark(
            "text", align="left", baseline="middle", fontSize=12, fontWeight=600, color=palette.of(series.colour).light
        )
        .encode(x={"value": size[0] + 10}, y={"value": height}, text="text:N")
        for (series, _), height in zip(ends, heights, strict=True)
    ]


def bars(drawing: Drawing, panel: Panel, size: tuple[int, int], _direct: bool) -> Layers:
    """Return values as lengths from 0, with whiskers for their intervals. Rows, so that long names can be read."""
    where, lines = categories(drawing, panel)
    extent = span(drawing, panel)
    extent = Span(extent.low, extent.high + (extent.high - extent.low) * 0.08)
    rows: list[BarRow] = [
        {**row_of(series, point, extent), "colour": colour_of(drawing, series, point)}
        for series in panel.series
        for point in series.points
    ]
    if drawing.measured.is_change:
        rows = [{**row, "text": f"{row['median']:+.1f}%"} for row in rows]
    rows = [beside_published(drawing, row) for row in rows]
    base, scale = Chart(rows).encode(**where), extent.scale()
    middle = shown("median:Q", title=extent.title(drawing.measured.title), scale=scale, axis=extent.axis())
    whiskers = base.mark("rule", strokeWidth=1.6, color=palette.INK).encode(x=shown("low:Q", scale=scale), x2="high:Q")
    text = base.mark("text", align="left", dx=9, fontSize=12, fontWeight=600, color=palette.INK).encode(
        x=shown("label:Q", scale=scale), text="text:N"
    )
    lengths = base.mark("bar", cornerRadiusEnd=2).encode(
        x=middle, x2={"datum": 0}, color=shown("colour:N", scale=None), description="words:N"
    )
    height = max(40, lines * (26 if lines < 12 else 20))
    published = published_in_rows(drawing, where, middle)
    layers = [lengths, *_zero(drawing, "x"), whiskers, text, *published, *legend(drawing, show=True)]
    return Layers(layers, width=size[0], height=height)


def limit_of_course(drawing: Drawing, panel: Panel, x: Part, y: Part) -> list[Chart]:
    """Draw the limit. `x` and `y` are the channels of what was measured, so that all share axes."""
    limit = drawing.limit
    if limit is None:
        return []
    unit = drawing.measured.unit
    line = Chart([{"median": limit, "text": f"limit: {limit:,.6g} {unit}"}]).encode(y=y)
    words = line.mark("text", align="left", baseline="bottom", dx=4, dy=-3, fontSize=11, color=palette.MUTED)
    layers = [
        line.mark("rule", strokeWidth=1.2, strokeDash=DASHES, color=palette.INK),
        words.encode(text="text:N", x={"value": 0}),
    ]
    for series in panel.series:
        at = broken_at(series.points, limit)
        if at is None:
            continue
        place = f"{at:,.4g} {drawing.x.unit or drawing.x.name}"
        mark = {"x": at, "median": limit, "words": described(f"{series.name or panel.name}: {place}".lstrip(": "))}
        colour = palette.of(series.colour).light
        point = Chart([mark]).mark(
            "point", filled=False, size=160, opacity=1, strokeWidth=2, color=colour, shape="diamond"
        )
        layers.append(point.encode(x=x, y=y, description="words:N"))
    return layers
