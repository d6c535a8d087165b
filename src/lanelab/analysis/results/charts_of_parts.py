"""What load times went to: a bar for each cell, a piece for each part."""

from collections.abc import Iterable

from lanelab.analysis.results import chart_rows, palette, vega
from lanelab.analysis.results.chart_parts import described
from lanelab.analysis.results.drawing import Drawing, Panel, Point
from lanelab.driver.base.coded import JsonObject
from lanelab.driver.record.evidence.parts import Part

LEAST_LABELLED = 0.055  # of the axis: room for a number in a piece
LEAST_DRAWN = 0.05  # ms


def part_bars(drawing: Drawing, panel: Panel, size: tuple[int, int], _direct: bool) -> vega.Layers:
    where, lines = chart_rows.categories(drawing, panel)
    top = max(point.mark.middle for point in drawing.points()) * 1.1
    points = [point for series in panel.series for point in series.points]
    pieces = [piece for point in points for piece in _pieces(point, top)]
    scale = vega.options(domain=[0, top], nice=False)
    base = vega.Chart(pieces).encode(**where)
    bars = base.mark("bar").encode(
        x=vega.shown("start:Q", title=drawing.measured.title, scale=scale), x2="end:Q",
        color=vega.shown("colour:N", scale=None), description="words:N",
    )  # fmt: skip
    numbers = base.mark("text", fontSize=11, color="#111418").encode(
        x=vega.shown("middle:Q", scale=scale), text="text:N"
    )
    sums = [{"category": point.text, "end": point.mark.middle, "text": f"{point.mark.middle:,.0f}"} for point in points]
    totals = vega.Chart(sums).mark("text", align="left", dx=6, fontSize=12, fontWeight=600, color=palette.INK)
    totals = totals.encode(y=where["y"], x=vega.shown("end:Q", scale=scale), text="text:N")
    height = max(40, lines * (28 if lines < 12 else 20))
    layers = [bars, numbers, totals, _legend(drawing)]
    return vega.Layers(layers, width=size[0], height=height)


def _pieces(point: Point, top: float) -> Iterable[JsonObject]:
    at = 0.0
    for part, took in (point.mark.parts or {}).items():
        if took >= LEAST_DRAWN:
            yield {
                "category": point.text, "start": at, "end": at + took, "middle": at + took / 2,
                "colour": palette.PARTS[part].light,
                "text": f"{took:,.0f}" if took >= LEAST_LABELLED * top else "",
                "words": described(f"{point.label}: {palette.PART_WORDS[part]} {took:,.1f} ms", point.cell),
            }  # fmt: skip
            at += took


def _legend(drawing: Drawing) -> vega.Chart:
    """Return an empty layer that only brings the legend."""
    used = [part for part in Part if any((point.mark.parts or {}).get(part, 0.0) >= LEAST_DRAWN
                                         for point in drawing.points())]  # fmt: skip
    names, colours = [palette.PART_WORDS[part] for part in used], [palette.PARTS[part].light for part in used]
    marks = vega.options(title=None, orient="top", direction="horizontal", symbolSize=90, labelFontSize=12, columns=0,
                      symbolOpacity=1, symbolType="square")  # fmt: skip
    return (
        vega.Chart([{"part": name} for name in names])
        .mark("square", opacity=0)
        .encode(color=vega.shown("part:N", scale=vega.options(domain=names, range=colours), legend=marks))
    )
