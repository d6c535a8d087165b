"""Style sheets for the tests of minify, and pages that refer to them."""

import struct
import zlib

from tests.kit.minify_site import stored


def link(path: str, rest: str = "") -> str:
    return f'<link rel="stylesheet" href="{path}"{rest}>'


def picture(size: int) -> bytes:
    """A PNG of exactly that many bytes that cannot be made smaller: noise, which no filter of these tests touches."""
    head = b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0))
    tail = _chunk(b"IDAT", zlib.compress(b"\0\0")) + _chunk(b"IEND", b"")
    return head + _chunk(b"tEXt", b"a\0" + b"-" * (size - len(head) - len(tail) - 14)) + tail


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


A, B, C = stored("/a.css", "a{b:c}"), stored("/b.css", "d{e:f}"), stored("/c.css", "g{h:i}")
