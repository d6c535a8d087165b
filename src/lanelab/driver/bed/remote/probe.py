"""Measuring traffic between two nodes: small programs that the self-test starts on them.

    probe.py echo PORT                                 answers every packet, until its stdin ends
    probe.py ping HOST PORT COUNT GAP_US BYTES MTU     numbered packets to an echo, how long each was on its way there
                                                       and back; then whether a packet of MTU bytes passes unbroken,
                                                       and one byte more does not (0: leaves that out)
    probe.py sink PORT TRAIN LINGER_S                  receives a train's packets until LINGER_S after its END
    probe.py send HOST PORT TRAIN COUNT GAP_US BYTES BURST CATCH_UP
                                                       numbered packets: BURST at once, then one every GAP_US; when it
                                                       is late, CATCH_UP at once and no more
    probe.py tcp-sink PORT                             receives one connection's bytes
    probe.py tcp-send HOST PORT SECONDS                sends for so long
    probe.py fill-sink PORT                            receives one connection's bytes; when its first ones came
    probe.py fill HOST PORT SECONDS CONTROL            sends for so long with that congestion control, then breaks off;
                                                       what the kernel says of the connection meanwhile

BYTES are those of an Ethernet frame. TRAIN is a number of the train's own: the last packets of the one before may still
be on their way. Each prints one JSON object. Arrival times are the kernel's, so that the time a
program waits for its processor is not taken for the link's. Standard library only: it runs on any node with Python.
"""

from __future__ import annotations

import contextlib
import json
import select
import socket
import struct
import sys
import time
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
    stamp, dropped = time.time_ns(), 0
    for level, kind, payload in ancillary:
        if level == socket.SOL_SOCKET and kind == SO_TIMESTAMPNS:
            seconds, nanoseconds = struct.unpack("qq", payload)
            stamp = seconds * 1_000_000_000 + nanoseconds
        elif level == socket.SOL_SOCKET and kind == SO_RXQ_OVFL:
            dropped = struct.unpack("I", payload)[0]
    return data, stamp, dropped, address


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
    sent, longest_s, deadline = 0, 0.0, float("inf")
    while len(answers) < total and time.perf_counter() < deadline:
        due = start + sent * gap_s if sent < total else min(deadline, time.perf_counter() + 1)
        while (left := due - time.perf_counter()) > 0 and len(answers) < total:
            if select.select([sock], [], [], left)[0]:
                data, stamp, _, _ = receive(sock)
                _, number, at = PACKET.unpack_from(data)
                arrived, back = STAMPS.unpack_from(data, PACKET.size)
                answers.setdefault(number, (arrived - at, stamp - back))
                longest_s = max(longest_s, (stamp - at) / 1e9)
            elif sent == total:
                break
        if sent < total:
            sock.send(PACKET.pack(0, sent, time.time_ns()) + padding)
            sent += 1
        elif deadline == float("inf"):
            deadline = time.perf_counter() + (longest_s * 1.5 + 0.2 if answers else SILENCE_S)
    passes = unbroken(sock, int(mtu), total, longest_s) if int(mtu) else None
    report({"sent": total, "ways_ns": [answers[number] for number in sorted(answers)], "mtu": passes})


def unbroken(sock: socket.socket, mtu: int, number: int, longest_s: float) -> int:
    """Return the longer of packets of `mtu` bytes and one more that came back in one piece; 0: neither."""
    largest, patience_s = 0, longest_s * 1.5 + 0.3
    for size in (mtu, mtu + 1):
        for _ in range(MTU_TRIES if size == mtu else 2):
            try:
                sock.send(PACKET.pack(0, number, time.time_ns()) + bytes(size - (HEADERS - 14) - PACKET.size))
            except OSError:  # the kernel knows that it is too long
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
    train, count, gap_us, size, burst, catch_up = words
    sock = udp_socket()
    sock.connect((host, int(port)))
    padding = bytes(int(size) - SMALLEST)
    gap_s, at_once = float(gap_us) / 1e6, int(burst)
    start = time.perf_counter()
    for number in range(int(count)):
        due = start + max(0, number - at_once + 1) * gap_s
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
        began = time.perf_counter()
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
            "handshake_s": connected - began,
            "mss": first[SND_MSS],
            "flight": first[UNACKED],
            "looked_s": looked - connected,
            "samples": samples,
        }
    )


def tcp_info(connection: socket.socket) -> tuple[int, ...]:
    """The numbers of struct tcp_info up to total_retrans."""
    return struct.unpack("24I", connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)[8:])


PROGRAMS: dict[str, Callable[..., None]] = {
    "echo": echo,
    "ping": ping,
    "sink": sink,
    "send": send,
    "tcp-sink": tcp_sink,
    "tcp-send": tcp_send,
    "fill-sink": fill_sink,
    "fill": fill,
}

if __name__ == "__main__":
    PROGRAMS[sys.argv[1]](*sys.argv[2:])
