"""How many bytes of answers came over the link, at the least. Pure.

A witness may count too much: Firefox counts headers as they are before HTTP/2 and HTTP/3 compress them. So of each
answer the least that client and server say is taken. Where the server does not count headers, it says the body's bytes.
"""

from collections.abc import Sequence
from urllib.parse import urlsplit

from lanelab.driver.arm.servers.server import PORTS
from lanelab.driver.record.evidence.browser import Request
from lanelab.driver.record.evidence.packets import Connection, FlowSummary, PacketSummary
from lanelab.driver.record.evidence.server import ServedRequest
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.trial.page_load import sockets
from lanelab.driver.trial.page_load.earlier import earlier
from lanelab.driver.trial.page_load.requests import fetched, target
from lanelab.driver.trial.page_load.witnesses import served_target


def loaded(record: TrialRecord | None) -> list[Request]:
    """Answers that came over the network and were complete when the page was loaded, in the order of asking."""
    if record is None:
        return []
    browser = record.page_load.browser if record.page_load else None
    end = browser.times.plt_navigation_ms if browser else None
    complete = [
        each
        for each in fetched(record.requests)
        if each.before_load and each.ended_ms is not None and (end is None or each.ended_ms <= end)
    ]
    return sorted(complete, key=lambda each: each.started_ms)


def answer_bytes(requests: Sequence[Request], record: TrialRecord | None) -> int:
    """Return the bytes of headers and bodies, without TLS."""
    evidence = record.page_load if record else None
    lines: dict[str, list[ServedRequest]] = {}
    for line in evidence.server.requests if evidence and evidence.server else ():
        lines.setdefault("".join(served_target(line)), []).append(line)
    return sum(max(0, min([_by_client(each), *_by_server(each, lines.get(target(each), []))])) for each in requests)


def _by_server(request: Request, lines: Sequence[ServedRequest]) -> list[int]:
    """Return what the server's log says of it: those lines of its address that agree with it most, in port, then in
    method, then in status. There may be smaller ones: a redirect in clear, a 304, a part, one without a body. Some
    agree in less, and are its own: servers behind a proxy listen at another port, and browsers show a copy for a
    304."""
    parts = urlsplit(request.url)
    port = f":{parts.port or PORTS.get(parts.scheme)}"

    def agrees(line: ServedRequest) -> tuple[bool, bool, bool]:
        return line.local.endswith(port), line.method == request.method, line.status == request.status

    most = max(map(agrees, lines), default=None)
    lines_of_server = [line for line in lines if agrees(line) == most]
    return [line.body_bytes if line.sent_bytes is None else line.sent_bytes for line in lines_of_server]


def _by_client(request: Request) -> int:
    """With the gateway headers are others on the link than at the browser."""
    if request.wire is None:
        return request.wire_bytes
    return request.wire.response_header_wire_bytes + request.wire.response_body_bytes


def captured_bytes(packets: PacketSummary) -> int:
    """The most that a capture can have of answers: those of the load come by connections that begin in it."""
    ends: list[Connection | FlowSummary] = [*packets.by_connection, *packets.by_udp_flow]
    return sum(each.payload_down for each in sockets.without(ends, earlier(packets)))
