"""A journey's record, step by step: each as if it were the record of a page load whose browser has been on the way
already. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from lanelab.driver.record.evidence.browser import Request
from lanelab.driver.record.evidence.journey import StepEvidence
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.site.freshness import kept_for_s, values
from lanelab.driver.trial.journey import Journey, Step
from lanelab.driver.trial.page_load.requests import RequestKey, asked_of

SPARE_S = 5.0  # by so much less an answer may be fresh: a record says when its trial began, not quite when it was read


@dataclass(frozen=True, slots=True)
class StepRecord:
    """One step as if it were the whole trial."""

    step: Step
    evidence: StepEvidence
    record: TrialRecord  # with the requests of this step alone, from its first one on
    held: frozenset[RequestKey]  # what the browser may have of the steps before it
    asked_before: int  # so many requests the steps before it made

    @property
    def restored(self) -> bool:
        """Return whether the browser showed the page as it was left. Then it loaded nothing, and has times of none."""
        return self.step.back and not self.loaded_page

    @property
    def loaded_page(self) -> bool:
        """Return whether a page was loaded in it, of a script's step the last one that was."""
        of_load = (self.evidence.navigation, self.evidence.clock.navigation, self.evidence.times.plt_navigation_ms)
        return of_load != (None, None, None)


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
        held = _held(record, earlier, since_ms, back=step.back)
        steps.append(StepRecord(step, of_browser, of_step_alone, held, len(earlier)))
        earlier += requests
    return steps


def _moved(request: Request, since_ms: float) -> Request:
    ended_ms = None if request.ended_ms is None else round(request.ended_ms - since_ms, 3)
    return replace(request, started_ms=round(request.started_ms - since_ms, 3), ended_ms=ended_ms)


def _held(record: TrialRecord, earlier: Sequence[Request], at_ms: float, *, back: bool) -> frozenset[RequestKey]:
    """Return what the browser may show without fetching it. On its way back it asks of nothing whether it is fresh."""
    now = datetime.fromisoformat(record.started_utc).timestamp() + at_ms / 1000
    whole = [each for each in earlier if each.error is None and each.status is not None and each.ended_ms is not None]
    return frozenset(asked_of(each) for each in whole if _may_be_kept(each, now, back=back))


def _may_be_kept(request: Request, now: float, *, back: bool) -> bool:
    if "no-store" in ",".join(values(request.response_headers, "cache-control")).lower():
        return back  # a page that is shown as it was left has them, too
    left_s = kept_for_s(request.response_headers, now)
    validated = any(values(request.response_headers, name) for name in ("etag", "last-modified"))
    return back or left_s is None or left_s > -SPARE_S or validated
