"""The verdict on the vitals of a journey's steps: they are there, of their step, and leave nothing out in silence.
Pure."""

from collections.abc import Iterator

from lanelab.driver.record.evidence.step_vitals import SoftNavigation, StepVitals
from lanelab.driver.trial.page_load.step_record import StepRecord
from lanelab.driver.trial.recorders.step_vitals_measures import untold
from lanelab.driver.trial.recorders.vitals import VitalsOptions

SLACK_MS = 1.0  # times are rounded, and the browser's clock has steps
CLOCKS_MS = 50.0  # within which the clock of a page and that of the machine agree


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
    if any(_is_before_its_input(each) for each in seen.soft_navigations):
        yield "its vitals have content of a soft navigation that was painted before its input"
    moments = _moments(seen)
    if any(not seen.since_ms <= at <= seen.vitals.until_ms for at in moments):
        yield "its vitals have something from before its begin, or from after their end"
    yield from _too_short(step, seen, options.after_ms)


def _moments(seen: StepVitals) -> list[float]:
    vitals = seen.vitals
    at = [*(each.at_ms for each in vitals.shifts), *(each.at_ms for each in vitals.paints)]
    at += [*(each.at_ms for each in seen.interactions), *(each.at_ms for each in seen.soft_navigations)]
    at += [paint.at_ms for each in seen.soft_navigations for paint in each.paints]
    return [*at, *(each.from_ms for each in vitals.tasks)]


def _is_before_its_input(soft: SoftNavigation) -> bool:
    painted_ms = [*(paint.at_ms - soft.at_ms for paint in soft.paints), soft.fcp_ms or 0.0]
    return min(painted_ms) < 0


def _too_short(step: StepRecord, seen: StepVitals, after_ms: float) -> Iterator[str]:
    """Yield where the page was not watched until so long after the step's end: by what the page says of that, and by
    what others say."""
    if seen.loaded_ms is None:
        yield "its vitals lack loaded_ms, from which on the page was to be watched"
        return
    ends_ms = [seen.loaded_ms, *_ends_by_others(step, seen)]
    short_ms = max(ends_ms) + after_ms - seen.vitals.until_ms
    if short_ms > SLACK_MS:
        yield f"its page was watched for {short_ms:.0f} ms less than until {after_ms:.0f} ms after its end"


def _ends_by_others(step: StepRecord, seen: StepVitals) -> Iterator[float]:
    """Yield when the step ended at the earliest, by the page's clock: as its navigation has it, or whoever led the
    browser."""
    evidence = step.evidence
    navigated_us, plt_ms = evidence.clock.navigation, evidence.times.plt_ms
    if seen.since_ms:
        if plt_ms is not None:
            yield seen.since_ms + plt_ms
    elif not step.step.scripted:
        if evidence.navigation and evidence.times.plt_navigation_ms is not None:  # by the load event
            yield evidence.times.plt_navigation_ms
    elif plt_ms is not None and navigated_us is not None:
        yield plt_ms - (navigated_us - evidence.clock.asked) / 1000 - CLOCKS_MS
