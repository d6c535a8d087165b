"""Heads of HTTP messages as archives hold them: bytes in, words out. Lenient as browsers are, and bounded."""

import re
from dataclasses import dataclass

from lanelab.driver.site.archive.expanding import DamagedError
from lanelab.driver.site.site import Headers

_STATUS = re.compile(rb"HTTP/(\d(?:\.\d)?)[ \t]+(\d{3})(?:[ \t]([^\r\n]*))?")
_REQUEST = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]{1,40})[ \t]+(\S+)(?:[ \t]+HTTP/(\d(?:\.\d)?))?[ \t]*")
_HEAD_END = re.compile(rb"\r?\n\r?\n")
_CHUNK = re.compile(rb"([0-9A-Fa-f]{1,8})[ \t]*(?:;[^\r\n]{0,1000})?\r?\n")
_LINE_END = re.compile(rb"\r?\n")
_TRAILER = re.compile(rb"(?:[^\r\n]{1,8000}\r?\n){0,100}(?:\r?\n)?")
_CONTINUE, _SWITCHING, _OK = 100, 101, 200


@dataclass(frozen=True, slots=True)
class Head:
    """The first line's words, the fields, and where the body begins."""

    first: tuple[str, str, str]
    fields: Headers
    body_at: int


def answer_head(block: bytes, longest: int) -> Head:
    """Of the final answer: version, status, reason. Interim answers before it are passed over."""
    at = 0
    while True:
        match = _STATUS.match(block, at)
        if not match:
            raise DamagedError("an answer does not begin with HTTP/ and a status")
        fields, end = _fields(block, at, longest)
        status = int(match[2])
        if _CONTINUE <= status < _OK and status != _SWITCHING:
            at = end
            continue
        version, reason = match[1].decode(), (match[3] or b"").strip().decode("latin-1")
        return Head((version, match[2].decode(), reason), fields, end)


def request_head(block: bytes, longest: int) -> Head:
    """Method, target, version."""
    match = _REQUEST.match(block)
    if not match:
        raise DamagedError("a request does not begin with a method and an address")
    fields, end = _fields(block, 0, longest)
    return Head((match[1].decode(), match[2].decode("latin-1"), (match[3] or b"1.1").decode()), fields, end)


def _fields(block: bytes, at: int, longest: int) -> tuple[Headers, int]:
    """Return the fields below the first line, and where the body begins. Folded lines become one, as in a browser."""
    first = _LINE_END.search(block, at, at + longest)
    if not first:
        return (), min(len(block), at + longest)
    # Without fields the first line's end is the head's.
    end = _HEAD_END.search(block, first.start(), at + longest)
    if not end and len(block) - at > longest:
        raise DamagedError(f"a head is longer than {longest:,} bytes")
    text = block[first.end() : end.start() if end else len(block)]
    fields: list[tuple[str, str]] = []
    for line in text.decode("latin-1").split("\n"):
        if line[:1] in (" ", "\t") and fields:
            name, value = fields[-1]
            fields[-1] = name, f"{value} {line.strip()}".strip()
            continue
        name, colon, value = line.rstrip("\r").partition(":")
        if colon and name.strip():
            fields.append((name.strip(), value.strip(" \t")))
    return tuple(fields), end.end() if end else len(block)


def values_of(fields: Headers, name: str) -> list[str]:
    return [value for each, value in fields if each.lower() == name]


def dechunked(body: bytes) -> bytes | None:
    """Return a body without chunks; None where it has none: some tools remove them and leave the field. What is damaged
    behind a whole chunk raises DamagedError. What comes behind the last one is no part of it, as for a browser."""
    parts: list[bytes] = []
    at = 0
    while match := _CHUNK.match(body, at):
        size, begin = int(match[1], 16), match.end()
        if not size:
            end = _TRAILER.match(body, begin)
            return b"".join(parts) if parts or (end and end.end() == len(body)) else None
        after = _LINE_END.match(body, begin + size)
        if not after:
            break
        parts.append(body[begin : begin + size])
        at = after.end()
    if not parts:
        return None
    raise DamagedError("a chunk is cut off" if body[at:].strip() else "the last chunk is missing")


def begins_as_chunk(body: bytes) -> bool:
    return _CHUNK.match(body) is not None


def chunked(body: bytes) -> bytes:
    """Return a body as one chunk, for an archive whose heads say so."""
    return (b"%x\r\n%s\r\n" % (len(body), body) if body else b"") + b"0\r\n\r\n"
