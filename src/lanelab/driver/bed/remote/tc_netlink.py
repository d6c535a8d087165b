"""Changes of queueing disciplines by netlink, in the router: a call to the kernel each, without starting `tc`.

What a change does not name stays as it is: the kernel is asked what it has, and gets that back with the new values.
Standard library only, Python 3.9 and later.
"""

from __future__ import annotations

import os
import socket
import struct
from collections.abc import Iterator
from typing import NamedTuple

NEW_QDISC, GET_QDISC, NEW_CLASS = 36, 38, 40
REQUEST, ACK, DUMP = 1, 4, 0x300
ERROR, DONE = 2, 3
KIND, OPTIONS, STATS2 = 1, 2, 7
ROOT = 0xFFFFFFFF
NETEM_RATE, NETEM_RATE64, NETEM_LATENCY64 = 6, 8, 10
HTB_PARMS, HTB_RATE64, HTB_CEIL64 = 1, 6, 7
TBF_PARMS, TBF_RATE64, TBF_BURST = 1, 4, 6
HEADER, TC = struct.Struct("=IHHII"), struct.Struct("=BBHiIII")
ATTRIBUTE, RATE = struct.Struct("=HH"), struct.Struct("=BBHhHI")
NETEM = struct.Struct("=IIIIII")  # latency, limit, loss, gap, duplicate, jitter
NESTED = 0x8000
ETHERNET = 1  # as the kind of link: then the kernel works out times itself, and wants no tables
TICK_NS = 64
LARGEST = 0xFFFFFFFF


def attribute(kind: int, data: bytes) -> bytes:
    return ATTRIBUTE.pack(len(data) + 4, kind) + data + bytes(-len(data) % 4)


def attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    while len(data) >= ATTRIBUTE.size:
        length, kind = ATTRIBUTE.unpack_from(data)
        if length < ATTRIBUTE.size:
            return
        yield kind, data[4:length]
        data = data[length + -length % 4 :]


def messages(data: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Yield kind, number and body of each message of a datagram."""
    while len(data) >= HEADER.size:
        length, kind, _, number, _ = HEADER.unpack_from(data)
        yield kind, number, data[HEADER.size : length]
        data = data[length + -length % 4 :]


def rate_words(bytes_per_s: int) -> bytes:
    return RATE.pack(0, ETHERNET, 0, 0, 0, min(LARGEST, bytes_per_s))


def ticks(ns: int) -> int:
    return min(LARGEST, ns // TICK_NS)


class Netem(NamedTuple):
    """A netem as the kernel has it."""

    handle: int
    words: bytes
    rest: tuple[tuple[int, bytes], ...]


class Netlink:
    """A connection to the kernel's traffic control. Each call returns when the kernel has done it."""

    def __init__(self) -> None:
        self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        self._socket.bind((0, 0))
        self._number = 0

    def _send(self, kind: int, flags: int, device: int, handle: int, parent: int, data: bytes) -> None:
        self._number += 1
        body = TC.pack(0, 0, 0, device, handle, parent, 0) + data
        self._socket.send(HEADER.pack(HEADER.size + len(body), kind, flags | REQUEST, self._number, 0) + body)

    def _messages(self) -> Iterator[tuple[int, bytes]]:
        """Yield the answers to what was sent last."""
        while True:
            for kind, number, body in messages(self._socket.recv(1 << 18)):
                if number != self._number:
                    continue
                if kind == DONE:
                    return
                if kind == ERROR:
                    error = -struct.unpack_from("=i", body)[0]
                    if error:
                        raise OSError(error, os.strerror(error))
                    return
                yield kind, body

    def _change(self, kind: int, device: int, handle: int, parent: int, name: str, options: bytes) -> None:
        data = attribute(KIND, name.encode() + b"\0") + attribute(OPTIONS | NESTED, options)
        self._send(kind, ACK, device, handle, parent, data)
        for _ in self._messages():
            pass

    def netem(self, device: int) -> Netem:
        """Return the one at the root of a device."""
        for handle, name, options in self._qdiscs(device):
            if name == "netem":
                return Netem(handle, options[: NETEM.size], tuple(attributes(options[NETEM.size :])))
        raise OSError(0, f"interface {device} has no netem")

    def _qdiscs(self, device: int) -> Iterator[tuple[int, str, bytes]]:
        self._send(GET_QDISC, DUMP, 0, 0, 0, b"")
        for _, body in self._messages():
            _, _, _, of, handle, _, _ = TC.unpack_from(body)
            options = dict(attributes(body[TC.size :]))
            if of == device and KIND in options:
                yield handle, options[KIND].rstrip(b"\0").decode(), options.get(OPTIONS, b"")

    def change_netem(self, device: int, now: Netem, delay_ns: int, bytes_per_s: int | None) -> None:
        """Another delay, and another rate unless that is None; all else stays."""
        words = NETEM.pack(ticks(delay_ns), *NETEM.unpack(now.words)[1:])
        others = (NETEM_LATENCY64,) if bytes_per_s is None else (NETEM_RATE, NETEM_RATE64, NETEM_LATENCY64)
        rest = b"".join(attribute(kind, data) for kind, data in now.rest if kind not in others)
        rest += attribute(NETEM_LATENCY64, struct.pack("=q", delay_ns))
        if bytes_per_s is not None:
            rest += attribute(NETEM_RATE, struct.pack("=IiIi", min(LARGEST, bytes_per_s), 0, 0, 0))
        self._change(NEW_QDISC, device, now.handle, ROOT, "netem", words + rest)

    def change_htb(self, device: int, class_id: int, bytes_per_s: int, burst: int, quantum: int, priority: int) -> None:
        """Change the rate of a class of HTB."""
        buffer = ticks(burst * 1_000_000_000 // bytes_per_s)
        parms = rate_words(bytes_per_s) * 2 + struct.pack("=IIIII", buffer, buffer, quantum, 0, priority)
        options = attribute(HTB_PARMS, parms)
        self._change(NEW_CLASS, device, class_id, class_id & 0xFFFF0000, "htb", options)

    def change_tbf(self, device: int, handle: int, bytes_per_s: int, burst: int, limit: int) -> None:
        """Change the rate of a TBF at the root."""
        parms = rate_words(bytes_per_s) + RATE.pack(0, 0, 0, 0, 0, 0) + struct.pack("=III", limit, 0, 0)
        options = attribute(TBF_PARMS, parms) + attribute(TBF_BURST, struct.pack("=I", burst))
        self._change(NEW_QDISC, device, handle, ROOT, "tbf", options)
