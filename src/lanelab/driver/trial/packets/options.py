"""TCP's options: what is read of them."""

import struct
from typing import NamedTuple

TIMESTAMPS, SACK, MSS, NO_OPERATION, END = 8, 5, 2, 1, 0  # kinds
LINUX = 0x0101080A  # two times no operation, then timestamps: how Linux begins the options of every packet but a SYN
_PAIR = struct.Struct(">II").unpack_from
_TRIPLE = struct.Struct(">III").unpack_from


class Options(NamedTuple):
    """The TCP options of one packet."""

    timestamp: tuple[int, int] | None = None  # value, echo
    mss: int | None = None  # of a SYN
    sacks: bool = False  # whether it tells of what came out of order
    block: tuple[int, int] | None = None  # the first that it tells of: where it begins, and ends


def read(data: bytes, at: int, end: int) -> Options:
    """Return the options that begin at `at`, as far as they are before `end`."""
    timestamp: tuple[int, int] | None = None
    mss: int | None = None
    sacks = False
    block: tuple[int, int] | None = None
    while at < end:
        kind = data[at]
        if kind == END:
            break
        if kind == NO_OPERATION:
            at += 1
            continue
        length = data[at + 1] if at + 1 < end else 0
        if length < 2 or at + length > end:
            break
        if kind == TIMESTAMPS and length == 10:
            timestamp = _PAIR(data, at + 2)
        elif kind == MSS and length == 4:
            mss = data[at + 2] << 8 | data[at + 3]
        elif kind == SACK:
            sacks = True
            block = _PAIR(data, at + 2) if length >= 10 else None
        at += length
    return Options(timestamp, mss, sacks, block)


def timestamp(data: bytes, at: int, end: int) -> tuple[int, int] | None:
    """Return the timestamps alone."""
    if end - at >= 12:
        head, value, echo = _TRIPLE(data, at)
        if head == LINUX:
            return value, echo
    return read(data, at, end).timestamp
