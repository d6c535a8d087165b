"""The verdict on a fetch: what it was asked to be, by every witness that can know. Pure.

What a fetch shares with a page load is judged by the judges of page loads: the wire, the link, captures, settings, the
server. Here is what only a fetch has: its objects, how many were under way at once, warm or fresh connections, a bound.
"""

from collections import Counter
from collections.abc import Callable, Iterator

from lanelab.driver.arm.quic_stacks import H3
from lanelab.driver.arm.servers.registry import SERVERS
from lanelab.driver.record.evidence.fetch import FetchedObject, FetchEvidence, FetchReport
from lanelab.driver.record.reasons import Failure, Flag, FlagName, Reason
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.trial.datagrams import drops_in_words
from lanelab.driver.trial.fetch.agreement import Agreement, late_objects
from lanelab.driver.trial.fetch.bound import fetch_bound
from lanelab.driver.trial.fetch.connections import Connections
from lanelab.driver.trial.fetch.expectation import ExpectedFetch
from lanelab.driver.trial.fetch.settings import can_be_fetched
from lanelab.driver.trial.fetch.span import Span
from lanelab.driver.trial.packets.timeline import Timeline
from lanelab.driver.trial.page_load.bound import trip_ns
from lanelab.driver.trial.page_load.evidence import Pieces
from lanelab.driver.trial.page_load.judges import (
    capture,
    compression,
    cross,
    link,
    other_traffic,
    outside,
    router,
    server_log,
    settings,
    slow,
    tcp_options,
    wire,
)
from lanelab.driver.trial.page_load.judges.judge import Case, Judge, Needs, no_timeline
from lanelab.driver.trial.page_load.requests import few

SHARED: tuple[Judge, ...] = (
    *(server_log.JUDGE, capture.JUDGE, other_traffic.JUDGE, settings.JUDGE, outside.JUDGE, wire.JUDGE, router.JUDGE),
    *(compression.JUDGE, slow.JUDGE, link.JUDGE, tcp_options.JUDGE, cross.JUDGE),
)
NO_FETCH = {  # after these there was no fetch whose requests could be judged
    *(Reason.FETCHER_FAILED, Reason.SERVER_FAILED, Reason.BED_LOST, Reason.LINK_OUT_OF_TOLERANCE, Reason.STOPPED),
}
OK = 200
NS_PER_MS = 1_000_000


def judge(
    record: TrialRecord, expected: ExpectedFetch, timeline: Callable[[], Timeline | None] = no_timeline
) -> list[Failure]:
    """Return every reason why this trial does not count; none: it does. `timeline` reads the client's capture."""
    evidence = record.fetch
    if evidence is None:
        return [Failure(Reason.EVIDENCE_MISSING, "the record lacks evidence"), *record.failures]
    case = Case(record, evidence, expected.load, timeline)
    return [*_absent(case, evidence, expected), *record.failures, *_failures(case, evidence, expected)]


def flags(
    record: TrialRecord, expected: ExpectedFetch, timeline: Callable[[], Timeline | None] = no_timeline
) -> list[Flag]:
    """Return every reason to doubt it."""
    if record.fetch is None:
        return []
    case = Case(record, record.fetch, expected.load, timeline)
    return [*(flag for each in SHARED for flag in each.flags(case)), *_late(case, record.fetch)]


def _late(case: Case, evidence: FetchEvidence) -> Iterator[Flag]:
    """Yield the flag of a fetcher that waited for a processor, so that its times are longer than what it measures."""
    if evidence.fetch is None:
        return
    late = [*late_objects(evidence), *Span(evidence, evidence.fetch, _whole_timeline(case)).late()]
    if late:
        yield Flag(FlagName.FETCHER_LATE, few(late))


def _absent(case: Case, evidence: FetchEvidence, expected: ExpectedFetch) -> Iterator[Failure]:
    """Yield what is missing. In a trial that already failed it is a consequence."""
    if case.record.failures:
        return
    pieces = Pieces(case.record, evidence, expected.load)
    absent = [*_lacking(evidence.fetch), *pieces.beside_client(), *_lacking_in_log(pieces, evidence)]
    if absent:
        yield Failure(Reason.EVIDENCE_MISSING, f"the record lacks {few(list(dict.fromkeys(absent)))}")


def _lacking(report: FetchReport | None) -> Iterator[str]:
    """Yield what is missing of the report. Where its time was over while connections were warmed, nothing else was
    asked for."""
    if report is None:
        yield "evidence.fetch"
    elif not report.measured and report.in_time:
        yield "evidence.fetch.objects"


def _lacking_in_log(pieces: Pieces, evidence: FetchEvidence) -> Iterator[str]:
    """Yield what the log does not say of each object that came. A warm fetch asks for an address twice, so each is
    looked for by its own number: what is said of the other request says nothing of this one."""
    came = {each.request for each in evidence.fetch.objects if each.ended_ms is not None} if evidence.fetch else set()
    for place, each in enumerate(evidence.gateway.requests if evidence.gateway else ()):
        if each.request in came:
            yield from (f"evidence.gateway.requests[{place}].{name}" for name in pieces.absent_of(each))


def _failures(case: Case, evidence: FetchEvidence, expected: ExpectedFetch) -> Iterator[Failure]:
    reasons = {failure.reason for failure in case.record.failures}
    yield from _shared(Needs.TRIAL, case)
    report = evidence.fetch
    if reasons & NO_FETCH or report is None:
        return
    if not report.in_time and Reason.TIMEOUT not in reasons:
        yield Failure(Reason.TIMEOUT, "the fetch was given up since its time was over")
    yield from _shared(Needs.LOAD, case)
    yield from ObjectsVerdict(report, expected).failures()
    yield from Agreement(case.record, evidence, expected).failures()
    yield from Span(evidence, report, _whole_timeline(case)).failures()
    resolution_us = SERVERS[expected.arm.server].clock_us
    yield from Connections(evidence, report, expected, resolution_us).failures()
    yield from _below_bound(case, evidence, report, expected)
    if expected.arm.protocol == H3:
        yield from _dropped(evidence)


def _whole_timeline(case: Case) -> Timeline | None:
    """Return the client's capture. In one that lacks packets their times would be those of others."""
    counts = case.evidence.capture.get("client")
    whole = case.packets is not None and case.packets.incomplete is None and counts is not None and not counts.dropped
    return case.read_timeline() if whole else None


def _shared(needs: Needs, case: Case) -> Iterator[Failure]:
    for each in SHARED:
        if each.needs is needs:
            yield from each.failures(case)


def _dropped(evidence: FetchEvidence) -> Iterator[Failure]:
    """No fetch is slower since its own sockets lost what had come over the link."""
    detail = drops_in_words(evidence.datagrams, "client", "fetcher") if evidence.datagrams else ""
    if detail:
        yield Failure(Reason.FETCHER_LIMITED, detail)


def _below_bound(
    case: Case, evidence: FetchEvidence, report: FetchReport, expected: ExpectedFetch
) -> Iterator[Failure]:
    """No fetch, and no object of it, comes sooner than its link lets it."""
    bound = fetch_bound(expected.link, expected.arm, expected.settings, case.record)
    if report.in_time and report.total_ms < bound:
        what = f"the objects were there in {report.total_ms:.1f} ms; the link allows {bound:.1f} ms or more"
        yield Failure(Reason.BELOW_BOUND, what)
    trip_ms = trip_ns(expected.link) / NS_PER_MS
    carried = evidence.gateway.requests if evidence.gateway else ()
    waits = [
        (each.url, each.first_byte_ms - each.sent_ms)
        for each in carried
        if each.first_byte_ms is not None and each.sent_ms is not None
    ]
    quick = [f"{url} ({wait:.1f} ms)" for url, wait in waits if wait < trip_ms]
    if quick:
        yield Failure(Reason.BELOW_BOUND, f"answers began sooner than the link allows ({trip_ms:.1f} ms): {few(quick)}")


class ObjectsVerdict:
    """The verdict on the objects: each was asked for as often and in the order as was asked, and came whole."""

    def __init__(self, report: FetchReport, expected: ExpectedFetch) -> None:
        self._report, self._expected = report, expected
        self._wanted = expected.objects
        self._bodies: dict[str, set[tuple[int, str]]] = {}  # of each address: size and SHA-256 of what it may be
        for each in filter(can_be_fetched, expected.site.objects):
            self._bodies.setdefault(each.url, set()).add((each.size, each.sha256))

    def failures(self) -> Iterator[Failure]:
        before = [each for each in self._report.objects if not each.measured]
        warming = self._wanted if self._expected.settings.warm else ()
        yield from self._in_order("measured", [each.url for each in self._report.measured], self._wanted)
        yield from self._in_order("fetched before", [each.url for each in before], warming)
        broken = [f"{each.url} ({why})" for each in self._report.objects if (why := self._broken(each))]
        if broken:
            yield Failure(Reason.FAILED_OBJECT, few(broken))

    def _in_order(self, words: str, urls: list[str], wanted: tuple[str, ...]) -> Iterator[Failure]:
        missing = list((Counter(wanted) - Counter(urls)).elements())
        extra = list((Counter(urls) - Counter(wanted)).elements())
        if missing:
            yield Failure(Reason.MISSING_OBJECT, f"not {words}: {few(missing)}")
        if extra:
            yield Failure(Reason.EXTRA_REQUEST, f"{words}, and not asked for: {few(extra)}")
        if not missing and not extra and urls != list(wanted):
            yield Failure(Reason.WIRE_MISMATCH, f"objects that were {words} came in another order than was asked for")

    def _broken(self, fetched: FetchedObject) -> str | None:
        """Return why it is not the site's object; None: it is."""
        known = self._bodies.get(fetched.url)
        if known is None:
            return None  # it is extra
        sizes = {size for size, _ in known}
        if fetched.error is not None:
            why = fetched.error
        elif fetched.status != OK:
            why = "no answer" if fetched.status is None else f"status {fetched.status}"
        elif fetched.sha256 is None or fetched.ended_ms is None:
            why = "not whole"
        elif fetched.body_bytes not in sizes:
            why = f"{fetched.body_bytes} bytes instead of {' or '.join(map(str, sorted(sizes)))}"
        else:
            same = (fetched.body_bytes, fetched.sha256) in known
            why = "" if same else "as long as the site's object, and another one by its SHA-256"
        return why or None
