"""Charts of a run as Vega-Lite, by Altair. What they show is worked out in analysis/drawing.py.

The baseline of lengths is 0; where positions carry the numbers (box, cdf) the axis may begin elsewhere, and says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from analysis import palette
from analysis.chart_parts import altair, config, described, label_rows, panel_size, scale_top, x_axis
from analysis.drawing import Drawing, Panel, Point, Series

Chart = Any  # Altair's many kinds of chart have no useful common type
OWN_FROM = 3.5  # times between the highest values of two panels
LOG_FROM = 20  # times between the smallest and the largest x


def chart(drawing: Drawing) -> dict[str, Any] | None:
    """The Vega-Lite specification; None where there is nothing to draw."""
    if not any(series.points for panel in drawing.panels for series in panel.series):
        return None
    alt = altair()
    make = {"line": _line, "bar": _bar, "box": _box, "cdf": _cdf}.get(drawing.kind, _bar)
    width, height = panel_size(len(drawing.panels))
    direct = len(drawing.panels) <= 2 and drawing.kind == "line"
    panels = []
    for panel in drawing.panels:
        made = make(alt, drawing, panel, (width, height), direct)
        title = alt.TitleParams(panel.name, anchor="start", fontSize=13, fontWeight=600, color=palette.INK, offset=8)
        panels.append(made.properties(title=title) if panel.name else made)
    whole = (
        panels[0] if len(panels) == 1 else alt.concat(*panels, columns=min(len(panels), 3 if len(panels) > 2 else 2))
    )
    if len(panels) > 1:
        whole = whole.properties(spacing=26).resolve_scale(color="shared", x="independent", y="independent")
    return dict(config(whole, drawing.title).to_dict(validate=False))


def _line(alt: Any, drawing: Drawing, panel: Panel, size: tuple[int, int], direct: bool) -> Chart:  # noqa: ANN401
    """Medians over a number, with the band of their intervals."""
    top = _top(drawing, panel)
    numbers = sorted({place.number for place in drawing.x.places if place.number is not None})
    x = x_axis(alt, drawing.x, numbers, logarithmic=bool(numbers[0] > 0 and numbers[-1] / numbers[0] >= LOG_FROM))
    scale = alt.Scale(domain=[0, top], nice=False)
    y = alt.Y("median:Q", title=drawing.metric.title, scale=scale)
    layers = []
    for series in panel.series:
        data = alt.Data(values=[_row(drawing, series, point) for point in series.points])
        colour = palette.of(series.colour).light
        base = alt.Chart(data).encode(x=x)
        layers += [
            base.mark_area(opacity=0.16, color=colour).encode(y=alt.Y("low:Q", scale=scale), y2="high:Q"),
            base.mark_line(strokeWidth=2.2, color=colour, strokeDash=palette.dash(series.colour)).encode(y=y),
            base.mark_rule(strokeWidth=1.4, color=colour).encode(y=alt.Y("low:Q", scale=scale), y2="high:Q"),
            base.mark_point(
                filled=True, size=80, opacity=1, color=colour, shape=palette.shape(series.colour), stroke=palette.PAPER
            ).encode(y=y, description="words:N"),
        ]
    if direct:
        layers += _direct_labels(alt, panel, size, top)
    layers += _legend(alt, drawing, show=not direct)
    return alt.layer(*layers).properties(width=size[0], height=size[1])


def _row(drawing: Drawing, series: Series, point: Point) -> dict[str, Any]:
    estimate = point.summary.estimate
    return {
        "x": point.x,
        "category": point.text,
        "series": series.name,
        "median": estimate.median,
        "low": estimate.median if estimate.low is None else estimate.low,
        "high": estimate.median if estimate.high is None else estimate.high,
        "q1": point.summary.quartile_1,
        "q3": point.summary.quartile_3,
        "least": point.summary.low,
        "most": point.summary.high,
        "words": described(point.words(drawing.metric)),
        "text": f"{estimate.median:,.0f}" if estimate.median >= 100 else f"{estimate.median:,.3g}",
    }


def _interval_top(point: Point) -> float:
    estimate = point.summary.estimate
    return estimate.median if estimate.high is None else estimate.high


def own_scales(drawing: Drawing) -> bool:
    """Whether one scale for all panels would leave one of them a flat line."""
    tops = [scale_top((p for series in panel.series for p in series.points), _interval_top) for panel in drawing.panels]
    return drawing.kind in ("line", "bar") and max(tops) > OWN_FROM * min(tops)


def _top(drawing: Drawing, panel: Panel) -> float:
    points = [p for series in panel.series for p in series.points] if own_scales(drawing) else drawing.points()
    return scale_top(points, _interval_top)


def _direct_labels(alt: Any, panel: Panel, size: tuple[int, int], top: float) -> list[Chart]:  # noqa: ANN401
    """The name of each series at the end of its line: no legend to look up."""
    ends = [(series, series.points[-1].summary.median) for series in panel.series if series.points and series.name]
    heights = label_rows([size[1] * (1 - end / top) for _, end in ends], size[1])
    return [
        alt.Chart(alt.Data(values=[{"text": series.name}]))
        .mark_text(align="left", baseline="middle", fontSize=12, fontWeight=600, color=palette.of(series.colour).light)
        .encode(x=alt.value(size[0] + 10), y=alt.value(height), text="text:N")
        for (series, _), height in zip(ends, heights, strict=True)
    ]


def _legend(alt: Any, drawing: Drawing, *, show: bool) -> list[Chart]:  # noqa: ANN401
    """An empty layer that only brings the legend, the same for all panels."""
    names = drawing.series_names
    if not show or names == [""]:
        return []
    numbers = {series.name: series.colour for panel in drawing.panels for series in panel.series}
    colours = [palette.of(numbers[name]).light for name in names]
    shapes = [palette.shape(numbers[name]) for name in names]
    legend = alt.Legend(
        title=None, orient="top", direction="horizontal", symbolSize=90, labelFontSize=12, columns=0, symbolOpacity=1
    )
    return [
        alt.Chart(alt.Data(values=[{"series": name} for name in names]))
        .mark_point(filled=True, opacity=0)
        .encode(
            color=alt.Color("series:N", scale=alt.Scale(domain=names, range=colours), legend=legend),
            shape=alt.Shape("series:N", scale=alt.Scale(domain=names, range=shapes), legend=legend),
        )
    ]


def _categories(alt: Any, drawing: Drawing, panel: Panel) -> tuple[dict[str, Any], int]:  # noqa: ANN401
    """Rows from top to bottom: one for each place on x, in it one for each series. And how many lines that takes."""
    order = [place.text for place in drawing.x.places]
    shown = [text for text in order if any(text == p.text for series in panel.series for p in series.points)]
    title = None if drawing.x.name in ("arm", "site", "link") else drawing.x.words
    y = alt.Y("category:N", sort=shown, title=title, axis=alt.Axis(labelLimit=260, ticks=False, domain=False))
    names = [series.name for series in panel.series]
    if len(names) < 2:
        return {"y": y}, len(shown)
    offset = alt.YOffset("series:N", sort=names, scale=alt.Scale(paddingInner=0.15))
    return {"y": y, "yOffset": offset}, len(shown) * len(names)


def _colour(drawing: Drawing, series: Series, point: Point) -> str:
    """The colour of the series, or of the arm where each row is an arm."""
    if drawing.x.name == "arm" and not series.name:
        return palette.of([place.text for place in drawing.x.places].index(point.text)).light
    return palette.of(series.colour).light


def _data(alt: Any, drawing: Drawing, panel: Panel) -> Any:  # noqa: ANN401
    rows = [
        {**_row(drawing, series, point), "colour": _colour(drawing, series, point)}
        for series in panel.series
        for point in series.points
    ]
    return alt.Data(values=rows)


def _bar(alt: Any, drawing: Drawing, panel: Panel, size: tuple[int, int], _direct: bool) -> Chart:  # noqa: ANN401
    """Medians as lengths from 0, with whiskers for their intervals. Rows, so that long names can be read."""
    where, lines = _categories(alt, drawing, panel)
    top = _top(drawing, panel)
    scale = alt.Scale(domain=[0, top * 1.08], nice=False)
    colour = alt.Color("colour:N", scale=None)
    base = alt.Chart(_data(alt, drawing, panel)).encode(**where)
    median = alt.X("median:Q", title=drawing.metric.title, scale=scale)
    bars = base.mark_bar(cornerRadiusEnd=2).encode(x=median, color=colour, description="words:N")
    whiskers = base.mark_rule(strokeWidth=1.6, color=palette.INK).encode(x=alt.X("low:Q", scale=scale), x2="high:Q")
    text = base.mark_text(align="left", dx=6, fontSize=12, fontWeight=600, color=palette.INK).encode(
        x=alt.X("high:Q", scale=scale), text="text:N"
    )
    height = max(40, lines * (26 if lines < 12 else 20))
    return alt.layer(bars, whiskers, text, *_legend(alt, drawing, show=True)).properties(width=size[0], height=height)


def _box(alt: Any, drawing: Drawing, panel: Panel, size: tuple[int, int], _direct: bool) -> Chart:  # noqa: ANN401
    """Every trial as a dot, with quartiles and median."""
    where, lines = _categories(alt, drawing, panel)
    low, high = _range(drawing)
    scale = alt.Scale(domain=[low, high], nice=False, zero=False)
    colour = alt.Color("colour:N", scale=None)
    base = alt.Chart(_data(alt, drawing, panel)).encode(**where)
    dots = [
        {
            "category": point.text,
            "series": series.name,
            "value": value,
            "colour": _colour(drawing, series, point),
            "words": described(f"{point.label}: {value:,.1f} {drawing.metric.unit}"),
        }
        for series in panel.series
        for point in series.points
        for value in point.values
    ]
    x = alt.X("q1:Q", title=_from(drawing, low), scale=scale)
    boxes = [
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
    return alt.layer(*boxes, *_legend(alt, drawing, show=True)).properties(width=size[0], height=height)


def _cdf(alt: Any, drawing: Drawing, panel: Panel, size: tuple[int, int], _direct: bool) -> Chart:  # noqa: ANN401
    """The share of trials that took no longer than x."""
    low, high = _range(drawing)
    x = alt.X("value:Q", title=_from(drawing, low), scale=alt.Scale(domain=[low, high], nice=False, zero=False))
    y = alt.Y("share:Q", title="share of trials", axis=alt.Axis(format="%"), scale=alt.Scale(domain=[0, 1]))
    layers = []
    for series in panel.series:
        values = sorted(value for point in series.points for value in point.values)
        steps = [{"value": low, "share": 0.0}, *_steps(values), {"value": high, "share": 1.0}]
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
    return alt.layer(*layers, *_legend(alt, drawing, show=True)).properties(width=size[0], height=size[1])


def _steps(values: Sequence[float]) -> list[dict[str, float]]:
    return [{"value": value, "share": (i + 1) / len(values)} for i, value in enumerate(values)]


def _range(drawing: Drawing) -> tuple[float, float]:
    """The range of all trials, with some room at both ends."""
    low = min(point.summary.low for point in drawing.points())
    high = max(point.summary.high for point in drawing.points())
    room = (high - low) * 0.06 or high * 0.05 or 1.0
    return (0.0 if low < (high - low) * 0.5 else max(0.0, low - room)), high + room


def _from(drawing: Drawing, low: float) -> str:
    return drawing.metric.title if low == 0 else f"{drawing.metric.title}; the axis does not begin at 0"
