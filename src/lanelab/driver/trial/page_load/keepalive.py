"""The verdict on keepalive, for every request: whether each connection carried what the arm lets it carry. Pure.

With keepalive on a client opens no connection beyond its number to a host unless another has ended, and a connection
ends only where the arm says so. What a browser cannot help, such as a request that it gave up, is no fault of either.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from lanelab.driver.arm.arm import Arm
from lanelab.driver.record.evidence.browser import Request
from lanelab.driver.record.evidence.ends import Ends
from lanelab.driver.record.evidence.server import ServedRequest
from lanelab.driver.trial.page_load.requests import few, host, target
from lanelab.driver.trial.page_load.witnesses import Witnesses, served_target

KEPT, CLOSED, BROKEN_OFF = "+", "-", "X"
SAFE = ("GET", "HEAD")
# After these a server may not know where the next request begins (Apache's ap_status_drops_connection), or the client
# asks again on another connection (421).
ENDING = (400, 408, 411, 413, 414, 421, 500, 501, 503)
CLOCK_US = 2000  # of the coarsest log, both ends of a gap
# Requests that browsers do not let share a connection with others: they say nothing of who asks, or outlive the page.
APART = ("Font", "Ping", "Prefetch", "Preflight", "CSPViolationReport")
OVER_QUIC = "HTTP/3.0"  # beside which there may be a connection over TCP
Group = tuple[str, int, bool]  # host, the server's port, whether over QUIC


@dataclass(frozen=True, slots=True)
class Keepalive:
    arm: Arm
    witnesses: Witnesses
    requests: Sequence[Request]  # of the site's hosts, answered over the network, by the browser
    all_requests: Sequence[Request]

    def faults(self) -> Iterator[str]:
        if self.arm.keepalive:
            yield from self._closed()
            yield from self._opened()
        else:
            yield from self._used_again()

    @property
    def _carried(self) -> list[list[ServedRequest]]:
        """Return what each connection carried, by the server's log."""
        return list(self.witnesses.served_by_connection().values())

    # --- off

    def _used_again(self) -> Iterator[str]:
        witnesses = self.witnesses
        if witnesses.gateway:
            again = sum(each.requests > 1 for each in witnesses.connections)
            if again:
                who = witnesses.client
                yield f"keepalive is off, but by the {who} {again} connections carried more than one request"
        else:
            reused = [target(each) for each in self.requests if each.reused]
            if reused:
                count = f"{len(reused)} of {len(self.requests)} requests used a connection again"
                yield f"keepalive is off, but by the browser {count}: {few(reused)}"
        most = max((max(len(lines), (lines[-1].keepalives or 0) + 1) for lines in self._carried), default=0)
        kept = sum(each.connection == KEPT for each in witnesses.served_requests)
        if most > 1:
            yield f"keepalive is off, but by the server's log a connection carried {most} requests"
        elif kept:
            yield f"keepalive is off, but by the server's log {kept} connections were kept"
        answered = len(witnesses.answered) if witnesses.gateway else len(self.requests)
        if witnesses.captured is not None and len(witnesses.captured) < answered:
            seen = len(witnesses.captured)
            yield f"keepalive is off, but there were {seen} connections in the capture for {answered} requests"

    # --- on

    def _closed(self) -> Iterator[str]:
        """Yield connections that the server closed after a request although it was not the last one that the arm
        allows."""
        if self.arm.multiplexed:
            return
        if "connection" in self.witnesses.untold:
            yield from self._seen_closed()
            return
        closed = [
            "".join(served_target(line))
            for lines in self._carried
            for number, line in enumerate(lines, 1)
            if line.connection == CLOSED and not self._may_end_after(line, number + 1)  # Apache says so one too early
        ]
        if closed:
            count = f"{len(closed)} of {len(self.witnesses.served_requests)} requests"
            yield f"keepalive is on, but by the server's log it closed the connection after {count}: {few(closed)}"

    def _seen_closed(self) -> Iterator[str]:
        """Yield connections that the server closed, where its log does not say what became of them: by the capture, in
        which the server ended it first. It waits from when it has handed its last answer over: that may be long before
        it is there."""
        closed, served = [], self.witnesses.served_by_connection()
        for each in self.witnesses.captured or ():
            lines = next((served[name] for name in each.ends.names if name in served), None)
            if each.server_ended_us is None or not lines:
                continue
            last = lines[-1]
            begins = each.first_us if each.data_us is None else each.data_us, last.began_us + last.duration_us
            waited = each.server_ended_us - min(begins) >= self._patience_us
            if not waited and not self._may_end_after(last, len(lines)):
                closed.append("".join(served_target(last)))
        if closed:
            yield f"keepalive is on, but by the capture the server closed {len(closed)} connections after {few(closed)}"

    @property
    def _patience_us(self) -> int:
        return self.arm.keepalive_timeout.ns // 1000 - CLOCK_US

    def _may_end_after(self, line: ServedRequest, number: int) -> bool:
        most = self.arm.keepalive_requests
        last = not self.arm.multiplexed and 0 < most < max(number, (line.keepalives or 0) + 1)
        return last or line.status in ENDING or line.method not in SAFE or line.connection == BROKEN_OFF

    def _opened(self) -> Iterator[str]:
        """Connections that were opened although one could have been used again."""
        if self.arm.multiplexed and self.witnesses.gateway:
            return  # connection_use.py knows more of these
        groups: dict[Group, dict[Ends, list[ServedRequest]]] = {}
        for ends, lines in self.witnesses.served_by_connection().items():
            for line in lines:
                group = served_target(line)[0], ends.server_port, line.protocol == OVER_QUIC
                groups.setdefault(group, {}).setdefault(ends, []).append(line)
        for group, carried in groups.items():
            each_pool = 1 if self.arm.multiplexed else self.arm.connections_per_host
            most = each_pool * self._pools(group) + self._ended(carried) + self._given_up(group, carried)
            if len(carried) > most:
                requests = sum(map(len, carried.values()))
                yield (
                    f"keepalive is on, but by the server's log {requests} requests to {group[0]} came by "
                    f"{len(carried)} connections, where {most} are enough"
                )

    def _ended(self, carried: dict[Ends, list[ServedRequest]]) -> int:
        """Count connections that may be replaced: they carried all they may, broke off, or were idle too long."""
        newest_us = max(lines[0].began_us for lines in carried.values())
        ended = 0
        for lines in carried.values():
            last = lines[-1]
            idle_us = newest_us - last.began_us - last.duration_us
            ended += self._may_end_after(last, len(lines)) or idle_us >= self._patience_us
        return ended

    def _pools(self, group: Group) -> int:
        """Return how many sets of connections to a host a browser has: of requests with and without the user's name,
        and of each frame. The gateway has one."""
        if self.witnesses.gateway:
            return 1
        requests = [each for each in self.all_requests if host(each) == group[0]]
        kinds = {
            (each.type in APART, any(name.lower() == "origin" for name, _ in each.request_headers)) for each in requests
        }
        frames = sum(each.type == "Document" for each in self.all_requests if not 300 <= (each.status or 0) < 400)
        return max(len(kinds), 1) * max(frames, 1)

    def _given_up(self, group: Group, carrying: Collection[Ends]) -> int:
        """Return requests that ended without their answer: their connections ended with them. A browser that stops
        reading an image which is none does not say so, but resets the connection; one that has read an answer ends it
        in order."""
        if self.witnesses.gateway:
            failed = [each for each in self.witnesses.requests if each.cancelled or each.error or each.tries > 1]
            return sum(each.url.partition("/")[0] == group[0] for each in failed)
        unfinished = [each for each in self.all_requests if each.error is not None or each.ended_ms is None]
        broken = [each for each in self.witnesses.captured or () if each.rst_up and not each.fin_up]
        reset = sum(any(name in carrying for name in each.ends.names) for each in broken)
        return max(reset, sum(host(each) == group[0] for each in unfinished))
