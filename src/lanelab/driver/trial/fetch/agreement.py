"""Whether all who tell of a fetch tell the same: the fetcher's report, its log, the server's log, by one clock. Pure.

That connections, protocols and targets agree is asked by the judges of page loads (page_load/protocols.py).
"""

from collections.abc import Iterator
from dataclasses import dataclass

from lanelab.driver.arm.servers.registry import SERVERS
from lanelab.driver.record.evidence.fetch import FetchedObject, FetchEvidence, FetchReport
from lanelab.driver.record.evidence.gateway import GatewayRequest
from lanelab.driver.record.reasons import Failure, Reason
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.trial.fetch.expectation import ExpectedFetch
from lanelab.driver.trial.fetch.requests import carried_by_number
from lanelab.driver.trial.page_load.requests import few
from lanelab.driver.trial.page_load.witnesses import served_target

NEAR_MS = 1.0  # between two readings of one clock for one event, by two threads that may wait for a processor
LATE_MS = 2.0  # from where on the time between a last byte and the report of it makes a number doubtful
MOST_LATE_MS = 50.0  # with sixteen programs to run on two processors no thread waited for more than 32 ms
ONE_CLOCK_US = 2_000  # between the clocks of two programs on one machine


@dataclass(frozen=True, slots=True)
class Agreement:
    record: TrialRecord
    evidence: FetchEvidence
    expected: ExpectedFetch

    def failures(self) -> Iterator[Failure]:
        report = self.evidence.fetch
        if report is None:
            return
        details = [*self._with_log(report), *self._with_server(report)]
        if details:
            yield Failure(Reason.WIRE_MISMATCH, few(details))

    def _with_log(self, report: FetchReport) -> Iterator[str]:
        """The log has each request of the report, and no other."""
        carried = carried_by_number(self.evidence)
        for each in report.objects:
            wire = carried.get(each.request)
            if wire is None:
                yield f"the fetcher's log lacks request {each.request} for {each.url}"
            else:
                yield from _differences(each, wire)
        for number in sorted(carried.keys() - {each.request for each in report.objects}):
            yield f"the fetcher's report lacks request {number} for {carried[number].url}"

    def _with_server(self, report: FetchReport) -> Iterator[str]:
        """By the server's log requests were read within the fetch, where both have one clock."""
        clock, server = self.evidence.clock, self.evidence.server
        if clock is None or server is None or not self.evidence.one_clock or not report.in_time:
            return
        kind = SERVERS[self.expected.arm.server]
        if "began_us" in kind.untold(self.expected.arm.protocol):
            return
        near_us = ONE_CLOCK_US + kind.clock_us
        first_us = clock.asked - round((report.began_ms - min((o.began_ms for o in report.objects), default=0)) * 1000)
        last_us = clock.asked + round(report.total_ms * 1000)
        outside = [
            "".join(served_target(line))
            for line in server.requests
            if line.path is not None and not first_us - near_us <= line.began_us <= last_us + near_us
        ]
        if outside:
            yield f"by the server's log requests came before or after the fetch: {few(outside)}"


def _differences(fetched: FetchedObject, wire: GatewayRequest) -> Iterator[str]:
    """Yield what report and log say otherwise of one request."""
    pairs = (
        ("address", fetched.url, wire.url),
        ("status", fetched.status, wire.status),
        ("bytes", fetched.body_bytes, wire.response_body_bytes),
    )
    for name, reported, logged in pairs:
        if reported != logged:
            yield f"of request {fetched.request} the fetcher's report has the {name} {reported}, and its log {logged}"
    moments = [
        fetched.began_ms - NEAR_MS,
        wire.queued_ms,
        wire.sent_ms,
        wire.first_byte_ms,
        wire.last_byte_ms,
        None if fetched.ended_ms is None else fetched.ended_ms + NEAR_MS,
    ]
    known = [each for each in moments if each is not None]
    if known != sorted(known):
        yield f"of request {fetched.request} the moments of the fetcher's report and its log are out of order"
    late_ms = _late_ms(fetched, wire)
    if late_ms is not None and late_ms > MOST_LATE_MS:
        yield f"of request {fetched.request} the report ends {late_ms:.0f} ms after its last byte came"


def _late_ms(fetched: FetchedObject, wire: GatewayRequest) -> float | None:
    """Return how long after its last byte the fetcher had the object; None: one of both is not told."""
    if fetched.ended_ms is None or wire.last_byte_ms is None:
        return None
    return fetched.ended_ms - wire.last_byte_ms


def late_objects(evidence: FetchEvidence) -> Iterator[str]:
    """Yield what the fetcher had later than it measures, since it waited for a processor."""
    carried = carried_by_number(evidence)
    measured = evidence.fetch.measured if evidence.fetch else ()
    pairs = [(each, carried[each.request]) for each in measured if each.request in carried]
    late = [(each.url, ms) for each, wire in pairs if (ms := _late_ms(each, wire)) is not None and ms > LATE_MS]
    yield from (f"{url} was told {ms:.1f} ms after its last byte" for url, ms in late)
