"""Small drawings within tables, as SVG: an interval on the scale of its column."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from lanelab.analysis.results.layout.markup import Html, el
from lanelab.analysis.results.palette import SERIES
from lanelab.analysis.statistics import Comparison, Summary

WIDTH, HEIGHT = 180, 20
FAINT = 0.35  # opacity of a dot


def interval(summary: Summary, top: float, colour: int, values: Sequence[float], words: str) -> Html:
    """Draw the median as a mark, interval as a bar, each trial as a faint dot; from 0 to `top`. Dots in one place are
    one that is as dark as all of them."""

    def at(value: float) -> float:
        return round(4 + (WIDTH - 8) * min(value, top) / top, 1)

    estimate = summary.estimate
    low, high = (estimate.median if end is None else end for end in (estimate.low, estimate.high))
    paint = f"var(--s{colour % len(SERIES)})"
    return el(
        "svg",
        el("title", words),
        el("line", x1=4, x2=WIDTH - 4, y1=HEIGHT / 2, y2=HEIGHT / 2, stroke="var(--grid)"),
        el("line", x1=4, x2=at(low), y1=HEIGHT / 2, y2=HEIGHT / 2, stroke=paint, stroke_width=2, opacity=0.5),
        [
            el("circle", cx=place, cy=HEIGHT / 2, r=2, fill=paint, opacity=round(1 - (1 - FAINT) ** many, 3))
            for place, many in Counter(map(at, values)).items()
        ],
        el("rect", x=at(low), width=max(1.5, at(high) - at(low)), y=6, height=8, rx=2, fill=paint, opacity=0.45),
        el("rect", x=at(estimate.median) - 1.25, width=2.5, y=3, height=14, rx=1, fill=paint),
        width=WIDTH, height=HEIGHT, viewBox=f"0 0 {WIDTH} {HEIGHT}", role="img", class_="spark", aria_label=words,
    )  # fmt: skip


def change(comparison: Comparison, reach: float, words: str) -> Html:
    """Draw a ratio around 1, on a scale that reaches equally far to both sides."""
    low, middle, high = comparison.ratio.low, comparison.ratio.value, comparison.ratio.high

    def at(value: float) -> float:
        return round(WIDTH / 2 + (WIDTH / 2 - 4) * max(-1.0, min(1.0, (value - 1) / reach)), 1)

    paint = {"faster": "var(--good)", "slower": "var(--bad)"}.get(comparison.verdict, "var(--muted)")
    first, last = at(low if low is not None else middle), at(high if high is not None else middle)
    return el(
        "svg",
        el("title", words),
        el("line", x1=WIDTH / 2, x2=WIDTH / 2, y1=1, y2=HEIGHT - 1, stroke="var(--muted)"),
        el("rect", x=first, width=max(1.5, last - first), y=6, height=8, rx=2, fill=paint, opacity=0.45),
        el("rect", x=at(middle) - 1.25, width=2.5, y=3, height=14, rx=1, fill=paint),
        width=WIDTH, height=HEIGHT, viewBox=f"0 0 {WIDTH} {HEIGHT}", role="img", class_="spark", aria_label=words,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Scale:
    """The values at both ends of a strip."""

    low: float
    high: float


def region(
    counts: tuple[float | None, float | None],
    interval: tuple[float, float],
    value: float,
    published: Sequence[float],
    scale: Scale,
    mood: str,
    words: str,
) -> Html:
    """An interval beside the region that counts as reproduced, whose ends may be open, and what was published."""

    def at(end: float | None, otherwise: float) -> float:
        known = otherwise if end is None or math.isnan(end) else min(max(end, scale.low), scale.high)
        return round(2 + (WIDTH - 4) * (known - scale.low) / (scale.high - scale.low), 1)

    low, high = at(counts[0], scale.low), at(counts[1], scale.high)
    first, last = (at(end, value) for end in interval)
    paint = f"var(--{mood})"
    marks = [at(each, value) for each in published]
    return el(
        "svg",
        el("title", words),
        el("rect", x=low, width=max(1.5, high - low), y=1, height=HEIGHT - 2, fill="var(--grid)"),
        [
            el("line", x1=mark, x2=mark, y1=1, y2=HEIGHT - 1, stroke="var(--muted)", stroke_dasharray="2 2")
            for mark in marks
        ],
        el("rect", x=first, width=max(1.5, last - first), y=6, height=8, rx=2, fill=paint, opacity=0.45),
        el("rect", x=at(value, value) - 1.25, width=2.5, y=3, height=14, rx=1, fill=paint),
        width=WIDTH, height=HEIGHT, viewBox=f"0 0 {WIDTH} {HEIGHT}", role="img", class_="spark", aria_label=words,
    )  # fmt: skip
