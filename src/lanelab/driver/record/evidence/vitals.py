"""What a page's user sees and feels besides its load time: what moved, what was painted, what kept the main thread.
Times are ms from the navigation's start, by the browser's clock."""

from collections.abc import Mapping
from dataclasses import dataclass

from lanelab.driver.base.coded import Coded


@dataclass(frozen=True, slots=True)
class LayoutShift(Coded):
    """A shift of content that could be seen."""

    at_ms: float
    value: float  # share of the view that moved, times how far as a share of the view
    after_input: bool  # within half a second of an input of the user: such ones do not count
    moved: tuple[str, ...]  # elements, those that the browser names: five at most


@dataclass(frozen=True, slots=True)
class LargestPaint(Coded):
    """The largest thing that was painted until then."""

    at_ms: float
    size: float  # pixels
    tag: str | None  # None: it was not in the page any more
    element: str | None  # as a selector would say it
    url: str | None  # of a picture
    text: str | None  # how it begins, where it is no picture


@dataclass(frozen=True, slots=True)
class BusyTask(Coded):
    """A task that kept the main thread busy for 50 ms or more."""

    from_ms: float
    to_ms: float


@dataclass(frozen=True, slots=True)
class Interaction(Coded):
    """A click, from the input to the next picture of the page. The parts add up to the latency."""

    selector: str
    matched: int  # elements; the first was clicked
    element: str
    at_ms: float
    latency_ms: float  # in steps of 8 ms, as browsers tell it
    delay_ms: float  # until the first handler ran
    processing_ms: float  # until the last one had
    presentation_ms: float  # until it was to be seen


@dataclass(frozen=True, slots=True)
class VitalsEvidence(Coded):
    """What the browser kept by itself until `until_ms`, read after that."""

    until_ms: float
    fcp_ms: float | None  # None: nothing was painted
    shifts: tuple[LayoutShift, ...]
    paints: tuple[LargestPaint, ...]  # each larger than the one before; the last is the largest
    tasks: tuple[BusyTask, ...]
    interaction: Interaction | None  # None: none was asked for, or see `absent`
    absent: Mapping[str, str]  # measures that there are not -> why
