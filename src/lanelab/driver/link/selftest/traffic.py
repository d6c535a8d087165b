"""Sends the planned traffic between two nodes and brings back what was seen."""

import itertools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple, TypedDict

from lanelab.driver.bed.addresses import ADDRESSES
from lanelab.driver.bed.node import Node
from lanelab.driver.link.arrivals import Arrivals
from lanelab.driver.link.selftest.plan import PING_FRAME, Flights, Pings, Train
from lanelab.driver.link.selftest.session import Session

TRAINS = itertools.count(1)
ECHO_PORT, TCP_PORT, FILL_PORT, FLIGHTS_PORT = 7007, 7011, 7013, 7017
SINK_PORT, SINKS = 7020, 16  # one train's last packets may be on their way when the next one begins
SILENCE_S = 1.0  # beyond a transfer and a round trip: then it has ended
QUIET_S = 0.15  # within which the next packet of a flight comes


class Probes(NamedTuple):
    """A probe at either end of a link that is measured."""

    client: Session
    server: Session

    def of(self, way: str) -> "Path":
        """Return the way "down" or "up"."""
        sender, receiver = (self.server, self.client) if way == "down" else (self.client, self.server)
        return Path(sender, receiver, ADDRESSES[receiver.name])


class Path(NamedTuple):
    """One way over a link, and the receiver's address."""

    sender: Session
    receiver: Session
    address: str


@contextmanager
def probes(client: Node, server: Node) -> Iterator[Probes]:
    """Start a probe on either node."""
    with Session(client) as of_client, Session(server) as of_server:
        yield Probes(of_client, of_server)


@dataclass(frozen=True, slots=True)
class Pinged:
    """Answered pings: (time there, time back) in ms; if the clocks differ, off by as much in opposite ways. `mtu`: the
    longest packet that passed of those that were tried."""

    sent: int
    ways_ms: tuple[tuple[float, float], ...]
    mtu: int | None

    @property
    def round_trips_ms(self) -> list[float]:
        return [outward + back for outward, back in self.ways_ms]


class PingsUnderWay:
    """Pings from client to server and back; with an `mtu`, also how long a packet passes."""

    def __init__(self, both: Probes, address: str, pings: Pings, mtu: int = 0) -> None:
        self._echo = both.server.begin("echo", address, ECHO_PORT)
        self._echo.result()
        self._program = both.client.begin("ping", address, ECHO_PORT, pings.count, pings.gap_us, PING_FRAME, mtu)
        self._program.result()

    def result(self) -> Pinged:
        """Wait until all are answered, or no answer is to be expected any more."""
        answer = self._program.result()
        self._echo.go()
        ways_ms = tuple((outward / 1e6, back / 1e6) for outward, back in answer["ways_ns"])
        return Pinged(answer["sent"], ways_ms, answer["mtu"])


def ping_ways(both: Probes, pings: Pings, mtu: int = 0) -> Pinged:
    """Return round trips by direction; with an `mtu`, also how long a packet passes."""
    return PingsUnderWay(both, ADDRESSES["server"], pings, mtu).result()


def ping(client: Node, server: Node, pings: Pings) -> tuple[int, list[float]]:
    """How many were sent, and the round trips in ms."""
    with probes(client, server) as both:
        pinged = ping_ways(both, pings)
    return pinged.sent, pinged.round_trips_ms


class TrainUnderWay:
    """One train one way."""

    def __init__(self, path: Path, train: Train, linger_s: float) -> None:
        """Begin to send. What the link may have held back for `linger_s` is waited for at its end."""
        number = next(TRAINS)
        port = SINK_PORT + number % SINKS
        self._train = train
        self._sink = path.receiver.begin("sink", port, number, linger_s)
        self._sink.result()
        paced = (train.count, train.gap_us, train.frame, train.burst, train.catch_up, train.lead, train.lead_gap_us)
        self._source = path.sender.begin("send", path.address, port, number, *paced)
        self._took_s: float | None = None
        self._arrived: Arrivals | None = None

    def sent(self) -> float:
        """Wait until all is sent; return how long that took, in seconds."""
        if self._took_s is None:
            self._took_s = float(self._source.result()["took_s"])
        return self._took_s

    def arrivals(self) -> Arrivals:
        """Wait until all has arrived."""
        if self._arrived is None:
            took_s, seen = self.sent(), self._sink.result()
            packets = tuple((number, sent, arrived) for number, sent, arrived in seen["packets"])
            gap_s = self._train.gap_us / 1e6
            self._arrived = Arrivals(self._train.count, packets, seen["dropped_here"], took_s, gap_s)
        return self._arrived


def send(path: Path, train: Train, linger_s: float) -> Arrivals:
    return TrainUnderWay(path, train, linger_s).arrivals()


@dataclass(frozen=True, slots=True)
class FirstFlight:
    """The first flight of a TCP connection. `flight`: packets under way `looked_s` after everything had been handed to
    the kernel; `reads`: (seconds since the first, bytes so far) at the receiver."""

    mss: int
    flight: int
    looked_s: float
    reads: tuple[tuple[float, int], ...]


@dataclass(frozen=True, slots=True)
class Flown:
    """First flights of several connections, one behind the other. `waits_s`: of each connection, how much longer its
    last packet that surely was sent once took than the very first one; None: none came."""

    first: FirstFlight
    waits_s: tuple[float | None, ...]


class FlightsUnderWay:
    """First flights of TCP connections one way, sent when `go` is called. With reno, which every kernel has."""

    def __init__(self, path: Path, flights: Flights) -> None:
        """Connect."""
        self._plan = flights
        self._sink = path.receiver.begin("flights-sink", FLIGHTS_PORT, flights.count, flights.hold_s + QUIET_S)
        self._sink.result()
        timing = (flights.count, flights.window, flights.gap_us, flights.hold_s, "reno")
        self._source = path.sender.begin("flights", path.address, FLIGHTS_PORT, *timing)

    def connected(self) -> None:
        self._source.result()

    def go(self) -> None:
        self._source.go()

    def result(self) -> Flown:
        """Wait until all has arrived."""
        first, marks = self._source.result(), self._sink.result()
        sent = [(str(port), int(at)) for port, at in first["sent"]]
        reads = [[(int(at), int(count)) for at, count in marks[port]] for port, _ in sent]
        return flown(self._plan.window, first, [at for _, at in sent], reads)


class FirstSent(TypedDict):
    """The first connection, as its sender's kernel describes it."""

    mss: int
    flight: int
    looked_s: float


def flown(window: int, first: FirstSent, sent: Sequence[int], reads: Sequence[Sequence[tuple[int, int]]]) -> Flown:
    """Return flights out of when each connection's was sent, and when how many of its bytes had arrived (ns)."""
    last = max(1, window - 1) * first["mss"]  # a flight's very last packet may have been sent again, as a probe
    arrived = [max((at for at, count in each if count <= last), default=None) for each in reads]
    began = reads[0][0][0] if reads[0] else 0
    shortest = began - sent[0]
    waits = (None if at is None else (at - left - shortest) / 1e9 for at, left in zip(arrived, sent, strict=True))
    seen = tuple(((at - began) / 1e9, count) for at, count in reads[0])
    return Flown(FirstFlight(first["mss"], first["flight"], first["looked_s"], seen), tuple(waits))


@dataclass(frozen=True, slots=True)
class Filled:
    """A TCP transfer that sent as much as it could. `samples`: (seconds, smoothed round trip in ms, packets sent once
    more)."""

    first: FirstFlight
    samples: tuple[tuple[float, float, int], ...]


def fill(path: Path, seconds: float, rtt_s: float = 0.0) -> Filled:
    """With reno, which every kernel has: it fills a queue until it overflows."""
    sink = path.receiver.begin("fill-sink", FILL_PORT, seconds + rtt_s + SILENCE_S)
    sink.result()
    sent = path.sender.begin("fill", path.address, FILL_PORT, seconds, "reno").result()
    marks = sink.result()["marks"]
    began = marks[0][0] if marks else 0.0
    reads = tuple((float(when) - began, int(count)) for when, count in marks)
    return Filled(
        first=FirstFlight(int(sent["mss"]), int(sent["flight"]), float(sent["looked_s"]), reads),
        samples=tuple((float(at), us / 1000, int(again)) for at, us, again in sent["samples"]),
    )


def tcp(path: Path, seconds: float) -> list[tuple[float, int]]:
    """Return a TCP transfer: (time in s, bytes so far) as the receiver saw it."""
    sink = path.receiver.begin("tcp-sink", TCP_PORT)
    sink.result()
    path.sender.begin("tcp-send", path.address, TCP_PORT, seconds).result()
    return [(float(when), int(count)) for when, count in sink.result()["marks"]]
