"""A zlib stream in our own words: what a library compresses to differs from one of its versions to the next.

Noise is stored as it is. Rows that repeat the one above become matches in the fixed code of RFC 1951.
"""

import struct
import zlib

LONGEST_STORED = 65_535
_LONGEST_MATCH, _FARTHEST = 258, 32_768


class Bits:
    """Bits, the lowest of each byte first."""

    def __init__(self) -> None:
        self._value, self._count = 0, 0
        self.out = bytearray()

    def put(self, value: int, count: int) -> None:
        self._value |= value << self._count
        self._count += count
        while self._count >= 8:
            self.out.append(self._value & 0xFF)
            self._value >>= 8
            self._count -= 8

    def code(self, value: int, count: int) -> None:
        """A Huffman code: its highest bit comes first."""
        self.put(int(f"{value:0{count}b}"[::-1], 2), count)

    def aligned(self) -> bytes:
        if self._count:
            self.put(0, 8 - self._count)
        return bytes(self.out)


def zlib_stream(noise: bytes, row: bytes, repeats: int) -> bytes:
    """`noise`, and then `row` so many times: `row` is a byte and zeros."""
    parts = [b"\x78\x01"]
    for start in range(0, len(noise), LONGEST_STORED):
        part = noise[start : start + LONGEST_STORED]
        last = not repeats and start + LONGEST_STORED >= len(noise)
        parts.append(struct.pack("<BHH", last, len(part), len(part) ^ 0xFFFF) + part)
    if repeats:
        parts.append(_repeated(row, repeats))
    total = zlib.adler32(row * repeats, zlib.adler32(noise))  # the sum is defined to the bit, whoever computes it
    return b"".join([*parts, struct.pack(">I", total)])


def _repeated(row: bytes, repeats: int) -> bytes:
    bits = Bits()
    bits.put(1, 1)  # the last block
    bits.put(1, 2)  # in the fixed code
    alone = repeats if len(row) > _FARTHEST else 1  # rows that no match can bring
    for _ in range(alone):
        for byte in row[:2]:
            bits.code(0x30 + byte, 8)
        _match(bits, len(row) - 2, 1)
    _match(bits, len(row) * (repeats - alone), len(row))
    bits.code(0, 7)  # its end
    return bits.aligned()


def _match(bits: Bits, length: int, distance: int) -> None:
    """Copy that many bytes from that far back, in as many matches as it takes; fewer than 3 are written as zeros."""
    while length > 2:
        part = min(length, _LONGEST_MATCH)
        if 0 < length - part < 3:
            part -= 3
        _length(bits, part)
        _distance(bits, distance)
        length -= part
    for _ in range(length):
        bits.code(0x30, 8)


def _length(bits: Bits, length: int) -> None:
    if length == _LONGEST_MATCH:
        bits.code(0b11000101, 8)
        return
    number, extra = _prefix(length - 3, 4)
    symbol = 257 + number
    if symbol < 280:
        bits.code(symbol - 256, 7)
    else:
        bits.code(0b11000000 + symbol - 280, 8)
    bits.put(*extra)


def _distance(bits: Bits, distance: int) -> None:
    number, extra = _prefix(distance - 1, 2)
    bits.code(number, 5)
    bits.put(*extra)


def _prefix(value: int, per_step: int) -> tuple[int, tuple[int, int]]:
    """Return the number of the code for a value, and the bits behind it: codes reach twice as far each `per_step`."""
    if value < 2 * per_step:
        return value, (0, 0)
    step = per_step.bit_length() - 1
    count = value.bit_length() - 1 - step
    return (count + 1) * per_step + (value >> count) - per_step, (value & ((1 << count) - 1), count)
