"""The states of a radio in the router, which follow from the packets that come. Part of player.py.

In a state of rest the delay of both directions has the radio's wait in it, so the first packet waits exactly that long,
however late this program notices. Then the wait is taken off again: netem keeps packets in order, so what comes
meanwhile in the same direction waits behind the first, and the other direction gets what is left of the wait.

Standard library only, Python 3.9 and later.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Mapping
from typing import Protocol

SOL_PACKET, PACKET_STATISTICS, PACKET_IGNORE_OUTGOING, ETH_P_ALL = 263, 6, 23, 3
CONNECTED, LOW, IDLE, WAITING = "connected", "low", "idle", "waiting"
LOOK_NS, LOOKS = 50_000_000, 20  # the longest time between two looks; looks per timer
DOWN_BY_NS = 10_000_000  # how often what is left of a wait is told


class Delayed(Protocol):
    def add_delay(self, ns: int, *, by_radio: bool = False) -> None: ...


class RadioStates:
    """A radio: its waits and timers are as `player_settings` says."""

    def __init__(self, radio: dict[str, int], ways: Mapping[str, Delayed], leave: dict[str, str]) -> None:
        """`leave` names the device where a direction leaves the router."""
        self._radio, self._ways = radio, ways
        # A packet for one direction comes in where the other direction leaves.
        self._comes = {_watch(leave[other]): name for name, other in (("down", "up"), ("up", "down"))}
        self._look_ns = min(LOOK_NS, radio["inactive_ns"] // LOOKS)
        self._state, self._since_ns = CONNECTED, 0
        self._due_ns: float = 0
        self._waits_in, self._until_ns = "", 0
        self._began_ns = 0
        self._states: list[tuple[int, str]] = []

    def begin(self, now_ns: int) -> None:
        """The radio is idle when a trial begins."""
        self._began_ns, self._states = now_ns, []
        self._counts()
        self._rest(IDLE, now_ns)

    def end(self) -> list[tuple[int, str]]:
        self._state = CONNECTED
        return self._states

    def listens(self) -> list[socket.socket]:
        return list(self._comes) if self._state in (LOW, IDLE) else []

    def due_ns(self) -> float:
        return self._due_ns

    def _change(self, state: str, now_ns: int) -> None:
        self._state, self._since_ns = state, now_ns
        self._states.append(((now_ns - self._began_ns) // 1000, state))

    def _rest(self, state: str, now_ns: int) -> None:
        self._change(state, now_ns)
        self._due_ns = now_ns + self._radio["release_ns"] if state == LOW else float("inf")
        self._tell(self._wait_ns(), self._wait_ns())

    def _wait_ns(self) -> int:
        return self._radio["resume_ns" if self._state == LOW else "promotion_ns"]

    def _tell(self, down_ns: int, up_ns: int) -> None:
        self._ways["down"].add_delay(down_ns, by_radio=True)
        self._ways["up"].add_delay(up_ns, by_radio=True)

    def follow(self, now_ns: int) -> None:
        came = self._counts() if self._state != WAITING else {}
        if self._state in (LOW, IDLE) and came:
            self._until_ns, self._waits_in = now_ns + self._wait_ns(), next(iter(came))
            self._change(WAITING, now_ns)
        if self._state == WAITING:
            left = max(0, self._until_ns - now_ns)
            self._tell(*(left if name != self._waits_in else 0 for name in ("down", "up")))
            self._due_ns = now_ns + min(left, DOWN_BY_NS)
            if not left:
                self._change(CONNECTED, now_ns)
                self._due_ns = now_ns + self._look_ns
        elif self._state == CONNECTED and now_ns >= self._due_ns:
            if came:
                self._since_ns = now_ns
            elif now_ns - self._since_ns >= self._radio["inactive_ns"]:
                self._rest(LOW, now_ns)
                return
            self._due_ns = now_ns + self._look_ns
        elif self._state == CONNECTED and came:
            self._since_ns = now_ns
        elif self._state == LOW and now_ns >= self._due_ns:
            self._rest(IDLE, now_ns)

    def _counts(self) -> dict[str, int]:
        """Return the directions for which packets came since the last look, and how many."""
        counts = {}
        for cable, name in self._comes.items():
            packets, _ = struct.unpack("II", cable.getsockopt(SOL_PACKET, PACKET_STATISTICS, 8))
            if packets:
                counts[name] = packets
                _empty(cable)
        return counts


def _watch(device: str) -> socket.socket:
    """Sees what comes in on an interface."""
    cable = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    cable.setsockopt(SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)
    cable.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    cable.bind((device, ETH_P_ALL))
    cable.setblocking(False)
    return cable


def _empty(cable: socket.socket) -> None:
    while True:
        try:
            cable.recv(1)
        except BlockingIOError:
            return
