"""Events of a browser's trace -> when the page's main thread was busy, and its pictures. Pure."""

import base64
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NotRequired, TypedDict

from lanelab.driver.base.errors import RecordError
from lanelab.driver.record.evidence.trace import LongTask

TASKS = ("RunTask", "ThreadControllerImpl::RunTask")  # what keeps a thread busy, by the browser's versions
LONG_MS = 50.0
DRAWN_MS = 100.0  # after the load event: what was there by then is on screen
SHORTEST_MS = 0.5  # tasks that are nearer to each other than this are one stretch; shorter stretches are nothing
MAIN, US = "CrRendererMain", 1000.0


class EventData(TypedDict):
    """The data of navigationStart."""

    isLoadingMainFrame: NotRequired[bool]
    documentLoaderURL: NotRequired[str]


class Arguments(TypedDict, total=False):
    """Each event has its own."""

    data: EventData | None
    frame: str  # of navigationStart and loadEventEnd: whose they are
    snapshot: str  # of Screenshot


class Event(TypedDict):
    """An event in the format of traces. `ts` and `dur` in microseconds."""

    name: NotRequired[str]
    ph: NotRequired[str]
    cat: NotRequired[str]
    pid: int
    tid: int
    ts: float
    dur: NotRequired[float]
    args: NotRequired[Arguments]


class Trace(TypedDict):
    """With as many events as a trace has, they are not looked at one by one before they are used."""

    traceEvents: Sequence[Event]


@dataclass(frozen=True, slots=True)
class Picture:
    at_ms: float
    jpeg: bytes


class TraceEvents:
    """The events of one load."""

    def __init__(self, trace: Trace) -> None:
        """Raises RecordError where no navigation is in it."""
        events = trace["traceEvents"]
        started = [each for each in events if each.get("name") == "navigationStart" and _loads_a_page(each)]
        if not started:
            raise RecordError("in the browser's trace, navigationStart is missing", key="trace.navigationStart")
        first = min(started, key=lambda each: each["ts"])
        self._zero: float = first["ts"]
        self._thread = first["pid"], first["tid"]
        self._events = events
        ends = [each["ts"] for each in events if each.get("name") == "loadEventEnd" and _frame(each) == _frame(first)]
        self._end: float = min((at for at in ends if at >= self._zero), default=float("inf"))

    @property
    def has_loaded(self) -> bool:
        """Whether the page's own load event is in the trace: frames within it have theirs."""
        return self._end < float("inf")

    def main_thread(self) -> tuple[tuple[float, float], ...]:
        """Return when it had a task, in ms, up to the load event."""
        busy: list[tuple[float, float]] = []
        for begin, end in sorted(self._span(each) for each in self._tasks()):
            begin, end = max(begin, 0.0), min(end, self._ms(self._end))  # noqa: PLW2901 - within the load
            if end <= begin:
                continue
            if busy and begin - busy[-1][1] < SHORTEST_MS:
                busy[-1] = busy[-1][0], max(end, busy[-1][1])
            else:
                busy.append((begin, end))
        return tuple((round(begin, 3), round(end, 3)) for begin, end in busy if end - begin >= SHORTEST_MS)

    def long_tasks(self) -> tuple[LongTask, ...]:
        """Return tasks of 50 ms and more that began before the load event."""
        tasks = []
        for task in self._tasks():
            begin, end = self._span(task)
            if end - begin >= LONG_MS and 0 <= begin < self._ms(self._end):
                tasks.append(LongTask(round(begin, 3), round(end, 3), self._purpose(begin, end)))
        return tuple(sorted(tasks, key=lambda each: each.from_ms))

    def pictures(self) -> list[Picture]:
        """Return those that differ from the one before, from the last one before the navigation on, which counts as its
        beginning, to the first after the load event, which shows what the load had led to."""
        shots = sorted((each for each in self._events if each.get("name") == "Screenshot"), key=lambda each: each["ts"])
        pictures: list[Picture] = []
        for each in shots:
            jpeg = base64.b64decode(each["args"]["snapshot"])
            at = max(round(self._ms(each["ts"]), 3), 0.0)
            if at == 0.0:
                pictures.clear()
            if not pictures or pictures[-1].jpeg != jpeg:
                pictures.append(Picture(at, jpeg))
        return self._until_drawn(pictures)

    def _until_drawn(self, pictures: list[Picture]) -> list[Picture]:
        """A page that goes on changing is left where its load ends, but not one that showed nothing until later."""
        end = self._ms(self._end)
        kept: list[Picture] = []
        for picture in pictures:
            late = picture.at_ms > end
            if late and len(kept) > 1 and (kept[-1].at_ms > end or picture.at_ms > end + DRAWN_MS):
                break
            kept.append(picture)
        return kept

    def _tasks(self) -> Iterable[Event]:
        """The outermost ones: a task may run others within it. RecordError where there is none: a page that loads has
        tasks, so they are called something else."""
        of_thread = [each for each in self._events if self._is_main(each) and each.get("name") in TASKS]
        name = next((name for name in TASKS if any(each["name"] == name for each in of_thread)), None)
        if name is None:
            raise RecordError("in the browser's trace, the main thread has no task", key="trace.RunTask")
        return (each for each in of_thread if each["name"] == name)

    def _purpose(self, begin: float, end: float) -> str:
        """Return the name of what took longest within."""
        spent: Counter[str] = Counter()
        for each in self._events:
            if self._is_main(each) and each["name"] not in TASKS and "devtools.timeline" in each.get("cat", ""):
                first, last = self._span(each)
                if begin <= first and last <= end:
                    spent[each["name"]] += round((last - first) * US)
        return spent.most_common(1)[0][0] if spent else ""

    def _is_main(self, event: Event) -> bool:
        return event.get("ph") == "X" and (event["pid"], event["tid"]) == self._thread

    def _span(self, event: Event) -> tuple[float, float]:
        return self._ms(event["ts"]), self._ms(event["ts"] + event.get("dur", 0))

    def _ms(self, ts: float) -> float:
        return (ts - self._zero) / US


def _frame(event: Event) -> str:
    return (event.get("args") or {})["frame"]


def _loads_a_page(event: Event) -> bool:
    arguments = event.get("args") or {}
    data = arguments.get("data") or {}
    return data.get("isLoadingMainFrame", True) and data.get("documentLoaderURL", "").startswith("http")
