"""Puts browser, gateway and capture of a page load on one clock, and says which connection carried each request. Pure.

Drawings begin when the page was asked for, which is 0 of the page load time. The browser tells the times of requests
from the start of the first one, those of the page from the start of the navigation, the gateway from its own start.
"""

from urllib.parse import urlsplit

from lanelab.analysis.results.load_parts import LoadFacts
from lanelab.driver.record.evidence.browser import LoadClock
from lanelab.driver.record.evidence.ends import Ends

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


def ends_of(facts: LoadFacts) -> dict[int, Ends]:
    """Return place of a request -> the ends of the connection that carried it, by the log of gateway or server."""
    if facts.gateway:
        ends = {each.connection: each.ends for each in facts.gateway.connections if each.ends}
        wires = ((place, each.wire) for place, each in enumerate(facts.requests))
        return {place: ends[wire.connection] for place, wire in wires if wire and wire.connection in ends}
    return _by_server(facts)


def _by_server(facts: LoadFacts) -> dict[int, Ends]:
    """Requests for the same thing in the order of asking; what has the same connection in the browser has its ends."""
    waiting: dict[tuple[str, str], list[Ends]] = {}
    for line in sorted(facts.served, key=lambda line: line.began_us):
        waiting.setdefault((line.method or "", f"{line.host}{line.path}"), []).append(line.ends)
    logged: dict[int, Ends] = {}
    known: dict[int, Ends] = {}  # by the browser's number of a connection
    for place, request in enumerate(facts.requests):
        parts = urlsplit(request.url)
        lines = [] if request.from_cache else waiting.get((request.method, _target(parts.netloc, request.url)), [])
        if lines:
            logged[place] = lines.pop(0)
            if request.connection is not None:
                known.setdefault(request.connection, logged[place])
    return {
        place: ends
        for place, request in enumerate(facts.requests)
        if (ends := logged.get(place) or (None if request.connection is None else known.get(request.connection)))
    }


def _target(host: str, url: str) -> str:
    return host.partition(":")[0] + "/" + url.partition("://")[2].partition("/")[2].partition("#")[0]
