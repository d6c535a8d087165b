"""The browser's log of its network -> the bytes of each connection and the requests of the whole browser. Pure.

The log is JSON in lines: constants, then an event in each line. It is read line by line, since it is several times as
large as the page, and since a browser that was killed leaves it without its end: then it counts up to the last whole
line. Bytes are logged twice where there is TLS: encrypted, and decrypted. The decrypted ones are what counts.
"""

import base64
import binascii
import json
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NotRequired, TypedDict

from lanelab.driver.base.coded import parsed
from lanelab.driver.base.errors import LanelabError, RecordError

TYPE_AT_END = re.compile(r'"type":(\d+)\}\]?,?\s*$')
BEGIN = 1  # the phase of an event that goes on
END = 2
WANTED = (
    "SSL_SOCKET_BYTES_SENT",
    "SSL_SOCKET_BYTES_RECEIVED",
    "SOCKET_BYTES_SENT",
    "SOCKET_BYTES_RECEIVED",
    "REQUEST_ALIVE",
    "URL_REQUEST_START_JOB",
)
CONNECT = "TCP_CONNECT"  # without it nobody knows how far hosts were, and everything else is as it was
# The browser opens connections of these kinds for pages. Others are its resolver's, or its tools'.
STREAM_SOURCE = "SOCKET"
REQUEST_SOURCE = "URL_REQUEST"
NO_ORIGIN = "not an origin"


class Constants(TypedDict):
    """The numbers that the log has for names, and the difference of its clock."""

    logEventTypes: Mapping[str, int]
    logSourceType: Mapping[str, int]
    netError: Mapping[str, int]
    timeTickOffset: Any  # a number, or a text of one


class Source(TypedDict):
    id: int
    type: int


class Parameters(TypedDict, total=False):
    """Each event has some of them."""

    bytes: str
    url: str
    method: str
    initiator: str
    request_type: str
    traffic_annotation: int
    net_error: int


class Event(TypedDict):
    """An event as it should be. Nothing of it is sure: a line may be broken."""

    type: int
    source: Source
    time: str
    phase: NotRequired[int]
    params: NotRequired[Parameters]


class NetlogError(LanelabError):
    """The browser's log of its network cannot be read."""


@dataclass(slots=True)
class Direction:
    """The bytes that went one way, and the time of each piece by where it begins."""

    pieces: list[bytes] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    times_ms: list[float] = field(default_factory=list)
    length: int = 0

    def add(self, data: bytes, time_ms: float) -> None:
        self.starts.append(self.length)
        self.times_ms.append(time_ms)
        self.pieces.append(data)
        self.length += len(data)

    @property
    def data(self) -> bytes:
        return b"".join(self.pieces)

    def time_ms(self, offset: int) -> float:
        """Return when the byte at that place went, in the log's time."""
        return self.times_ms[max(bisect_right(self.starts, offset) - 1, 0)]


@dataclass(slots=True)
class Connection:
    """A connection of the browser, in plain bytes."""

    tls: bool = False
    sent: Direction = field(default_factory=Direction)
    received: Direction = field(default_factory=Direction)
    connect_ms: float | None = None  # how long TCP took to open it; None: the log does not say


@dataclass(slots=True)
class BegunRequest:
    """A request as the browser began it, whoever answered it: a server, a cache, or nobody."""

    url: str
    method: str = "GET"
    began_ms: float = 0.0  # in the log's time
    ended: bool = False
    error: int = 0  # as the browser numbers them
    initiator: str = ""
    kind: str = "other"  # main frame, sub frame, other
    purpose: int = 0  # the browser's own number for the part of it that asked


@dataclass(frozen=True, slots=True)
class Netlog:
    connections: tuple[Connection, ...]  # in the order of their first bytes
    requests: tuple[BegunRequest, ...]
    epoch_ms: float  # add it to the log's time for milliseconds since 1970
    whole: bool  # False: the browser was killed while it wrote
    errors: Mapping[int, str]  # number -> the browser's name for it


def read(lines: Iterable[str]) -> Netlog:
    """Return the log in these lines. Raises NetlogError where it has not even a beginning."""
    numbered = iter(lines)
    constants = _constants(next(numbered, ""))
    reading = _Reading(constants)
    whole = False
    for line in numbered:
        match = TYPE_AT_END.search(line)
        if match and int(match[1]) not in reading.names:
            whole = _closes(line) or whole
            continue
        event = _event(line)
        if event is not None:
            reading.take(event)
        whole = _closes(line) or whole
    return reading.finish(whole=whole)


def _closes(line: str) -> bool:
    text = line.strip()
    return text.endswith(("}],", "}]}")) or text in ("],", "]}") or text.startswith('"polledData"')


def _constants(line: str) -> Constants:
    """The first line is one member of an object that only ends with the log."""
    try:
        data = json.loads(line.strip().rstrip(",") + "}")["constants"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        what = "the browser's log of its network has no beginning"
        raise NetlogError(what, "Record again; see docs/reference/recording.md") from error
    try:
        return parsed(Constants, data, "the browser's log of its network")
    except RecordError as error:
        raise NetlogError(error.what, "Use a Chromium of another version") from error


def _event(line: str) -> Event | None:
    """Read an event; None: no event, or one that was cut off."""
    start = line.find("{")
    if start < 0 or line.lstrip()[:1] not in ("{", "["):
        return None
    try:
        event: Event = json.JSONDecoder().raw_decode(line, start)[0]  # a mapping: it begins with a brace
    except (ValueError, RecursionError):
        return None
    return event


class _Reading:
    """Collects what was read so far."""

    def __init__(self, constants: Constants) -> None:
        types, sources = constants["logEventTypes"], constants["logSourceType"]
        try:
            self.names: dict[int, str] = {types[name]: name for name in WANTED}
            self.names |= {types[CONNECT]: CONNECT} if CONNECT in types else {}
            self._stream, self._request = sources[STREAM_SOURCE], sources[REQUEST_SOURCE]
        except KeyError as error:
            what = f"the browser's log of its network lacks {error}"
            raise NetlogError(what, "Use a Chromium of another version") from error
        try:
            self._epoch_ms = float(constants["timeTickOffset"])
        except (TypeError, ValueError) as error:
            what = f"in the browser's log of its network, timeTickOffset is no number: {constants['timeTickOffset']!r}"
            raise NetlogError(what, "Use a Chromium of another version") from error
        self._errors = {number: name for name, number in constants["netError"].items()}
        self._plain: dict[int, Connection] = {}
        self._encrypted: dict[int, Connection] = {}
        self._hops: dict[int, list[BegunRequest]] = {}
        self._began_ms: dict[int, float] = {}  # when opening a connection began
        self._connect_ms: dict[int, float] = {}

    def take(self, event: Event) -> None:
        """Take a line. A broken one is passed over: it must not cost the others."""
        try:
            name = self.names.get(event["type"])
            source, kind = event["source"]["id"], event["source"]["type"]
            time_ms, parameters = float(event["time"]), event.get("params") or {}
            if name is None or not isinstance(source, int) or not isinstance(parameters, dict):
                return
            if kind == self._request:
                self._take_request(name, source, int(event.get("phase", 0)), time_ms, parameters)
            elif kind == self._stream and name == CONNECT:
                self._take_connect(source, int(event.get("phase", 0)), time_ms, parameters)
            elif kind == self._stream and "bytes" in parameters:
                self._take_bytes(name, source, time_ms, base64.b64decode(parameters["bytes"], validate=True))
        except (KeyError, TypeError, ValueError, OverflowError, binascii.Error):
            return

    def _take_connect(self, source: int, phase: int, time_ms: float, parameters: Parameters) -> None:
        if phase == BEGIN:
            self._began_ms[source] = time_ms
        elif source in self._began_ms and not parameters.get("net_error"):
            self._connect_ms[source] = time_ms - self._began_ms[source]

    def _take_bytes(self, name: str, source: int, time_ms: float, data: bytes) -> None:
        table = self._plain if name.startswith("SSL_") else self._encrypted
        if table is self._plain:
            self._encrypted.pop(source, None)
        elif source in self._plain:
            return  # the same once more, encrypted
        connection = table.setdefault(source, Connection(tls=table is self._plain))
        direction = connection.sent if name.endswith("_SENT") else connection.received
        direction.add(data, time_ms)

    def _take_request(self, name: str, source: int, phase: int, time_ms: float, parameters: Parameters) -> None:
        """A redirect begins another job in the same source."""
        hops = self._hops.setdefault(source, [])
        if phase == BEGIN and name == "REQUEST_ALIVE":
            hops.append(BegunRequest(str(parameters["url"]).partition("#")[0], began_ms=time_ms))
            hops[-1].purpose = int(parameters.get("traffic_annotation", 0))
        elif phase == BEGIN and hops:
            if hops[-1].initiator:
                hops[-1].ended = True
                hops.append(BegunRequest("", began_ms=time_ms, purpose=hops[-1].purpose))
            last = hops[-1]
            last.url, last.method = str(parameters["url"]).partition("#")[0], str(parameters["method"])
            last.initiator, last.kind = (
                str(parameters.get("initiator", "")),
                str(parameters.get("request_type", "other")),
            )
        elif phase == END and hops:
            hops[-1].ended = hops[-1].ended or name == "REQUEST_ALIVE"
            hops[-1].error = int(parameters.get("net_error", 0)) or hops[-1].error

    def finish(self, *, whole: bool) -> Netlog:
        for source, connection in (*self._plain.items(), *self._encrypted.items()):
            connection.connect_ms = self._connect_ms.get(source)
        connections = [each for each in (*self._plain.values(), *self._encrypted.values()) if each.sent.length]
        connections.sort(key=lambda each: each.sent.times_ms[0])
        requests = sorted((hop for hops in self._hops.values() for hop in hops), key=lambda hop: hop.began_ms)
        return Netlog(tuple(connections), tuple(requests), self._epoch_ms, whole, self._errors)


def lines_of(file: Iterable[bytes]) -> Iterator[str]:
    """Yield text, whatever bytes the file has."""
    return (line.decode("utf-8", errors="replace") for line in file)
