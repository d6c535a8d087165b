"""Whether a body begins as its Content-Encoding says. Tools that store bodies decoded often keep the field."""

import zlib
from collections.abc import Callable

import brotlicffi
import zstandard

FIRST = 4_096  # bytes that are tried
OUT = 1 << 16  # what may come out: nothing is kept of it

_ERRORS = (zlib.error, brotlicffi.error, zstandard.ZstdError)


def _deflate(body: bytes) -> None:
    """With zlib's head or without: servers send both."""
    try:
        zlib.decompressobj().decompress(body, OUT)
    except zlib.error:
        zlib.decompressobj(-zlib.MAX_WBITS).decompress(body, OUT)


def _gzip(body: bytes) -> None:
    zlib.decompressobj(zlib.MAX_WBITS + 16).decompress(body, OUT)


_TRIED: dict[str, Callable[[bytes], object]] = {
    "gzip": _gzip,
    "x-gzip": _gzip,
    "deflate": _deflate,
    "br": lambda body: brotlicffi.Decompressor().decompress(body, output_buffer_limit=OUT),
    "zstd": lambda body: zstandard.ZstdDecompressor(max_window_size=1 << 27).stream_reader(body).read(OUT),
}


def is_encoded(body: bytes, coding: str) -> bool:
    """What nobody here knows, and what is empty, is taken for what it says."""
    if coding not in _TRIED or not body:
        return True
    try:
        _TRIED[coding](body[:FIRST])
    except _ERRORS:
        return False
    return True
