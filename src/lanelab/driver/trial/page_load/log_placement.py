"""Lines of a server's log that name no port of the client: which request of the capture each of them is of. Pure.

A line and a request belong together where they are the same in all that the line says: method, host, path, protocol,
status, bytes. As many lines as there are such requests are of these, one of each: which is which makes no difference,
since the lines are the same. With another number nobody can tell, and such lines stay without a place, which fails the
trial. Of an answer that did not come whole the line may say another size.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace

from lanelab.driver.link import Link
from lanelab.driver.record.evidence.server import LoggedRequest, ServedRequest, ServerLog
from lanelab.driver.trial.packets.clear_text import ClearConnection, ClearExchange

NO_SUCH_REQUEST = "it has no such request"
BROKEN_OFF = "X"
Key = Hashable


def placed(log: ServerLog, connections: Sequence[ClearConnection], link: Link, *, repeats: bool) -> ServerLog:
    """Return the log with the port and the times of each request, as far as the capture tells them. `repeats`: when a
    connection ends, which may be after the capture, the server writes the line of its last request once more."""
    exchanges = [each for connection in connections for each in connection.exchanges]
    whole = [each for each in exchanges if each.whole]
    cut_off = [each for each in exchanges if not each.whole]
    places = _of_whole(log.unplaced, whole, repeats=repeats)
    of_rest = _of_cut_off(places.without, cut_off)
    pairs = [*places.pairs, *of_rest.pairs]
    requests = sorted((_served(*pair, link) for pair in pairs), key=lambda each: (each.began_us, each.keepalives or 0))
    return replace(log, requests=(*log.requests, *requests), unplaced=tuple(of_rest.without))


@dataclass(frozen=True, slots=True)
class _Placed:
    pairs: list[tuple[LoggedRequest, ClearExchange]]
    without: list[LoggedRequest]


def _of_whole(lines: Sequence[LoggedRequest], exchanges: Sequence[ClearExchange], *, repeats: bool) -> _Placed:
    places = _Placed([], [])
    for same in _alike(lines, lambda line: line):
        among = [each for each in exchanges if _is_of(same[0], each) and _has_sizes(same[0], each)]
        again = sum(each.is_last for each in among) if repeats else 0
        explained = len(among) + again if len(same) >= len(among) else 0
        places.pairs.extend(zip(same, among, strict=False) if explained else ())
        why = f"it has {len(among)} of these, and the log {len(same)}" if among else NO_SUCH_REQUEST
        places.without.extend(replace(each, why=why) for each in same[explained:])
    return places


def _of_cut_off(lines: Sequence[LoggedRequest], exchanges: Sequence[ClearExchange]) -> _Placed:
    """Of these the server may have sent more than came, and none of them has a line that must be there."""
    places = _Placed([], [])
    for same in _alike(lines, lambda line: (line.method, line.host, line.path, line.protocol)):
        among = [each for each in exchanges if _is_of(same[0], each)]
        if len(among) != len(same) or any(not _has_status(*pair) for pair in zip(same, among, strict=True)):
            places.without.extend(same)
        else:
            places.pairs.extend(zip(same, among, strict=True))
    return places


def _alike(lines: Iterable[LoggedRequest], key: Callable[[LoggedRequest], Key]) -> list[list[LoggedRequest]]:
    groups: dict[Key, list[LoggedRequest]] = {}
    for each in lines:
        groups.setdefault(key(each), []).append(each)
    return list(groups.values())


def _is_of(line: LoggedRequest, exchange: ClearExchange) -> bool:
    """Return whether it may be, by what was asked."""
    request = exchange.connection.client[0], exchange.method, exchange.path, exchange.protocol
    host = line.host is None or line.host == exchange.host
    return host and request == (line.client, line.method, line.path, line.protocol)


def _has_status(line: LoggedRequest, exchange: ClearExchange) -> bool:
    return exchange.status in (None, line.status)


def _has_sizes(line: LoggedRequest, exchange: ClearExchange) -> bool:
    sizes = (line.body_bytes, exchange.body_bytes), (line.connection_bytes, exchange.connection_bytes)
    return line.status == exchange.status and all(logged in (None, captured) for logged, captured in sizes)


def _served(line: LoggedRequest, exchange: ClearExchange, link: Link) -> ServedRequest:
    """Times are those at which the server had it to do: what the client's capture says, and the way there and back."""
    began_us = exchange.sent_us + link.up.delay.ns // 1000
    ended_us = exchange.last_us - link.down.delay.ns // 1000
    cut_off = exchange.is_last and exchange.connection.ended and not exchange.whole
    client, server = exchange.connection.client, exchange.connection.server
    return ServedRequest(
        began_us=began_us,
        duration_us=max(ended_us - began_us, 0),
        host=line.host or exchange.host,
        method=line.method,
        path=line.path,
        status=line.status,
        body_bytes=exchange.body_bytes,
        sent_bytes=exchange.head_bytes + exchange.body_bytes,
        received_bytes=exchange.request_bytes,
        protocol=line.protocol,
        remote=f"{client[0]}:{client[1]}",
        local=f"{server[0]}:{server[1]}",
        keepalives=exchange.number,
        connection=BROKEN_OFF if cut_off else None,
        encoding=exchange.encoding,
        tls=None,
        tls_resumed=None,
        spdy=None,
        match=None,
    )
