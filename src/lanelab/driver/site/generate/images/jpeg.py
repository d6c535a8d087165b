"""JPEG: baseline, three components in full resolution, with Huffman tables of our own.

The quantised coefficients themselves are chosen, so there is no arithmetic that could round differently.
"""

import struct
from collections.abc import Iterator, Mapping

from lanelab.driver.site.generate.images.common import TooSmall, comment, shape
from lanelab.driver.site.generate.noise import noise, numbers

BLOCK = 8
BITS_PER_BLOCK = 150  # of noise, in three components: about 2.3 bits a pixel, as photographs have
COMMENT = 4  # what a segment adds to its text
LONGEST = 65_533
DRAWN_AT_ONCE = 1024  # blocks
POOL = 251  # different contents of a block
COEFFICIENTS = (16, 7, 7)  # drawn for each component
LEVELS = 24  # the mean of a block is up to so many steps from grey
STEP = 6  # of quantisation

# By the length of their codes. DC: how many bits the difference has. AC: zeros before it and how many bits it has.
DC_CODES = {2: (0,), 3: (1, 2, 3, 4), 4: (5,), 5: (6,), 6: (7,)}
AC_CODES = {2: (0x00, 0x01), 3: (0x02,), 4: (0x11,), 5: (0x21, 0x03), 6: (0x12, 0x31)}
DRAWN = (0x01, 0x01, 0x01, 0x01, 0x02, 0x02, 0x11, 0x11, 0x21, 0x03, 0x12, 0x31)
Codes = Mapping[int, tuple[int, int]]


def dimensions(size: int) -> tuple[int, int]:
    return shape(max(size - 400, 1) * 8 * BLOCK * BLOCK // BITS_PER_BLOCK, BLOCK)


def encode(seed: str, size: int, width: int, height: int, metadata: int) -> bytes:
    head, tail = _head(width, height), b"\xff\xd9"
    blocks = -(-width // BLOCK) * -(-height // BLOCK)
    room = size - len(head) - len(tail) - max(metadata, COMMENT)
    least = len(_scan(seed, blocks, 0))
    if least > room:
        raise TooSmall(size - room + least)
    scan = _scan(seed, blocks, room)
    return head + _comments(seed, size - len(head) - len(tail) - len(scan)) + scan + tail


def _canonical(lengths: Mapping[int, tuple[int, ...]]) -> Codes:
    codes, code, before = {}, 0, 0
    for length, symbols in lengths.items():
        code <<= length - before
        before = length
        for symbol in symbols:
            codes[symbol] = (code, length)
            code += 1
    return codes


DC, AC = _canonical(DC_CODES), _canonical(AC_CODES)


def _segment(marker: int, data: bytes) -> bytes:
    return struct.pack(">BBH", 0xFF, marker, len(data) + 2) + data


def _head(width: int, height: int) -> bytes:
    components = b"".join(bytes((number, 0x11, 0)) for number in (1, 2, 3))
    tables = b"".join(
        bytes((kind << 4,))
        + bytes(len(codes.get(length, ())) for length in range(1, 17))
        + bytes(symbol for symbols in codes.values() for symbol in symbols)
        for kind, codes in ((0, DC_CODES), (1, AC_CODES))
    )
    return (
        b"\xff\xd8"
        + _segment(0xE0, b"JFIF\0\1\1\0\0\1\0\1\0\0")
        + _segment(0xDB, bytes(1) + bytes([STEP]) * 64)
        + _segment(0xC0, struct.pack(">BHHB", 8, height, width, 3) + components)
        + _segment(0xC4, tables)
    )


def _comments(seed: str, size: int) -> bytes:
    """Return segments of text before the scan, so many bytes together."""
    parts: list[bytes] = []
    while size > LONGEST + COMMENT:
        part = min(size - COMMENT, LONGEST + COMMENT)  # so that another segment fits behind it
        parts.append(_segment(0xFE, comment(f"{seed} {len(parts)}", part - COMMENT)))
        size -= part
    parts.append(_segment(0xFE, comment(f"{seed} {len(parts)}", size - COMMENT)))
    return b"".join(parts)


def _scan(seed: str, blocks: int, room: int) -> bytes:
    """Noise as long as there is room, then blocks that are like the last one."""
    out = bytearray(_segment(0xDA, b"\3\1\0\2\0\3\0\0\x3f\0"))
    flat_code = (DC[0][0] << AC[0][1]) | AC[0][0]
    flat_length = DC[0][1] + AC[0][1]
    flat, per_block = ((flat_code << 2 * flat_length) | (flat_code << flat_length) | flat_code), 3 * flat_length
    value, count, done = 0, 0, 0
    for bits, length in _noise(seed):
        longest = 2 * ((count + length + 7) // 8)  # each byte may be 255, which is written with a 0 behind it
        if done == blocks or len(out) + longest + (blocks - done) * per_block // 8 + 2 > room:
            break
        value, count, done = (value << length) | bits, count + length, done + 1
        value, count = _flush(out, value, count)
    for _ in range(blocks - done):
        value, count = _flush(out, (value << per_block) | flat, count + per_block)
    spare = -count % 8
    _flush(out, (value << spare) | ((1 << spare) - 1), count + spare)
    return bytes(out)


def _flush(out: bytearray, value: int, count: int) -> tuple[int, int]:
    """Write the whole bytes; gives the bits that are left."""
    left = count % 8
    out += (value >> left).to_bytes(count // 8, "big").replace(b"\xff", b"\xff\0")
    return value & ((1 << left) - 1), left


def _noise(seed: str) -> Iterator[tuple[int, int]]:
    """Yield blocks without end, as bits and their count."""
    pools = [[_coefficients(f"{seed} {each} {one}", each) for one in range(POOL)] for each in COEFFICIENTS]
    means = [LEVELS] * len(pools)  # grey, from which the first differs
    differences = {step: _number(step, DC) for step in range(-2 * LEVELS, 2 * LEVELS + 1)}
    draws = 0
    while True:
        chance = iter(noise(f"{seed} blocks {draws}", 2 * len(pools) * DRAWN_AT_ONCE))
        draws += 1
        for _ in range(DRAWN_AT_ONCE):
            value, count = 0, 0
            for component, pool in enumerate(pools):
                mean = next(chance) % (2 * LEVELS + 1)
                bits, length = differences[mean - means[component]]
                means[component] = mean
                more, longer = pool[next(chance) % POOL]
                value, count = (((value << length) | bits) << longer) | more, count + length + longer
            yield value, count


def _number(difference: int, codes: Codes) -> tuple[int, int]:
    bits = abs(difference).bit_length()
    code, length = codes[bits]
    written = difference if difference > 0 else difference + (1 << bits) - 1
    return (code << bits) | written, length + bits


def _coefficients(seed: str, count: int) -> tuple[int, int]:
    value, length, place = 0, 0, 0
    chance = numbers(seed, 8 * len(DRAWN))
    for _ in range(count):
        drawn, sign = divmod(next(chance), 8)
        symbol = DRAWN[drawn]
        zeros, bits = symbol >> 4, symbol & 15
        code, longer = AC[symbol]
        value = (((value << longer) | code) << bits) | (sign & ((1 << bits) - 1))
        length += longer + bits
        place += zeros + 1
    code, longer = AC[0]
    return (value << longer) | code, length + longer
