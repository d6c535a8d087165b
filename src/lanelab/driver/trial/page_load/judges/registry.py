"""The judges of page loads, in the order in which a trial names its reasons. What each does is in its own file."""

from collections.abc import Callable, Iterator

from lanelab.driver.record.reasons import Failure, Flag, Reason
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.trial.packets.timeline import Timeline
from lanelab.driver.trial.page_load.evidence import missing
from lanelab.driver.trial.page_load.expectation import Expected
from lanelab.driver.trial.page_load.journey import JourneyVerdict
from lanelab.driver.trial.page_load.judges import (
    bound,
    capture,
    compression,
    cross,
    device,
    distances,
    dropped,
    extra,
    hints,
    link,
    moving,
    objects,
    other_traffic,
    outside,
    redirects,
    refetched,
    revisits,
    router,
    server_log,
    settings,
    slow,
    tcp_options,
    third_parties,
    wire,
)
from lanelab.driver.trial.page_load.judges.judge import Case, Judge, Needs, no_timeline
from lanelab.driver.trial.page_load.requests import few

JUDGES: tuple[Judge, ...] = (
    server_log.JUDGE,
    capture.JUDGE,
    other_traffic.JUDGE,
    settings.JUDGE,
    outside.JUDGE,
    device.JUDGE,
    wire.JUDGE,
    router.JUDGE,
    compression.JUDGE,
    hints.JUDGE,
    third_parties.JUDGE,
    objects.JUDGE,
    extra.JUDGE,
    bound.JUDGE,
    slow.JUDGE,
    dropped.JUDGE,
    refetched.JUDGE,
    revisits.JUDGE,
    redirects.JUDGE,
    link.JUDGE,
    distances.JUDGE,
    tcp_options.JUDGE,
    moving.JUDGE,
    cross.JUDGE,
)
OF_ONE_LOAD = (  # a journey's steps are judged one by one
    *(router.JUDGE, hints.JUDGE, objects.JUDGE, bound.JUDGE, refetched.JUDGE),
)
NO_LOAD = {  # after these there was no page load whose requests could be judged
    *(Reason.NAVIGATION_FAILED, Reason.BROWSER_CRASHED, Reason.BROWSER_FAILED, Reason.SERVER_FAILED),
    *(Reason.GATEWAY_FAILED, Reason.BED_LOST, Reason.LINK_OUT_OF_TOLERANCE, Reason.SCRIPT_FAILED),
}


def judge(
    record: TrialRecord, expected: Expected, timeline: Callable[[], Timeline | None] = no_timeline
) -> list[Failure]:
    """Return every reason why this trial does not count; none: it does. `timeline` reads the client's capture."""
    evidence = record.page_load
    case = Case(record, evidence, expected, timeline) if evidence else None
    return [*_absent(record, expected), *record.failures, *(_failures(case) if case else ())]


def flags(case: Case) -> list[Flag]:
    """Return every reason to doubt it."""
    journey, expected = case.expected.journey, case.expected
    doubts = [flag for each in JUDGES if not (journey and each in OF_ONE_LOAD) for flag in each.flags(case)]
    return [*doubts, *(JourneyVerdict(case.record, expected, journey).flags() if journey else ())]


def _absent(record: TrialRecord, expected: Expected) -> Iterator[Failure]:
    """A judge that looks for what is wrong finds nothing where nothing was recorded. What is missing in a trial that
    already failed is a consequence."""
    absent = [] if record.failures else missing(record, expected)
    if absent:
        yield Failure(Reason.EVIDENCE_MISSING, f"the record lacks {few(absent)}")


def _failures(case: Case) -> Iterator[Failure]:
    reasons = {failure.reason for failure in case.record.failures}
    yield from _of(Needs.TRIAL, case)
    if reasons & NO_LOAD:
        return
    if case.expected.journey:
        yield from JourneyVerdict(case.record, case.expected, case.expected.journey).failures()
    if case.plt_ms is None and Reason.TIMEOUT not in reasons:
        yield Failure(Reason.NAVIGATION_FAILED, "there is no page load time, and no reason for that")
        return
    yield from _of(Needs.LOAD, case)


def _of(needs: Needs, case: Case) -> Iterator[Failure]:
    for each in JUDGES:
        if each.needs is needs and not (case.expected.journey and each in OF_ONE_LOAD):
            yield from each.failures(case)
