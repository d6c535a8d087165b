"""The verdict on how many objects were under way at once, and on connections that were to be warm or fresh. Pure.

How many connections there were, for which hosts, and whether they were kept is asked by the judges of page loads
(page_load/connection_use.py).
"""

from collections.abc import Iterator
from dataclasses import dataclass

from lanelab.driver.record.evidence.fetch import FetchEvidence, FetchReport
from lanelab.driver.record.evidence.packets import Connection, FlowSummary
from lanelab.driver.record.reasons import Failure, Reason
from lanelab.driver.trial.fetch.expectation import ExpectedFetch
from lanelab.driver.trial.fetch.requests import carried_by_number
from lanelab.driver.trial.page_load.bound import trip_ns
from lanelab.driver.trial.page_load.requests import few
from lanelab.driver.trial.page_load.witnesses import Witnesses, most_at_once

LEAST_TRIP_US = 5000  # of a link on which the server can see how many were under way
ONE_CLOCK_US = 2000  # between the fetcher's clock and the capture's, of one machine


@dataclass(frozen=True, slots=True)
class Connections:
    evidence: FetchEvidence
    report: FetchReport
    expected: ExpectedFetch
    resolution_us: int  # of the clock in the server's log

    def failures(self) -> Iterator[Failure]:
        for reason, details in (
            (Reason.AT_ONCE_IGNORED, [*self._of_report(), *self._by_fetcher(), *self._by_server()]),
            (Reason.WARM_IGNORED, [*self._warm()] if self.expected.settings.warm else [*self._fresh()]),
        ):
            if details:
                yield Failure(reason, few(details))

    # --- how many at once

    def _of_report(self) -> Iterator[str]:
        settings = self.expected.settings
        if self.report.at_once != settings.at_once:
            yield f"the fetcher asked for {self.report.at_once} objects at once instead of {settings.at_once}"

    def _by_fetcher(self) -> Iterator[str]:
        """Yield where its report or its log has more under way than were to be, or never as many."""
        carried = carried_by_number(self.evidence)
        ends = [(each.began_ms, each.ended_ms) for each in self.report.measured]
        spans = [(began, ended) for began, ended in ends if ended is not None]
        logged = [
            (wire.sent_ms, wire.last_byte_ms)
            for each in self.report.measured
            if (wire := carried.get(each.request)) and wire.sent_ms is not None and wire.last_byte_ms is not None
        ]
        most = self.expected.settings.at_once
        for who, several in (("the fetcher's report", spans), ("the fetcher's log", logged)):
            seen = most_at_once(several)
            if seen > most:
                yield f"by {who} {seen} objects were under way at once, more than {most}"
        seen = most_at_once(spans)
        if self.report.in_time and len(spans) == len(ends) and seen < min(most, len(spans)):
            yield f"by the fetcher's report never more than {seen} objects were under way, and not {most}"

    def _by_server(self) -> Iterator[str]:
        """An object that is asked for after another follows its answer: between both requests the server has had a
        round trip. So within less than that it reads no more than are under way at once."""
        trip_us = trip_ns(self.expected.link) // 1000
        witnesses = Witnesses.of(self.evidence, self.expected.arm)
        if trip_us < LEAST_TRIP_US or "began_us" in witnesses.untold:
            return
        times = sorted(each.began_us for each in witnesses.served_requests)
        most = first = 0
        for last, now in enumerate(times):
            while now - times[first] + self.resolution_us > trip_us and first < last:
                first += 1
            most = max(most, last - first + 1)
        allowed = self.expected.settings.at_once
        if most > allowed:
            yield f"by the server's log {most} objects were under way at once, more than {allowed}"

    # --- warm or fresh

    def _begun_us(self) -> Iterator[tuple[str, int]]:
        """Yield when each connection was begun, in us since 1970, by each who can tell."""
        started_us = self.evidence.gateway.started_unix_us if self.evidence.gateway else None
        if started_us is None:
            return
        for each in self.evidence.gateway.connections if self.evidence.gateway else ():
            yield f"by the fetcher's log connection {each.connection}", started_us + round(each.began_ms * 1000)
        witnesses = Witnesses.of(self.evidence, self.expected.arm)
        ends: list[Connection | FlowSummary] = [*(witnesses.captured or ()), *(witnesses.quic or ())]
        for one in ends:
            yield f"by the capture the connection from port {one.client_port}", one.first_us

    def _warm(self) -> Iterator[str]:
        """Every connection is there when the measured part begins."""
        clock = self.evidence.clock
        if not self.report.warm:
            yield "the fetcher fetched nothing before"
        if clock:
            yield from (f"{who} was begun within it" for who, us in self._begun_us() if us > clock.asked + ONE_CLOCK_US)
        carried = carried_by_number(self.evidence)
        first = [each.url for each in self.report.measured if (w := carried.get(each.request)) and not w.reused]
        if first:
            yield f"by the fetcher's log no request came before on the connection of {few(first)}"

    def _fresh(self) -> Iterator[str]:
        """No connection is there before."""
        clock = self.evidence.clock
        if self.report.warm:
            yield "the fetcher fetched everything once before"
        if clock:
            yield from (f"{who} was begun before" for who, us in self._begun_us() if us < clock.asked - ONE_CLOCK_US)
