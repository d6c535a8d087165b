"""WebP, lossless: literals for noise, and copies of the pixel before for the plain part."""

import struct

from lanelab.driver.site.generate.deflate import Bits
from lanelab.driver.site.generate.images.common import TooSmall, comment, shape
from lanelab.driver.site.generate.noise import noise

CHUNK = 8  # bytes that a chunk adds to its data
EXTENDED = CHUNK + 10
HAS_XMP = 0x04
LONGEST_RUN = 4096
ORDER = (17, 18, 0, 1, 2, 3, 4, 5, 16, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)  # of the code for the codes' lengths


def dimensions(size: int) -> tuple[int, int]:
    return shape(max(size - 12 - EXTENDED - 2 * CHUNK - 60, 3) // 3)


def encode(seed: str, size: int, width: int, height: int, metadata: int) -> bytes:
    if size % 2:
        raise ValueError("a WebP file has an even number of bytes")
    room = size - 12 - EXTENDED - max(metadata, CHUNK)
    pixels = width * height
    count = min(pixels, max(room - CHUNK, 0) // 3)
    data = _image(seed, width, height, count)
    while len(data) > room:
        if count <= 1:
            raise TooSmall(size - room + len(_image(seed, width, height, 1)))
        count = max(1, count - (len(data) - room + 2) // 3)
        data = _image(seed, width, height, count)
    canvas = (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    extended = _chunk(b"VP8X", bytes((HAS_XMP, 0, 0, 0)) + canvas)
    text = size - 12 - EXTENDED - len(data) - CHUNK
    filler = _chunk(b"XMP ", comment(seed, text))
    return b"RIFF" + struct.pack("<I", size - 8) + b"WEBP" + extended + data + filler


def _chunk(kind: bytes, data: bytes) -> bytes:
    return kind + struct.pack("<I", len(data)) + data + bytes(len(data) % 2)


def _image(seed: str, width: int, height: int, count: int) -> bytes:
    """Of all pixels the first `count` are noise."""
    count = max(count, 1)
    bits = Bits()
    bits.put(0x2F, 8)
    bits.put(width - 1, 14)
    bits.put(height - 1, 14)
    bits.put(0, 1)  # not transparent
    bits.put(0, 3)  # version
    bits.put(0, 1)  # no transformation
    bits.put(0, 1)  # no cache of colours
    bits.put(0, 1)  # one set of codes for the whole image
    plain = width * height - count
    codes = _Codes(runs=plain > 0)
    codes.write(bits)
    values = noise(seed, 3 * count)
    for pixel in range(count):
        green, red, blue = values[3 * pixel : 3 * pixel + 3]
        codes.literal(bits, green, red, blue)
    codes.copies(bits, plain)
    return _chunk(b"VP8L", bits.aligned())


class _Codes:
    """The prefix codes. Where there are runs, half of the greens and all lengths share what 8 bits can say."""

    def __init__(self, *, runs: bool) -> None:
        self.runs = runs
        self._greens = [8] * 256 + [0] * 24
        if runs:
            self._greens = [8] * 128 + [0] * 128 + [5] * 8 + [6] * 16
        self._green_codes = _canonical(self._greens)

    def write(self, bits: Bits) -> None:
        self._lengths(bits, self._greens)
        self._lengths(bits, [8] * 256)
        self._lengths(bits, [8] * 256)
        self._single(bits, 255)  # alpha
        self._single(bits, 1)  # distance: the pixel to the left is number 2, and symbol 1 means 2

    @staticmethod
    def _single(bits: Bits, symbol: int) -> None:
        bits.put(1, 1)  # simple
        bits.put(0, 1)  # of one symbol, which then takes no bits
        bits.put(1, 1)  # written in 8 bits
        bits.put(symbol, 8)

    @staticmethod
    def _lengths(bits: Bits, lengths: list[int]) -> None:
        """Write a code for the lengths that occur, which are four, two or one, and then a length for each symbol."""
        kinds = sorted(set(lengths))
        of_kind = dict.fromkeys(kinds, 2 if len(kinds) == 4 else 1)
        bits.put(0, 1)
        bits.put(len(ORDER) - 4, 4)
        for kind in ORDER:
            bits.put(of_kind.get(kind, 0), 3)
        bits.put(0, 1)  # for all symbols
        short = _canonical([of_kind.get(kind, 0) for kind in range(len(ORDER))])
        for length in lengths:
            if len(kinds) > 1:  # a code of one symbol takes no bits
                bits.code(*short[length])

    def literal(self, bits: Bits, green: int, red: int, blue: int) -> None:
        bits.code(*self._green_codes[green % 128 if self.runs else green])
        bits.code(red, 8)
        bits.code(blue, 8)

    def copies(self, bits: Bits, count: int) -> None:
        while count:
            part = min(count, LONGEST_RUN)
            symbol, extra, behind = _run(part)
            bits.code(*self._green_codes[256 + symbol])
            bits.put(extra, behind)
            count -= part


def _run(length: int) -> tuple[int, int, int]:
    """Return the symbol of a length, and the bits behind it with their count."""
    value = length - 1
    if value < 4:
        return value, 0, 0
    behind = value.bit_length() - 2
    return 2 * behind + (value >> behind), value & ((1 << behind) - 1), behind


def _canonical(lengths: list[int]) -> dict[int, tuple[int, int]]:
    codes, code = {}, 0
    for length in range(1, max(lengths) + 1):
        code <<= 1
        for symbol, wanted in enumerate(lengths):
            if wanted == length:
                codes[symbol] = (code, length)
                code += 1
    return codes
