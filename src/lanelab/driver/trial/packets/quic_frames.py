"""The packets of a QUIC datagram, and the frames of a packet without protection (RFC 9000, 12 and 19). Pure."""

from collections.abc import Iterator
from typing import NamedTuple

PADDING, PING, CRYPTO, NEW_TOKEN, HANDSHAKE_DONE = 0x00, 0x01, 0x06, 0x07, 0x1E
ACKS = (0x02, 0x03)  # without and with counts of ECN
RESET_STREAM, STOP_SENDING = 0x04, 0x05
STREAMS = range(0x08, 0x10)
STREAM_FIN, STREAM_LENGTH, STREAM_OFFSET = 0x01, 0x02, 0x04
NEW_CONNECTION_ID, RETIRE_CONNECTION_ID = 0x18, 0x19
PATH_CHALLENGE, PATH_RESPONSE = 0x1A, 0x1B
CLOSES = (0x1C, 0x1D)
DATAGRAMS = (0x30, 0x31)
NUMBERS = {  # frames that are nothing but so many numbers
    **dict.fromkeys((16, 18, 19, 20, 22, 23, RETIRE_CONNECTION_ID), 1),
    **dict.fromkeys((17, 21, STOP_SENDING), 2),
    RESET_STREAM: 3,
    0xAF: 2,  # ACK_FREQUENCY
    0x1F: 0,  # IMMEDIATE_ACK
}
TOKEN = 16  # bytes of a stateless reset token
CHALLENGE = 8


class Broken(Exception):
    """There is a frame that nobody knows, or that ends too early: what follows it cannot be told."""


class Frame(NamedTuple):
    """One frame, as far as anything here goes by it."""

    kind: int
    stream: int = -1
    offset: int = 0
    data: bytes = b""
    acknowledged: tuple[tuple[int, int], ...] = ()  # packet numbers, from and to, the newest first
    fin: bool = False
    id: bytes = b""  # a new connection id
    held: int = 0  # how long an acknowledgement was held back, in the unit that its sender named


def number(data: bytes, at: int) -> tuple[int, int]:
    """Return a number of variable length, and where it ends."""
    if at >= len(data):
        raise Broken
    length = 1 << (data[at] >> 6)
    if at + length > len(data):
        raise Broken
    return int.from_bytes(data[at : at + length]) & ((1 << (8 * length - 2)) - 1), at + length


def frames(payload: bytes) -> Iterator[Frame]:
    """Yield all but padding. Raises Broken."""
    at, end = 0, len(payload)
    while at < end:
        if payload[at] == PADDING:
            at += 1
            continue
        kind, at = number(payload, at)
        frame, at = _frame(kind, payload, at)
        yield frame


def _frame(kind: int, data: bytes, at: int) -> tuple[Frame, int]:  # noqa: C901, PLR0911 - one line for each kind
    if kind in (PING, HANDSHAKE_DONE):
        return Frame(kind), at
    if kind in STREAMS:
        return _stream(kind, data, at)
    if kind in ACKS:
        return _ack(kind, data, at)
    if kind == CRYPTO:
        offset, at = number(data, at)
        piece, at = _counted(data, at)
        return Frame(kind, offset=offset, data=piece), at
    if kind == NEW_TOKEN:
        piece, at = _counted(data, at)
        return Frame(kind, data=piece), at
    if kind == NEW_CONNECTION_ID:
        _, at = number(data, at)
        _, at = number(data, at)
        length = data[at] if at < len(data) else 0
        field = _bytes(data, at + 1, length)
        return Frame(kind, id=field), at + 1 + length + len(_bytes(data, at + 1 + length, TOKEN))
    if kind in (PATH_CHALLENGE, PATH_RESPONSE):
        return Frame(kind, data=_bytes(data, at, CHALLENGE)), at + CHALLENGE
    if kind in CLOSES:
        for _ in range(2 if kind == CLOSES[0] else 1):
            _, at = number(data, at)
        piece, at = _counted(data, at)
        return Frame(kind, data=piece), at
    if kind in DATAGRAMS:
        piece, at = _counted(data, at) if kind & 1 else (data[at:], len(data))
        return Frame(kind, data=piece), at
    if kind in NUMBERS:
        for _ in range(NUMBERS[kind]):
            _, at = number(data, at)
        return Frame(kind), at
    raise Broken


def _stream(kind: int, data: bytes, at: int) -> tuple[Frame, int]:
    stream, at = number(data, at)
    offset = 0
    if kind & STREAM_OFFSET:
        offset, at = number(data, at)
    piece, at = _counted(data, at) if kind & STREAM_LENGTH else (data[at:], len(data))
    return Frame(kind, stream, offset, piece, fin=bool(kind & STREAM_FIN)), at


def _ack(kind: int, data: bytes, at: int) -> tuple[Frame, int]:
    largest, at = number(data, at)
    held, at = number(data, at)
    count, at = number(data, at)
    first, at = number(data, at)
    smallest = largest - first
    ranges = [(smallest, largest)]
    for _ in range(count):
        gap, at = number(data, at)
        length, at = number(data, at)
        newest = smallest - gap - 2
        smallest = newest - length
        if smallest < 0:
            raise Broken
        ranges.append((smallest, newest))
    for _ in range(3 if kind == ACKS[1] else 0):
        _, at = number(data, at)
    return Frame(kind, acknowledged=tuple(ranges), held=held), at


def parameter(parameters: bytes, name: int, usual: int) -> int | None:
    """Return a transport parameter that is a number (RFC 9000, 18); `usual`: what holds where it is not named. None:
    these are no parameters."""
    at = 0
    try:
        while at < len(parameters):
            named, at = number(parameters, at)
            value, at = _counted(parameters, at)
            if named == name:
                return number(value, 0)[0]
    except Broken:
        return None
    return usual


def _counted(data: bytes, at: int) -> tuple[bytes, int]:
    length, at = number(data, at)
    return _bytes(data, at, length), at + length


def _bytes(data: bytes, at: int, length: int) -> bytes:
    if at + length > len(data):
        raise Broken
    return data[at : at + length]
