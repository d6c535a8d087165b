"""The requests of a load as they were on the link: on which connection, when sent, first and last byte of the answer.

Through the gateway its log knows. Without it the browser's times are taken to the packets: the browser tells when it
wrote and read, the capture when a packet was on the wire, which may be some milliseconds apart on a busy machine.
"""

import bisect
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from lanelab.driver.record.evidence.browser import Request
from lanelab.driver.record.evidence.ends import Ends
from lanelab.driver.record.evidence.gateway import GatewayLog
from lanelab.driver.record.evidence.server import ServedRequest
from lanelab.driver.trial.packets.timeline import Stream

MS = 1_000_000
EARLIER = 2 * MS  # by how much a packet may have gone before the moment that the browser tells
REDIRECTS, ERRORS = 300, 400
LATER = 15 * MS  # by how much the browser may tell of an answer later than its packet came


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and its answer on the link; moments in ns since 1970."""

    stream: Stream | None  # None: it is not known which connection carried it
    sent: int
    first: int  # byte of the answer
    last: int
    apart: int | None = None  # between its sending as told and as captured
    redirects: bool = False  # the answer names another address


@dataclass(frozen=True, slots=True)
class _Payloads:
    """When packets with data went up and came down on one connection."""

    up: list[int]
    down: list[int]


def exchanges_of(
    requests: Sequence[Request],
    zero: int,
    streams: Sequence[Stream],
    served: Sequence[ServedRequest],
    gateway: GatewayLog | None,
) -> list[Exchange]:
    """`zero`: the 0 of the requests' times, in ns since 1970."""
    by_ends: dict[Ends, list[Stream]] = {}
    for stream in streams:
        for name in stream.ends.names:
            by_ends.setdefault(name, []).append(stream)
    exchanges = _by_gateway(gateway, by_ends) if gateway else _by_browser(requests, zero, by_ends, served)
    payloads = {
        id(stream): _Payloads(
            [packet.at_ns for packet in stream.packets if packet.up and packet.payload],
            [packet.at_ns for packet in stream.packets if not packet.up and packet.payload],
        )
        for stream in streams
    }
    return [_on_wire(each, payloads[id(each.stream)]) if each.stream else each for each in exchanges]


def clocks_apart(exchanges: Sequence[Exchange]) -> float | None:
    """By how many ms packets left earlier or later than was told, in the best quarter of all requests: a busy machine
    sends some of them late, and clocks that differ do so for all. None: no request could be found in the capture."""
    known = sorted((each.apart / MS for each in exchanges if each.apart is not None), key=abs)
    return known[len(known) // 4] if known else None


def _stream(by_ends: Mapping[Ends, Sequence[Stream]], ends: Ends | None, at: int) -> Stream | None:
    """Return the connection with these ends that began last until then: there may be one after another. By the ends of
    a log that lacks the server's address there may even be two at once, which nobody can tell apart."""
    streams = by_ends.get(ends, ()) if ends else ()
    begun = [each for each in streams if each.packets and each.packets[0].at_ns <= at]
    return begun[-1] if begun else next(iter(streams), None)


def _by_gateway(gateway: GatewayLog, by_ends: Mapping[Ends, Sequence[Stream]]) -> list[Exchange]:
    zero = (gateway.started_unix_us or 0) * 1000
    ends = {each.connection: each.ends for each in gateway.connections}
    result = []
    for each in gateway.requests:
        if each.sent_ms is None or each.first_byte_ms is None or each.last_byte_ms is None:
            continue
        sent, first, last = (zero + round(at * MS) for at in (each.sent_ms, each.first_byte_ms, each.last_byte_ms))
        stream = _stream(by_ends, ends.get(each.connection or 0), sent)
        result.append(Exchange(stream, sent, first, last, redirects=_redirects(each.status)))
    return result


def _by_browser(
    requests: Sequence[Request], zero: int, by_ends: Mapping[Ends, Sequence[Stream]], served: Sequence[ServedRequest]
) -> list[Exchange]:
    carried = [each for each in requests if each.connection is not None and each.ended_ms is not None]
    ends = _connections(carried, zero, served)
    result = []
    for each in carried:
        ended, parts = each.ended_ms or 0.0, each.timings
        first = ended - parts.receive
        # In HTTP/2 the browser calls it sending while the request is in the queue of its connection.
        sent, began, over = (zero + round(at * MS) for at in (first - parts.wait, first, ended))
        stream = _stream(by_ends, ends.get(each.connection), sent)
        result.append(Exchange(stream, sent, began, over, redirects=_redirects(each.status)))
    return result


def _connections(requests: Sequence[Request], zero: int, served: Sequence[ServedRequest]) -> dict[int | None, Ends]:
    """The browser's numbers of connections, each with its ends. The server's log tells on which it was asked for an
    address; of several that could be, the one where most of the connection's requests were and, of those, the one on
    which the server read them at about that time."""
    lines = defaultdict(list)
    for line in served:
        lines[line.host, line.path].append(line)
    votes: dict[int | None, Counter[Ends]] = defaultdict(Counter)
    distance: Counter[tuple[int | None, Ends]] = Counter()
    for request in requests:
        parts = urlsplit(request.url)
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        for line in lines[parts.hostname, path]:
            ends = line.ends
            votes[request.connection][ends] += 1
            distance[request.connection, ends] += abs(zero // 1000 + round(request.started_ms * 1000) - line.began_us)
    return {
        connection: max(counts, key=lambda ends: (counts[ends], -distance[connection, ends]))
        for connection, counts in votes.items()
    }


def _redirects(status: int | None) -> bool:
    return status is not None and REDIRECTS <= status < ERRORS


def _on_wire(exchange: Exchange, payloads: _Payloads) -> Exchange:
    """Return the exchange with the moments of its packets, where there are packets for them."""
    up, down = payloads.up, payloads.down
    at = bisect.bisect_left(up, exchange.sent - EARLIER)
    sent = up[at] if at < len(up) and up[at] < exchange.first else exchange.sent
    at = bisect.bisect_right(down, max(sent, exchange.first - LATER))
    first = down[at] if at < len(down) and down[at] <= exchange.first + EARLIER else exchange.first
    at = bisect.bisect_right(down, exchange.last + EARLIER)
    last = down[at - 1] if at and down[at - 1] >= first else max(first, exchange.last)
    nearest = min((abs(moment - exchange.sent), moment - exchange.sent) for moment in up)[1] if up else None
    return replace(exchange, sent=sent, first=max(first, sent), last=last, apart=nearest)
