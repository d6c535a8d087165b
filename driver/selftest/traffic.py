"""Sends the planned traffic between two nodes and brings back what was seen."""

from __future__ import annotations

import itertools
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from driver.bed.node import Command, Node, Process, Stdio
from driver.errors import NodeError
from driver.selftest.plan import PING_FRAME, Pings, Train

PROBE = Path(__file__).resolve().parents[1] / "bed" / "probe.py"
TRAINS = itertools.count(1)
ECHO_PORT, SINK_PORT, TCP_PORT = 7007, 7009, 7011


@dataclass(frozen=True, slots=True)
class Seen:
    """A train as its receiver saw it: (number, sent, arrived), times in ns. The clocks of sender and receiver may
    differ by a constant."""

    sent: int
    packets: tuple[tuple[int, int, int], ...]
    dropped_here: int  # by the receiver, not by the link

    @property
    def once(self) -> list[tuple[int, int, int]]:
        """Each packet's first arrival."""
        first: dict[int, tuple[int, int, int]] = {}
        for packet in self.packets:
            first.setdefault(packet[0], packet)
        return list(first.values())


class Probe:
    """One of the probe's programs on a node."""

    def __init__(self, node: Node, *words: object) -> None:
        self._node, self._what = node, " ".join(map(str, words))
        source, self._stdin = os.pipe()
        stdout, sink = os.pipe()
        try:
            command = Command([*node.python, str(PROBE), *map(str, words)])
            self._process: Process = node.spawn(command, Stdio(source, sink, sink))
        except BaseException:
            os.close(self._stdin)
            os.close(stdout)
            raise
        finally:
            os.close(source)
            os.close(sink)
        self._output: IO[str] = os.fdopen(stdout)

    def ready(self) -> None:
        self._line()

    def _line(self) -> Any:  # noqa: ANN401 - what a program says is its own
        line = self._output.readline()
        try:
            return json.loads(line)
        except ValueError:
            said = (line + self._output.read()).strip().replace("\n", "; ")
            raise NodeError(f"on {self._node.name}, the probe '{self._what}' failed: {said}") from None

    def result(self) -> dict[str, Any]:
        answer: dict[str, Any] = self._line()
        self.end()
        return answer

    def end(self) -> None:
        os.close(self._stdin)
        self._process.wait()
        self._output.close()

    def kill(self) -> None:
        self._process.signal(9)
        self.end()


def ping(client: Node, server: Node, address: str, pings: Pings) -> tuple[int, list[float]]:
    """How many were sent, and the round trips in ms."""
    echo = Probe(server, "echo", ECHO_PORT)
    try:
        echo.ready()
        answer = Probe(client, "ping", address, ECHO_PORT, pings.count, pings.gap_us, PING_FRAME).result()
    finally:
        echo.end()
    return answer["sent"], [value / 1e6 for value in answer["round_trips_ns"]]


def send(sender: Node, receiver: Node, address: str, train: Train) -> Seen:
    """One train one way."""
    number = next(TRAINS)
    sink = Probe(receiver, "sink", SINK_PORT, number)
    try:
        sink.ready()
        words = (number, train.count, train.gap_us, train.frame, train.burst)
        Probe(sender, "send", address, SINK_PORT, *words).result()
    except BaseException:
        sink.kill()
        raise
    seen = sink.result()
    return Seen(train.count, tuple((n, s, a) for n, s, a in seen["packets"]), seen["dropped_here"])


def tcp(sender: Node, receiver: Node, address: str, seconds: float) -> list[tuple[float, int]]:
    """A TCP transfer: (time in s, bytes so far) as the receiver saw it."""
    sink = Probe(receiver, "tcp-sink", TCP_PORT)
    try:
        sink.ready()
        Probe(sender, "tcp-send", address, TCP_PORT, seconds).result()
    except BaseException:
        sink.kill()
        raise
    return [(float(when), int(count)) for when, count in sink.result()["marks"]]
