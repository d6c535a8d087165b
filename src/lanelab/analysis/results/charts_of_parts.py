"""What load times went to: a bar for each cell, a piece for each part."""

from collections.abc import Iterable
from typing import Any

from lanelab.analysis.results import chart_rows, palette
from lanelab.analysis.results.chart_parts import described
from lanelab.analysis.results.drawing import Drawing, Panel, Point
from lanelab.driver.base.coded import JsonObject
from lanelab.driver.record.evidence.parts import Part

LEAST_LABELLED = 0.055  # of the axis: room for a number in a piece
LEAST_DRAWN = 0.05  # ms


def part_bars(alt: Any, drawing: Drawing, panel: Panel, size: tuple[int, int], _direct: bool) -> Any:  # noqa: ANN401
    where, lines = chart_rows.categories(alt, drawing, panel)
    top = max(point.mark.middle for point in drawing.points()) * 1.1
    points = [point for series in panel.series for point in series.points]
    pieces = [piece for point in points for piece in _pieces(point, top)]
    scale = alt.Scale(domain=[0, top], nice=False)
    base = alt.Chart(alt.Data(values=pieces)).encode(**where)
    bars = base.mark_bar().encode(
        x=alt.X("start:Q", title=drawing.measured.title, scale=scale), x2="end:Q",
        color=alt.Color("colour:N", scale=None), description="words:N",
    )  # fmt: skip
    numbers = base.mark_text(fontSize=11, color="#111418").encode(x=alt.X("middle:Q", scale=scale), text="text:N")
    sums = [{"category": point.text, "end": point.mark.middle, "text": f"{point.mark.middle:,.0f}"} for point in points]
    totals = alt.Chart(alt.Data(values=sums)).mark_text(
        align="left", dx=6, fontSize=12, fontWeight=600, color=palette.INK
    )
    totals = totals.encode(y=where["y"], x=alt.X("end:Q", scale=scale), text="text:N")
    height = max(40, lines * (28 if lines < 12 else 20))
    layers = [bars, numbers, totals, _legend(alt, drawing)]
    return alt.layer(*layers).properties(width=size[0], height=height)


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


def _legend(alt: Any, drawing: Drawing) -> Any:  # noqa: ANN401
    """Return an empty layer that only brings the legend."""
    used = [part for part in Part if any((point.mark.parts or {}).get(part, 0.0) >= LEAST_DRAWN
                                         for point in drawing.points())]  # fmt: skip
    names, colours = [palette.PART_WORDS[part] for part in used], [palette.PARTS[part].light for part in used]
    marks = alt.Legend(title=None, orient="top", direction="horizontal", symbolSize=90, labelFontSize=12, columns=0,
                      symbolOpacity=1, symbolType="square")  # fmt: skip
    return (
        alt.Chart(alt.Data(values=[{"part": name} for name in names]))
        .mark_square(opacity=0)
        .encode(color=alt.Color("part:N", scale=alt.Scale(domain=names, range=colours), legend=marks))
    )
