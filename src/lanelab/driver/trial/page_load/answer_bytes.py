"""How many bytes of answers came over the link, at the least. Pure.

A witness may count too much: Firefox counts headers as they are before HTTP/2 and HTTP/3 compress them. So of each
answer the least that client and server say is taken. Where the server does not count headers, it says the body's bytes.
"""

from __future__ import annotations

from collections.abc import Sequence

from lanelab.driver.record.evidence.browser import Request
from lanelab.driver.record.evidence.packets import PacketSummary
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.trial.page_load.requests import fetched, target
from lanelab.driver.trial.page_load.witnesses import served_target

UDP_HEADERS = 14 + 20 + 8  # Ethernet, IPv4, UDP


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
    """Of headers and bodies, without TLS."""
    evidence = record.page_load if record else None
    sent: dict[str, int] = {}
    for line in evidence.server.requests if evidence and evidence.server else ():
        name, size = "".join(served_target(line)), line.body_bytes if line.sent_bytes is None else line.sent_bytes
        sent[name] = size if name not in sent else min(sent[name], size)
    sizes = ((_by_client(each), target(each)) for each in requests)
    return sum(max(0, min(size, sent.get(name, size))) for size, name in sizes)


def _by_client(request: Request) -> int:
    """With the gateway headers are others on the link than at the browser."""
    if request.wire is None:
        return request.wire_bytes
    return request.wire.response_header_wire_bytes + request.wire.response_body_bytes


def captured_bytes(packets: PacketSummary) -> int:
    """The most that a capture can have of answers."""
    within_tcp = sum(each.payload_down for each in packets.by_connection)
    return within_tcp + sum(each.bytes_down - UDP_HEADERS * each.packets_down for each in packets.by_udp_flow)
