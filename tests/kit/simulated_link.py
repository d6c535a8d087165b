"""Page loads over a link, packet by packet: what captures at both ends of it would show. Exact, and without noise
unless a test asks for some."""

import heapq
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from lanelab.driver.base.units import NS_PER_S
from lanelab.driver.link import Link
from lanelab.driver.trial.packets.timeline import ACK, SYN, Packet, Stream, Timeline

CLIENT, SERVER = "10.10.1.2", "10.10.2.2"
BARE, SYN_OPTIONS, OPTIONS = 54, 20, 12  # Ethernet, IP and TCP; options of a SYN, and of all others
MS = 1_000_000
Late = Callable[[int, bool], int]  # number of a packet, whether it goes up -> ns by which the router is late
Lost = Callable[[int, bool], bool]


def punctual(_number: int, _up: bool) -> int:
    return 0


def none_lost(_number: int, _up: bool) -> bool:
    return False


@dataclass
class Host:
    """One end of a connection: it sends what its window allows, and acknowledges each packet."""

    window: int
    to_send: int = 0
    sent: int = 0
    heard: int = 0  # bytes that are acknowledged
    expected: int = 0
    newest: int = 0  # timestamp of what came in order, which it echoes
    ahead: dict[int, int] = field(default_factory=dict)  # what came out of order: where, how long


@dataclass
class Load:
    """Connections that each fetch so many bytes."""

    link: Link
    sizes: tuple[int, ...] = (300_000, 300_000, 300_000)
    request: int = 400
    apart_ns: int = 3 * MS  # between the beginnings of two connections
    late: Late = punctual
    lost: Lost = none_lost
    window: int | None = None  # that the hosts really have
    mss: int | None = None
    made: Link | None = None  # what the link really is
    servers: Sequence[str] = ()  # the address that each connection goes to; none: all to one
    stalls: Sequence[tuple[int, int]] = ()  # ns: from when to when the router stands still; then it catches up

    def __post_init__(self) -> None:
        self.real = self.made or self.link
        self.client, self.server = Timeline(), Timeline()
        self._events: list[tuple[int, int, Callable[[], None]]] = []
        self._order, self._numbers, self._ids = itertools.count(), itertools.count(1), itertools.count(1)
        self._busy = {True: 0, False: 0}
        self._waiting: dict[bool, list[int]] = {True: [], False: []}
        self._arrived: dict[tuple[bool, str], int] = {}
        self.dropped = {True: 0, False: 0}
        for number, size in enumerate(self.sizes):
            _Connection(self, 40_000 + number, size, 10 * MS + number * self.apart_ns)
        while self._events:
            self.now, _, do = heapq.heappop(self._events)
            do()
        for timeline in (self.client, self.server):
            _number(timeline)

    def at(self, ns: int, do: Callable[[], None]) -> None:
        heapq.heappush(self._events, (ns, next(self._order), do))

    def through(self, packet: Packet, near: Stream, far: Stream, then: Callable[[Packet], None]) -> bool:
        """Send a packet; False where it is lost."""
        address = near.server[0]
        to_host, up = self.real.to_address(address), packet.up
        way = to_host.up if packet.up else to_host.down
        number = next(self._numbers)
        packet = packet._replace(number=number, at_ns=self.now, ip_id=next(self._ids) & 0xFFFF)
        near.packets.append(packet)
        waiting = self._waiting[up] = [done for done in self._waiting[up] if done > self.now]
        if way.queue_packets is not None and len(waiting) >= way.queue_packets:
            self.dropped[up] += 1
            return False
        took = packet.frame_bytes * 8 * NS_PER_S // way.rate.bps if way.rate else 0
        self._busy[up] = max(self._busy[up], self.now) + took
        waiting.append(self._busy[up])
        if self.lost(number, up):
            return False
        arrives = max(self._busy[up] + way.delay.ns + self.late(number, up), self._arrived.get((up, address), 0))
        arrives = max([arrives, *(end for begin, end in self.stalls if begin <= arrives < end)])
        self._arrived[up, address] = arrives

        def arrive() -> None:
            far.packets.append(packet._replace(at_ns=arrives))
            then(packet)

        self.at(arrives, arrive)
        return True


def _number(timeline: Timeline) -> None:
    """Packets in the order in which this end saw them, numbered by it, as in a capture."""
    seen = sorted((packet.at_ns, packet.number) for stream in timeline.streams for packet in stream.packets)
    numbers = {sent: number for number, (_, sent) in enumerate(seen, 1)}
    for stream in timeline.streams:
        stream.packets.sort(key=lambda packet: (packet.at_ns, packet.number))
        stream.packets[:] = [packet._replace(number=numbers[packet.number]) for packet in stream.packets]


class _Connection:
    def __init__(self, load: Load, port: int, size: int, begins_ns: int) -> None:
        self.load = load
        server = load.servers[port - 40_000] if load.servers else SERVER
        self.near, self.far = (Stream((CLIENT, port), (server, 80)) for _ in range(2))
        load.client.streams.append(self.near)
        load.server.streams.append(self.far)
        window = load.window
        self.hosts = {
            True: Host(window or load.real.client.initial_window),
            False: Host(window or load.real.server.initial_window),
        }
        self.mss = load.mss or load.real.mtu - 40
        self.segment = self.mss - OPTIONS
        self.stamped = load.real.client.timestamps and load.real.server.timestamps
        self.size = size
        load.at(begins_ns, lambda: self._send(True, 0, 0, SYN))

    def _send(self, up: bool, seq: int, payload: int, flags: int = ACK) -> None:
        own = self.hosts[up]
        size = BARE + payload + (SYN_OPTIONS if flags & SYN else OPTIONS)
        stamp = (self.load.now // MS, own.newest) if self.stamped else None
        packet = Packet(
            0, 0, up, size, seq, own.expected, payload, flags, 500, 0, stamp, self.mss if flags & SYN else None, False
        )
        ends = (self.near, self.far) if up else (self.far, self.near)
        if not self.load.through(packet, *ends, self._take):  # acknowledgements too, or nobody would go on
            again = self.load.now + 3 * self.load.real.rtt.ns // 2 + 30 * MS
            self.load.at(again, lambda: self._send(up, seq, payload, flags))

    def _take(self, packet: Packet) -> None:
        own, other = self.hosts[not packet.up], self.hosts[packet.up]
        if packet.timestamp and packet.seq <= own.expected:
            own.newest = max(own.newest, packet.timestamp[0])
        if packet.flags & SYN:
            own.expected, own.sent, other.sent = 1, max(own.sent, 0), 1
            if packet.up:
                self._send(False, 0, 0, SYN | ACK)
            else:
                own.sent = 1
                self._send(True, 1, 0)
                own.to_send = self.load.request
                self._go_on(True)
            return
        heard = max(0, packet.ack - own.heard)
        if heard and own.sent > 1:
            own.window += -(-heard // self.segment)
        own.heard = max(own.heard, packet.ack)
        if packet.payload:
            self._data(packet, own)
        self._go_on(not packet.up)

    def _data(self, packet: Packet, own: Host) -> None:
        own.ahead[packet.seq] = packet.payload
        while own.expected in own.ahead:
            own.expected += own.ahead.pop(own.expected)
        if packet.up:
            self.hosts[False].to_send += self.size
        self._send(not packet.up, own.sent, 0)

    def _go_on(self, up: bool) -> None:
        own = self.hosts[up]
        while own.to_send and own.sent - max(own.heard, 1) < own.window * self.segment:
            payload = min(self.segment, own.to_send)
            own.to_send -= payload
            seq, own.sent = own.sent, own.sent + payload
            self._send(up, seq, payload)


def links(**more: str) -> Iterator[Link]:
    yield Link.parse({"rtt": "20ms", "rate": "10mbit", "queue": "1000p", **more})
