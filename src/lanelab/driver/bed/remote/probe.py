"""Measuring traffic between two nodes: small programs that the self-test starts on them.

    probe.py                              starts the programs below, each in a process of its own that is there at once.
                                          A line on stdin, [NUMBER, PROGRAM, WORD…], starts one; [NUMBER] ends its
                                          stdin. What it prints comes with its number in front, and the number alone
                                          when it has ended. When stdin ends, so does everything

    echo PORT                             answers every packet, until its stdin ends
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

import contextlib
import json
import os
import select
import selectors
import signal
import socket
import struct
import sys
import time
import traceback
from collections.abc import Callable

SO_TIMESTAMPNS = 35
SO_RXQ_OVFL = 40
HEADERS = 14 + 20 + 8  # Ethernet, IPv4, UDP
PACKET = struct.Struct("!IIq")  # train, number, when it was sent
END = 0xFFFFFFFF
STAMPS = struct.Struct("!qq")  # what an echo adds: when it received the packet, when it sent the answer
SMALLEST = HEADERS + PACKET.size
BUFFER_BYTES = 4 << 20
SILENCE_S = 15.0
CONNECTS_WITHIN_S = 150.0  # a kernel gives up to connect after 127 s
LAST_WAIT_S = 2.0
MTU_TRIES = 8  # the link may lose some
IP_MTU_DISCOVER, IP_PMTUDISC_DO = 10, 2  # never in fragments
TCP_CONGESTION = 13
SND_MSS, UNACKED, SMOOTHED_RTT, TOTAL_RETRANS = 2, 4, 15, 23  # in struct tcp_info, behind its first eight bytes
FIRST_READS, SAMPLE_S = 200, 0.002
ACCEPTS_WITHIN_S = 20.0
SPARE_PACKETS = 40  # of a first flight that is larger than it should be, so many are seen
ANCILLARY = socket.CMSG_SPACE(16) + socket.CMSG_SPACE(4)


def udp_socket() -> socket.socket:
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    for option in (socket.SO_RCVBUF, socket.SO_SNDBUF):
        sock.setsockopt(socket.SOL_SOCKET, option, BUFFER_BYTES)
    sock.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    sock.setsockopt(socket.SOL_SOCKET, SO_RXQ_OVFL, 1)
    sock.setsockopt(socket.IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DO)
    return sock


def receive(sock: socket.socket) -> tuple[bytes, int, int, tuple[str, int]]:
    """Return a packet, when the kernel received it (ns), how many this socket has dropped so far, and who sent it."""
    data, ancillary, _, address = sock.recvmsg(2048, ANCILLARY)
    stamp, dropped = arrival(ancillary), 0
    for level, kind, payload in ancillary:
        if level == socket.SOL_SOCKET and kind == SO_RXQ_OVFL:
            dropped = struct.unpack("I", payload)[0]
    return data, stamp, dropped, address


def arrival(ancillary: list[tuple[int, int, bytes]]) -> int:
    """Return when the kernel received the last of what was read (ns)."""
    for level, kind, payload in ancillary:
        if level == socket.SOL_SOCKET and kind == SO_TIMESTAMPNS:
            seconds, nanoseconds = struct.unpack("qq", payload)
            return int(seconds * 1_000_000_000 + nanoseconds)
    return time.time_ns()


def report(result: object) -> None:
    print(json.dumps(result), flush=True)


def echo(port: str) -> None:
    sock = udp_socket()
    sock.bind(("", int(port)))
    report("ready")
    while True:
        ready, _, _ = select.select([sock, sys.stdin], [], [])
        if sock in ready:
            data, received, _, address = receive(sock)
            after = PACKET.size + STAMPS.size
            with contextlib.suppress(OSError):  # too long to go back: the client will miss it
                sock.sendto(data[: PACKET.size] + STAMPS.pack(received, time.time_ns()) + data[after:], address)
        elif not sys.stdin.readline():
            return


def ping(host: str, port: str, count: str, gap_us: str, size: str, mtu: str) -> None:
    """Does not wait for one answer before the next packet: long round trips would take long to measure. An answer is
    [how long the packet took there, how long the answer took back]: what the echo took between is not the link's. If
    the clocks differ, both are off by as much, in opposite ways."""
    sock = udp_socket()
    sock.connect((host, int(port)))
    padding = bytes(int(size) - SMALLEST)
    gap_s, total = int(gap_us) / 1e6, int(count)
    answers: dict[int, tuple[int, int]] = {}
    start = time.perf_counter()
    sent, longest_s = 0, 0.0
    passes, awaits_mtu = False, int(mtu) > 0
    while len(answers) < total or awaits_mtu:
        silence_s = longest_s * 1.5 + 0.2 if answers else SILENCE_S
        due = start + sent * gap_s if sent < total else time.perf_counter() + silence_s
        while (left := due - time.perf_counter()) > 0 and (len(answers) < total or awaits_mtu):
            if select.select([sock], [], [], left)[0]:
                try:
                    data, stamp, _, _ = receive(sock)
                except OSError:  # somebody on the way says that a packet is too long
                    awaits_mtu = False
                    continue
                _, number, at = PACKET.unpack_from(data)
                if number == total:
                    passes, awaits_mtu = len(data) == int(mtu) - (HEADERS - 14), False
                    continue
                arrived, back = STAMPS.unpack_from(data, PACKET.size)
                answers.setdefault(number, (arrived - at, stamp - back))
                longest_s = max(longest_s, (stamp - at) / 1e9)
                if sent == total:  # what is missing comes behind this one, or not at all
                    due = time.perf_counter() + longest_s * 0.5 + 0.2
        if sent < total:
            sock.send(PACKET.pack(0, sent, time.time_ns()) + padding)
            sent += 1
            if sent == total:
                report("sent")
                awaits_mtu = awaits_mtu and try_size(sock, int(mtu), total)
        else:
            break
    longest = longest_unbroken(sock, int(mtu), total, longest_s, passes=passes) if int(mtu) else None
    report({"sent": total, "ways_ns": [answers[number] for number in sorted(answers)], "mtu": longest})


def try_size(sock: socket.socket, size: int, number: int) -> bool:
    """Send an IP packet of this size; whether it left."""
    try:
        sock.send(PACKET.pack(0, number, time.time_ns()) + bytes(size - (HEADERS - 14) - PACKET.size))
    except OSError:  # the kernel knows that it is too long
        return False
    return True


def longest_unbroken(sock: socket.socket, mtu: int, number: int, longest_s: float, *, passes: bool) -> int:
    """Return the longer of packets of `mtu` bytes and one more that came back in one piece; 0: neither. `passes`: that
    of `mtu` bytes has."""
    largest, patience_s = mtu if passes else 0, longest_s * 1.5 + 0.3
    for size in (mtu + 1,) if passes else (mtu, mtu + 1):
        for _ in range(MTU_TRIES if size == mtu else 2):
            if not try_size(sock, size, number):
                break
            if answered(sock, size, time.perf_counter() + patience_s):
                largest = size
                break
            patience_s *= 1.5  # a packet of this size takes longer on a slow wire
    return largest


def answered(sock: socket.socket, size: int, deadline: float) -> bool:
    while (left := deadline - time.perf_counter()) > 0:
        if select.select([sock], [], [], left)[0]:
            try:
                data, _, _, _ = receive(sock)
            except OSError:  # somebody on the way says that it is too long
                return False
            if len(data) == size - (HEADERS - 14):
                return True
    return False


def sink(port: str, train: str, linger: str) -> None:
    """A packet is [number, when it was sent, when it arrived]. END may overtake others, which come while this
    lingers."""
    sock = udp_socket()
    sock.bind(("", int(port)))
    report("ready")
    packets = []
    dropped, deadline = 0, float("inf")
    # Not a time-out of the socket: before Python 3.10 that is an error of its own.
    while (left := deadline - time.monotonic()) > 0 and select.select([sock], [], [], min(left, SILENCE_S))[0]:
        data, stamp, dropped, _ = receive(sock)
        of_train, number, sent = PACKET.unpack_from(data)
        if of_train != int(train):
            continue
        if number != END:
            packets.append((number, sent, stamp))
        elif deadline == float("inf"):
            deadline = time.monotonic() + float(linger)
    report({"packets": packets, "dropped_here": dropped})


def send(host: str, port: str, *words: str) -> None:
    train, count, gap_us, size, burst, catch_up, lead, lead_gap_us = words
    sock = udp_socket()
    sock.connect((host, int(port)))
    padding = bytes(int(size) - SMALLEST)
    gap_s, at_once, led = float(gap_us) / 1e6, int(burst), int(lead)
    lead_s = float(lead_gap_us) / 1e6 - gap_s
    start = time.perf_counter()
    for number in range(int(count)):
        due = start + max(0, number - at_once + 1) * gap_s + min(number, led) * lead_s
        while (left := due - time.perf_counter()) > 0:
            time.sleep(left)
        start += max(0.0, -left - int(catch_up) * gap_s)
        sock.send(PACKET.pack(int(train), number, time.time_ns()) + padding)
    report({"sent": int(count), "took_s": time.perf_counter() - start})
    end(sock, int(train), gap_s)


def end(sock: socket.socket, train: int, gap_s: float) -> None:
    """Tell the sink that there is no more; often, since the link may lose it, until it no longer listens."""
    deadline = time.monotonic() + LAST_WAIT_S
    try:
        while time.monotonic() < deadline:
            sock.send(PACKET.pack(train, END, 0))
            time.sleep(max(0.02, gap_s))
    except ConnectionRefusedError:
        return


def tcp_sink(port: str) -> None:
    with socket.create_server(("", int(port))) as server:
        server.settimeout(CONNECTS_WITHIN_S)
        report("ready")
        connection, _ = server.accept()
        received, buffer, first = 0, bytearray(1 << 20), 0.0
        marks: list[tuple[float, int]] = []
        while count := connection.recv_into(buffer):
            now = time.perf_counter()
            first = first or now
            received += count
            if not marks or now - marks[-1][0] > 0.05:
                marks.append((now, received))
        report({"bytes": received, "took_s": time.perf_counter() - first, "marks": marks})


def tcp_send(host: str, port: str, seconds: str) -> None:
    block = bytes(1 << 16)
    with socket.create_connection((host, int(port))) as connection:
        deadline = time.perf_counter() + float(seconds)
        sent = 0
        while time.perf_counter() < deadline:
            sent += connection.send(block)
    report({"bytes": sent})


def fill_sink(port: str, patience_s: str) -> None:
    """Be the sink of a fill, and write [when, bytes so far] of the first reads. It ends with a packet that may be
    lost: a silence of `patience_s` is the end, too."""
    marks: list[tuple[float, int]] = []
    with socket.create_server(("", int(port))) as server:
        server.settimeout(CONNECTS_WITHIN_S)
        report("ready")
        connection, _ = server.accept()
        connection.settimeout(float(patience_s))
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)
        received = 0
        with contextlib.suppress(ConnectionResetError, TimeoutError):  # so the sender breaks off
            while count := len(connection.recv(1 << 16)):
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)  # no late one in a round trip
                received += count
                if len(marks) < FIRST_READS:
                    marks.append((time.perf_counter(), received))
    report({"marks": marks})


def fill(host: str, port: str, seconds: str, control: str) -> None:
    """Samples are [when, smoothed round trip in us, packets sent once more]."""
    block = bytes(1 << 18)
    with socket.socket() as connection:
        connection.connect((host, int(port)))
        connected = time.perf_counter()
        connection.setsockopt(socket.IPPROTO_TCP, TCP_CONGESTION, control.encode())  # the route has named another one
        connection.setblocking(False)
        connection.send(block)
        first = tcp_info(connection)
        looked = time.perf_counter()
        samples = []
        while (now := time.perf_counter()) < connected + float(seconds):
            info = tcp_info(connection)
            samples.append((now - connected, info[SMOOTHED_RTT], info[TOTAL_RETRANS]))
            with contextlib.suppress(BlockingIOError):
                connection.send(block)
            time.sleep(SAMPLE_S)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    report(
        {
            "mss": first[SND_MSS],
            "flight": first[UNACKED],
            "looked_s": looked - connected,
            "samples": samples,
        }
    )


def tcp_info(connection: socket.socket) -> tuple[int, ...]:
    """The numbers of struct tcp_info up to total_retrans."""
    return struct.unpack("24I", connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)[8:])


def flights_sink(port: str, count: str, patience_s: str) -> None:
    """Write, by the sender's port, when the kernel had received how many of a connection's bytes in their order."""
    marks: dict[int, list[tuple[int, int]]] = {}
    selector = selectors.DefaultSelector()
    with socket.create_server(("", int(port)), backlog=int(count) + 8) as server:
        report("ready")
        server.settimeout(ACCEPTS_WITHIN_S)
        for _ in range(int(count)):
            connection, (_, number, *_) = server.accept()
            connection.setblocking(False)
            connection.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
            marks[number] = []
            selector.register(connection, selectors.EVENT_READ, (connection, number))
    patience = ACCEPTS_WITHIN_S
    while selector.get_map():
        ready = selector.select(patience)
        if not ready:  # what ends a connection may be lost: a silence is the end, too
            break
        patience = float(patience_s)
        for key, _ in ready:
            connection, number = key.data
            if not read_flight(connection, marks[number]):
                selector.unregister(connection)
                connection.close()
    report(marks)


def read_flight(connection: socket.socket, marks: list[tuple[int, int]]) -> bool:
    """Note what has come; whether more may come."""
    try:
        data, ancillary, _, _ = connection.recvmsg(1 << 16, ANCILLARY)
    except BlockingIOError:
        return True
    except OSError:
        return False
    if data:
        marks.append((arrival(ancillary), len(data) + (marks[-1][1] if marks else 0)))
    return bool(data)


def flights(host: str, port: str, *words: str) -> None:
    """Report [its port, when its packets were sent] of each connection. RST breaks off, so that nothing is sent
    again."""
    count, window, gap_us, hold_s, control = words
    connections, began = [socket.socket() for _ in range(int(count))], time.perf_counter()
    for connection in connections:
        connection.setblocking(False)
        connection.connect_ex((host, int(port)))
        # The route has named another one, which would pace what it sends from the moment on in which it is connected.
        connection.setsockopt(socket.IPPROTO_TCP, TCP_CONGESTION, control.encode())
    for connection in connections:
        left = began + CONNECTS_WITHIN_S - time.perf_counter()
        if not select.select([], [connection], [], max(0.0, left))[1]:
            raise TimeoutError(f"no connection to {host} port {port}")
        if number := connection.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
            raise OSError(number, os.strerror(number))
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    report("connected")
    sys.stdin.readline()
    mss = tcp_info(connections[0])[SND_MSS]
    flight, looked_s, sent = 0, 0.0, []
    start = time.perf_counter()
    for number, connection in enumerate(connections):
        due = start + number * float(gap_us) / 1e6
        while (left := due - time.perf_counter()) > 0:
            time.sleep(left)
        sent.append((connection.getsockname()[1], time.time_ns()))
        connection.send(bytes(mss * (int(window) + (0 if number else SPARE_PACKETS))))
        if not number:
            flight, looked_s = tcp_info(connection)[UNACKED], time.perf_counter() - start
    time.sleep(float(hold_s))
    for connection in connections:
        connection.close()
    report({"mss": mss, "flight": flight, "looked_s": looked_s, "sent": sent})


PROGRAMS: dict[str, Callable[..., None]] = {
    "echo": echo,
    "ping": ping,
    "sink": sink,
    "send": send,
    "tcp-sink": tcp_sink,
    "tcp-send": tcp_send,
    "fill-sink": fill_sink,
    "fill": fill,
    "flights-sink": flights_sink,
    "flights": flights,
}


class Session:
    """Starts programs as its stdin says, by forking: an interpreter of its own for each would start for longer than
    most of them run."""

    def __init__(self) -> None:
        self.selector = selectors.DefaultSelector()
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


if __name__ == "__main__":
    Session().serve()
