"""The self-test's programs that send packets of their own: echo and ping, sink and send. probe.py says what each does.

Standard library only, Python 3.9 and later.
"""

from __future__ import annotations

import contextlib
import json
import select
import socket
import struct
import sys
import time

SO_TIMESTAMPNS = 35
SO_RXQ_OVFL = 40
HEADERS = 14 + 20 + 8  # Ethernet, IPv4, UDP
PACKET = struct.Struct("!IIq")  # train, number, when it was sent
END = 0xFFFFFFFF
STAMPS = struct.Struct("!qq")  # what an echo adds: when it received the packet, when it sent the answer
SMALLEST = HEADERS + PACKET.size
BUFFER_BYTES = 4 << 20
SILENCE_S = 15.0
LAST_WAIT_S = 2.0
MTU_TRIES = 8  # the link may lose some
IP_MTU_DISCOVER, IP_PMTUDISC_DO = 10, 2  # never in fragments
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


def echo(address: str, port: str) -> None:
    """Answers come from this address: how far away a host is goes by its address."""
    sock = udp_socket()
    sock.bind((address, int(port)))
    report("ready")
    while True:
        ready, _, _ = select.select([sock, sys.stdin], [], [])
        if sock in ready:
            data, received, _, sender = receive(sock)
            after = PACKET.size + STAMPS.size
            with contextlib.suppress(OSError):  # too long to go back: the client will miss it
                sock.sendto(data[: PACKET.size] + STAMPS.pack(received, time.time_ns()) + data[after:], sender)
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
