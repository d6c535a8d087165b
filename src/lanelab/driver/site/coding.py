"""Content codings: bodies decoded, and encoded again. Pure."""

import gzip
import io
import zlib
from collections.abc import Callable
from dataclasses import replace

import brotlicffi
import zstandard

from lanelab.driver.base.errors import InputError
from lanelab.driver.site.site import CONTENT_ENCODING, Headers, StoredObject

LARGEST_BODY = 200_000_000  # bytes, decoded: what expands further is no page's object
GZIP_LEVEL, BROTLI_QUALITY, ZSTD_LEVEL = 6, 5, 3
CODINGS = ("gzip", "x-gzip", "deflate", "br", "zstd")


def decoded(stored: StoredObject) -> StoredObject:
    """Return the object with its body as the page sees it. One with a coding that nobody knows stays as it is. Raises
    InputError for a body that is not what its coding says."""
    body = stored.body
    for coding in reversed(_codings(stored)):
        if coding not in CODINGS:
            return stored
        body = decode(body, coding, stored.object.url)
    if not stored.object.encoding:
        return stored
    headers = tuple(pair for pair in stored.object.sent_headers if pair[0].lower() != CONTENT_ENCODING)
    return StoredObject(replace(stored.object, headers=headers, size=len(body)), body)


def encoded(stored: StoredObject, coding: str) -> StoredObject:
    """Return a decoded object with that coding."""
    body = encode(stored.body, coding)
    headers: Headers = (*stored.object.sent_headers, ("Content-Encoding", coding))
    return StoredObject(replace(stored.object, headers=headers, size=len(body)), body)


def decode(body: bytes, coding: str, what: str = "a body") -> bytes:
    if not body:
        return body
    try:
        plain = _decode(body, coding)
    except (OSError, EOFError, zlib.error, brotlicffi.error, zstandard.ZstdError, ValueError) as error:
        raise InputError(f"{what} is not {coding} as its headers say: {error}", "Record the site again") from error
    if len(plain) > LARGEST_BODY:
        raise InputError(f"{what} expands to more than {LARGEST_BODY} bytes", "Leave it out of the site")
    return plain


def encode(body: bytes, coding: str) -> bytes:
    """Encode a body: to the same bytes each time, as long as the libraries are the same."""
    if coding in ("gzip", "x-gzip"):
        return gzip.compress(body, GZIP_LEVEL, mtime=0)
    if coding == "deflate":
        return zlib.compress(body, GZIP_LEVEL)
    if coding == "br":
        return bytes(brotlicffi.compress(body, quality=BROTLI_QUALITY))
    if coding == "zstd":
        return zstandard.ZstdCompressor(level=ZSTD_LEVEL).compress(body)
    raise InputError(f"there is no content coding {coding!r}", f"There are {', '.join(CODINGS)}")


def _decode(body: bytes, coding: str) -> bytes:
    if coding in ("gzip", "x-gzip"):
        with gzip.GzipFile(fileobj=io.BytesIO(body)) as file:
            return file.read(LARGEST_BODY + 1)
    if coding == "deflate":
        try:
            return _inflate(body, zlib.MAX_WBITS)
        except zlib.error:  # raw deflate: what some servers mean
            return _inflate(body, -zlib.MAX_WBITS)
    if coding == "br":
        return _brotli(body)
    zstd = zstandard.ZstdDecompressor().decompressobj()
    return _piecewise(body, zstd.decompress, lambda: bool(zstd.eof))


def _inflate(body: bytes, window: int) -> bytes:
    inflater = zlib.decompressobj(window)
    plain = inflater.decompress(body, LARGEST_BODY + 1)
    if not inflater.eof and len(plain) <= LARGEST_BODY:
        raise ValueError("it is cut short")
    return plain


def _brotli(body: bytes) -> bytes:
    """With a limit: a few hundred bytes may mean gigabytes."""
    brotli = brotlicffi.Decompressor()
    plain = bytes(brotli.decompress(body, output_buffer_limit=LARGEST_BODY + 1))
    if not brotli.is_finished() and len(plain) <= LARGEST_BODY:
        raise ValueError("it is cut short")
    return plain


def _piecewise(body: bytes, decompress: Callable[[bytes], bytes], is_finished: Callable[[], bool]) -> bytes:
    """A few bytes may mean many more, and this decoder knows no limit: 1 kB of zstd is 43 MB at most."""
    parts, size = [], 0
    for begin in range(0, len(body), 1024):
        part = decompress(body[begin : begin + 1024])
        size += len(part)
        parts.append(part)
        if size > LARGEST_BODY or is_finished():
            break
    if size <= LARGEST_BODY and not is_finished():
        raise ValueError("it is cut short")
    return b"".join(parts)


def _codings(stored: StoredObject) -> list[str]:
    return [word.strip() for word in (stored.object.encoding or "").split(",") if word.strip() not in ("", "identity")]
