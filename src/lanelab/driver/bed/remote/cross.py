"""Cross traffic between two nodes: bulk TCP flows, and small packets that tell how long a queue is.

    cross.py send PORT RECEIVER FLOWS CONTROL   answers small packets; at "start" opens the flows and fills them
    cross.py receive PORT SENDER FLOWS          sends small packets, tells the quickest round trip, then takes the flows

Each says in a line of its own when it is ready, and reads words from its stdin: "start" (the sender), "begin" and "end"
of the load.
After "end" it prints what it saw as one JSON object. Times are its own, from "begin" on. It ends with its stdin.
Standard library only: it runs on any node with Python.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import socket
import struct
import sys
import time
from collections.abc import Callable
from typing import TypedDict

PORT = 7015
GAP_S = 0.05
BASE_COUNT, BASE_GAP_S, BASE_WAIT_S, BASE_ENOUGH = 20, 0.01, 30.0, 5
BLOCK = 1 << 18
TCP_CONGESTION = 13
SMOOTHED_RTT, CWND, TOTAL_RETRANS = 15, 18, 23  # in struct tcp_info, behind its first eight bytes
PROBE = struct.Struct("!Id")
MOST_PROBES = 200_000


class FlowReport(TypedDict):
    """A flow, as its sender has it."""

    control: str
    retransmissions: int
    ended: bool


class SenderReport(TypedDict):
    """The words of the sender at the end."""

    flows: list[FlowReport]
    samples: list[tuple[float, int, int, int, int]]  # when, which flow, round trip in us, window, sent again


class ReceiverReport(TypedDict):
    """The words of the receiver at the end."""

    before: list[int]  # bytes of each flow, up to the load
    bytes: list[int]  # and in it
    load_s: float
    silence_s: float
    sent: int  # probes
    answers: list[tuple[float, float]]  # when, and the round trip in ms


def say(result: object) -> None:
    print(json.dumps(result), flush=True)


def tcp_info(connection: socket.socket) -> tuple[int, ...]:
    return struct.unpack("24I", connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)[8:])


class End:
    """One end of the traffic: a loop over sockets, a clock, and the words of its stdin."""

    def __init__(self) -> None:
        self.selector = selectors.DefaultSelector()
        self.selector.register(sys.stdin.fileno(), selectors.EVENT_READ, self.hear)
        self.began: float | None = None
        self.ended: float | None = None
        self.over = False
        self._heard = b""

    def run(self) -> None:
        while not self.over:
            for key, _ in self.selector.select(self.wait_s()):
                key.data()
            self.tick()

    def wait_s(self) -> float:
        return GAP_S

    def tick(self) -> None:
        """Do what is done again and again."""

    def hear(self) -> None:
        data = os.read(sys.stdin.fileno(), 4096)
        if not data:
            self.over = True
        *words, self._heard = (self._heard + data).split(b"\n")
        for word in words:
            self.obey(word.decode())

    def obey(self, word: str) -> None:
        if word == "begin":
            self.began = time.monotonic()
        elif word == "end":
            self.ended = time.monotonic()
            say(self.seen())

    def seen(self) -> object:
        raise NotImplementedError

    @property
    def is_loading(self) -> bool:
        return self.began is not None and self.ended is None


class Sender(End):
    def __init__(self, port: int, receiver: str, flows: int, control: str) -> None:
        super().__init__()
        self._target, self._count, self._control = (receiver, port), flows, control
        self._block = bytes(BLOCK)
        self._flows: list[socket.socket] = []
        self._open: set[int] = set()
        self._samples: list[tuple[float, int, int, int, int]] = []
        self._next = 0.0
        self._echo = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._echo.bind(("", port))
        self.selector.register(self._echo, selectors.EVENT_READ, self._answer)
        say({"ready": True})

    def obey(self, word: str) -> None:
        if word == "start":
            for number in range(self._count):
                self._begin(number)
            say({"flowing": True})
        super().obey(word)

    def _begin(self, number: int) -> None:
        flow = socket.socket()
        flow.setsockopt(socket.IPPROTO_TCP, TCP_CONGESTION, self._control.encode())  # ECN is asked for by some
        flow.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # at its end nothing stays behind
        flow.settimeout(30)
        flow.connect(self._target)
        flow.setsockopt(socket.IPPROTO_TCP, TCP_CONGESTION, self._control.encode())  # the route has named another one
        flow.setblocking(False)
        self._flows.append(flow)
        self._open.add(number)
        self.selector.register(flow, selectors.EVENT_WRITE, lambda: self._fill(number))

    def _fill(self, number: int) -> None:
        try:
            self._flows[number].send(self._block)
        except BlockingIOError:
            pass
        except OSError:
            self._open.discard(number)
            self.selector.unregister(self._flows[number])

    def _answer(self) -> None:
        data, address = self._echo.recvfrom(2048)
        with contextlib.suppress(OSError):
            self._echo.sendto(data, address)

    def tick(self) -> None:
        now = time.monotonic()
        if now < self._next or not self.is_loading:
            return
        self._next = now + GAP_S
        for number in self._open:
            info = tcp_info(self._flows[number])
            at = round(now - (self.began or now), 4)
            self._samples.append((at, number, info[SMOOTHED_RTT], info[CWND], info[TOTAL_RETRANS]))

    def seen(self) -> SenderReport:
        flows: list[FlowReport] = []
        for number, flow in enumerate(self._flows):
            used = flow.getsockopt(socket.IPPROTO_TCP, TCP_CONGESTION, 16).split(b"\0")[0].decode()
            again = tcp_info(flow)[TOTAL_RETRANS]
            flows.append({"control": used, "retransmissions": again, "ended": number not in self._open})
        return {"flows": flows, "samples": self._samples}


class Receiver(End):
    def __init__(self, port: int, sender: str, flows: int) -> None:
        super().__init__()
        self._probe = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._probe.connect((sender, port))
        self._probe.setblocking(False)
        self._sent, self._next = 0, 0.0
        self._sent_in_load = 0
        self._answers: list[tuple[float, float]] = []  # when it came, round trip
        self._reads: list[float] = []  # when the last bytes of any flow came
        self._bytes: list[int] = []
        self._before: list[int] = []
        self._last, self._silence = 0.0, 0.0
        self._server = socket.create_server(("", port), backlog=flows)
        self.idle_s = self._measure_idle()
        self.selector.register(self._probe, selectors.EVENT_READ, self._hear_probe)
        self.selector.register(self._server, selectors.EVENT_READ, self._accept)
        say({"idle_ms": self.idle_s * 1000})

    def _measure_idle(self) -> float:
        """Return the quickest round trip without the flows."""
        times: list[float] = []
        until, following = time.monotonic() + BASE_WAIT_S, 0.0
        sent = 0
        while len(times) < BASE_ENOUGH or sent < BASE_COUNT:
            now = time.monotonic()
            if now > until:
                raise TimeoutError("the other end answers nothing")
            if now >= following:
                self._send(now)
                sent, following = sent + 1, now + (BASE_GAP_S if sent < BASE_COUNT else GAP_S)
            with contextlib.suppress(OSError):
                times.append(self._answered())
            time.sleep(0.0005)
        return min(times)

    def _send(self, now: float) -> None:
        with contextlib.suppress(OSError):
            self._probe.send(PROBE.pack(self._sent, now) + bytes(20))
        self._sent += 1

    def _answered(self) -> float:
        data = self._probe.recv(2048)
        return time.monotonic() - float(PROBE.unpack(data[: PROBE.size])[1])

    def _hear_probe(self) -> None:
        with contextlib.suppress(OSError):
            took = self._answered()
            if self.is_loading and len(self._answers) < MOST_PROBES:
                self._answers.append((round(time.monotonic() - (self.began or 0.0), 4), took))

    def _accept(self) -> None:
        flow, _ = self._server.accept()
        flow.setblocking(False)
        number = len(self._bytes)
        self._bytes.append(0)
        self.selector.register(flow, selectors.EVENT_READ, lambda: self._take(flow, number))

    def _take(self, flow: socket.socket, number: int) -> None:
        try:
            count = len(flow.recv(BLOCK))
        except BlockingIOError:
            return
        except OSError:
            count = 0
        if not count:
            self.selector.unregister(flow)
            return
        self._bytes[number] += count
        if self.is_loading:
            self._heard_flow()

    def _heard_flow(self) -> None:
        now = time.monotonic()
        self._silence = max(self._silence, now - self._last)
        self._last = now

    def tick(self) -> None:
        now = time.monotonic()
        if now >= self._next:
            self._next = now + GAP_S
            self._send(now)
            self._sent_in_load += self.is_loading

    def obey(self, word: str) -> None:
        if word == "begin":
            self._before, self._last = list(self._bytes), time.monotonic()
        elif word == "end":
            self._heard_flow()
        super().obey(word)

    def seen(self) -> ReceiverReport:
        return {
            "before": self._before,
            "bytes": [self._bytes[number] - was for number, was in enumerate(self._before)],
            "load_s": (self.ended or 0.0) - (self.began or 0.0),
            "silence_s": self._silence,
            "sent": self._sent_in_load,
            "answers": [(at, round(took * 1000, 4)) for at, took in self._answers],
        }


PROGRAMS: dict[str, Callable[..., End]] = {
    "send": lambda port, receiver, flows, control: Sender(int(port), receiver, int(flows), control),
    "receive": lambda port, sender, flows: Receiver(int(port), sender, int(flows)),
}

if __name__ == "__main__":
    PROGRAMS[sys.argv[1]](*sys.argv[2:]).run()
