"""The TCP connections of a node by state, from the kernel's socket diagnosis, or from /proc/net where there is none."""

from __future__ import annotations

import socket
import struct
from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path

ESTABLISHED, TIME_WAIT, CLOSE, LISTEN = 1, 6, 7, 10
CLOSING = (4, 5, 8, 9, 11)  # FIN_WAIT1, FIN_WAIT2, CLOSE_WAIT, LAST_ACK, CLOSING
CONNECTED = (ESTABLISHED, *CLOSING)
FAMILIES = (socket.AF_INET, socket.AF_INET6)
SOCK_DIAG, BY_FAMILY = 4, 20  # of netlink
DUMP = 0x301  # NLM_F_REQUEST, NLM_F_DUMP
ERROR, DONE = 2, 3
RECEIVE = 1 << 20
TIMEOUT_S = 5
_HEADER = struct.Struct("=IHHII")
_REQUEST = struct.Struct("=BBBxI48x")  # family, protocol, extensions, states, the rest of inet_diag_req_v2
_LENGTH = struct.Struct("=IH")
_ANSWER = struct.Struct("=xBxx2s")  # state and local port of inet_diag_msg, after the header
_STATE_AT, _PORT_AT = 1, 4  # in inet_diag_msg
_QUEUE_AT = _HEADER.size + 4 + 48 + 4  # inet_diag_msg: four bytes, socket id, expires
_QUEUE = struct.Struct("=I")

Counts = Iterator[tuple[int, int, int]]  # state, local port; how many, or of listening ones how many wait there


def counted(
    ports: Collection[int], proc: Path = Path("/proc"), *, behind: Collection[int] = (), diagnosis: bool = True
) -> dict[str, int]:
    """Return connections to these ports of this node: established, closing, and those that wait to be accepted, which
    are among the established ones. `behind`: ports of servers behind a proxy, whose established connections count
    apart."""
    counts = {"established": 0, "closing": 0, "waiting": 0, "behind": 0}
    for state, port, count in _of_the_kernel({*ports, *behind}) if diagnosis else _of_proc(proc):
        if port in behind and state == ESTABLISHED:
            counts["behind"] += count
        elif port in ports:
            if state == ESTABLISHED:
                counts["established"] += count
            elif state == LISTEN:
                counts["waiting"] += count
            elif state in CLOSING:
                counts["closing"] += count
    return counts


def has_diagnosis() -> bool:
    """Return whether this kernel tells of its sockets."""
    try:
        counted(())
    except OSError:
        return False
    return True


def _of_the_kernel(ports: Collection[int]) -> Counts:
    """It looks through the connections of the whole machine for each family of addresses, which costs milliseconds. So
    it is asked only of those at whose addresses somebody listens, and that costs nothing."""
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, SOCK_DIAG) as kernel:
        kernel.settimeout(TIMEOUT_S)
        for family in FAMILIES:
            listening = list(_dump(kernel, family, (LISTEN,)))
            yield from listening
            if any(port in ports for _, port, _ in listening):
                yield from _dump(kernel, family, CONNECTED)


def _dump(kernel: socket.socket, family: int, states: Collection[int]) -> Counts:
    ask(kernel, family, states)
    yield from _answers(kernel)


def ask(kernel: socket.socket, family: int, states: Collection[int], extensions: int = 0) -> None:
    """Ask for all sockets in these states; `extensions` are bits of what is wanted besides."""
    request = _REQUEST.pack(family, socket.IPPROTO_TCP, extensions, sum(1 << state for state in states))
    kernel.sendall(_HEADER.pack(_HEADER.size + len(request), BY_FAMILY, DUMP, 1, 0) + request)


def _answers(kernel: socket.socket) -> Counts:
    while True:
        data = kernel.recv(RECEIVE)
        alike = _alike(data)
        yield from alike
        at = 0 if not alike else len(data)
        while at < len(data):
            length, kind = _LENGTH.unpack_from(data, at)
            if kind == DONE:
                return
            if kind == ERROR:
                raise OSError("the kernel does not tell of sockets")
            state, port = _ANSWER.unpack_from(data, at + _HEADER.size)
            count = _QUEUE.unpack_from(data, at + _QUEUE_AT)[0] if state == LISTEN else 1
            yield state, int.from_bytes(port, "big"), count
            at += (length + 3) & ~3


def _alike(data: bytes) -> list[tuple[int, int, int]]:
    """Read many answers of one length, as those of connections are, without a look at each: a tenth of the time. None
    of them: they are not alike."""
    length, kind = _LENGTH.unpack_from(data)
    if kind != BY_FAMILY or length < _QUEUE_AT or length % 4 or len(data) % length:
        return []
    heads = [set(data[at::length]) for at in range(_LENGTH.size)]
    if any(len(values) != 1 for values in heads):
        return []
    states, high, low = (data[_HEADER.size + at :: length] for at in (_STATE_AT, _PORT_AT, _PORT_AT + 1))
    if LISTEN in states:
        return []
    counts = Counter(zip(states, high, low))  # noqa: B905 - `strict` is not in Python 3.9, and they are of one length
    return [(state, 256 * one + two, count) for (state, one, two), count in counts.items()]


def _of_proc(proc: Path) -> Counts:
    """Slower by far: the kernel writes each connection as a line."""
    for name in ("tcp", "tcp6"):
        path = proc / "net" / name
        if name == "tcp6" and not path.exists():  # a kernel without IPv6
            continue
        for line in path.read_text().splitlines()[1:]:
            words = line.split()
            state = int(words[3], 16)
            queue = int(words[4].rpartition(":")[2], 16)
            yield state, int(words[1].rpartition(":")[2], 16), queue if state == LISTEN else 1
