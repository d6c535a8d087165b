"""The browser's log -> what a site is made of, and what could not be had. Pure."""

import datetime
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from lanelab.driver.collect.recording import http1, http2
from lanelab.driver.collect.recording.message import Answer, End, Message, WireError
from lanelab.driver.collect.recording.netlog import NO_ORIGIN, BegunRequest, Connection, Netlog
from lanelab.driver.site.exchange import Exchange

TLS_RECORD = b"\x16\x03"  # a connection that was opened ahead and never used has its handshake alone
OF_PAGES = ("http", "https")
PORTS = {"http": "80", "https": "443"}
# Parts of the browser that ask on behalf of a page without naming an origin, by what the browser calls them. It writes
# a number for each, worked out from the name.
FOR_PAGES = (
    "navigation_url_loader",
    "blink_resource_loader",
    "blink_extension_resource_loader",
    "worker_script_load",
    "service_worker_script_load",
    "service_worker_update_checker",
    "service_worker_navigation_preload",
    "parallel_download_job",
    "background_fetch_context",
    "favicon_loader",
    "manifest_url_loader",
    "prefetch_url_loader",
    "ping_loader",
    "fetch_later",
)
MAIN_FRAME = "main frame"
LONGEST_URL_SHOWN = 120


def purpose(name: str) -> int:
    """Return the number that the browser has for a part of itself."""
    number = 0
    for character in name:
        number = (number * 31 + ord(character)) % 138003713
    return number


PURPOSES = frozenset(purpose(name) for name in FOR_PAGES)


@dataclass(frozen=True, slots=True)
class Recorded:
    """The content of a log about a page."""

    exchanges: tuple[Exchange, ...]
    unanswered: tuple[str, ...]  # host and path of what was asked for and never answered
    left_out: tuple[str, ...]  # words on what was there and cannot be kept
    hosts_of_browser: tuple[str, ...]  # hosts that the browser itself asked for something
    entry: str | None  # the page, as the browser asked for it; None: it was not answered


@dataclass(frozen=True, slots=True)
class _LoggedMessage:
    message: Message
    url: str
    time_ms: float
    connect_ms: float | None  # of its connection


def recorded(log: Netlog, loaded_ms: float | None) -> Recorded:
    """`loaded_ms`: when the page's load event was, in the log's time; None: it never was."""
    left_out: list[str] = []
    exchanges_of_log: list[_LoggedMessage] = []
    for connection in log.connections:
        try:
            exchanges_of_log += _logged_messages(connection)
        except WireError as error:
            left_out.append(f"a connection that cannot be read: {error.what}")
    exchanges_of_log.sort(key=lambda each: each.time_ms)
    ours = _urls_of_browser(log.requests)
    cut = _cut_off(log.requests)
    exchanges, answered = [], set()
    for each in exchanges_of_log:
        if each.message.tunnel:
            left_out.append(f"what followed on {shown(each.url)}: a WebSocket or another protocol")
            answered.add(each.url)
        elif each.url in ours:
            continue
        elif (answer := _whole(each, cut)) is not None:
            exchanges.append(_exchange(each, answer, log.epoch_ms, loaded_ms))
            answered.add(each.url)
    left_out += _incomplete(exchanges_of_log, answered, ours)
    urls = [each.url for each in log.requests if _is_page(each) and each.url not in ours]
    urls += [each.url for each in exchanges_of_log if each.url not in ours]
    addresses = {_address(url) for url in answered}
    unanswered = dict.fromkeys(address for url in urls if (address := _address(url)) and address not in addresses)
    hosts = dict.fromkeys(urlsplit(url).hostname or "?" for url in ours)
    entry = next((each.url for each in log.requests if each.kind == MAIN_FRAME and each.url in answered), None)
    return Recorded(tuple(exchanges), tuple(unanswered), tuple(dict.fromkeys(left_out)), tuple(hosts), entry)


def shown(url: str) -> str:
    """Return an address as a message has it: without what may be secret or endless."""
    text = url.partition("?")[0]
    text = text if len(text) <= LONGEST_URL_SHOWN else f"{text[:LONGEST_URL_SHOWN]}…"
    return text if text.isprintable() else repr(text)


def _logged_messages(connection: Connection) -> Iterator[_LoggedMessage]:
    sent, received = connection.sent.data, connection.received.data
    if not connection.tls and sent.startswith(TLS_RECORD):
        return
    messages = http2.messages if sent.startswith(http2.PREFACE[:5]) else http1.messages
    for each in messages(sent, received):
        scheme = each.scheme or ("https" if connection.tls else "http")
        yield _LoggedMessage(each, _url(each, scheme), connection.sent.time_ms(each.offset), connection.connect_ms)


def _url(message: Message, scheme: str) -> str:
    if message.target.startswith(("http://", "https://")):  # as proxies are asked
        return message.target
    host, colon, port = message.authority.rpartition(":")
    authority = host if colon and port == PORTS.get(scheme) else message.authority
    return f"{scheme}://{authority}{message.target}"


def _whole(each: _LoggedMessage, cut: frozenset[str]) -> Answer | None:
    """Return the answer, if all of it came. One that ends with its connection is whole unless the browser ended it."""
    answer = each.message.answer
    if answer is None or answer.end is End.CUT:
        return None
    return None if answer.end is End.UNTIL_CLOSE and each.url in cut else answer


def _cut_off(requests: Sequence[BegunRequest]) -> frozenset[str]:
    """Return the addresses that the browser never received to the end, in any of its requests."""
    received = {each.url for each in requests if each.ended and each.error == 0}
    return frozenset(each.url for each in requests) - received


def _incomplete(
    messages: Sequence[_LoggedMessage], answered: set[str], urls_of_browser: frozenset[str]
) -> Iterator[str]:
    for each in messages:
        if each.url in answered or each.url in urls_of_browser or each.message.answer is None:
            continue
        size = len(each.message.answer.body)
        yield f"{shown(each.url)}: only its first {size} bytes had come when the recording ended"


def _urls_of_browser(requests: Sequence[BegunRequest]) -> frozenset[str]:
    """Return the addresses that only the browser itself asked for, and no page."""
    pages = {each.url for each in requests if _is_page(each)}
    return frozenset(each.url for each in requests) - pages


def _is_page(each: BegunRequest) -> bool:
    """Return whether a page asked. The browser's own requests have no origin, and a part of it as purpose."""
    if each.url.partition(":")[0] not in OF_PAGES:
        return False
    return each.initiator != NO_ORIGIN or each.kind != "other" or each.purpose in PURPOSES


def _address(url: str) -> str:
    """Host and path, as manifests have them; empty where there is no such thing."""
    scheme, _, rest = url.partition("://")
    if scheme not in OF_PAGES:
        return ""
    return rest if "/" in rest else f"{rest}/"


def _exchange(each: _LoggedMessage, answer: Answer, epoch_ms: float, loaded_ms: float | None) -> Exchange:
    message = each.message
    at = datetime.datetime.fromtimestamp((epoch_ms + each.time_ms) / 1000, datetime.UTC)
    return Exchange(
        method=message.method,
        url=each.url,
        request_headers=message.headers,
        request_body=message.body,
        status=answer.status,
        reason=answer.reason,
        headers=answer.headers,
        body=answer.body,
        protocol=answer.protocol,
        at_utc=at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        late=loaded_ms is not None and each.time_ms > loaded_ms,
        connect_ms=each.connect_ms,
    )
