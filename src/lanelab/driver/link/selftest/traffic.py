"""Sends the planned traffic between two nodes and brings back what was seen."""

import itertools
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from lanelab.driver.base.errors import NodeError
from lanelab.driver.bed.node import Command, Node, Process, Stdio
from lanelab.driver.link.arrivals import Arrivals
from lanelab.driver.link.selftest.plan import PING_FRAME, Pings, Train

PROBE = Path(__file__).resolve().parents[2] / "bed" / "remote" / "probe.py"
TRAINS = itertools.count(1)
ECHO_PORT, SINK_PORT, TCP_PORT, FILL_PORT = 7007, 7009, 7011, 7013
SILENCE_S = 1.0  # beyond a transfer and a round trip: then it has ended


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


class Probe:
    """One of the probe's programs on a node."""

    def __init__(self, node: Node, *words: object) -> None:
        self._node, self._what = node, " ".join(map(str, words))
        source, self._stdin = os.pipe()
        stdout, sink = os.pipe()
        try:
            command = Command([*node.python, node.program_of_ours(PROBE), *map(str, words)])
            self._process: Process = node.spawn(command, Stdio(source, sink, sink))
        except BaseException:
            os.close(self._stdin)
            os.close(stdout)
            raise
        finally:
            os.close(source)
            os.close(sink)
        self._output: IO[str] = os.fdopen(stdout)

    def __enter__(self) -> "Probe":
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self._process.signal(9)
        self.end()

    def ready(self) -> None:
        self.result()

    def result(self) -> Any:  # noqa: ANN401 - what a program says is its own
        line = self._output.readline()
        try:
            return json.loads(line)
        except ValueError:
            output = (line + self._output.read()).strip().splitlines()
            why = output[-1].strip() if output else "it said nothing"  # of a traceback, the last line
            raise NodeError(f"on {self._node.name}, the probe '{self._what}' failed: {why}") from None

    def end(self) -> None:
        os.close(self._stdin)
        self._process.wait()
        self._output.close()


def ping(client: Node, server: Node, address: str, pings: Pings) -> tuple[int, list[float]]:
    """How many were sent, and the round trips in ms."""
    pinged = ping_ways(client, server, address, pings)
    return pinged.sent, pinged.round_trips_ms


def ping_ways(client: Node, server: Node, address: str, pings: Pings, mtu: int = 0) -> Pinged:
    """Round trips by direction; with an `mtu`, also how long a packet passes."""
    with Probe(server, "echo", ECHO_PORT) as echo:
        echo.ready()
        with Probe(client, "ping", address, ECHO_PORT, pings.count, pings.gap_us, PING_FRAME, mtu) as probe:
            answer = probe.result()
    return Pinged(
        answer["sent"], tuple((outward / 1e6, back / 1e6) for outward, back in answer["ways_ns"]), answer["mtu"]
    )


def send(sender: Node, receiver: Node, address: str, train: Train, linger_s: float) -> Arrivals:
    """One train one way; what the link may have held back for `linger_s` is waited for."""
    number = next(TRAINS)
    words = (number, train.count, train.gap_us, train.frame, train.burst, train.catch_up)
    with Probe(receiver, "sink", SINK_PORT, number, linger_s) as sink:
        sink.ready()
        with Probe(sender, "send", address, SINK_PORT, *words) as source:
            took_s = source.result()["took_s"]
            seen = sink.result()
    packets = tuple((number, sent, arrived) for number, sent, arrived in seen["packets"])
    return Arrivals(train.count, packets, seen["dropped_here"], took_s, train.gap_us / 1e6)


@dataclass(frozen=True, slots=True)
class Filled:
    """A TCP transfer that sent as much as it could. `flight`: packets under way `looked_s` after the handshake, when
    everything had been handed to the kernel; `reads`: (seconds since the first, bytes so far) at the receiver;
    `samples`: (seconds, smoothed round trip in ms, packets sent once more)."""

    handshake_s: float
    mss: int
    flight: int
    looked_s: float
    reads: tuple[tuple[float, int], ...]
    samples: tuple[tuple[float, float, int], ...]


def fill(sender: Node, receiver: Node, address: str, seconds: float, rtt_s: float = 0.0) -> Filled:
    """With reno, which every kernel has: it fills a queue until it overflows."""
    with Probe(receiver, "fill-sink", FILL_PORT, seconds + rtt_s + SILENCE_S) as sink:
        sink.ready()
        with Probe(sender, "fill", address, FILL_PORT, seconds, "reno") as source:
            sent = source.result()
            marks = sink.result()["marks"]
    began = marks[0][0] if marks else 0.0
    return Filled(
        handshake_s=float(sent["handshake_s"]),
        mss=int(sent["mss"]),
        flight=int(sent["flight"]),
        looked_s=float(sent["looked_s"]),
        reads=tuple((float(when) - began, int(count)) for when, count in marks),
        samples=tuple((float(at), us / 1000, int(again)) for at, us, again in sent["samples"]),
    )


def tcp(sender: Node, receiver: Node, address: str, seconds: float) -> list[tuple[float, int]]:
    """Return a TCP transfer: (time in s, bytes so far) as the receiver saw it."""
    with Probe(receiver, "tcp-sink", TCP_PORT) as sink:
        sink.ready()
        with Probe(sender, "tcp-send", address, TCP_PORT, seconds) as source:
            source.result()
            return [(float(when), int(count)) for when, count in sink.result()["marks"]]
