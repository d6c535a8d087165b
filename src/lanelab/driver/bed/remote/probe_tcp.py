"""The self-test's programs that let TCP send: transfers, fills and first flights. probe.py says what each does.

Standard library only, Python 3.9 and later.
"""

from __future__ import annotations

import contextlib
import os
import select
import selectors
import socket
import struct
import sys
import time

from lanelab.driver.bed.remote.probe_packets import ANCILLARY, SO_TIMESTAMPNS, arrival, report

CONNECTS_WITHIN_S = 150.0  # a kernel gives up to connect after 127 s
TCP_CONGESTION = 13
SND_MSS, UNACKED, SMOOTHED_RTT, TOTAL_RETRANS = 2, 4, 15, 23  # in struct tcp_info, behind its first eight bytes
FIRST_READS, SAMPLE_S = 200, 0.002
SPARE_PACKETS = 40  # of a first flight that is larger than it should be, so many are seen


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
        server.settimeout(CONNECTS_WITHIN_S)
        for _ in range(int(count)):
            connection, (_, number, *_) = server.accept()
            connection.setblocking(False)
            connection.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
            marks[number] = []
            selector.register(connection, selectors.EVENT_READ, (connection, number))
    patience = CONNECTS_WITHIN_S  # the other way's connections are waited for, too
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
