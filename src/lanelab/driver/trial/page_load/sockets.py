"""What a page's WebSockets leave on the wire: the handshake of each, which no site answers. Pure.

The browser says which it opened. Each is then one more line of the server's log and one more connection, of HTTP/1.1
whatever the arm speaks. The judges of a page load look at neither.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TypeVar
from urllib.parse import urlsplit

from lanelab.driver.arm.servers.server import PORTS
from lanelab.driver.record.evidence.browser import BrowserEvidence, WebSocket
from lanelab.driver.record.evidence.packets import Connection
from lanelab.driver.record.evidence.page_load import PageLoadEvidence
from lanelab.driver.record.evidence.server import ServedRequest

SCHEMES = {"ws": "http", "wss": "https"}
Value = TypeVar("Value")
METHODS = ("GET", "CONNECT")  # of a handshake by HTTP/1.1, and by HTTP/2
OVER_TCP = ("http/1.1",)  # what browsers offer by ALPN for a WebSocket, and for nothing else


def opened(evidence: PageLoadEvidence) -> Sequence[WebSocket]:
    """Return the WebSockets; none of a browser that spoke to the gateway, which carries none on."""
    browser: BrowserEvidence | None = None if evidence.gateway else evidence.browser
    return browser.sockets if browser else ()


def hosts(evidence: PageLoadEvidence) -> set[str]:
    return {urlsplit(each.url).hostname or "" for each in opened(evidence)}


def ports(evidence: PageLoadEvidence) -> set[int]:
    """Return the ports of the server."""
    return {PORTS[SCHEMES[urlsplit(each.url).scheme]] for each in opened(evidence)}


def handshakes(evidence: PageLoadEvidence) -> list[ServedRequest]:
    """Return the lines of the server's log that are handshakes, at most one for each WebSocket. Of several lines for
    its address it is the one that shares no connection: a page may ask for that address in another way, too."""
    waiting = Counter(_target(each) for each in opened(evidence))
    lines = evidence.server.requests if evidence.server else ()
    together = Counter(each.ends for each in lines)
    lines_of_handshakes = []
    for each in sorted(lines, key=lambda line: together[line.ends]):
        address = f"{(each.host or '').partition(':')[0].lower()}{each.path}"
        if each.method in METHODS and waiting[address] > 0:
            waiting[address] -= 1
            lines_of_handshakes.append(each)
    return lines_of_handshakes


def without(listed: Iterable[Value], left_out: Iterable[Value]) -> list[Value]:
    aside = {id(each) for each in left_out}
    return [each for each in listed if id(each) not in aside]


def connections(
    evidence: PageLoadEvidence, captured: Iterable[Connection], left_out: Sequence[ServedRequest], *, multiplexed: bool
) -> list[Connection]:
    """Those of the capture that carried a handshake, or were made for one that was not sent any more: these show where
    all others are `multiplexed`."""
    others = without(evidence.server.requests if evidence.server else (), left_out)
    of_handshakes = {each.ends for each in left_out} - {each.ends for each in others}
    unsent = multiplexed and any(each.url.startswith("wss:") for each in opened(evidence))
    return [
        each
        for each in captured
        if not of_handshakes.isdisjoint(each.ends.names) or (unsent and each.alpn_offered == OVER_TCP)
    ]


def _target(socket: WebSocket) -> str:
    parts = urlsplit(socket.url)
    return f"{parts.hostname or ''}{parts.path or '/'}" + (f"?{parts.query}" if "?" in socket.url else "")
