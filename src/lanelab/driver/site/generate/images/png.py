"""PNG: 8 bits for each of red, green and blue."""

import struct
import zlib

from lanelab.driver.site.generate.deflate import zlib_stream
from lanelab.driver.site.generate.images.common import TooSmall, comment, shape
from lanelab.driver.site.generate.noise import noise

CHUNK = 12  # bytes that a chunk adds to its data
KEYWORD = b"Comment\0"
SIGNATURE = b"\x89PNG\r\n\x1a\n"
FRAME = len(SIGNATURE) + CHUNK + 13 + CHUNK + CHUNK  # with IHDR, and the heads of IDAT and IEND
AS_ABOVE = b"\2"  # the filter that adds the row above


def dimensions(size: int) -> tuple[int, int]:
    return shape(max(size - FRAME - CHUNK - len(KEYWORD) - 40, 3) * 100 // 301)


def encode(seed: str, size: int, width: int, height: int, metadata: int) -> bytes:
    room = size - FRAME - max(metadata, CHUNK + len(KEYWORD))
    row = 3 * width + 1
    rows = min(height, max(room, 0) // row)
    stream = _stream(seed, width, height, rows)
    while len(stream) > room:
        over = -(-(len(stream) - room) // row)
        if rows <= 1:
            raise TooSmall(size - room + len(_stream(seed, width, height, 1)))
        rows = max(1, rows - over)
        stream = _stream(seed, width, height, rows)
    head = SIGNATURE + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    text = size - FRAME - len(stream) - CHUNK - len(KEYWORD)
    filler = chunk(b"tEXt", KEYWORD + comment(seed, text))
    return head + filler + chunk(b"IDAT", stream) + chunk(b"IEND", b"")


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _stream(seed: str, width: int, height: int, rows: int) -> bytes:
    """The first rows are noise, and the others repeat the last one of it."""
    rows = max(rows, 1)
    pixels = noise(seed, 3 * width * rows)
    scan = b"".join(b"\0" + pixels[3 * width * y : 3 * width * (y + 1)] for y in range(rows))
    return zlib_stream(scan, AS_ABOVE + bytes(3 * width), height - rows)
