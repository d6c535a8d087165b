"""Which requests of an arm with HTTP/3 may have gone by HTTP/2, since the browser could not know better. Pure.

Where the browser is told at its start, or by a record before it connects: none. Where an answer's header tells it
(Alt-Svc), those that it asked for before

- the first answer of that host had come, and
- a QUIC connection for that host could carry a request: the host's own, where it began one, else any other's, since a
  browser lets hosts at one address share a connection.

A browser decides when it asks, and what was asked for at that very moment may go either way: the clocks of browser and
capture agree within some milliseconds.
"""

import math
from collections.abc import Sequence

from lanelab.driver.record.evidence.browser import Request
from lanelab.driver.record.evidence.packets import FlowSummary
from lanelab.driver.trial.page_load.requests import host

ALT_SVC = "alt-svc"
CLOCKS_MS = 15.0  # by which the moments of browser and capture may be apart
US_OF_MS = 1000
H2 = "h2"


def not_yet(
    requests: Sequence[Request], flows: Sequence[FlowSummary], first_request_us: int | None, discovery: str
) -> list[Request]:
    """Return those of the requests over HTTP/2 that were asked for before the browser could use HTTP/3.
    `first_request_us`: when the first of them was, since 1970; without it nobody can tell, and so none is excused."""
    if discovery != ALT_SVC or first_request_us is None:
        return []
    return [
        each
        for each in requests
        if each.protocol == H2
        and each.started_ms <= max(_told_ms(host(each), requests), _ready_ms(host(each), flows, first_request_us))
        + CLOCKS_MS
    ]  # fmt: skip


def not_told(requests: Sequence[Request]) -> bool:
    """Return whether each of them was asked for before its host could have told of HTTP/3."""
    return all(each.started_ms <= _told_ms(host(each), requests) + CLOCKS_MS for each in requests)


def _told_ms(name: str, requests: Sequence[Request]) -> float:
    """Return when the host's first answer had come."""
    answers = (_answered_ms(each) for each in requests if host(each) == name and each.status is not None)
    return min(answers, default=math.inf)


def _answered_ms(request: Request) -> float:
    """Return when its headers were there."""
    times = request.timings
    before = (times.blocked, times.dns, times.connect, times.send, times.wait)
    return request.started_ms + sum(max(0.0, each) for each in before)


def _ready_ms(name: str, flows: Sequence[FlowSummary], first_request_us: int) -> float:
    """Return when a QUIC connection could carry a request to that host."""
    known = [each.quic for each in flows if each.quic is not None]
    connections_of_host = [each for each in known if each.server_name == name] or known
    moments = (each.ready_us for each in connections_of_host if each.complete and each.ready_us is not None)
    return min(((moment - first_request_us) / US_OF_MS for moment in moments), default=math.inf)
