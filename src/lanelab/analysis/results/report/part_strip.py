"""What a load's time went to, as a strip on the scale of its waterfall. docs/reference/parts.md defines the parts."""

from collections.abc import Sequence

from lanelab.analysis.results.layout.markup import Html, el, join
from lanelab.analysis.results.palette import PART_WORDS
from lanelab.analysis.results.report.waterfall import Scale, grid, panel
from lanelab.driver.record.evidence.parts import Part, Stretch

HEIGHT = 22


def part_strip(stretches: Sequence[Stretch], end: float) -> Html | None:
    """Draw the parts; None where the trial has none."""
    if not stretches:
        return None
    scale = Scale(end)
    drawn = [
        el("rect", el("title", _words(each)), x=scale.at(each.from_ms), width=scale.width(each.from_ms, each.to_ms),
           y=2, height=HEIGHT - 5, class_=f"q-{each.part}")
        for each in stretches
    ]  # fmt: skip
    sums = {part: sum(each.to_ms - each.from_ms for each in stretches if each.part == part) for part in Part}
    key = [
        el("span", join(el("i", class_=f"dot q-{part}"), f"{PART_WORDS[part]} {took:,.0f}"))
        for part, took in sums.items()
        if took >= 0.5
    ]
    words = ", ".join(f"{PART_WORDS[part]} {took:.0f} ms" for part, took in sums.items() if took >= 0.5)
    strip = panel(["time went to"], HEIGHT, [*grid(scale), *drawn], f"What the time went to: {words}", kind="strip")
    return join(strip, el("p", key, " ms", class_="key parts"))


def _words(each: Stretch) -> str:
    detail = f": {each.detail}" if each.detail else ""
    took = f"{each.from_ms:.0f} to {each.to_ms:.0f} ms"
    return f"{PART_WORDS[each.part]}, {each.to_ms - each.from_ms:.1f} ms ({took}){detail}"
