"""The requests and answers of HTTP/1.1 in clear, as a client's capture has them: on which connection, when they were on
the wire, and how many bytes they were. Pure.

Each side of a connection is put together from its packets. A byte is there when all before it are, too.
"""

import bisect
import ipaddress
import re
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from lanelab.driver.trial.packets.frames import TCP, Inside, inside
from lanelab.driver.trial.packets.packets import open_capture, places
from lanelab.driver.trial.packets.sequence import signed

FIN, SYN, RST, ACK = 0x01, 0x02, 0x04, 0x10
HEAD_END = b"\r\n\r\n"
INTERIM, OK = 100, 200  # statuses from the first to below the second announce the answer
EMPTY = (204, 304)
_TCP = struct.Struct(">HHIIH").unpack_from  # ports, numbers, header length and flags
_REQUEST_LINE = re.compile(r"(?P<method>[A-Z]+) (?P<path>\S+) (?P<protocol>HTTP/1\.[01])")
_ANSWERED = re.compile(r"(?P<protocol>HTTP/1\.[01]) (?P<status>\d{3})( |$)")


@dataclass(frozen=True, slots=True)
class ClearExchange:
    """A request and its answer, as far as the capture has it."""

    connection: "ClearConnection"
    number: int  # requests before it on its connection
    method: str
    host: str | None
    path: str
    protocol: str  # of the request
    status: int | None  # None: its answer's head did not come
    encoding: str | None
    request_bytes: int
    head_bytes: int
    body_bytes: int
    connection_bytes: int  # all that came on the connection, to the end of this answer
    sent_us: int  # since 1970: when the last byte of the request left
    last_us: int  # when the last byte of the answer came; without any, when the request left
    whole: bool  # all of the answer came

    @property
    def is_last(self) -> bool:
        """Return whether the connection carried no request after it."""
        return self.connection.exchanges[-1] is self


@dataclass(eq=False, slots=True)
class ClearConnection:
    """A connection that begins in the capture."""

    client: tuple[str, int]
    server: tuple[str, int]
    ended: bool = False  # by either side
    exchanges: list[ClearExchange] = field(default_factory=list)


class _Side:
    """The bytes that one side sent."""

    def __init__(self, first: int) -> None:
        self.first = first  # the number of its first byte
        self.data = bytearray()
        self.ends: list[int] = []  # so far the data reaches,
        self.times: list[int] = []  # from these moments on, in ns
        self._ahead: dict[int, tuple[bytes, int]] = {}  # what came before its turn, by its place

    def take(self, seq: int, payload: bytes, at_ns: int) -> None:
        place = signed(seq - self.first)
        if place > len(self.data):
            self._ahead.setdefault(place, (payload, at_ns))
            return
        self._append(place, payload, at_ns)
        while (following := min(self._ahead, default=len(self.data) + 1)) <= len(self.data):
            self._append(following, *self._ahead.pop(following))

    def _append(self, place: int, payload: bytes, at_ns: int) -> None:
        new = payload[max(len(self.data) - place, 0) :]
        if new:
            self.data += new
            self.ends.append(len(self.data))
            self.times.append(max(at_ns, self.times[-1] if self.times else at_ns))

    def there_ns(self, end: int) -> int:
        """Return when the bytes before that place were there."""
        return self.times[bisect.bisect_left(self.ends, end)]


@dataclass(slots=True)
class _Sides:
    connection: ClearConnection
    up: _Side
    down: _Side | None = None  # None: the server has said nothing yet


def read_clear_text(pcap: bytes | Path, client: str, ports: frozenset[int]) -> list[ClearConnection]:
    """Return all connections to these ports of servers that begin in the capture, in the order of their beginning.
    `client`: its address."""
    capture = open_capture(pcap)
    client_packed = ipaddress.ip_address(client).packed
    sides: list[_Sides] = []
    known: dict[tuple[bytes, int, int], _Sides] = {}
    for at_ns, size, begin, end in places(capture):
        packet = inside(capture.data, begin, end, size, capture.link)
        if packet is None or packet.protocol != TCP:
            continue
        source, target, seq, _, bits = _TCP(capture.data, packet.at)
        up = packet.source == client_packed
        near, far = (source, target) if up else (target, source)
        key = packet.target if up else packet.source, near, far
        if far not in ports:
            continue
        if up and bits & (SYN | ACK) == SYN and (key not in known or known[key].up.first != seq + 1):
            ends = (client, near), (packet.target_name, far)
            known[key] = _Sides(ClearConnection(*ends), _Side(seq + 1))
            sides.append(known[key])
        if key in known:
            _take(known[key], capture.data, packet, end, at_ns, up=up)
    return [_read(each) for each in sides]


def _take(sides: _Sides, data: bytes, packet: Inside, end: int, at_ns: int, *, up: bool) -> None:
    _, _, seq, _, bits = _TCP(data, packet.at)
    if bits & (FIN | RST):
        sides.connection.ended = True
    if bits & SYN:
        sides.down = _Side(seq + 1) if not up and sides.down is None else sides.down
        return
    side, header = sides.up if up else sides.down, (bits >> 12) * 4
    payload = data[packet.at + header : min(end, packet.at + packet.length)]
    if side is not None and payload:
        side.take(seq, payload, at_ns)


def _read(sides: _Sides) -> ClearConnection:
    connection, up = sides.connection, sides.up
    down = sides.down or _Side(0)
    place, answers = 0, bytes(down.data)  # where the next answer begins
    for number, (begin, end, head) in enumerate(_requests(bytes(up.data))):
        request, headers = _REQUEST_LINE.fullmatch(head[0]), _headers(head)
        if request is None:
            break
        answer = _answer(answers, place, request["method"], ended=connection.ended)
        sent_us = up.there_ns(end) // 1000
        place = answer.end
        connection.exchanges.append(
            ClearExchange(
                connection=connection,
                number=number,
                method=request["method"],
                host=headers.get("host"),
                path=request["path"],
                protocol=request["protocol"],
                status=answer.status,
                encoding=answer.encoding,
                request_bytes=end - begin,
                head_bytes=answer.head_bytes,
                body_bytes=answer.body_bytes,
                connection_bytes=place,
                sent_us=sent_us,
                last_us=down.there_ns(place) // 1000 if answer.head_bytes else sent_us,
                whole=answer.whole,
            )
        )
    return connection


def _requests(data: bytes) -> Iterator[tuple[int, int, list[str]]]:
    """Yield for each request whose end is there where it begins and ends, and the lines of its head."""
    begin = 0
    while (end := data.find(HEAD_END, begin)) >= 0:
        head = data[begin:end].decode("latin-1").split("\r\n")
        stop = end + len(HEAD_END) + _length(_headers(head))
        if stop > len(data):
            return
        yield begin, stop, head
        begin = stop


@dataclass(frozen=True, slots=True)
class _Answer:
    status: int | None
    encoding: str | None
    head_bytes: int
    body_bytes: int
    end: int
    whole: bool


def _answer(data: bytes, begin: int, method: str, *, ended: bool) -> _Answer:
    """Return the answer that begins at that place, behind those that announce it."""
    at = begin
    while (end := data.find(HEAD_END, at)) >= 0:
        head = data[at:end].decode("latin-1").split("\r\n")
        match, headers = _ANSWERED.match(head[0]), _headers(head)
        body = end + len(HEAD_END)
        if match is None:
            break
        status = int(match["status"])
        if INTERIM <= status < OK:
            at = body
            continue
        if method == "HEAD" or status in EMPTY:
            stop: int | None = body
        else:
            stop = body + _length(headers) if "content-length" in headers else None
        if stop is None:  # it ends with the connection; where its body is in chunks nobody can tell here
            whole, stop = ended and "transfer-encoding" not in headers, len(data)
        else:
            whole, stop = stop <= len(data), min(stop, len(data))
        return _Answer(status, headers.get("content-encoding"), body - begin, stop - body, stop, whole)
    return _Answer(None, None, 0, 0, begin, whole=False)


def _headers(head: list[str]) -> Mapping[str, str]:
    pairs = (line.partition(":") for line in head[1:])
    return {name.strip().lower(): value.strip() for name, _, value in pairs}


def _length(headers: Mapping[str, str]) -> int:
    text = headers.get("content-length", "0")
    return int(text) if text.isascii() and text.isdigit() else 0
