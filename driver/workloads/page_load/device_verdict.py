"""The verdict on the device that a page was to believe in: what it was told of the screen, and how slow its processor
was. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from driver.browser.browser import USUAL_VIEWPORT
from driver.experiment.arm import Arm
from model.evidence.browser import LEAST_PART, BrowserEvidence, Slowdown, is_in_force
from model.reasons import OF_THE_MACHINE, Failure, Flag, Reason

PIXEL = 1  # a view is whole pixels, and a page may be zoomed by a fraction
RATIO_ROOM = 0.01
STARVED_PART = 0.2  # of a slowdown, beyond 1: on a machine that had no time for the trial a factor says no more


def device_failures(arm: Arm, browser: BrowserEvidence, flags: Iterable[Flag] = ()) -> Iterator[Failure]:
    """`arm`: on its site, so that it has a view; `flags`: of the trial."""
    starved = [flag.name.value for flag in flags if flag.name in OF_THE_MACHINE]
    wrong = [*_view(arm, browser), *_slowdown(arm.cpu_slowdown, browser.slowdown, starved)]
    if wrong:
        yield Failure(Reason.DEVICE_IGNORED, "; ".join(wrong))


def device_missing(arm: Arm, browser: BrowserEvidence) -> Iterator[str]:
    """What the record of a load that came to its end must have."""
    if browser.view is None and (arm.pixel_ratio != 1 or arm.touch):
        yield "evidence.browser.view"
    if arm.cpu_slowdown != 1 and (browser.slowdown is None or browser.slowdown.factor is None):
        yield "evidence.browser.slowdown"


def _view(arm: Arm, browser: BrowserEvidence) -> Iterator[str]:
    view = browser.view
    if view is None:
        return
    width, _ = arm.viewport or USUAL_VIEWPORT
    if abs(view.width - width) > PIXEL:
        yield f"the page's view was {view.width} pixels wide instead of {width}"
    if abs(view.pixel_ratio - arm.pixel_ratio) > RATIO_ROOM:
        yield f"the page's pixel ratio was {view.pixel_ratio:g} instead of {arm.pixel_ratio:g}"
    if (view.touch_points > 0) != arm.touch:
        yield f"the page was told of {view.touch_points} touch points"


def _slowdown(asked: float, slowdown: Slowdown | None, starved: Sequence[str]) -> Iterator[str]:
    factor = slowdown.factor if slowdown else None
    if factor is None or is_in_force(asked, factor, STARVED_PART if starved else LEAST_PART):
        return
    why = f" (the machine was starved: {', '.join(starved)})" if starved else ""
    yield f"the page's thread was {factor:.2f} times slower instead of {asked:g} times{why}"
