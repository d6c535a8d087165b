"""The device that a page believes to be on, and how slow its processor really was."""

from __future__ import annotations

from collections.abc import Callable

from driver.browser.browser import USUAL_VIEWPORT, BrowserSettings
from driver.browser.chromium.chromedriver import Session
from driver.browser.failures import BrowserError
from model.evidence.browser import Slowdown, is_in_force

TOUCH_POINTS = 5  # as phones say
RUNS, MOST_RUNS = 5, 15  # pairs; the more, the likelier one of each had the processor to itself
# A fixed amount of work on the page's own thread, some 30 ms: long beside the slices in which Chromium stops a thread.
# How long it takes, in ms, is by the browser's steady clock.
WORK = """
const began = performance.now();
let state = 1, sum = 0;
for (let i = 0; i < 20000000; i++) {
  state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
  sum = (sum + (state & 255)) | 0;
}
return [performance.now() - began, sum];
"""
SUM = -1744967296
LEAST_MS = 0.001  # of a clock that may not have moved


def emulate(session: Session, settings: BrowserSettings) -> None:
    """Before the load. What is the browser's own is not asked for, so that it stays as it is without a device."""
    width, height = settings.viewport or USUAL_VIEWPORT
    session.cdp(
        "Emulation.setDeviceMetricsOverride",
        width=width,
        height=height,
        deviceScaleFactor=settings.pixel_ratio,
        mobile=settings.touch,
    )
    if settings.touch:
        session.cdp("Emulation.setTouchEmulationEnabled", enabled=True, maxTouchPoints=TOUCH_POINTS)
    if settings.cpu_slowdown != 1:
        session.cdp("Emulation.setCPUThrottlingRate", rate=settings.cpu_slowdown)


def measure_slowdown(session: Session, asked: float) -> Slowdown:
    """After the load, on the page itself."""

    def timed_ms(rate: float) -> float:
        session.cdp("Emulation.setCPUThrottlingRate", rate=rate)
        return _run(session)

    return in_turns(asked, _run(session), timed_ms)


def in_turns(asked: float, as_loaded_ms: float, timed_ms: Callable[[float], float]) -> Slowdown:
    """With the slowdown and without it in turns, so that what else the machine does meets both; longer where it does
    much else: until the slowdown is seen. `as_loaded_ms`: as the load had it; `timed_ms`: with a rate that is set."""
    slowed, plain = [as_loaded_ms], [timed_ms(1)]
    while len(plain) < RUNS or (
        len(plain) < MOST_RUNS and not is_in_force(asked, min(slowed) / max(min(plain), LEAST_MS))
    ):
        slowed.append(timed_ms(asked))
        plain.append(timed_ms(1))
    return Slowdown(slowed_ms=tuple(slowed), plain_ms=tuple(plain))


def _run(session: Session) -> float:
    answer = session.execute_script(WORK)
    if not isinstance(answer, list) or len(answer) != 2 or answer[1] != SUM:
        raise BrowserError(f"the page was given a sum to work out, and found {answer!r}")
    return round(float(answer[0]), 3)
