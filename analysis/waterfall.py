"""The waterfall of one trial: every request as a bar of its phases. Vega-Lite, by Altair."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from analysis import palette
from analysis.chart_parts import altair, config, described

ROW = 15  # pixels
EVENT_ROW = 14
MOST_ROWS = 400
NAME = 34  # characters of a request's name


def waterfall(record: Mapping[str, Any], title: str) -> dict[str, Any] | None:
    """The specification; None where the trial has no requests."""
    requests: Sequence[Mapping[str, Any]] = record.get("requests") or []
    requests = sorted(requests, key=lambda request: request.get("started_ms") or 0.0)[:MOST_ROWS]
    if not requests:
        return None
    alt = altair()
    rows = [_named(i, request) for i, request in enumerate(requests, 1)]
    bars = [bar for row, request in zip(rows, requests, strict=True) for bar in _phases(row, request)]
    end = max([bar["to"] for bar in bars] + [event["at"] for event in _events(record)] + [1.0])
    x = alt.X("from:Q", title="ms after navigation", scale=alt.Scale(domain=[0, end * 1.02], nice=False))
    y = alt.Y(
        "row:N", sort=rows, title=None, axis=alt.Axis(labelLimit=270, ticks=False, domain=False, labelFontSize=11)
    )
    names = [name for name in palette.PHASES if any(bar["phase"] == name for bar in bars)]
    colour = alt.Color(
        "phase:N",
        scale=alt.Scale(domain=names, range=[palette.PHASES[name].light for name in names]),
        legend=alt.Legend(
            title=None, orient="top", direction="horizontal", symbolType="square", columns=0, offset=EVENT_ROW * 3 + 8
        ),
    )
    chart = (
        alt.Chart(alt.Data(values=bars))
        .mark_bar(height=ROW - 5)
        .encode(x=x, x2="to:Q", y=y, color=colour, description="words:N")
    )
    lines = _event_lines(alt, _events(record))
    return dict(
        config(alt.layer(chart, *lines).properties(width=640, height=len(rows) * ROW), title).to_dict(validate=False)
    )


def _named(number: int, request: Mapping[str, Any]) -> str:
    """What the row is called: unique, and short."""
    parts = urlsplit(str(request.get("url", "")))
    path = parts.path.rstrip("/").rpartition("/")[2] or parts.netloc or "/"
    return f"{number:>3}  {path if len(path) <= NAME else path[: NAME - 1] + '…'}"


def _phases(row: str, request: Mapping[str, Any]) -> list[dict[str, Any]]:
    timings = request.get("timings") or {}
    start = at = float(request.get("started_ms") or 0.0)
    words = described(_words(request))
    found = []
    for phase in palette.PHASES:
        took = float(timings.get(phase, -1) or 0)
        if phase == "connect" and float(timings.get("ssl", -1) or -1) > 0:
            took -= float(timings["ssl"])  # HAR counts it within connect
        if took > 0:
            found.append({"row": row, "phase": phase, "from": at, "to": at + took, "words": words})
            at += took
    ended = request.get("ended_ms")
    if not found:
        to = float(ended) if ended is not None else start + 1
        found.append({"row": row, "phase": "wait", "from": start, "to": max(to, start + 1), "words": words})
    return found


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
    ]
    phases = (request.get("timings") or {}).items()
    facts.append(", ".join(f"{name} {value:.1f}" for name, value in phases if value is not None and value > 0))
    return "; ".join(facts)


def _events(record: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Moments of the page, from the start of the navigation."""
    names = (("first paint", "first_paint_ms"), ("DOMContentLoaded", "dcl_ms"), ("load", "plt_navigation_ms"))
    return [{"event": name, "at": float(record[key])} for name, key in names if record.get(key) is not None]


def _event_lines(alt: Any, events: Sequence[Mapping[str, Any]]) -> list[Any]:  # noqa: ANN401
    """A line each, with its name above the chart, each on a height of its own."""
    lines = []
    for i, event in enumerate(events):
        one = alt.Chart(alt.Data(values=[event])).encode(x=alt.X("at:Q"))
        colour = palette.of(1).light if event["event"] == "load" else palette.MUTED
        lines += [
            one.mark_rule(strokeWidth=1.4, strokeDash=[4, 3], color=colour),
            one.mark_text(align="right", baseline="bottom", dx=2, fontSize=11, fontWeight=600, color=colour).encode(
                text="event:N", y=alt.value(-4 - EVENT_ROW * (len(events) - 1 - i))
            ),
        ]
    return lines
