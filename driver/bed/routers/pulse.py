"""Whether a router that is a process of this machine runs while a page loads: it is pinged all the time, on its
management cable.

The router's kernel answers by itself, at once. Where it answers late, it had no processor, or it stood still. The
kernel of this machine counts for how long a process ran and for how long it waited for a processor: what is left of the
silence is a time in which the router did neither.
"""

from __future__ import annotations

import contextlib
import os
import select
import socket
import struct
import threading
import time
from pathlib import Path

from model.errors import RouterError
from model.evidence.capture import RouterStall

EVERY_S = 0.02
LEAST_US = 3_000  # a shorter silence is none
PROOF_WITHIN_S = 10.0  # for the first answer, before the load
ECHO, ECHO_REPLY = 8, 0
IP_HEADER = 20
SO_TIMESTAMPNS = 35
TIME = struct.Struct("=qq")
US_PER_S, NS_PER_US = 1_000_000, 1000


class Pulse:
    """From `begin` to `end`, for one load. Raises RouterError where the router never answers, before the load."""

    def __init__(self, address: str, process: int) -> None:
        self._address = address
        self._counts = Path(f"/proc/{process}/schedstat")
        self._number, self._identifier = 0, os.getpid() & 0xFFFF
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
        self._socket.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        self._wake, self._stop = os.pipe()
        self._stalls: list[RouterStall] = []
        self._thread = threading.Thread(target=self._watch, name="pulse", daemon=True)
        try:
            self._require_answer()
        except BaseException:
            self.close()
            raise

    def begin(self) -> None:
        self._thread.start()

    def end(self) -> tuple[RouterStall, ...]:
        """The silences, in order; one that has not ended yet ends here."""
        self.close()
        return tuple(self._stalls)

    def close(self) -> None:
        if self._stop < 0:
            return
        os.write(self._stop, b".")
        if self._thread.is_alive():
            self._thread.join()
        for fd in (self._wake, self._stop):
            os.close(fd)
        self._stop = -1
        self._socket.close()

    def _watch(self) -> None:
        waiting: dict[int, tuple[int, int]] = {}  # pings without an answer: when each was sent, how busy the router was
        due = time.monotonic()
        while True:
            waits = max(0.0, due - time.monotonic())
            ready, _, _ = select.select([self._socket.fileno(), self._wake], [], [], waits)
            if self._wake in ready:
                break
            if not ready:
                busy_us = self._busy_us()
                sent_us = self._send()
                waiting[self._number] = sent_us, busy_us
                due = time.monotonic() + EVERY_S
            elif (answer := self._receive()) and answer[0] in waiting:
                sent_us, busy_us = waiting[answer[0]]
                self._note(sent_us, answer[1], busy_us)
                for number in [*waiting]:  # answers come in order: those before this one are lost
                    del waiting[number]
                    if number == answer[0]:
                        break
        for sent_us, busy_us in [*waiting.values()][:1]:
            self._note(sent_us, time.time_ns() // NS_PER_US, busy_us)

    def _note(self, sent_us: int, answered_us: int, busy_us: int) -> None:
        """Of several pings that waited at the same time the first has waited for all of it."""
        is_part = bool(self._stalls) and sent_us < self._stalls[-1].to_us
        if answered_us - sent_us >= LEAST_US and not is_part:
            self._stalls.append(RouterStall(sent_us, answered_us, self._busy_us() - busy_us))

    def _require_answer(self) -> None:
        until = time.monotonic() + PROOF_WITHIN_S
        while time.monotonic() < until:
            self._send()
            if select.select([self._socket.fileno()], [], [], PROOF_WITHIN_S / 10)[0] and self._receive():
                return
        raise RouterError(f"the router did not answer a ping within {PROOF_WITHIN_S:g} s")

    def _send(self) -> int:
        """When it was sent, in us since 1970: at the latest, so that no silence seems longer than it was."""
        self._number = (self._number + 1) & 0xFFFF
        head = struct.pack("!BBHHH", ECHO, 0, 0, self._identifier, self._number)
        self._socket.sendto(head[:2] + struct.pack("!H", _checksum(head)) + head[4:], (self._address, 0))
        return time.time_ns() // NS_PER_US

    def _receive(self) -> tuple[int, int] | None:
        """The number of a ping that was answered, and when, by the kernel. None: it is somebody else's packet."""
        data, extra, _, _ = self._socket.recvmsg(256, 256)
        kind, identifier, number = struct.unpack_from("!BxxxHH", data, IP_HEADER)
        return (number, _stamped_us(extra)) if (kind, identifier) == (ECHO_REPLY, self._identifier) else None

    def _busy_us(self) -> int:
        """For how long the router's process ran, or waited for a processor, since it began."""
        with contextlib.suppress(OSError):
            ran_ns, waited_ns, _ = map(int, self._counts.read_text().split())
            return (ran_ns + waited_ns) // NS_PER_US
        return 0


def _stamped_us(extra: list[tuple[int, int, bytes]]) -> int:
    for level, kind, data in extra:
        if (level, kind) == (socket.SOL_SOCKET, SO_TIMESTAMPNS):
            stamp: tuple[int, int] = TIME.unpack_from(data)
            return stamp[0] * US_PER_S + stamp[1] // NS_PER_US
    return time.time_ns() // NS_PER_US


def _checksum(data: bytes) -> int:
    total: int = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF
