"""The packets of a page load's connections over time: what came, what was acknowledged, what came late."""

from collections.abc import Iterable, Sequence

from lanelab.analysis.results.layout.markup import Html, el, join
from lanelab.analysis.results.load_view import round_step
from lanelab.analysis.results.packets_over_time import Acknowledged, PacketsOverTime
from lanelab.analysis.results.report.waterfall import Scale

HEIGHT, AXIS = 190, 18
WIDTH = 4000  # of the drawing's own coordinates: a packet's width at the largest zoom
TICKS = 4
NOTE = (
    "Each upright stroke is a packet from the server, from its first byte to its last; the line below is what the "
    "client has acknowledged. Red: bytes beyond it had come before, so it was sent again or overtaken. Dots: "
    "acknowledgements that tell of a gap (SACK)."
)


def sequence(drawn: Sequence[PacketsOverTime], connections: int, end: float) -> Html | None:
    """Draw the sequence; None where there was no capture."""
    if not drawn:
        return None
    left = connections - len(drawn)
    rest = f" The {len(drawn)} connections with most bytes; {left} others are not drawn." if left > 0 else ""
    figures = [_connection(each, end) for each in drawn]
    return join(el("p", NOTE, rest, class_="note"), figures)


def _connection(each: PacketsOverTime, end: float) -> Html:
    late = f", {each.late} late" if each.late else ""
    words = f"port {each.port} to {each.server}: {len(each.segments)} packets, {each.bytes:,} bytes{late}"
    scale, top = Scale(end), each.bytes * 1.04 or 1.0

    def x(at: float) -> str:
        return _px(min(max(at, 0.0), scale.end) / scale.end * WIDTH)

    def y(place: float) -> str:
        return _px(HEIGHT * (1 - place / top))

    steps = "".join(f"H{x(one.at)}V{y(one.until)}" for one in _rising(each))
    strokes = {late: "".join(f"M{x(one.at)} {y(one.start)}V{y(one.end)}" for one in each.segments if one.late == late)
               for late in (False, True)}  # fmt: skip
    gaps = "".join(f"M{x(one.at)} {y(one.until)}h0" for one in each.acknowledged if one.selective)
    paths = [
        el("path", d=f"M0 {HEIGHT}{steps}", class_="acks"),
        el("path", d=strokes[False], class_="segments"),
        el("path", d=gaps, class_="sacks") if gaps else None,
        el("path", d=strokes[True], class_="late") if strokes[True] else None,
    ]
    inner = el("svg", paths, viewBox=f"0 0 {WIDTH} {HEIGHT}", preserveAspectRatio="none", width="100%", height=HEIGHT)
    outer = el("svg", _grid(scale, top), inner, height=HEIGHT + AXIS, role="img", aria_label=words)
    caption = el("figcaption", el("b", f"Port {each.port}"), f" {words.partition(': ')[2]}, kB over ms")
    return el("figure", caption, el("div", outer, class_="plot zooming", tabindex=0), class_="sequence")


def _rising(each: PacketsOverTime) -> Iterable[Acknowledged]:
    highest = 0
    for one in each.acknowledged:
        if one.until > highest:
            highest = one.until
            yield one


def _grid(scale: Scale, top: float) -> list[Html]:
    step = round_step(top / TICKS)
    heights = [number * step for number in range(1, int(top / step) + 1)]
    drawn = [
        join(
            el("line", x1=scale.at(at), x2=scale.at(at), y1=0, y2=HEIGHT, class_="grid"),
            el("text", f"{at:,.0f}", x=scale.at(at), y=HEIGHT + AXIS - 4, text_anchor="middle" if at else "start"),
        )
        for at in scale.ticks()
    ]
    for place in heights:
        y = _px(HEIGHT * (1 - place / top))
        drawn.append(el("line", x1=0, x2="100%", y1=y, y2=y, class_="grid"))
        drawn.append(el("text", f"{place / 1000:,.4g} kB", x=3, y=float(y) - 3))
    return drawn


def _px(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
