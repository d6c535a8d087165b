"""The verdict on how connections were used: with how many requests after one another; through the gateway also how many
there were, for which hosts, and with how many requests ahead of answers. Pure.

Nothing that a sound gateway does on a busy machine may be refused here, so only what cannot be otherwise counts: the
order of what was sent, data that came before a connection was begun, requests that the server read sooner than an
answer can travel.
"""

import itertools
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from lanelab.driver.arm.arm import Arm
from lanelab.driver.arm.servers.registry import SERVERS
from lanelab.driver.link import Link
from lanelab.driver.record.evidence.gateway import GatewayConnection, GatewayRequest
from lanelab.driver.record.reasons import Failure, Reason
from lanelab.driver.trial.page_load.bound import trip_ns
from lanelab.driver.trial.page_load.keepalive import SAFE, Keepalive
from lanelab.driver.trial.page_load.requests import few, is_conditional
from lanelab.driver.trial.page_load.requests import target as target_of
from lanelab.driver.trial.page_load.witnesses import Sent, Witnesses, most_at_once, served_target, target

LEAST_TRIP_US = 5000  # of a link on which the server can see that requests came ahead of answers
WAITED_MS = 1.0
ENOUGH_CLAIMS = 3
PROVEN = 3  # answers after which a host takes a pipeline by Chromium's rules, though one is enough
CLASSES = {"Image": "images", "Script": "scripts", "Stylesheet": "scripts"}  # of Firefox: these go behind their like
UNAUTHORIZED, MISDIRECTED = 401, 421
ENDED_FOR_US = ("server", "error")  # what follows such a connection may be begun while its last answers come in


@dataclass(frozen=True, slots=True)
class ConnectionUse:
    arm: Arm
    link: Link
    witnesses: Witnesses
    keepalive: Keepalive

    def failures(self) -> Iterator[Failure]:
        for reason, faults in (
            (Reason.KEEPALIVE_IGNORED, self.keepalive.faults()),
            *(self._by_gateway() if self.witnesses.gateway else ()),
        ):
            details = list(faults)
            if details:
                yield Failure(reason, "; ".join(details))

    @property
    def _client(self) -> str:
        return self.witnesses.client

    def _by_gateway(self) -> Iterator[tuple[Reason, Iterable[str]]]:
        """Yield what a browser of today cannot be told, and so does as it does."""
        yield from (
            (Reason.CONNECTIONS_EXCEEDED, self._connections()),
            (Reason.COALESCING_IGNORED, self._coalescing() if self.arm.multiplexed else ()),
            (Reason.PIPELINING_IGNORED, () if self.arm.multiplexed else self._pipelining()),
            (Reason.WIRE_MISMATCH, () if self.arm.multiplexed else self._seen_ahead()),
        )

    # --- side by side

    def _connections(self) -> Iterator[str]:
        yield from self._multiplexed() if self.arm.multiplexed else self._parallel()
        backups = [each for each in self.witnesses.connections if each.backup]
        if backups and not self.arm.backup_connections:
            what = f"by the {self._client} {len(backups)} connections were begun as backups"
            yield f"{what}, and backup_connections is off"

    def _parallel(self) -> Iterator[str]:
        """Yield where HTTP/1.1 had more connections to a host at the same time than it may. By the capture (in clear) a
        connection lasts from its beginning to the last data from the server: until then no other can take its place."""
        most = self.arm.connections_per_host
        captured = {each.ends: each for each in self.witnesses.captured or ()}
        by_host: dict[str, list[GatewayConnection]] = {}
        for each in self.witnesses.connections:
            by_host.setdefault(each.host, []).append(each)
        for host, connections in by_host.items():
            by_gateway = most_at_once((each.began_ms, _end(each.closed_ms)) for each in connections)
            by_capture = 0
            if self.arm.tls == "off":
                seen = [captured.get(each.ends) for each in connections if each.ends]
                by_capture = most_at_once((each.first_us, each.data_us or each.first_us) for each in seen if each)
            if by_gateway > most:
                yield f"by the {self._client} {by_gateway} connections to {host} were open at once, more than {most}"
            elif by_capture > most:
                yield f"by the capture {by_capture} connections to {host} were in use at once, more than {most}"

    def _multiplexed(self) -> Iterator[str]:
        """One for each origin, but where the server would not have the host on another's connection (421)."""
        misdirected = self._misdirected()
        for host, count in self._side_by_side(lambda each: {each.host, *each.hosts}, _host):
            if host not in misdirected:
                yield f"requests to {host} went by {count} connections at the same time instead of one"

    def _misdirected(self) -> set[str]:
        return {served_target(line)[0] for line in self.witnesses.served if line.status == MISDIRECTED}

    def _coalescing(self) -> Iterator[str]:
        by_server = [{str(line.host) for line in lines} for lines in self.witnesses.served_by_connection().values()]
        if self.arm.coalescing == "origin":
            shared = [each for each in self.witnesses.used if len(each.hosts) > 1]
            if shared:
                hosts = few(list(shared[0].hosts))
                yield f"coalescing is by origin, but by the {self._client} a connection was for {hosts}"
            most = max(map(len, by_server), default=0)
            if most > 1:
                yield f"coalescing is by origin, but by the server's log a connection was for {most} hosts"
            return
        if any(self._multiplexed()):
            return  # already reported
        remote = {each.connection: str(each.remote) for each in self.witnesses.connections}
        of_address = self._side_by_side(lambda each: {str(each.remote)}, lambda each: remote.get(each.connection or 0))
        for address, count in of_address:
            why = f"; the server answered {MISDIRECTED} to {few(sorted(self._misdirected()))}"
            yield (
                f"hosts at {address} had {count} connections at the same time instead of sharing one"
                f"{why if self._misdirected() else ''}"
            )

    def _side_by_side(
        self, groups_of: Callable[[GatewayConnection], set[str]], group_of: Callable[[GatewayRequest], str | None]
    ) -> Iterator[tuple[str, int]]:
        """Yield groups of hosts that had several connections at the same time, and how many: connections of a group
        that were open together. `groups_of` a connection, `group_of` a request."""
        numbers_of: dict[str, set[int]] = {}
        begun = sorted(filter(self._came_to_something, self.witnesses.connections), key=lambda each: each.began_ms)
        for older, newer in itertools.combinations(begun, 2):
            if older.ended_by not in ENDED_FOR_US and self._open_together(older, newer):
                for group in groups_of(older) & groups_of(newer):
                    numbers_of.setdefault(group, set()).update((older.connection, newer.connection))
        sent: dict[str, list[tuple[float, int]]] = {}
        for number, requests in self.witnesses.sent_by_connection().items():
            for each in requests:
                sent.setdefault(group_of(each.request) or "", []).append((each.at_ms, number))
        for group, entries in sent.items():
            turns = [number for number, _ in itertools.groupby(number for _, number in sorted(entries))]
            if len(turns) > len(set(turns)):
                numbers_of.setdefault(group, set()).update(turns)
        yield from ((group, len(numbers)) for group, numbers in numbers_of.items())

    def _open_together(self, older: GatewayConnection, newer: GatewayConnection) -> bool:
        """Return whether the newer one began before the older one was over, by the gateway or by the capture."""
        if newer.began_ms < _end(older.closed_ms):
            return True
        captured = {each.ends: each for each in self.witnesses.captured or ()}
        first, second = (captured.get(each.ends) if each.ends else None for each in (older, newer))
        return bool(first and second and second.first_us < (first.data_us or first.first_us))

    def _came_to_something(self, connection: GatewayConnection) -> bool:
        """Return whether it came to something: one that was given up before it was made, or broke down before it
        carried anything, did not. With backups the one of two that was there later stays unused."""
        spared = connection.error or self.arm.backup_connections
        return connection.connected_ms is not None and bool(connection.requests or not spared)

    # --- ahead of answers

    def _pipelining(self) -> Iterator[str]:
        most = self.arm.pipelining
        deepest = max((each.in_flight for each in self.witnesses.requests), default=0)
        if deepest > most:
            yield f"by the {self._client} a connection had {deepest} requests without an answer, more than {most}"
        read = self._read_ahead()
        if read > most:
            yield f"by the server's log a connection had {read} requests without an answer, more than {most}"
        if most > 1 and deepest == 1:
            waited = list(self._idle_waits())
            if waited:
                yield (
                    f"pipelining is {most}, but no request was sent ahead of an answer, although "
                    f"{few(waited)} waited for a connection that could have taken more"
                )

    @property
    def _trip_us(self) -> int:
        """The shortest round trip; 0 where it is too short to tell anything from."""
        trip = min(map(trip_ns, self.link.by_distance)) // 1000
        return trip if trip >= LEAST_TRIP_US else 0

    def _read_ahead(self) -> int:
        """How many requests a connection had without an answer, at least: between two that the server read within a
        round trip no answer can have travelled to the client and its next request back."""
        most, resolution = 0, SERVERS[self.arm.server].clock_us
        for lines in self.witnesses.served_by_connection().values():
            times = [each.began_us for each in lines]
            first = 0
            for last, now in enumerate(times):
                while now - times[first] + resolution > self._trip_us and first < last:
                    first += 1
                most = max(most, last - first + 1)
        return most if self._trip_us else 0

    def _idle_waits(self) -> Iterator[str]:
        """Requests that waited for the answer to the one before them on their connection, which had answered already,
        while there could be no more connections, although the arm's policy had a place for them behind that one."""
        distrusted = {_host(each) for each in self.witnesses.requests if self._speaks_against(each)}
        begun = {each.connection for each in self.witnesses.connections}
        for number, requests in self.witnesses.sent_by_connection().items():
            for before, one in itertools.pairwise(requests[1:]):  # what answered: the very first
                if _host(one.request) in distrusted or number not in begun:
                    continue
                if self._waited_idle(before, one) and self._had_place(before, one):
                    yield one.request.url

    def _speaks_against(self, request: GatewayRequest) -> bool:
        """Return whether its host may not be trusted with pipelines any more: it broke one, or anything else, or wants
        a password."""
        fault = bool(request.sent_again or request.error or request.status == UNAUTHORIZED)
        return fault and self.arm.pipelining_policy != "eager"

    def _had_place(self, before: Sent, one: Sent) -> bool:
        """Return whether by the policy it could have been sent behind the other, nothing having been sent so yet."""
        classes = self._classes()
        both = [classes.get(each.request.url) for each in (before, one)]
        match self.arm.pipelining_policy:
            case "chromium":
                proof = [each for each in self.witnesses.answered if each.first_byte_ms is not None]
                good = [
                    each.first_byte_ms for each in proof if _host(each) == _host(one.request) and classes.get(each.url)
                ]
                return all(both) and sum(at + WAITED_MS < before.at_ms for at in good if at is not None) >= PROVEN
            case "firefox":
                return both[0] == both[1] and both[0] in {*CLASSES.values(), "revalidations"}
        return True

    def _classes(self) -> dict[str, str]:
        """Return the class of each request that may be in a pipeline, by what the browser asked it for."""
        return {
            target_of(each): "revalidations" if is_conditional(each) else CLASSES.get(each.type, "general")
            for each in self.keepalive.all_requests
            if each.type not in ("Document", "Prefetch", "XHR", "Fetch")
        }

    def _waited_idle(self, before: Sent, one: Sent) -> bool:
        answered_ms = before.request.last_byte_ms
        host = _host(one.request)
        open_then = [
            each
            for each in self.witnesses.connections
            if each.host == host and each.began_ms <= before.at_ms < _end(each.closed_ms)
        ]
        return (
            before.request.method in SAFE
            and one.request.method in SAFE
            and one.request.queued_ms + WAITED_MS < before.at_ms
            and answered_ms is not None
            and one.at_ms >= answered_ms > before.at_ms + WAITED_MS
            and len(open_then) >= self.arm.connections_per_host
        )

    def _seen_ahead(self) -> Iterator[str]:
        """Requests that were sent shortly after one another, ahead of answers, are there when the server has answered
        the first. One may be lost and come later; not all of them."""
        claimed = seen = 0
        served, ends = self.witnesses.served_by_connection(), self.witnesses.ends_of()
        for number, requests in self.witnesses.sent_by_connection().items():
            lines = served.get(ends[number], []) if number in ends else []
            if len(lines) != len(requests):
                continue
            for (before, one), (line_before, line) in zip(
                itertools.pairwise(requests), itertools.pairwise(lines), strict=True
            ):
                if one.request.in_flight < 2 or (one.at_ms - before.at_ms) * 1000 >= self._trip_us / 2:
                    continue
                claimed += 1
                gap = line.began_us - line_before.began_us - line_before.duration_us
                seen += gap < self._trip_us
        if claimed >= ENOUGH_CLAIMS and not seen:
            what = f"the {self._client} says that {claimed} requests were sent ahead of answers"
            yield f"{what}; the server saw none of them so"


def _host(request: GatewayRequest) -> str:
    return target(request.url)[0]


def _end(closed_ms: float | None) -> float:
    return math.inf if closed_ms is None else closed_ms
