"""Whether a router that is a process of this machine runs while a page loads: it is pinged all the time, on its
management cable.

The router's kernel answers by itself, at once. Where it answers late, it had no processor, or it stood still. The
kernel of this machine counts for how long a process ran and for how long it waited for a processor: what is left of the
silence is a time in which the router did neither. A wait is counted when it is over, so a silence is looked at after
its answer came, also the last one of a load. The router's own programs are processes of this machine, too, for which
its kernel waits: their time counts as the router's.
"""

import contextlib
import os
import select
import socket
import struct
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from lanelab.driver.base.errors import RouterError
from lanelab.driver.record.evidence.capture import RouterStall

EVERY_S = 0.02
LEAST_US = 3_000  # a shorter silence is none
PROOF_WITHIN_S = 10.0  # for the first answer, before the load
LAST_WITHIN_S = 5.0  # for the last one, after it: a starved router answers, and one that is stopped does not
ECHO, ECHO_REPLY = 8, 0
IP_HEADER = 20
SO_TIMESTAMPNS = 35
TIME = struct.Struct("=qq")
US_PER_S, NS_PER_US = 1_000_000, 1000


@dataclass(frozen=True, slots=True)
class _Ping:
    sent_us: int  # since 1970: at the latest, so that no silence seems longer than it was
    steady_us: int  # the same moment by the clock that nobody sets
    busy: dict[int, int]  # how busy the router had been, by process

    def heard_us(self, answered_us: int | None = None) -> int:
        """Return when it was answered. No later than now by the steady clock: the wall clock may be set meanwhile."""
        now_us = self.sent_us + time.monotonic_ns() // NS_PER_US - self.steady_us
        return now_us if answered_us is None else min(answered_us, now_us)


class Pulse:
    """Pings the router from `begin` to `end`, for one load. Raises RouterError where the router never answers, before
    the load."""

    def __init__(self, address: str, process: int) -> None:
        self._address = address
        self._process = process
        self._number, self._identifier = 0, os.getpid() & 0xFFFF
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
        self._socket.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        self._wake, self._stop = os.pipe()
        self._waiting: dict[int, _Ping] = {}  # those without an answer
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
        """Return the silences, in order. The last one may end after the load."""
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
        due = time.monotonic()
        while True:
            ready = self._ready(due, self._wake)
            if self._wake in ready:
                break
            if ready:
                self._take_answer()
            else:
                self._ask()
                due = time.monotonic() + EVERY_S
        self._await_last()

    def _await_last(self) -> None:
        """Wait until nothing waits for an answer. One more ping, so that a lost one is not waited for."""
        if self._waiting:
            self._ask()
        until = time.monotonic() + LAST_WITHIN_S
        while self._waiting and self._ready(until):
            self._take_answer()
        for ping in [*self._waiting.values()][:1]:
            self._note(ping, ping.heard_us())

    def _ready(self, until: float, *others: int) -> list[int]:
        """Return which of the socket and the others can be read, as soon as one can be; none of them when the time is
        up."""
        return select.select([self._socket.fileno(), *others], [], [], max(0.0, until - time.monotonic()))[0]

    def _ask(self) -> None:
        busy = self._busy_us()
        self._send()
        self._waiting[self._number] = _Ping(time.time_ns() // NS_PER_US, time.monotonic_ns() // NS_PER_US, busy)

    def _take_answer(self) -> None:
        answer = self._receive()
        if answer is None or answer[0] not in self._waiting:
            return
        number, answered_us = answer
        ping = self._waiting[number]
        self._note(ping, ping.heard_us(answered_us))
        for earlier in [*self._waiting]:  # answers come in order: those before this one are lost
            del self._waiting[earlier]
            if earlier == number:
                return

    def _note(self, ping: _Ping, answered_us: int) -> None:
        """Note a silence: of several pings that waited at the same time the first has waited for all of it."""
        is_part = bool(self._stalls) and ping.sent_us < self._stalls[-1].to_us
        if answered_us - ping.sent_us >= LEAST_US and not is_part:
            grown_us = sum(us - ping.busy.get(process, 0) for process, us in self._busy_us().items())
            self._stalls.append(RouterStall(ping.sent_us, answered_us, grown_us))

    def _require_answer(self) -> None:
        until = time.monotonic() + PROOF_WITHIN_S
        while time.monotonic() < until:
            self._send()
            if select.select([self._socket.fileno()], [], [], PROOF_WITHIN_S / 10)[0] and self._receive():
                return
        raise RouterError(f"the router did not answer a ping within {PROOF_WITHIN_S:g} s")

    def _send(self) -> None:
        self._number = (self._number + 1) & 0xFFFF
        head = struct.pack("!BBHHH", ECHO, 0, 0, self._identifier, self._number)
        self._socket.sendto(head[:2] + struct.pack("!H", _checksum(head)) + head[4:], (self._address, 0))

    def _receive(self) -> tuple[int, int] | None:
        """Return the number of a ping that was answered, and when, by the kernel. None: it is somebody else's
        packet."""
        data, extra, _, _ = self._socket.recvmsg(256, 256)
        kind, identifier, number = struct.unpack_from("!BxxxHH", data, IP_HEADER)
        return (number, _stamped_us(extra)) if (kind, identifier) == (ECHO_REPLY, self._identifier) else None

    def _busy_us(self) -> dict[int, int]:
        """Return for how long each of the router's processes ran, or waited for a processor, since it began."""
        busy = {}
        with contextlib.suppress(OSError):
            programs = Path(f"/proc/{self._process}/task/{self._process}/children").read_text().split()
            for process in (self._process, *map(int, programs)):
                with contextlib.suppress(OSError):  # it has just ended
                    ran_ns, waited_ns, _ = map(int, Path(f"/proc/{process}/schedstat").read_text().split())
                    busy[process] = (ran_ns + waited_ns) // NS_PER_US
        return busy


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
