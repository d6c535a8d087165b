"""The drawing of the bench. Places along the dial are in percent, so that it fits a screen of any width with letters of
one size."""

from collections.abc import Sequence

from lanelab.analysis.results.layout.markup import Html, el
from lanelab.analysis.results.load_view import round_step
from lanelab.driver.page.bench_numbers import Curve, Dial, Dot
from lanelab.driver.page.language import number_words, say

HEIGHT, FOOT, TICKS = 300, 22, 5
INNER = 1000  # the lines' own coordinates
SHAPES = ("M-5 0a5 5 0 1 0 10 0a5 5 0 1 0 -10 0z", "M-4.5 -4.5h9v9h-9z")  # of the dots, by arm


class Axes:
    """A place on the dial and a time, as places of the drawing."""

    def __init__(self, curves: Sequence[Curve], dial: Dial) -> None:
        self.dial = dial
        self.top = _top(curves)

    @property
    def times(self) -> list[float]:
        """Return the times that have a line."""
        step = round_step(self.top / TICKS)
        return [step * number for number in range(1, int(self.top / step) + 1)]

    def x(self, value: float) -> float:
        """Return the percent of the width."""
        return 100 * (value - self.dial.least) / (self.dial.most - self.dial.least)

    def y(self, ms: float) -> float:
        return HEIGHT * (1 - ms / self.top)

    def line(self, points: Sequence[tuple[float, float]]) -> str:
        """Return the lines' coordinates of these points: a place and a time."""
        return " ".join(f"{10 * self.x(x):.1f},{INNER * (1 - min(ms / self.top, 2)):.1f}" for x, ms in points)


def _top(curves: Sequence[Curve]) -> float:
    """Return the highest time that is drawn. What is far above all that matters here is cut off."""
    highest = max((estimate for curve in curves for _, _, estimate in curve.points), default=1.0)
    ends = [_end(dot) for curve in curves for dot in curve.dots]
    near = max([4 * max(curve.here) for curve in curves] + [1.3 * end for end in ends] or [1.0])
    return max(min(1.08 * highest, near), 1.3 * max(ends, default=0.0), 1.0)


def _end(dot: Dot) -> float:
    estimate = dot.summary.estimate
    return max(estimate.median, estimate.high or 0.0)


def chart(curves: Sequence[Curve], dial: Dial, here: float, words: str) -> Html:
    """Draw every arm: dashed what the link asks at least, in full what a plan expects, dots with intervals."""
    axes = Axes(curves, dial)
    lines = [
        el("polyline", points=axes.line([(x, value[kind]) for x, *value in curve.points]),
           class_=f"line-{number} {('least', 'expected')[kind]}")
        for number, curve in enumerate(curves) for kind in (0, 1)
    ]  # fmt: skip
    inner = el("svg", lines, viewBox=f"0 0 {INNER} {INNER}", preserveAspectRatio="none", width="100%", height=HEIGHT)
    at = f"{axes.x(here):.2f}%"
    mark = el("line", x1=at, x2=at, y1=0, y2=HEIGHT, class_="here") if 0 <= axes.x(here) <= 100 else None
    dots = [_dot(axes, number, curve, dot) for number, curve in enumerate(curves) for dot in curve.dots]
    drawn = el("svg", _grid(axes), inner, mark, _labels(axes), dots, height=HEIGHT + FOOT, role="img", aria_label=words)
    return el("div", drawn, class_="curve")


def _grid(axes: Axes) -> list[Html]:
    heights = [round(axes.y(each)) for each in axes.times]
    lines = [el("line", x1=0, x2="100%", y1=y, y2=y, class_="grid") for y in heights]
    return [*lines, el("line", x1=0, x2="100%", y1=HEIGHT, y2=HEIGHT, class_="base")]


def _labels(axes: Axes) -> list[Html]:
    dial = axes.dial
    along = [dial.least + (dial.most - dial.least) * share / 4 for share in range(5)]
    anchors = ("start", "middle", "middle", "middle", "end")
    return [
        *(el("text", number_words(f"{each:,.0f} ms"), x=2, y=round(axes.y(each)) - 3) for each in axes.times),
        *(
            el(
                "text",
                number_words(f"{each:.4g} {dial.unit_words}"),
                x=f"{axes.x(each):.2f}%",
                y=HEIGHT + FOOT - 6,
                text_anchor=anchor,
            )
            for each, anchor in zip(along, anchors, strict=True)
        ),
    ]


def _dot(axes: Axes, number: int, curve: Curve, dot: Dot) -> Html | None:
    place = axes.x(dot.x)
    if not 0 <= place <= 100:
        return None
    estimate, x = dot.summary.estimate, f"{place:.2f}%"
    interval = None
    if estimate.low is not None and estimate.high is not None:
        interval = el("line", x1=x, x2=x, y1=f"{axes.y(estimate.low):.1f}", y2=f"{max(0.0, axes.y(estimate.high)):.1f}",
                      class_=f"line-{number} interval")  # fmt: skip
    shape = el("path", d=SHAPES[number % len(SHAPES)], class_=f"s{number}")
    mark = el("svg", shape, x=x, y=f"{axes.y(estimate.median):.1f}", overflow="visible")
    title = f"{curve.arm.name}, {number_words(f'{dot.x:g}')} {axes.dial.unit_words}: {summary_words(dot)}"
    return el("g", el("title", title), interval, mark)


def summary_words(dot: Dot) -> str:
    """Say the median with its interval."""
    estimate = dot.summary.estimate
    median = ms(estimate.median)
    if estimate.low is None or estimate.high is None:
        return say("{median} ms, n = {n}", median=median, n=estimate.n)
    ends = {"low": ms(estimate.low), "high": ms(estimate.high)}
    return say("{median} ms ({low} to {high}), n = {n}", median=median, n=estimate.n, **ends)


def ms(value: float) -> str:
    return number_words(f"{value:,.0f}")
