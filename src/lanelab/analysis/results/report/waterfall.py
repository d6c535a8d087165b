"""The drawing of one page load on a time scale: its requests, its connections, its bytes, what its time went to.

Written as SVG directly. Places along the time are in percent of the width, so that a drawing fits a screen of any width
with letters of one size, and any number of drawings can be laid under or beside each other on one scale.
"""

from collections.abc import Iterable, Sequence
from urllib.parse import urlsplit

from lanelab.analysis.results import palette
from lanelab.analysis.results.layout.markup import Html, el, join
from lanelab.analysis.results.load_parts import Bar, Chunk, Lane, LoadView, Row, Throughput
from lanelab.analysis.results.load_view import round_step

ROW = 15  # pixels
EVENT_ROW = 14
AXIS = 18
MOST_ROWS = 150  # requests that are shown at once; the others are folded
STRIP = 54  # height of the throughput
TICKS = 8
PADDING = 1.02


class Scale:
    """Milliseconds as places on a drawing."""

    def __init__(self, end: float) -> None:
        self.end = end * PADDING

    def at(self, ms: float) -> str:
        return f"{self._share(ms):.2f}%"

    def width(self, start: float, end: float) -> str:
        return f"{max(0.02, self._share(end) - self._share(start)):.2f}%"

    def _share(self, ms: float) -> float:
        return 100 * min(max(ms, 0.0), self.end) / self.end

    def ticks(self) -> list[float]:
        step = round_step(self.end / TICKS)
        return [number * step for number in range(int(self.end / step) + 1)]


def waterfall(view: LoadView, end: float, *more: Html | None) -> Html | None:
    """Draw the waterfall; None where the trial has no requests. `end`: of the scale, in ms; `more`: panels between
    connections and axis."""
    if not view.rows:
        return None
    scale = Scale(end)
    shown, folded = view.rows[:MOST_ROWS], view.rows[MOST_ROWS:]
    rest = None
    if folded:
        words = f"{len(folded)} more requests, which began later"
        rest = el("details", el("summary", words), _requests(folded, len(shown) + 1, scale, view), class_="more")
    return el(
        "div",
        _key(view),
        _head(view, scale),
        _requests(shown, 1, scale, view),
        rest,
        _connections(view, scale) if view.lanes else None,
        _speed(view.throughput, view, scale) if view.throughput else None,
        [panel for panel in more if panel],
        axis(scale, "ms"),
        class_="load",
        data_end=round(view.end),
        data_scale=round(scale.end),
    )


def panel(names: Sequence[object], height: float, drawn: object, words: str, *, kind: str = "") -> Html:
    """Return names at the left, the drawing at the right."""
    listed = el("ol", [el("li", name) for name in names])
    picture = el("svg", drawn, height=round(height), role="img", aria_label=words)
    return el("div", listed, el("div", picture, class_="plot"), class_=f"panel {kind}".strip())


def grid(scale: Scale, view: LoadView | None = None) -> list[Html]:
    """Return a line for each round number, and one for each moment of the page."""
    lines = [el("line", x1=scale.at(at), x2=scale.at(at), y1=0, y2="100%", class_="grid") for at in scale.ticks()]
    return lines + ([] if view is None else [_event_line(name, at, scale) for name, at in view.events])


def axis(scale: Scale, title: str) -> Html:
    ticks = [
        el("text", f"{at:,.0f}", x=scale.at(at), y=AXIS - 5, text_anchor="middle" if at else "start")
        for at in scale.ticks()
    ]
    return panel([title], AXIS, ticks, title, kind="axis")


def _key(view: LoadView) -> Html:
    """Return what the colours mean."""
    used = {bar.phase for row in view.rows for bar in row.bars}
    items = [join(el("i", class_=f"dot p-{name}"), name) for name in palette.PHASES if name in used]
    if view.lanes:
        items.append(join(el("i", class_="dot chunk"), "bytes came"))
    return el("p", [el("span", item) for item in items], class_="key")


def _head(view: LoadView, scale: Scale) -> Html:
    """Return the names of the moments, each on a height of its own."""
    drawn = [
        el("text", name, x=scale.at(at), y=EVENT_ROW * number - 3, text_anchor="end" if at > scale.end / 4 else "start",
           class_="load-event" if name == "load" else None)
        for number, (name, at) in enumerate(view.events, 1)
    ]  # fmt: skip
    words = ", ".join(f"{name} at {at:,.0f} ms" for name, at in view.events) or "no moments of the page"
    return panel(["requests"], max(1, len(view.events)) * EVENT_ROW, drawn, words, kind="head")


def _event_line(name: str, at: float, scale: Scale) -> Html:
    return el("line", x1=scale.at(at), x2=scale.at(at), y1=0, y2="100%",
              class_="event load-event" if name == "load" else "event")  # fmt: skip


def _requests(rows: Sequence[Row], first: int, scale: Scale, view: LoadView) -> Html:
    names = [_named(first + place, row) for place, row in enumerate(rows)]
    drawn = [_row(row, ROW * place, scale) for place, row in enumerate(rows)]
    return panel(names, ROW * len(rows), [*grid(scale, view), *drawn], f"{len(rows)} requests by time")


def _row(row: Row, y: float, scale: Scale) -> Html:
    bars = [_bar(bar, y + 2, ROW - 5, scale) for bar in row.bars]
    marks = [_chunk(chunk, y + 4, ROW - 9, scale) for chunk in row.chunks]
    return el("g", el("title", words_of(row)), _hit(y), bars, marks)


def _hit(y: float) -> Html:
    """The whole row can be pointed at."""
    return el("rect", x=0, y=_px(y), width="100%", height=ROW, class_="hit")


def _bar(bar: Bar, y: float, height: float, scale: Scale) -> Html:
    return el("rect", x=scale.at(bar.start), y=_px(y), width=scale.width(bar.start, bar.end), height=_px(height),
              class_=f"p-{bar.phase}")  # fmt: skip


def _chunk(chunk: Chunk, y: float, height: float, scale: Scale) -> Html:
    return el("rect", x=scale.at(chunk.start), y=_px(y), width=scale.width(chunk.start, chunk.end),
              height=_px(height), class_="chunk")  # fmt: skip


def _px(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def _named(number: int, row: Row) -> str:
    parts = urlsplit(row.request.url)
    return f"{number} {parts.path.rstrip('/').rpartition('/')[2] or parts.netloc or '/'}"


def _connections(view: LoadView, scale: Scale) -> Html:
    """A lane for each TCP connection: set-up, when requests were under way, when bytes came; a thin line is idle."""
    drawn = []
    for place, lane in enumerate(view.lanes):
        y = ROW * place
        busy = [bar for bar in lane.bars if bar.phase == "wait"]
        setting_up = [bar for bar in lane.bars if bar.phase != "wait"]
        idle = el("rect", x=scale.at(lane.began), y=_px(y + 6), width=scale.width(lane.began, lane.ended), height=2,
                  class_="idle")  # fmt: skip
        drawn.append(
            el("g", el("title", _lane_words(place + 1, lane)), _hit(y), idle,
               [_bar(bar, y + 2, ROW - 5, scale) for bar in (*_joined(busy), *setting_up)],
               [_chunk(chunk, y + 3.5, ROW - 8, scale) for chunk in lane.chunks])
        )  # fmt: skip
    names = [f"{place}: {_counted(lane)}" for place, lane in enumerate(view.lanes, 1)]
    words = f"{len(view.lanes)} connections by time"
    head = panel(["connections"], EVENT_ROW, grid(scale, view), words, kind="head")
    return join(head, panel(names, ROW * len(view.lanes), [*grid(scale, view), *drawn], words))


def _counted(lane: Lane) -> str:
    return f"{lane.requests} req., {lane.payload / 1000:,.0f} kB" if lane.requests else "no request"


def _joined(bars: Iterable[Bar]) -> list[Bar]:
    """Stretches that overlap, as one."""
    joined: list[Bar] = []
    for bar in sorted(bars, key=lambda bar: bar.start):
        if joined and bar.start <= joined[-1].end:
            joined[-1] = Bar(bar.phase, joined[-1].start, max(joined[-1].end, bar.end))
        else:
            joined.append(bar)
    return joined


def _lane_words(number: int, lane: Lane) -> str:
    took = [f"{ {'connect': 'connected', 'ssl': 'TLS'}[bar.phase] } {bar.start:.0f} to {bar.end:.0f} ms"
            for bar in lane.bars if bar.phase in ("connect", "ssl")]  # fmt: skip
    busy = sum(bar.end - bar.start for bar in _joined(bar for bar in lane.bars if bar.phase == "wait"))
    port, server, server_port = lane.ends
    facts = [f"connection {number}, port {port} to {server}:{server_port}", *took, f"{lane.requests} requests",
             f"{lane.payload:,} bytes came", f"requests under way for {busy:,.0f} ms"]  # fmt: skip
    return "; ".join(facts)


def _speed(speed: Throughput, view: LoadView, scale: Scale) -> Html:
    """Return how much came in each window, beside what the link can carry."""
    top = max([*speed.mbit, speed.rate or 0.0, 0.1])
    drawn = []
    for number, mbit in enumerate(speed.mbit):
        start = number * speed.window_ms
        height = (STRIP - 6) * mbit / top
        if height >= 0.2:
            drawn.append(el("rect", x=scale.at(start), width=scale.width(start, start + speed.window_ms),
                            y=_px(STRIP - height), height=_px(height), class_="speed"))  # fmt: skip
    if speed.rate:
        y = _px(STRIP - (STRIP - 6) * speed.rate / top)
        drawn.append(el("line", x1=0, x2="100%", y1=y, y2=y, class_="rate"))
    window = f"{speed.window_ms:g} ms"
    words = f"Mbit/s down in windows of {window}: at most {max(speed.mbit, default=0.0):.1f}"
    words += f"; the link's rate is {speed.rate:g}" if speed.rate else ""
    names = ["Mbit/s down", f"per {window}", f"top {top:.3g}"]
    names += [f"dashed: rate {speed.rate:g}"] if speed.rate else []
    return panel(names, STRIP, [el("title", words), *grid(scale, view), *drawn], words, kind="strip")


def words_of(row: Row) -> str:
    """Return all about a request, for whoever points at it."""
    request = row.request
    ended = request.ended_ms
    took = "never finished" if ended is None else f"{request.started_ms:.0f} to {ended:.0f} ms"
    facts = [
        request.url,
        f"{request.status or request.error or 'no answer'}, {request.protocol or '?'}",
        f"priority {request.priority or '?'}",
        f"connection {'?' if request.connection is None else request.connection}{', reused' * request.reused}",
        f"{request.wire_bytes:,} bytes",
        took,
        *_on_the_link(row),
        ", ".join(f"{bar.phase} {bar.end - bar.start:.1f}" for bar in row.bars),
    ]
    return "; ".join(facts)


def _on_the_link(row: Row) -> list[str]:
    """Return what the gateway made of it."""
    wire = row.request.wire
    if wire is None:
        return []
    stream = f" stream {wire.stream}" if wire.stream else ""
    sent, first, last = wire.sent_ms, wire.first_byte_ms, wire.last_byte_ms
    waited = f"sent after {sent - wire.queued_ms:.1f} ms" if sent is not None else "never sent"
    answered = f", first byte {first - sent:.1f} ms later" if sent is not None and first is not None else ""
    ended = f", last {last - sent:.1f}" if sent is not None and last is not None else ""
    ahead = f", {wire.in_flight} under way" if wire.in_flight else ""
    where = f"on the link {wire.protocol}, connection {wire.connection}{stream}"
    return [f"{where}: {waited}{answered}{ended}{ahead}"]
