"""The verdict on the device that a page was to believe in: what it was told of the screen, and how slow its processor
was. Pure."""

from collections.abc import Iterator

from lanelab.driver.arm.arm import Arm
from lanelab.driver.arm.browsers.fields import USUAL_VIEWPORT
from lanelab.driver.record.evidence.browser import BrowserEvidence, Slowdown
from lanelab.driver.record.reasons import Failure, Reason
from lanelab.driver.trial.page_load.judges.judge import Case, Judge, Needs

PIXEL = 1  # a view is whole pixels, and a page may be zoomed by a fraction
RATIO_ROOM = 0.01
# Of the slowdown that was asked for, beyond 1. A thread that was not slowed down has 0.97 to 1.05 times the processor
# time, one that was has 1.1 times what was asked for, however busy the machine is (docs/reference/devices.md).
LEAST_PART = 0.5


def device_failures(arm: Arm, browser: BrowserEvidence) -> Iterator[Failure]:
    """Yield the failures of a device. `arm` is the one on its site, so that it has a view."""
    wrong = [*_view(arm, browser), *_slowdown(arm.cpu_slowdown, browser.slowdown)]
    if wrong:
        yield Failure(Reason.DEVICE_IGNORED, "; ".join(wrong))


def device_missing(arm: Arm, browser: BrowserEvidence) -> Iterator[str]:
    """What the record of a load that came to its end must have."""
    if browser.view is None and (arm.pixel_ratio != 1 or arm.touch):
        yield "evidence.browser.view"
    if arm.cpu_slowdown != 1 and (
        browser.slowdown is None or None in (browser.slowdown.factor, browser.slowdown.cpu_factor)
    ):
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


def _slowdown(factor_wanted: float, slowdown: Slowdown | None) -> Iterator[str]:
    """By processor time: how long work takes says on a busy machine nothing of what the browser slowed down."""
    factor = slowdown.cpu_factor if slowdown else None
    if factor is not None and factor < 1 + (factor_wanted - 1) * LEAST_PART:
        yield f"the page's thread was slowed down {factor:.2f} times instead of {factor_wanted:g} times"


def _failures(case: Case) -> Iterator[Failure]:
    if case.evidence.browser:
        yield from device_failures(case.arm.on(case.site), case.evidence.browser)


JUDGE = Judge(Needs.LOAD, _failures)
