"""A page load over a simulated link, with known delays and losses: packets as a capture at the client has them, and
what browser and server say. Slow start, fast retransmission and time-outs are TCP's, in their simplest form."""

import heapq
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from lanelab.driver.arm.arm import Arm
from lanelab.driver.link import Link
from lanelab.driver.record.evidence.browser import Request, Timings
from lanelab.driver.record.evidence.page_load import PageLoadEvidence
from lanelab.driver.record.evidence.server import ServedRequest, ServerLog
from lanelab.driver.trial.packets.timeline import ACK, SYN, Datagram, Packet, Stream, Timeline
from lanelab.driver.trial.parts.decompose import Loaded
from tests.kit.records import browser, record

MS, S = 1_000_000, 1_000_000_000
EPOCH = 1_790_000_000 * S
SEGMENT, HEADERS = 1448, 66
TIME_OUT = 200 * MS
CLIENT, SERVER = "10.10.1.2", "10.10.2.2"
Lost = tuple[int, int]  # connection, number of its packet with data from the server, first copies only


@dataclass
class Page:
    """What is loaded, and over what."""

    rate: int = 10_000_000
    rtt_ms: float = 100
    window: int = 10  # packets at first
    sizes: Sequence[int] = (14_000, 40_000, 40_000, 40_000)  # the page itself, then what it asks for
    connections: int = 1
    keepalive: bool = True
    tls: bool = False
    dns_ms: float = 0
    server_ms: float = 0  # for each answer
    record: int = 1  # bytes of an answer that must be there before the client knows of it
    parse_ms: float = 20  # between the page and what it asks for
    turn_ms: float = 0  # between an answer and the next request on its connection
    finish_ms: float = 5  # between the last byte and the load event
    before_ms: float = 4  # between the asking and the first packet
    lost: frozenset[Lost] = frozenset()
    lost_syn: bool = False  # the first one
    told_late_ms: float = 0  # by which clock of the browser is ahead


@dataclass
class Told:
    """A request as the browser saw it."""

    number: int
    connection: int
    port: int
    began: int
    sent: int = 0
    first: int = 0
    ended: int = 0


@dataclass
class Connection:
    """Both ends of one."""

    number: int
    stream: Stream
    window: float
    queue: list[tuple[int, int]] = field(default_factory=list)  # at the server: (begin, end) of packets to send
    written: int = 0  # bytes that the server was given
    flying: dict[int, int] = field(default_factory=dict)  # begin -> end
    acknowledged: int = 0
    repeated: int = 0  # acknowledgements of the same
    timer: int = 0
    sent_packets: int = 0
    ip_id: int = 100
    received: int = 0  # at the client, without a hole
    ahead: dict[int, int] = field(default_factory=dict)
    up: int = 1
    waiting: list[tuple[int, Callable[[], None], Callable[[], None]]] = field(
        default_factory=list
    )  # (byte, first, all)
    limit: float = 1e9  # of slow start


class Simulation:
    """One load."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.half = round(page.rtt_ms * MS / 2)
        self.events: list[tuple[int, int, Callable[[], None]]] = []
        self.counter = itertools.count()
        self.now = 0
        self.free = 0  # when the bottleneck is
        self.told: list[Told] = []
        self.connections: list[Connection] = []
        self.timeline = Timeline()
        self.numbers = itertools.count(1)
        self.pending = list(range(1, len(page.sizes)))

    def load(self) -> Loaded:
        self.at(round(self.page.before_ms * MS), self._begin)
        while self.events:
            self.now, _, do = heapq.heappop(self.events)
            do()
        for stream in self.timeline.streams:
            stream.packets.sort(key=lambda packet: packet.at_ns)
        return self._loaded()

    def at(self, moment: int, do: Callable[[], None]) -> None:
        heapq.heappush(self.events, (moment, next(self.counter), do))

    # --- the browser

    def _begin(self) -> None:
        dns = round(self.page.dns_ms * MS)
        if dns:
            for up, at in ((True, self.now), (False, self.now + dns)):
                self.timeline.datagrams.append(Datagram(0, EPOCH + at, up, 80, 5000, SERVER, 53, 0, 38, bytes(38)))
        self.at(self.now + dns, lambda: self._open(lambda one: self._ask(one, 0, self._parsed)))

    def _parsed(self, connection: Connection) -> None:
        def then() -> None:
            others = self.page.connections - (1 if self.page.keepalive else 0)
            if self.page.keepalive:
                self._next(connection)
            for _ in range(min(others, len(self.pending))):
                self._open(self._next)

        self.at(self.now + round(self.page.parse_ms * MS), then)

    def _next(self, connection: Connection) -> None:
        if self.pending:
            self._ask(connection, self.pending.pop(0), self._done)

    def _done(self, connection: Connection) -> None:
        if self.page.keepalive:
            self.at(self.now + round(self.page.turn_ms * MS), lambda: self._next(connection))
        elif self.pending:
            self._open(self._next)

    def _open(self, ready: Callable[[Connection], None]) -> None:
        number = len(self.connections)
        port = 443 if self.page.tls else 80
        stream = Stream((CLIENT, 40_000 + number), (SERVER, port))
        one = Connection(number, stream, self.page.window)
        self.connections.append(one)
        self.timeline.streams.append(stream)
        self._seen(one, up=True, seq=0, flags=SYN)
        delay = 0
        if self.page.lost_syn and number == 0:
            delay = S
            self.at(self.now + S, lambda: self._seen(one, up=True, seq=0, flags=SYN))

        def opened() -> None:
            self._seen(one, up=False, seq=0, flags=SYN | ACK, ip_id=0)
            self._hello(one, ready) if self.page.tls else ready(one)

        self.at(self.now + delay + 2 * self.half, opened)

    def _hello(self, one: Connection, ready: Callable[[Connection], None]) -> None:
        self._up(one, 250)

        def finished() -> None:
            self._up(one, 74)
            ready(one)

        self.at(self.now + self.half, lambda: self._write(one, 2000, lambda: None, finished))

    def _ask(self, one: Connection, number: int, done: Callable[[Connection], None]) -> None:
        told = Told(number, one.number, one.stream.client[1], self.now, self.now)
        self.told.append(told)
        self._up(one, 300)

        def first() -> None:
            told.first = self.now

        def whole() -> None:
            told.ended = self.now
            done(one)

        size = self.page.sizes[number]
        wait = self.half + round(self.page.server_ms * MS)
        self.at(self.now + wait, lambda: self._write(one, size, first, whole))

    # --- TCP

    def _up(self, one: Connection, size: int) -> None:
        self._seen(one, up=True, seq=one.up, flags=ACK, payload=size)
        one.up += size

    def _seen(
        self,
        one: Connection,
        *,
        up: bool,
        seq: int,
        flags: int,
        payload: int = 0,
        ip_id: int = 0,
        at: int | None = None,
    ) -> None:
        moment = EPOCH + (self.now if at is None else at)
        packet = Packet(next(self.numbers), moment, up, HEADERS + payload, seq, one.received + 1, payload, flags, 65000,
                        ip_id, None, None, sacks=False)  # fmt: skip
        one.stream.packets.append(packet)

    def _write(self, one: Connection, size: int, first: Callable[[], None], whole: Callable[[], None]) -> None:
        begin = one.written
        one.written += size
        one.waiting += [(begin + min(size, self.page.record), first, lambda: None), (one.written, lambda: None, whole)]
        one.queue += [(at, min(at + SEGMENT, one.written)) for at in range(begin, one.written, SEGMENT)]
        self._send(one)

    def _send(self, one: Connection) -> None:
        while one.queue and len(one.flying) < int(one.window):
            begin, end = one.queue.pop(0)
            one.flying[begin] = end
            self._transmit(one, begin, end)
        self._restart(one)

    def _restart(self, one: Connection) -> None:
        one.timer += 1
        timer = one.timer
        if one.flying:
            self.at(self.now + 2 * self.half + TIME_OUT + 100 * MS, lambda: self._time_out(one, timer))

    def _time_out(self, one: Connection, timer: int) -> None:
        if timer != one.timer or not one.flying:
            return
        one.limit, one.window = max(2, one.window / 2), 1
        begin = min(one.flying)
        self._transmit(one, begin, one.flying[begin])
        self._restart(one)

    def _transmit(self, one: Connection, begin: int, end: int) -> None:
        one.ip_id += 1
        ip_id, number = one.ip_id, one.sent_packets
        one.sent_packets += 1
        size = HEADERS + end - begin
        self.free = max(self.now, self.free) + size * 8 * S // self.page.rate
        if (one.number, number) not in self.page.lost:
            self.at(self.free + self.half, lambda: self._arrived(one, begin, end, ip_id))

    def _arrived(self, one: Connection, begin: int, end: int, ip_id: int) -> None:
        self._seen(one, up=False, seq=begin + 1, flags=ACK, payload=end - begin, ip_id=ip_id)
        one.ahead[begin] = end
        while one.received in one.ahead:
            one.received = one.ahead.pop(one.received)
        self._seen(one, up=True, seq=one.up, flags=ACK)
        received = one.received
        self.at(self.now + self.half, lambda: self._acknowledged(one, received))
        while one.waiting and one.waiting[0][0] <= one.received:
            _, first, whole = one.waiting.pop(0)
            first()
            whole()

    def _acknowledged(self, one: Connection, received: int) -> None:
        if received == one.acknowledged:
            one.repeated += 1
            if one.repeated == 3 and one.flying:
                one.limit = one.window = max(2, one.window / 2)
                begin = min(one.flying)
                self._transmit(one, begin, one.flying[begin])
            return
        new = [begin for begin in one.flying if begin < received]
        one.window += len(new) if one.window < one.limit else len(new) / one.window
        for begin in new:
            del one.flying[begin]
        one.acknowledged, one.repeated = received, 0
        self._send(one)

    # --- what is told of it

    def _loaded(self) -> Loaded:
        end = max(told.ended for told in self.told)
        plt = end / MS + self.page.finish_ms
        zero = round(self.page.before_ms * MS) - MS  # the first request began a little before its first packet
        told = EPOCH + round(self.page.told_late_ms * MS)
        data = browser(plt, plt - 2) | {
            "clock": {"asked": told // 1000, "navigation": (told + MS) // 1000, "first_request": (told + zero) // 1000}
        }
        page, first = self.page, min(each.began for each in self.told)
        port = 443 if page.tls else 80
        logged = ServerLog("", "", (), tuple(_served(each, port) for each in self.told))
        sound: dict[str, Any] = record(Arm.parse("native", {}))["evidence"]
        evidence = replace(
            PageLoadEvidence.from_json({**sound, "browser": data, "packets": {}, "capture": {}}), server=logged
        )
        requests = [_request(each, zero, first) for each in self.told]
        link = {"rate": f"{page.rate}bit", "rtt": f"{page.rtt_ms:g}ms", "queue": "1000p"}
        return Loaded(requests, evidence, self.timeline, Link.parse(link))


def _served(told: Told, port: int) -> ServedRequest:
    return ServedRequest(
        began_us=(EPOCH + told.sent) // 1000, duration_us=0, host="a.test", method="GET", path=f"/{told.number}",
        status=200, body_bytes=0, sent_bytes=0, received_bytes=0, protocol="HTTP/1.1",
        remote=f"{CLIENT}:{told.port}", local=f"{SERVER}:{port}", keepalives=0, connection="+", encoding=None, tls=None,
        tls_resumed=None, spdy=None, match=None,
    )  # fmt: skip


def _request(told: Told, zero: int, first: int) -> Request:
    """Times from the first one's start. What lies before the sending is blocked."""
    wait, receive = (told.first - told.sent) / MS, (told.ended - told.first) / MS
    began = 0.0 if told.began == first else (told.began - zero) / MS
    blocked = (told.sent - zero) / MS - began
    return Request(
        url=f"http://a.test/{told.number}", method="GET", status=200, type="Other", mime="", protocol="http/1.1",
        connection=100 + told.connection, reused=False, priority="", remote=f"{SERVER}:80", from_cache=False,
        started_ms=began, ended_ms=(told.ended - zero) / MS, timings=Timings(blocked, -1, -1, -1, 0, wait, receive),
        request_headers=(), response_headers=(), request_header_bytes=0, response_header_bytes=0, body_bytes=0,
        wire_bytes=0, error=None, tls=None, initiator="", before_load=True, wire=None,
    )  # fmt: skip
