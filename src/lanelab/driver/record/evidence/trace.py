"""What the browser's trace tells of a load. Times are ms from the navigation's start, by the browser's clock."""

from dataclasses import dataclass

from lanelab.driver.base.coded import Coded


@dataclass(frozen=True, slots=True)
class LongTask(Coded):
    """A task that kept the main thread for 50 ms or more."""

    from_ms: float
    to_ms: float
    what: str  # what most of it was for, in the browser's words


@dataclass(frozen=True, slots=True)
class Frame(Coded):
    """The page as it looked from this moment on."""

    at_ms: float
    complete: float  # how much like the last frame, 0 to 1
    bytes: int  # of its picture


@dataclass(frozen=True, slots=True)
class TraceEvidence(Coded):
    """The main thread of the page's process, and with `filmstrip` what was to be seen."""

    main_thread: tuple[tuple[float, float], ...]  # when it was busy, until the load event
    long_tasks: tuple[LongTask, ...]
    frames: tuple[Frame, ...]  # those that differ from the one before; none without `filmstrip`
