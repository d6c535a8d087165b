"""What a node's kernel counts of its processors, memory, interfaces and listening sockets."""

from __future__ import annotations

import fcntl
import ipaddress
import os
import socket
import struct
from pathlib import Path
from typing import TypedDict

GET_ADDRESS = 0x8915  # SIOCGIFADDR
IDLE = (3, 4)  # positions of idle and iowait in the first line of /proc/stat
COUNTED = 8  # guest times follow, which user time includes
RECEIVED, SENT = 0, 8  # positions in a line of /proc/net/dev


class Counts(TypedDict):
    """Counts of one moment. None: this kernel does not have it."""

    total_s: float | None
    idle_s: float | None
    available: int | None
    received: int | None
    sent: int | None
    overflows: int | None
    time_wait: int | None


class Counters:
    """Counts since some start; None where this kernel does not have it."""

    def __init__(self, network: str, proc: Path = Path("/proc"), interfaces: list[str] | None = None) -> None:
        """Count for this `network`, which is the link's. What goes elsewhere, as lanelab's own words, is no part of the
        load."""
        self._proc = proc
        self._interfaces = within(network) if interfaces is None else interfaces
        self._tick = 1 / os.sysconf("SC_CLK_TCK")

    def read(self) -> Counts:
        total_s, idle_s = self._processors()
        received, sent = self._bytes()
        return {
            "total_s": total_s,
            "idle_s": idle_s,
            "available": self._available(),
            "received": received,
            "sent": sent,
            "overflows": self._overflows(),
            "time_wait": self._time_wait(),
        }

    def _lines(self, name: str) -> list[str]:
        try:
            return (self._proc / name).read_text().splitlines()
        except OSError:
            return []

    def _processors(self) -> tuple[float | None, float | None]:
        """Return seconds of all processors, and those in which they were idle."""
        words = next(iter(self._lines("stat")), "").split()
        if len(words) <= COUNTED or words[0] != "cpu":
            return None, None
        ticks = [int(word) for word in words[1 : COUNTED + 1]]
        return sum(ticks) * self._tick, sum(ticks[position] for position in IDLE) * self._tick

    def _available(self) -> int | None:
        """Return bytes."""
        for line in self._lines("meminfo"):
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
        return None

    def _bytes(self) -> tuple[int | None, int | None]:
        received = sent = None
        for line in self._lines("net/dev"):
            name, _, counts = line.partition(":")
            if name.strip() in self._interfaces:
                words = counts.split()
                received = (received or 0) + int(words[RECEIVED])
                sent = (sent or 0) + int(words[SENT])
        return received, sent

    def _overflows(self) -> int | None:
        """Return the overflows of this network namespace."""
        return paired(self._lines("net/netstat"), "TcpExt:", "ListenOverflows")

    def _time_wait(self) -> int | None:
        """Return connections that have ended and whose port is not free yet."""
        for line in self._lines("net/sockstat"):
            words = line.split()
            if words[:1] == ["TCP:"] and "tw" in words:
                return int(words[words.index("tw") + 1])
        return None


def paired(lines: list[str], prefix: str, name: str) -> int | None:
    """Return a value of two lines, names above numbers, as in net/netstat and net/snmp; None: it is not there."""
    rows = [line.split() for line in lines if line.startswith(prefix)]
    if len(rows) != 2 or name not in rows[0]:
        return None
    return int(rows[1][rows[0].index(name)])


def within(network: str) -> list[str]:
    """Return the interfaces with an address in this network."""
    interfaces = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        for _, name in socket.if_nameindex():
            try:
                answer = fcntl.ioctl(asking, GET_ADDRESS, struct.pack("256s", name.encode()))
            except OSError:  # it has no address
                continue
            if ipaddress.IPv4Address(answer[20:24]) in ipaddress.ip_network(network):
                interfaces.append(name)
    return interfaces
