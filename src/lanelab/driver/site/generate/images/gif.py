"""GIF: one frame, a palette of 16 or 128 colours."""

import struct

from lanelab.driver.site.generate.deflate import Bits
from lanelab.driver.site.generate.images.common import TooSmall, comment, shape
from lanelab.driver.site.generate.noise import noise

FEW, MANY = 4, 7  # bits of a pixel
WITH_MANY = 3000  # bytes from which on a palette of many colours is worth its 384 bytes
COMMENT = 3
LONGEST_CODE = 12
LARGEST_BLOCK = 255


def dimensions(size: int) -> tuple[int, int]:
    bits = _bits(size)
    return shape(max(size - 40 - 3 * 2**bits, 1) * 8 * 10 // (bits * 13))  # noise grows by about 3/10


def encode(seed: str, size: int, width: int, height: int, metadata: int) -> bytes:
    bits = _bits(size)
    head = (
        b"GIF89a" + struct.pack("<HHBBB", width, height, 0xF0 | (bits - 1), 0, 0) + noise(f"{seed} colours", 3 << bits)
    )
    frame = b"," + struct.pack("<HHHHBB", 0, 0, width, height, 0, bits)
    room = size - len(head) - len(frame) - 1 - max(metadata, COMMENT + 1)
    pixels = bytes(value & ((1 << bits) - 1) for value in noise(seed, width * height))
    data = _fitting(pixels, bits, room)
    if data is None:
        raise TooSmall(size - room + len(_blocks(_lzw(bytes(len(pixels)), bits))))
    text = size - len(head) - len(frame) - 1 - len(data)
    return head + _comment(seed, text) + frame + data + b";"


def _bits(size: int) -> int:
    return MANY if size >= WITH_MANY else FEW


def _fitting(pixels: bytes, bits: int, room: int) -> bytes | None:
    """Return as much noise as fits, with one colour for the other pixels; None where even no noise fits."""
    best, low, high = None, 0, len(pixels)
    while low <= high:
        middle = (low + high) // 2
        data = _blocks(_lzw(pixels[:middle] + bytes(len(pixels) - middle), bits))
        if len(data) <= room:
            best, low = data, middle + 1
        else:
            high = middle - 1
    return best


def _lzw(pixels: bytes, bits: int) -> bytes:
    clear = 1 << bits
    out = Bits()
    table: dict[tuple[int, int], int] = {}
    width, after = bits + 1, clear + 2
    out.put(clear, width)
    prefix = pixels[0]
    for pixel in pixels[1:]:
        longer = table.get((prefix, pixel))
        if longer is not None:
            prefix = longer
            continue
        out.put(prefix, width)
        if after < 1 << LONGEST_CODE:
            table[prefix, pixel] = after
            after += 1
            if after > 1 << width and width < LONGEST_CODE:
                width += 1
        else:
            out.put(clear, width)
            table.clear()
            width, after = bits + 1, clear + 2
        prefix = pixel
    out.put(prefix, width)
    if after == 1 << width and width < LONGEST_CODE:
        width += 1  # the reader's table grows with the last code too
    out.put(clear + 1, width)
    return out.aligned()


def _blocks(data: bytes) -> bytes:
    parts = (data[start : start + LARGEST_BLOCK] for start in range(0, len(data), LARGEST_BLOCK))
    return b"".join(bytes((len(part),)) + part for part in parts) + b"\0"


def _comment(seed: str, size: int) -> bytes:
    """Return a comment of exactly that many bytes: blocks of up to 255 characters, each with its length."""
    inside = size - COMMENT
    count = -(-inside // (LARGEST_BLOCK + 1))
    text = comment(seed, inside - count)
    parts, start = [], 0
    for left in range(count, 0, -1):
        length = -(-(len(text) - start) // left)
        parts.append(bytes((length,)) + text[start : start + length])
        start += length
    return b"!\xfe" + b"".join(parts) + b"\0"
