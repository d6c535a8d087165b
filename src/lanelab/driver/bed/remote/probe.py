"""Measuring traffic between two nodes: small programs that the self-test starts on them.

    probe.py                              starts the programs below, each in a process of its own that is there at once.
                                          A line on stdin, [NUMBER, PROGRAM, WORD…], starts one; [NUMBER] ends its
                                          stdin. What it prints comes with its number in front, and the number alone
                                          when it has ended. When stdin ends, so does everything

    echo ADDRESS PORT                     answers every packet to that address, until its stdin ends
    ping HOST PORT COUNT GAP_US BYTES MTU numbered packets to an echo. Says when all are sent; then how long each was on
                                          its way there and back, and whether a packet of MTU bytes passes unbroken,
                                          and one byte more does not (0: leaves that out)
    sink PORT TRAIN LINGER_S              receives a train's packets until LINGER_S after its END
    send HOST PORT TRAIN COUNT GAP_US BYTES BURST CATCH_UP LEAD LEAD_GAP_US
                                          numbered packets: BURST at once, then one every GAP_US, of which the first
                                          LEAD every LEAD_GAP_US; when it is late, CATCH_UP at once and no more
    tcp-sink PORT                         receives one connection's bytes
    tcp-send HOST PORT SECONDS            sends for so long
    fill-sink PORT                        receives one connection's bytes; when its first ones came
    fill HOST PORT SECONDS CONTROL        sends for so long with that congestion control, then breaks off; what the
                                          kernel says of the connection meanwhile
    flights-sink PORT COUNT PATIENCE_S    receives the bytes of so many connections; when they came
    flights HOST PORT COUNT WINDOW GAP_US HOLD_S CONTROL
                                          connects so often; when its stdin ends, WINDOW packets at once on each of the
                                          connections, one connection every GAP_US (on the first one more, which its
                                          kernel should hold back); breaks off HOLD_S behind the last

BYTES are those of an Ethernet frame. TRAIN is a number of the train's own: the last packets of the one before may still
be on their way. Each prints one JSON object. Arrival times are the kernel's, so that the time a
program waits for its processor is not taken for the link's. Standard library only: it runs on any node with Python.
"""

from __future__ import annotations

import json
import os
import selectors
import signal
import sys
import traceback
from collections.abc import Callable

from lanelab.driver.bed.remote import probe_packets, probe_tcp

PROGRAMS: dict[str, Callable[..., None]] = {
    "echo": probe_packets.echo,
    "ping": probe_packets.ping,
    "sink": probe_packets.sink,
    "send": probe_packets.send,
    "tcp-sink": probe_tcp.tcp_sink,
    "tcp-send": probe_tcp.tcp_send,
    "fill-sink": probe_tcp.fill_sink,
    "fill": probe_tcp.fill,
    "flights-sink": probe_tcp.flights_sink,
    "flights": probe_tcp.flights,
}


class Session:
    """Starts programs as its stdin says, by forking: an interpreter of its own for each would start for longer than
    most of them run."""

    def __init__(self) -> None:
        self.selector = selectors.PollSelector()
        self.selector.register(0, selectors.EVENT_READ)
        self.inputs: dict[int, int] = {}
        self.pids: dict[int, int] = {}

    def serve(self) -> None:
        lines = b""
        while True:
            for key, _ in self.selector.select():
                if key.data is not None:
                    self.relay(key.fd, *key.data)
                    continue
                data = os.read(0, 65536)
                if not data:
                    self.kill()
                    return
                *whole, lines = (lines + data).split(b"\n")
                for line in whole:
                    self.obey(*json.loads(line))

    def obey(self, number: int, *words: str) -> None:
        if words:
            self.start(number, words)
        elif number in self.inputs:
            os.close(self.inputs.pop(number))

    def start(self, number: int, words: tuple[str, ...]) -> None:
        source, ours = os.pipe()
        output, theirs = os.pipe()
        pid = os.fork()
        if pid == 0:
            for target, fd in ((0, source), (1, theirs), (2, theirs)):
                os.dup2(fd, target)
            kept = [key.fd for key in self.selector.get_map().values() if key.fd]
            self.selector.close()
            for fd in (*kept, *self.inputs.values(), source, ours, output, theirs):
                os.close(fd)  # else another program's stdin would never end
            become(words)
        os.close(source)
        os.close(theirs)
        self.inputs[number], self.pids[number] = ours, pid
        self.selector.register(output, selectors.EVENT_READ, (number, bytearray()))

    def relay(self, fd: int, number: int, partial: bytearray) -> None:
        """Pass on the whole lines of a program's output; at its end what is left, and that it has ended."""
        data = os.read(fd, 1 << 16)
        *whole, rest = (bytes(partial) + data).split(b"\n")
        partial[:] = rest
        text = b"".join(b"%d %s\n" % (number, line) for line in (whole if data else [*whole, rest]) if line)
        if not data:
            self.selector.unregister(fd)
            os.close(fd)
            self.obey(number)
            os.waitpid(self.pids.pop(number), 0)
            text += b"%d\n" % number
        sys.stdout.buffer.write(text)
        sys.stdout.buffer.flush()

    def kill(self) -> None:
        for pid in self.pids.values():
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def become(words: tuple[str, ...]) -> None:
    try:
        PROGRAMS[words[0]](*words[1:])
    except BaseException:  # noqa: BLE001 - its last line tells why
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)


def main() -> None:
    Session().serve()
