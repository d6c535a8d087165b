"""The waterfall of one trial: every request as a bar of its phases.

Written as SVG directly: a report has one for each cell, and a chart library needs a fifth of a second for each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from analysis import palette
from analysis.report.markup import Html, el

ROW = 15  # pixels
EVENT_ROW = 14
MOST_ROWS = 400
NAME = 34  # characters of a request's name
LEFT, WIDTH, RIGHT = 270, 640, 24  # names, bars, room for the last number
LEGEND = 26
STEPS = (1, 2, 5)


def waterfall(record: Mapping[str, Any], words: str) -> Html | None:
    """The drawing; None where the trial has no requests."""
    requests: Sequence[Mapping[str, Any]] = record.get("requests") or []
    requests = sorted(requests, key=lambda request: request.get("started_ms") or 0.0)[:MOST_ROWS]
    if not requests:
        return None
    events = _events(record)
    phases = [_phases(request) for request in requests]
    ends = [to for bars in phases for _, _, to in bars] + [at for _, at in events]
    scale = WIDTH / (max([*ends, 1.0]) * 1.02)
    top = LEGEND + EVENT_ROW * len(events) + 8
    height = len(requests) * ROW
    width = LEFT + WIDTH + RIGHT
    rows = [
        _row(number, request, bars, top + ROW * (number - 1), scale)
        for number, (request, bars) in enumerate(zip(requests, phases, strict=True), 1)
    ]
    return el(
        "svg",
        _legend([name for name in palette.PHASES if any(name == phase for bars in phases for phase, _, _ in bars)]),
        _axis(WIDTH / scale, scale, top, height),
        rows,
        _event_lines(events, scale, top, height),
        role="img", aria_label=words, width=width, height=top + height + 44, data_width=width,
        viewBox=f"0 0 {width} {top + height + 44}", font_size=11,
    )  # fmt: skip


def _row(
    number: int, request: Mapping[str, Any], bars: Sequence[tuple[str, float, float]], y: float, scale: float
) -> Html:
    return el(
        "g",
        el("title", _words(request)),
        _text(LEFT - 8, y + ROW - 4, _named(number, request), text_anchor="end"),
        [
            el("rect", x=_px(LEFT + start * scale), y=_px(y + 2), width=_px(max(0.4, (to - start) * scale)),
               height=ROW - 5, fill=f"var(--p-{phase})")
            for phase, start, to in bars
        ],
    )  # fmt: skip


def _text(x: float, y: float, words: str, fill: str = "var(--muted)", **attributes: object) -> Html:
    return el("text", words, x=_px(x), y=_px(y), fill=fill, **attributes)


def _px(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def _legend(phases: Sequence[str]) -> list[Html]:
    drawn = []
    for i, name in enumerate(phases):
        x = LEFT + 78 * i
        drawn += [
            el("rect", x=x, y=4, width=10, height=10, fill=f"var(--p-{name})"),
            _text(x + 15, 13, name, "var(--ink)"),
        ]
    return drawn


def _axis(end: float, scale: float, top: float, height: float) -> list[Html]:
    """A line for each round number, about eight of them."""
    power = 10.0 ** (len(str(int(end / 8))) - 1)
    step = next((power * one for one in STEPS if power * one >= end / 8), power * 10)
    drawn = []
    for i in range(int(end / step) + 1):
        x = LEFT + i * step * scale
        drawn += [
            el("line", x1=_px(x), x2=_px(x), y1=top, y2=top + height, stroke="var(--grid)"),
            _text(x, top + height + 15, f"{i * step:,.0f}", text_anchor="middle"),
        ]
    middle = _text(LEFT + WIDTH / 2, top + height + 36, "ms after navigation", "var(--ink)", text_anchor="middle")
    return [*drawn, middle]


def _named(number: int, request: Mapping[str, Any]) -> str:
    """What the row is called: unique, and short."""
    parts = urlsplit(str(request.get("url", "")))
    path = parts.path.rstrip("/").rpartition("/")[2] or parts.netloc or "/"
    return f"{number:>3}  {path if len(path) <= NAME else path[: NAME - 1] + '…'}"


def _phases(request: Mapping[str, Any]) -> list[tuple[str, float, float]]:
    """(phase, from, to) in milliseconds."""
    timings = request.get("timings") or {}
    start = at = float(request.get("started_ms") or 0.0)
    phases = []
    for phase in palette.PHASES:
        took = float(timings.get(phase, -1) or 0)
        if phase == "connect" and float(timings.get("ssl", -1) or -1) > 0:
            took -= float(timings["ssl"])  # HAR counts it within connect
        if took > 0:
            phases.append((phase, at, at + took))
            at += took
    ended = request.get("ended_ms")
    if not phases:
        to = float(ended) if ended is not None else start + 1
        phases.append(("wait", start, max(to, start + 1)))
    return phases


def _words(request: Mapping[str, Any]) -> str:
    ended = request.get("ended_ms")
    took = (
        "never finished" if ended is None else f"{float(request.get('started_ms') or 0):.0f} to {float(ended):.0f} ms"
    )
    reused = ", reused" if request.get("reused") else ""
    facts = [
        str(request.get("url", "")),
        f"{request.get('status') or request.get('error') or 'no answer'}, {request.get('protocol') or '?'}",
        f"priority {request.get('priority') or '?'}",
        f"connection {request.get('connection') if request.get('connection') is not None else '?'}{reused}",
        f"{request.get('wire_bytes') or 0:,} bytes",
        took,
        *_on_the_wire(request.get("wire")),
    ]
    phases = (request.get("timings") or {}).items()
    facts.append(", ".join(f"{name} {value:.1f}" for name, value in phases if value is not None and value > 0))
    return "; ".join(facts)


def _on_the_wire(wire: Mapping[str, Any] | None) -> list[str]:
    """What the gateway made of it on the link."""
    if not wire:
        return []
    stream = f" stream {wire['stream']}" if wire.get("stream") else ""
    sent, first, last = (wire.get(key) for key in ("sent_ms", "first_byte_ms", "last_byte_ms"))
    waited = f"sent after {sent - wire['queued_ms']:.1f} ms" if sent is not None else "never sent"
    answered = f", first byte {first - sent:.1f} ms later" if sent is not None and first is not None else ""
    ended = f", last {last - sent:.1f}" if sent is not None and last is not None else ""
    ahead = f", {wire['in_flight']} under way" if wire.get("in_flight") else ""
    where = f"on the link {wire.get('protocol')}, connection {wire.get('connection')}{stream}"
    return [f"{where}: {waited}{answered}{ended}{ahead}"]


def _events(record: Mapping[str, Any]) -> list[tuple[str, float]]:
    """Moments of the page, from the start of the navigation."""
    names = (("first paint", "first_paint_ms"), ("DOMContentLoaded", "dcl_ms"), ("load", "plt_navigation_ms"))
    measures: Mapping[str, float] = record.get("measures") or {}
    return [(name, measures[key]) for name, key in names if key in measures]


def _event_lines(events: Sequence[tuple[str, float]], scale: float, top: float, height: float) -> list[Html]:
    """A line each, with its name above the rows, each on a height of its own."""
    drawn = []
    for i, (name, at) in enumerate(events):
        x, y = LEFT + at * scale, LEGEND + EVENT_ROW * (i + 1)
        colour = "var(--s1)" if name == "load" else "var(--muted)"
        drawn += [
            el("line", x1=_px(x), x2=_px(x), y1=y, y2=top + height, stroke=colour, stroke_width=1.4,
               stroke_dasharray="4 3"),
            _text(x - 3, y, name, colour, text_anchor="end", font_weight=600),
        ]  # fmt: skip
    return drawn
