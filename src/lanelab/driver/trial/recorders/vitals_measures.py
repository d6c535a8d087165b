"""From what vitals.js tells to evidence and measures. Pure."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NotRequired, TypedDict, TypeVar

from lanelab.driver.arm.browsers.vitals import Aim, Vitals
from lanelab.driver.base.coded import parsed
from lanelab.driver.base.errors import RecordError
from lanelab.driver.record.evidence.vitals import BusyTask, Interaction, LargestPaint, LayoutShift, VitalsEvidence

# A session window of layout shifts ends with a pause of a second, or after five (web.dev/cls, since 2021).
PAUSE_MS, LONGEST_MS = 1000, 5000
BLOCKING_MS = 50  # of a task; what is beyond is what a user waits for
CLS, LCP, COUNT, TOTAL, TBT, INP = "cls", "lcp_settled_ms", "long_task_count", "long_task_ms", "tbt_ms", "inp_ms"

WITHIN = "what the page told of its vitals"
Entry = TypeVar("Entry")


class Kept(TypedDict):
    """Entries of a type that the browser has; `dropped`: how many more there were."""

    dropped: int
    entries: Sequence[object]


class Read(TypedDict):
    loaded_ms: float
    fcp_ms: float | None
    shifts: Kept | None
    paints: Kept | None
    tasks: Kept | None


class Event(TypedDict):
    name: NotRequired[str]
    element: NotRequired[str | None]
    interaction: int
    at_ms: float
    begun_ms: float
    done_ms: float
    duration_ms: float


class Took(TypedDict):
    """The time of an interaction."""

    at_ms: float
    latency_ms: float
    delay_ms: float
    processing_ms: float
    presentation_ms: float


def evidence(answers: Vitals, after_ms: float, click: str | None) -> VitalsEvidence:
    """Raises RecordError where something is missing in it."""
    try:
        return _evidence(answers, after_ms, click)
    except KeyError as error:
        raise RecordError(f"in {WITHIN}, {error.args[0]} is missing", key="vitals") from error


def measures(vitals: VitalsEvidence) -> dict[str, float]:
    """What is absent has no number."""
    values: dict[str, float] = {
        CLS: layout_shift(vitals.shifts),
        COUNT: len(vitals.tasks),
        TOTAL: round(sum(task.to_ms - task.from_ms for task in vitals.tasks), 3),
    }
    if vitals.paints:
        values[LCP] = vitals.paints[-1].at_ms
    if vitals.fcp_ms is not None:
        values[TBT] = blocking(vitals.tasks, vitals.fcp_ms, vitals.until_ms)
    if vitals.interaction:
        values[INP] = vitals.interaction.latency_ms
    return {name: value for name, value in values.items() if name not in vitals.absent}


def layout_shift(shifts: Sequence[LayoutShift]) -> float:
    """Return the sum of the worst session window."""
    worst = total = 0.0
    begun = last = float("-inf")
    for shift in sorted(shifts, key=lambda each: each.at_ms):
        if shift.after_input:
            continue
        if shift.at_ms - last >= PAUSE_MS or shift.at_ms - begun >= LONGEST_MS:
            begun, total = shift.at_ms, 0.0
        last, total = shift.at_ms, total + shift.value
        worst = max(worst, total)
    return round(worst, 6)


def blocking(tasks: Sequence[BusyTask], begin_ms: float, end_ms: float) -> float:
    """Return what tasks took beyond 50 ms each, between the first contentful paint and the end, as Lighthouse counts
    it."""
    within = (min(task.to_ms, end_ms) - max(task.from_ms, begin_ms) for task in tasks)
    return round(sum(max(span - BLOCKING_MS, 0.0) for span in within), 3)


class Window:
    """The time in which entries count, and why what there is none of is absent."""

    def __init__(self, since_ms: float, until_ms: float) -> None:
        self.since_ms, self.until_ms = since_ms, until_ms
        self.absent: dict[str, str] = {}

    def entries(
        self,
        kept: Kept | None,
        type_name: str,
        of: tuple[str, ...],
        kind: type[Entry],
        begun: Callable[[Entry], float],
    ) -> tuple[Entry, ...]:
        """Return the entries that begin in it. `of`: measures that are absent without all of them."""
        if kept is None or kept["dropped"]:
            why = f"the browser has no entries of type {type_name}"
            if kept is not None:
                count, more = len(kept["entries"]), kept["dropped"]
                why = f"the browser kept {count} entries of type {type_name}, and not {more} more"
            self.absent.update(dict.fromkeys(of, why))
        every = [parsed(kind, each, WITHIN) for each in (kept["entries"] if kept else ())]
        return tuple(each for each in every if self.has(begun(each)))

    def has(self, at_ms: float | None) -> bool:
        return at_ms is not None and self.since_ms <= at_ms <= self.until_ms

    def seen(self, read: Read) -> VitalsEvidence:
        """Return what there is without any input."""
        shifts = self.entries(read["shifts"], "layout-shift", (CLS,), LayoutShift, lambda each: each.at_ms)
        paints = self.entries(read["paints"], "largest-contentful-paint", (LCP,), LargestPaint, lambda each: each.at_ms)
        tasks = self.entries(read["tasks"], "longtask", (COUNT, TOTAL, TBT), BusyTask, lambda each: each.from_ms)
        fcp = read["fcp_ms"] if self.has(read["fcp_ms"]) else None
        return VitalsEvidence(self.until_ms, fcp, shifts, paints, tasks, None, self.absent)


def took(events: Sequence[Event], slowest: Event) -> Took:
    """Return the times of the interaction of its slowest event."""
    its_events = [event for event in events if event["interaction"] == slowest["interaction"]]
    # Events that were presented together with the slowest one: what their handlers took is what it waited for.
    end = slowest["at_ms"] + slowest["duration_ms"]
    same = [event for event in its_events if event["at_ms"] >= slowest["at_ms"] and event["begun_ms"] <= end]
    begun = min(event["begun_ms"] for event in same)
    done = min(max(event["done_ms"] for event in same), end)
    return {
        "at_ms": slowest["at_ms"],
        "latency_ms": float(slowest["duration_ms"]),
        "delay_ms": round(begun - slowest["at_ms"], 3),
        "processing_ms": round(done - begun, 3),
        "presentation_ms": round(end - done, 3),
    }


def slowest_of(events: Sequence[Event]) -> Event:
    """Return the slowest event. The browser tells events below 16 ms only of the first interaction."""
    return max(events, key=lambda event: (event["duration_ms"], -event["at_ms"]))


def _evidence(answers: Vitals, after_ms: float, click: str | None) -> VitalsEvidence:
    read = parsed(Read, answers["read"], WITHIN)
    window = Window(0.0, round(read["loaded_ms"] + after_ms, 3))
    seen = window.seen(read)
    if not seen.paints:
        window.absent.setdefault(LCP, "nothing that counts was painted")
    if seen.fcp_ms is None:
        window.absent.setdefault(TBT, "nothing was painted, after which it is counted")
    interaction = None
    if click is not None:
        clicked = answers["clicked"]
        if clicked.get("untold"):
            window.absent[INP] = "the browser does not tell which events are one interaction"
        else:
            interaction = _interaction(click, clicked, parsed(list[Event], answers["events"], WITHIN))
    return replace(seen, interaction=interaction)


def _interaction(click: str, clicked: Aim, events: Sequence[Event]) -> Interaction:
    """Return the interaction whose slowest event was the slowest."""
    times = took(events, slowest_of(events))
    return Interaction(selector=click, matched=clicked["matched"], element=clicked["element"], **times)
