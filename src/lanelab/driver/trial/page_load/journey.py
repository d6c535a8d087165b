"""A journey's record seen step by step: each step is judged as a page load whose browser has been on the way already.
Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from lanelab.driver.arm.third_parties import ThirdParties
from lanelab.driver.link import Link
from lanelab.driver.record.evidence.browser import Request
from lanelab.driver.record.evidence.journey import StepEvidence
from lanelab.driver.record.evidence.page_load import PageLoadEvidence
from lanelab.driver.record.metrics import of_step
from lanelab.driver.record.reasons import Failure, Reason
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.site.site import Site
from lanelab.driver.trial.journey import Journey, Step, pages_of
from lanelab.driver.trial.page_load.bound import physical_bound, quickest
from lanelab.driver.trial.page_load.expectation import Expected
from lanelab.driver.trial.page_load.freshness import kept_for_s, values
from lanelab.driver.trial.page_load.judges.judge import Case
from lanelab.driver.trial.page_load.judges.objects import Objects
from lanelab.driver.trial.page_load.judges.router import RouterVerdict
from lanelab.driver.trial.page_load.requests import RequestKey, asked_of, fetched

SPARE_S = 5.0  # by so much less an answer may be fresh: a record says when its trial began, not quite when it was read
LATE_MS = 1_000.0  # by so much longer than asked for the browser may be left alone, on a busy machine
EARLY_MS = 5.0


@dataclass(frozen=True, slots=True)
class StepRecord:
    """One step as if it were the whole trial."""

    step: Step
    evidence: StepEvidence
    record: TrialRecord  # with the requests of this step alone, from its first one on
    held: frozenset[RequestKey]  # what the browser may have of the steps before it


def steps_of(record: TrialRecord, journey: Journey) -> list[StepRecord]:
    """Return the steps that were made, in order."""
    evidence = record.page_load
    if evidence is None or evidence.browser is None:
        return []
    steps, begin, earlier = [], 0, list[Request]()
    for step, of_browser in zip(journey, record.steps, strict=False):
        requests = record.requests[begin : begin + of_browser.requests]
        begin += of_browser.requests
        browser = replace(
            evidence.browser,
            times=of_browser.times,
            clock=of_browser.clock,
            navigation=of_browser.navigation,
        )
        since_ms = min((each.started_ms for each in requests), default=0.0)
        of_step_alone = replace(
            record,
            requests=tuple(_moved(each, since_ms) for each in requests),
            evidence=replace(evidence, browser=browser),
        )
        steps.append(StepRecord(step, of_browser, of_step_alone, _held(record, earlier, since_ms, back=step.back)))
        earlier += requests
    return steps


def _moved(request: Request, since_ms: float) -> Request:
    ended_ms = None if request.ended_ms is None else round(request.ended_ms - since_ms, 3)
    return replace(request, started_ms=round(request.started_ms - since_ms, 3), ended_ms=ended_ms)


def _held(record: TrialRecord, earlier: Sequence[Request], at_ms: float, *, back: bool) -> frozenset[RequestKey]:
    """Return what the browser may show without fetching it. On its way back it asks of nothing whether it is fresh."""
    now = datetime.fromisoformat(record.started_utc).timestamp() + at_ms / 1000
    return frozenset(asked_of(each) for each in earlier if each.error is None and _may_be_kept(each, now, back=back))


def _may_be_kept(request: Request, now: float, *, back: bool) -> bool:
    if "no-store" in ",".join(values(request.response_headers, "cache-control")).lower():
        return back  # a page that is shown as it was left has them, too
    left_s = kept_for_s(request.response_headers, now)
    validated = any(values(request.response_headers, name) for name in ("etag", "last-modified"))
    return back or left_s is None or left_s > -SPARE_S or validated


@dataclass(frozen=True, slots=True)
class JourneyVerdict:
    """Judges the steps of a journey, one by one."""

    record: TrialRecord
    expected: Expected
    journey: Journey

    def failures(self) -> Iterator[Failure]:
        steps = steps_of(self.record, self.journey)
        if len(steps) < len(self.journey) and not self.record.failures:
            lacking = self.journey[len(steps)].name
            yield Failure(Reason.EVIDENCE_MISSING, f"the record lacks recordings.journey.steps of {lacking}")
        for each, page in zip(steps, pages_of(self.journey, self.expected.site), strict=False):
            for failure in self._of(each, self.expected.site.of_page(page)):
                yield replace(failure, detail=f"step {each.step.name}: {failure.detail}")

    def _of(self, step: StepRecord, site: Site) -> Iterator[Failure]:
        yield from self._missing(step)
        if step.evidence.navigation is None and step.step.back:
            return  # it was shown as it was left: nothing was loaded
        case = Case(step.record, _evidence(step.record), replace(self.expected, site=site))
        third_parties = ThirdParties.of(case.arm, case.site)
        yield from Objects(step.record, case.arm, site, case.tolerances, third_parties, step.held).failures()
        yield from RouterVerdict(case.evidence).failures()
        bound, plt_ms = bound_of(step, self.expected), step.evidence.times.plt_ms
        if plt_ms is not None and plt_ms < bound:
            what = f"the page loaded in {plt_ms:.1f} ms; the link allows {bound:.1f} ms or more"
            yield Failure(Reason.BELOW_BOUND, what)

    def _missing(self, step: StepRecord) -> Iterator[Failure]:
        times = step.evidence.times
        restored = step.step.back and step.evidence.navigation is None
        pieces = {"times.plt_ms": times.plt_ms}
        if not restored:
            pieces |= {"times.plt_navigation_ms": times.plt_navigation_ms, "times.ttfb_ms": times.ttfb_ms}
            pieces |= {"clock.navigation": step.evidence.clock.navigation}
        lacking = [name for name, value in pieces.items() if value is None]
        if lacking:
            yield Failure(Reason.EVIDENCE_MISSING, f"the record lacks {', '.join(lacking)}")
        if step.step is not self.journey[0]:
            late_ms = step.evidence.thought_ms - step.step.think_ms
            if not -EARLY_MS <= late_ms <= LATE_MS:
                what = f"it began {step.evidence.thought_ms:.0f} ms after the load before it, not {step.step.think_ms}"
                yield Failure(Reason.NAVIGATION_FAILED, what)


def bound_of(step: StepRecord, expected: Expected) -> float:
    """Return what the step cannot be faster than. Later steps may have their connections; where the link moves they get
    its highest rates, since they begin at any time of its trace."""
    if step.step.name == expected.first_step:
        return physical_bound(expected.link, expected.arm, step.record)
    still: Link = quickest(expected.link)
    return physical_bound(still, replace(expected.arm, start="warm"), step.record)


def step_measures(record: TrialRecord, expected: Expected, journey: Journey) -> dict[str, float]:
    """Return the numbers of each step, by the names of their metrics."""
    measures: dict[str, float] = {}
    seen: set[int] = set()
    for each in steps_of(record, journey):
        times = {name: value for name, value in each.evidence.times.to_json().items() if value is not None}
        used = {request.connection for request in fetched(each.record.requests) if request.connection is not None}
        numbers: dict[str, float] = {
            **times,
            "bound_ms": bound_of(each, expected),
            "requests": len(each.record.requests),
            "connections_opened": len(used - seen),
            "connections_reused": len(used & seen),
            "from_cache": sum(request.from_cache for request in each.record.requests),
        }
        seen |= used
        measures |= {of_step(name, each.step.name): value for name, value in numbers.items()}
    return measures


def _evidence(record: TrialRecord) -> PageLoadEvidence:
    if record.page_load is None:
        raise ValueError("a step has the evidence of its journey")
    return record.page_load
