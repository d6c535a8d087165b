"""The verdict on the vitals of a journey's steps: they are there, of their step, and leave nothing out in silence.
Pure."""

from collections.abc import Iterator

from lanelab.driver.record.evidence.step_vitals import StepVitals
from lanelab.driver.trial.page_load.step_record import StepRecord
from lanelab.driver.trial.recorders.step_vitals_measures import untold
from lanelab.driver.trial.recorders.vitals import VitalsOptions

SLACK_MS = 1.0  # times are rounded, and the browser's clock has steps


def wrong_vitals(step: StepRecord, seen: StepVitals | None, options: VitalsOptions) -> Iterator[str]:
    """Yield what is wrong with the vitals of a step, in sentences about the step."""
    if seen is None:
        yield "the record lacks its recordings.step_vitals"
        return
    lacking = untold(seen)
    if lacking:
        yield f"its vitals have neither {', '.join(lacking)} nor why there is none"
    if not step.loaded_page and not seen.since_ms:
        yield "it loaded no page, and its vitals begin with the load of one"
    if step.loaded_page and seen.since_ms and not step.step.scripted:
        yield f"it loaded a page, and its vitals begin {seen.since_ms:.0f} ms after that"
    moments = _moments(seen)
    if any(not seen.since_ms <= at <= seen.vitals.until_ms for at in moments):
        yield "its vitals have something from before its begin, or from after their end"
    yield from _too_short(step, seen, options.after_ms)


def _moments(seen: StepVitals) -> list[float]:
    vitals = seen.vitals
    at = [*(each.at_ms for each in vitals.shifts), *(each.at_ms for each in vitals.paints)]
    at += [*(each.at_ms for each in seen.interactions), *(each.at_ms for each in seen.soft_navigations)]
    return [*at, *(each.from_ms for each in vitals.tasks)]


def _too_short(step: StepRecord, seen: StepVitals, after_ms: float) -> Iterator[str]:
    """Yield where the page was not watched until so long after the step's end."""
    navigation, plt_ms = step.evidence.navigation, step.evidence.times.plt_ms
    ended_ms = None
    if seen.since_ms:
        ended_ms = None if plt_ms is None else seen.since_ms + plt_ms
    elif not step.step.scripted and navigation:  # by the load event
        ended_ms = step.evidence.times.plt_navigation_ms
    if ended_ms is not None and seen.vitals.until_ms < ended_ms + after_ms - SLACK_MS:
        short_ms = ended_ms + after_ms - seen.vitals.until_ms
        yield f"its page was watched for {short_ms:.0f} ms less than until {after_ms:.0f} ms after its end"
