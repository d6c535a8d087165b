"""The same of a step of a journey: from what vitals.js tells to evidence and measures. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TypedDict

from lanelab.driver.arm.browsers.vitals import Heard, StepTold
from lanelab.driver.base.amounts import counted
from lanelab.driver.base.coded import parsed
from lanelab.driver.record.evidence.step_vitals import SoftNavigation, StepInteraction, StepVitals
from lanelab.driver.record.evidence.vitals import LargestPaint
from lanelab.driver.record.metrics import INP_CENSORED, OF_SOFT_NAVIGATIONS, OF_VITALS, SOFT_AT, SOFT_FCP, SOFT_LCP
from lanelab.driver.trial.recorders.vitals_measures import (
    INP,
    LCP,
    TBT,
    WITHIN,
    Event,
    Kept,
    Read,
    Window,
    blocking,
    measures,
    slowest_of,
    took,
)

LEAST_MS = 16.0  # browsers tell no interaction that was shown sooner, but the first one of a page


class Soft(TypedDict):
    navigations: Kept | None
    paints: Kept | None


class StepRead(Read):
    since_ms: float
    soft: Soft


class Navigation(TypedDict):
    at_ms: float
    interaction: int | None
    url: str
    kind: str | None
    fcp_ms: float | None


class Paint(TypedDict):
    """The content that was painted for an interaction."""

    at_ms: float
    interaction: int | None
    size: float
    tag: str | None
    element: str | None
    url: str | None
    text: str | None


def step_vitals(answer: StepTold, after_ms: float) -> StepVitals:
    """Return the evidence of a step. Raises RecordError where something is missing in it."""
    read = parsed(StepRead, answer["read"], WITHIN)
    window = Window(read["since_ms"], round(read["loaded_ms"] + after_ms, 3))
    loaded = read["since_ms"] == 0
    seen = window.seen(read)
    if not loaded:
        seen = replace(seen, paints=())
        window.absent[LCP] = "it loaded no page, and browsers tell the largest paint of a load alone"
    elif not seen.paints:
        window.absent.setdefault(LCP, "nothing that counts was painted")
    if read["fcp_ms"] is None or read["fcp_ms"] > window.until_ms:
        window.absent.setdefault(TBT, "nothing was painted, after which it is counted")
    interactions = _interactions(answer, window, loaded=loaded)
    soft = _soft_navigations(read["soft"], window)
    heard = answer.get("heard")
    inputs = heard["inputs"] if heard else None
    return StepVitals(answer["step"], read["since_ms"], seen, interactions, soft, read["loaded_ms"], inputs)


def step_measures(step: StepVitals) -> dict[str, float]:
    """Return the numbers of a step, by the names of their metrics. What is absent has none."""
    vitals = step.vitals
    values = measures(vitals)
    if step.since_ms:  # a page that was there is painted
        values[TBT] = blocking(vitals.tasks, step.since_ms, vitals.until_ms)
    values |= _latency(step)
    if step.soft_navigations:
        last = step.soft_navigations[-1]
        values[SOFT_AT] = round(last.at_ms - step.since_ms, 3)
        if last.fcp_ms is not None:
            values[SOFT_FCP] = last.fcp_ms
        if last.paints:
            values[SOFT_LCP] = round(last.paints[-1].at_ms - last.at_ms, 3)
    return {name: value for name, value in values.items() if name not in vitals.absent}


def _latency(step: StepVitals) -> dict[str, float]:
    """Return what the slowest interaction took, and 1 where it took at most that long. A step whose interactions were
    too quick to be told has that least time and not none: else the slow ones alone would count."""
    if INP in step.vitals.absent or not (step.interactions or step.inputs):
        return {}
    is_most = _may_be_slower(step.interactions, step.inputs)
    return {INP: LEAST_MS if is_most else _slowest_ms(step.interactions), INP_CENSORED: float(is_most)}


def _may_be_slower(interactions: Sequence[StepInteraction], inputs: int | None) -> bool:
    """Return whether an interaction that was not told may be slower than those that were."""
    all_told = inputs is not None and inputs <= len(interactions)
    return _slowest_ms(interactions) < LEAST_MS and not all_told


def _slowest_ms(interactions: Iterable[StepInteraction]) -> float:
    return max((each.latency_ms for each in interactions), default=0.0)


def untold(step: StepVitals) -> list[str]:
    """Return the measures of which its vitals have neither a number nor why there is none."""
    numbers = step_measures(step)
    known = {*numbers, *step.vitals.absent}
    return [name for name in (*OF_VITALS, *OF_SOFT_NAVIGATIONS) if name not in known]


def _interactions(answer: StepTold, window: Window, *, loaded: bool) -> tuple[StepInteraction, ...]:
    if "heard" not in answer:
        of_load = "it loaded a page, whose interactions nobody heard from the step's begin on"
        window.absent[INP] = of_load if loaded else "nobody listened to interactions from the step's begin on"
        return ()
    if answer["heard"] is None:
        window.absent[INP] = "the browser does not tell which events are one interaction"
        return ()
    heard = parsed(Heard, answer["heard"], WITHIN)
    every = parsed(list[Event], heard["events"], WITHIN)
    events = [event for event in every if window.has(event["at_ms"])]
    interactions = tuple(_of_interactions(events))
    if heard["unnumbered"] and _may_be_slower(interactions, heard["inputs"]):
        slow = f"{counted(heard['unnumbered'], 'event')} of keys or pointers took {LEAST_MS:.0f} ms or more"
        window.absent[INP] = f"{slow}, and the browser does not say of which interaction"
    elif not events and not heard["inputs"]:
        uncounted = ", and does not say how many there were" if heard["inputs"] is None else ""
        window.absent[INP] = f"the browser told of no interaction in it{uncounted}"
    return interactions


def _of_interactions(events: Sequence[Event]) -> Iterable[StepInteraction]:
    """Yield each interaction, in the order of their first events."""
    for number in dict.fromkeys(event["interaction"] for event in sorted(events, key=lambda event: event["at_ms"])):
        its_events = [event for event in events if event["interaction"] == number]
        slowest = slowest_of(its_events)
        # Chromium names the element of a click, and not that of the pointer which made it.
        elements = [element for event in (slowest, *its_events) if (element := event.get("element"))]
        yield StepInteraction(slowest.get("name", ""), next(iter(elements), None), **took(events, slowest))


def _soft_navigations(soft: Soft, window: Window) -> tuple[SoftNavigation, ...]:
    """Return those whose input was in the step, with what was painted for each by the end."""
    navigations = window.entries(
        soft["navigations"], "soft-navigation", OF_SOFT_NAVIGATIONS, Navigation, lambda each: each["at_ms"]
    )
    paints = window.entries(
        soft["paints"], "interaction-contentful-paint", (SOFT_LCP,), Paint, lambda each: each["at_ms"]
    )
    for name in OF_SOFT_NAVIGATIONS if not navigations else ():
        window.absent.setdefault(name, "the browser reported no soft navigation in it")
    listed = tuple(_soft_navigation(each, paints, window) for each in navigations)
    if listed and listed[-1].fcp_ms is None:
        window.absent.setdefault(SOFT_FCP, "nothing was painted for the soft navigation by the end")
    if navigations and not navigations[-1]["interaction"]:
        window.absent.setdefault(SOFT_LCP, "the browser does not say which interaction led to the soft navigation")
    elif listed and not listed[-1].paints:
        window.absent.setdefault(SOFT_LCP, "nothing that counts was painted for the soft navigation by the end")
    return listed


def _soft_navigation(each: Navigation, paints: Sequence[Paint], window: Window) -> SoftNavigation:
    number, fcp_ms = each["interaction"], each["fcp_ms"]
    its_paints = [paint for paint in paints if number and paint["interaction"] == number]  # without one it has none
    painted = fcp_ms is not None and window.has(each["at_ms"] + fcp_ms)
    return SoftNavigation(
        at_ms=each["at_ms"],
        url=each["url"],
        kind=each["kind"],
        fcp_ms=fcp_ms if painted else None,
        paints=_largest(its_paints),
    )


def _largest(paints: Sequence[Paint]) -> tuple[LargestPaint, ...]:
    """Return those that are larger than every one before."""
    larger: list[LargestPaint] = []
    for each in sorted(paints, key=lambda paint: paint["at_ms"]):
        if not larger or each["size"] > larger[-1].size:
            larger.append(
                LargestPaint(each["at_ms"], each["size"], each["tag"], each["element"], each["url"], each["text"])
            )
    return tuple(larger)
