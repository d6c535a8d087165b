"""The device that a page believes to be on, and how slow its processor really was."""

from collections.abc import Sequence
from typing import TypedDict

from lanelab.driver.arm.browsers.chromium.chromedriver import Session
from lanelab.driver.arm.browsers.failures import BrowserError
from lanelab.driver.arm.browsers.fields import USUAL_VIEWPORT, BrowserSettings
from lanelab.driver.record.evidence.browser import Slowdown

TOUCH_POINTS = 5  # as phones say
RUNS = 5
# A fixed amount of work on the page's own thread, some 30 ms: long beside the slices in which Chromium stops a thread.
# How long it takes, in ms, is by the browser's steady clock; what the thread had of a processor, by its own.
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
THREAD_TIME = "ThreadTime"  # of the page's main thread, in seconds


class Metric(TypedDict):
    name: str
    value: float


class Metrics(TypedDict):
    """The answer to Performance.getMetrics."""

    metrics: Sequence[Metric]


def emulate(session: Session, settings: BrowserSettings) -> None:
    """Set the device before the load. What is the browser's own is not asked for, so that it stays as it is without a
    device."""
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


def measure_slowdown(session: Session) -> Slowdown:
    """Measure the slowdown after the load, on the page itself: first as the load had it, with nothing set anew, then
    without a slowdown."""
    session.cdp("Performance.enable")
    slowed = [_run(session) for _ in range(RUNS)]
    session.cdp("Emulation.setCPUThrottlingRate", rate=1)
    plain = [_run(session) for _ in range(RUNS)]
    return Slowdown(
        slowed_ms=tuple(took_ms for took_ms, _ in slowed),
        plain_ms=tuple(took_ms for took_ms, _ in plain),
        slowed_cpu_ms=tuple(cpu_ms for _, cpu_ms in slowed),
        plain_cpu_ms=tuple(cpu_ms for _, cpu_ms in plain),
    )


def _run(session: Session) -> tuple[float, float]:
    """Return how long the work took, and the thread's processor time meanwhile, in ms."""
    before_s = _thread_time_s(session)
    answer = session.execute_script(WORK)
    cpu_s = _thread_time_s(session) - before_s
    if not isinstance(answer, list) or len(answer) != 2 or answer[1] != SUM:
        raise BrowserError(f"the page was given a sum to work out, and found {answer!r}")
    return round(float(answer[0]), 3), round(cpu_s * 1000, 3)


def _thread_time_s(session: Session) -> float:
    metrics = {each["name"]: each["value"] for each in session.ask(Metrics, "Performance.getMetrics")["metrics"]}
    if THREAD_TIME not in metrics:
        raise BrowserError("Chromium does not tell the processor time of the page's thread")
    return metrics[THREAD_TIME]
