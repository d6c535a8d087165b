"""Puts browser, gateway and capture of a page load on one clock, and says which connection carried each request. Pure.

Drawings begin when the page was asked for, which is 0 of the page load time. The browser tells the times of requests
from the start of the first one, those of the page from the start of the navigation, the gateway from its own start.
"""

from urllib.parse import urlsplit

from lanelab.analysis.results.load_parts import LoadFacts
from lanelab.driver.record.evidence.browser import LoadClock

US_OF_MS = 1000


def request_shift(clock: LoadClock | None) -> float:
    """Return how much later requests' times begin than those of drawings, in ms."""
    return (clock.first_request - clock.asked) / US_OF_MS if clock and clock.first_request is not None else 0.0


def page_shift(clock: LoadClock | None) -> float:
    """Return the same shift for the browser's moments of the page."""
    return (clock.navigation - clock.asked) / US_OF_MS if clock and clock.navigation is not None else 0.0


def gateway_shift(facts: LoadFacts) -> float | None:
    """What to add to the gateway's times, in ms; None where no request went through it, or clocks cannot be tied."""
    if facts.gateway is None or facts.clock is None or facts.gateway.started_unix_us is None:
        return None
    return (facts.gateway.started_unix_us - facts.clock.asked) / US_OF_MS


def ports_of(facts: LoadFacts) -> dict[int, int]:
    """Return place of a request -> the client's port of the connection that carried it, by the log of gateway or
    server."""
    if facts.gateway:
        local = {each.connection: _port(each.local) for each in facts.gateway.connections}
        wires = ((place, each.wire) for place, each in enumerate(facts.requests))
        ports = {place: local.get(wire.connection) for place, wire in wires if wire and wire.connection is not None}
        return {place: port for place, port in ports.items() if port}
    return _by_server(facts)


def _by_server(facts: LoadFacts) -> dict[int, int]:
    """Requests for the same thing in the order of asking; what has the same connection in the browser has one port."""
    waiting: dict[tuple[str, str], list[str]] = {}
    for line in sorted(facts.served, key=lambda line: line.began_us):
        waiting.setdefault((line.method or "", f"{line.host}{line.path}"), []).append(line.remote)
    ports: dict[int, int] = {}
    known: dict[int, int] = {}  # by the browser's number of a connection
    for place, request in enumerate(facts.requests):
        parts = urlsplit(request.url)
        lines = [] if request.from_cache else waiting.get((request.method, _target(parts.netloc, request.url)), [])
        port = _port(lines.pop(0)) if lines else None
        if port:
            ports[place] = port
            if request.connection is not None:
                known.setdefault(request.connection, port)
    return {
        place: port
        for place, request in enumerate(facts.requests)
        if (port := ports.get(place) or (None if request.connection is None else known.get(request.connection)))
    }


def _target(host: str, url: str) -> str:
    return host.partition(":")[0] + "/" + url.partition("://")[2].partition("/")[2].partition("#")[0]


def _port(address: str) -> int | None:
    text = address.rpartition(":")[2]
    return int(text) if text.isdigit() else None
