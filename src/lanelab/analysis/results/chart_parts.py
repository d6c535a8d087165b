"""What all charts have in common: type, grid, room, axes of numbers."""

from collections.abc import Sequence
from typing import Any, TypeAlias

from lanelab.analysis.results import palette, vega
from lanelab.analysis.results.axes import Dimension
from lanelab.analysis.results.drawing import Drawing
from lanelab.analysis.results.render import TIP
from lanelab.driver.base.coded import Json

LABEL_GAP = 17  # pixels between the middle of two labels
FONT = "Inter, 'Helvetica Neue', Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif"
MOST_TICKS = 9
ROOM = {"left": 22, "right": 30, "top": 6, "bottom": 6}  # a reader's font may be wider than the one measured here


def panel_size(panels: int) -> tuple[int, int]:
    """Return width and height: one large chart, or small ones side by side."""
    if panels <= 1:
        return 660, 330
    return (390, 280) if panels == 2 else (250, 200)


def described(words: str, cell: int | None = None) -> str:
    """Describe a mark. `cell` is the one that it stands for, so that a page can lead to its trials."""
    return f"{TIP}{'' if cell is None else cell}{TIP}{words}"


def x_axis(dimension: Dimension, numbers: Sequence[float], *, logarithmic: bool) -> vega.Part:
    """Return ticks where there are measurements."""
    room = (numbers[-1] - numbers[0]) * 0.04 or 1.0
    ends = [numbers[0] / 1.15, numbers[-1] * 1.15] if logarithmic else [numbers[0] - room, numbers[-1] + room]
    scale = vega.options(type="log" if logarithmic else "linear", domain=ends, nice=False, zero=False)
    ticks = {"values": list(numbers)} if len(numbers) <= MOST_TICKS else {}
    axis = vega.options(grid=False, format=".6~g", **ticks)
    return vega.shown("x:Q", title=dimension.title, scale=scale, axis=axis)


def legend(drawing: Drawing, *, show: bool) -> list[vega.Chart]:
    """Return an empty layer that only brings the legend, the same for all panels."""
    names = drawing.series_names
    if not show or names == [""]:
        return []
    numbers = {series.name: series.colour for panel in drawing.panels for series in panel.series}
    colours = [palette.of(numbers[name]).light for name in names]
    shapes = [palette.shape(numbers[name]) for name in names]
    legend_of_arms = vega.options(
        title=None, orient="top", direction="horizontal", symbolSize=90, labelFontSize=12, columns=0, symbolOpacity=1
    )
    return [
        vega.Chart([{"series": name} for name in names])
        .mark("point", filled=True, opacity=0)
        .encode(
            color=vega.shown("series:N", scale=vega.options(domain=names, range=colours), legend=legend_of_arms),
            shape=vega.shown("series:N", scale=vega.options(domain=names, range=shapes), legend=legend_of_arms),
        )
    ]


def label_rows(wanted: Sequence[float], height: float) -> list[float]:
    """Return heights for labels: as near to the wanted ones as possible, with room for every label."""
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    placed = [0.0] * len(wanted)
    last = -float("inf")
    for i in order:
        last = placed[i] = max(wanted[i], last + LABEL_GAP)
    over = last - height
    if over > 0:  # the lowest may not leave the chart: push upwards again
        limit = height
        for i in reversed(order):
            placed[i] = min(placed[i], limit)
            limit = placed[i] - LABEL_GAP
    return placed


Specification: TypeAlias = dict[str, Json]  # of a chart, as Vega-Lite has it
CONFIG: Specification = {
    "font": FONT,
    "padding": ROOM,
    "background": palette.PAPER,
    "axis": {
        "labelColor": palette.MUTED,
        "titleColor": palette.INK,
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": 500,
        "titlePadding": 10,
        "gridColor": palette.GRID,
        "domainColor": palette.MUTED,
        "tickColor": palette.MUTED,
        "tickSize": 4,
    },
    "axisY": {"domain": False, "ticks": False, "tickCount": 5},
    "axisX": {"tickCount": 6},
    "legend": {"labelColor": palette.INK, "titleColor": palette.INK, "padding": 2},
    "view": {"continuousWidth": 300, "continuousHeight": 300, "stroke": None},
}


def specification(panels: Sequence[vega.Layers], title: str, **arrangement: Any) -> Specification:  # noqa: ANN401
    """Return the specification of a whole chart, with a quiet look: no frame, a faint grid, text in two greys."""
    return {**vega.specify(panels, **arrangement), "config": CONFIG, "usermeta": {"title": title}}
