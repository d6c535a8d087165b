"""Whom a request of HTTP/3 asks for: host and path out of its compressed headers (QPACK, RFC 9204). Pure.

Without the dynamic table, which servers of today do not offer: a header that refers to it is not read.
"""

from collections.abc import Iterator

from hpack.exceptions import HPACKDecodingError
from hpack.huffman_table import decode_huffman

AUTHORITY, PATH, ROOT_PATH = 0, 1, 1  # places in QPACK's static table; the entry of :path is that of "/"
NAMES = {b":authority": AUTHORITY, b":path": PATH}


class Unread(Exception):
    """Not what QPACK says, or cut off."""


HEADERS = 1  # a type of frame


def request_of(stream: bytes) -> str | None:
    """Return the request of a stream, from its beginning or from that of a frame."""
    try:
        at = 0
        while at < len(stream):
            kind, at = _long(stream, at)
            length, at = _long(stream, at)
            if kind == HEADERS:
                return target(stream[at : at + length])
            at += length
    except Unread:
        return None
    return None


def target(section: bytes) -> str | None:
    """Host and path of a field section, as far as both are in it."""
    values: dict[int, str] = {}
    try:
        for name, value in _fields(section):
            values.setdefault(name, value.decode("ascii"))
    except (Unread, UnicodeDecodeError, HPACKDecodingError):
        return None
    return values[AUTHORITY] + values[PATH] if values.keys() >= {AUTHORITY, PATH} else None


def _fields(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield those two, with the place of their names."""
    _, at = _number(data, 0, 8)  # the dynamic entries that are needed
    _, at = _number(data, at, 7)
    while at < len(data):
        first = data[at]
        if first & 0x80:  # name and value of a table
            index, at = _number(data, at, 6)
            if first & 0x40 and index == ROOT_PATH:
                yield PATH, b"/"
        elif first & 0x40:  # the name of a table
            index, at = _number(data, at, 4)
            value, at = _text(data, at, 7)
            if first & 0x10 and index in (AUTHORITY, PATH):
                yield index, value
        elif first & 0x20:  # neither
            name, at = _text(data, at, 3)
            value, at = _text(data, at, 7)
            if name in NAMES:
                yield NAMES[name], value
        elif first & 0x10:  # of the dynamic table
            _, at = _number(data, at, 4)
        else:
            _, at = _number(data, at, 3)
            _, at = _text(data, at, 7)


def _number(data: bytes, at: int, bits: int) -> tuple[int, int]:
    """Return an integer that begins in the last bits of a byte, and where it ends."""
    most = (1 << bits) - 1
    value, at, shift = _byte(data, at) & most, at + 1, 0
    if value < most:
        return value, at
    while True:
        byte, at = _byte(data, at), at + 1
        value += (byte & 0x7F) << shift
        shift += 7
        if not byte & 0x80:
            return value, at


def _long(data: bytes, at: int) -> tuple[int, int]:
    """Return an integer of QUIC's, whose first two bits say its length, and where it ends."""
    size = 1 << (_byte(data, at) >> 6)
    if at + size > len(data):
        raise Unread
    return int.from_bytes(data[at : at + size], "big") & ((1 << (8 * size - 2)) - 1), at + size


def _text(data: bytes, at: int, bits: int) -> tuple[bytes, int]:
    """Return a string whose length has so many bits; the bit before says whether it is of Huffman's code."""
    coded = bool(_byte(data, at) & 1 << bits)
    length, at = _number(data, at, bits)
    if at + length > len(data):
        raise Unread
    text = data[at : at + length]
    return (bytes(decode_huffman(text)) if coded else text), at + length


def _byte(data: bytes, at: int) -> int:
    if at >= len(data):
        raise Unread
    return data[at]
