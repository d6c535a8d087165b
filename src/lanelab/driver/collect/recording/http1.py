"""What a connection carried, as HTTP/1.x messages. Pure.

The browser's side is well formed, since the browser made it. The server's side is read as leniently as browsers do:
line ends without CR, folded lines, lines that are no header fields.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from lanelab.driver.collect.recording.message import Answer, End, Message, WireError
from lanelab.driver.site.site import Headers

HEAD_END = re.compile(rb"\r?\n\r?\n")
LINE_END = re.compile(rb"\r?\n")
STATUS_LINE = re.compile(rb"HTTP/(\d\.\d)[ \t]+(\d{3})(?:[ \t]+(.*?))?[ \t]*", re.DOTALL)
REQUEST_LINE = re.compile(rb"([!-~]+) ([!-~]+) HTTP/1\.[01]")
CHUNK_SIZE = re.compile(rb"[ \t]*([0-9A-Fa-f]{1,15})[ \t]*(?:;[^\n]*)?")
LENGTH = re.compile(r"\d{1,18}")
BODYLESS = (204, 304)
SWITCHING = 101
LONGEST_HEAD = 1 << 20
BLANK = " \t"


@dataclass(frozen=True, slots=True)
class Head:
    first: bytes
    headers: Headers
    end: int  # where the body begins


@dataclass(frozen=True, slots=True)
class Body:
    data: bytes
    end: int
    how: End


def messages(sent: bytes, received: bytes) -> Iterator[Message]:
    """Yield every request of a connection in its order, with the answers in theirs. Raises WireError at what is
    none."""
    requests = answered = 0
    while requests < len(sent):
        head = _head(sent, requests)
        if head is None:
            return  # the browser ended while it asked
        method, target = _request_line(head.first)
        body = _request_body(sent, head)
        answer, answered = _answer(received, answered, method)
        tunnel = answer is not None and (
            answer.status == SWITCHING or (method == "CONNECT" and 200 <= answer.status < 300)
        )
        host = value(head.headers, "host")
        yield Message(method, target, host, None, head.headers, body.data, requests, answer, tunnel)
        if tunnel or body.how is End.CUT:
            return
        requests = body.end


def value(headers: Headers, name: str) -> str:
    """Return all values of a field, as one."""
    return ", ".join(text for other, text in headers if other.lower() == name)


def _request_line(line: bytes) -> tuple[str, str]:
    match = REQUEST_LINE.fullmatch(line)
    if not match:
        raise WireError(f"a connection begins with {line[:40]!r}, which is no request of HTTP/1.1")
    return match[1].decode("ascii"), match[2].decode("ascii")


def _request_body(sent: bytes, head: Head) -> Body:
    if _is_chunked(head.headers):
        return _chunked(sent, head.end)
    length = _length(head.headers)
    return _counted(sent, head.end, length or 0)


def _answer(received: bytes, at: int, method: str) -> tuple[Answer | None, int]:
    """Return the final answer from there on, and where the next one begins. None: none came, or not the whole head."""
    while True:
        head = _head(received, at)
        if head is None:
            return None, len(received)
        match = STATUS_LINE.fullmatch(head.first)
        if not match:
            raise WireError(f"an answer begins with {head.first[:40]!r}, which is no status line of HTTP")
        status = int(match[2])
        if 100 <= status < 200 and status != SWITCHING:
            at = head.end
            continue
        body = _answer_body(received, head, method, status)
        reason, protocol = (match[3] or b"").decode("latin-1"), f"http/{match[1].decode('ascii')}"
        return Answer(status, reason, head.headers, body.data, protocol, body.how), body.end


def _answer_body(received: bytes, head: Head, method: str, status: int) -> Body:
    if method == "HEAD" or status in BODYLESS or status == SWITCHING:
        return Body(b"", head.end, End.WHOLE)
    if _is_chunked(head.headers):
        return _chunked(received, head.end)
    length = _length(head.headers)
    if length is not None:
        return _counted(received, head.end, length)
    return Body(received[head.end :], len(received), End.UNTIL_CLOSE)


def _counted(data: bytes, at: int, length: int) -> Body:
    body = data[at : at + length]
    return Body(body, at + len(body), End.WHOLE if len(body) == length else End.CUT)


def _chunked(data: bytes, at: int) -> Body:
    parts: list[bytes] = []
    while True:
        line = LINE_END.search(data, at)
        if line is None:
            return Body(b"".join(parts), len(data), End.CUT)
        size = CHUNK_SIZE.fullmatch(data, at, line.start())
        if size is None:
            raise WireError(f"a chunk's length is {data[at : line.start()][:20]!r}")
        length, at = int(size[1], 16), line.end()
        if length == 0:
            return _after_trailers(data, at, b"".join(parts))
        parts.append(data[at : at + length])
        at += length
        line_end = LINE_END.match(data, at)
        if line_end is None:
            if len(data) - at >= 2:
                raise WireError(f"a chunk of {length} bytes is followed by {data[at : at + 8]!r}")
            return Body(b"".join(parts), len(data), End.CUT)
        at = line_end.end()


def _after_trailers(data: bytes, at: int, body: bytes) -> Body:
    while True:
        line = LINE_END.search(data, at)
        if line is None:
            return Body(body, len(data), End.CUT)
        if line.start() == at:
            return Body(body, line.end(), End.WHOLE)
        at = line.end()


def _head(data: bytes, at: int) -> Head | None:
    """None: it is not there in full."""
    while at < len(data) and data[at] in b"\r\n":  # some servers send an empty line too many
        at += 1
    end = HEAD_END.search(data, at, at + LONGEST_HEAD)
    if end is None:
        if len(data) - at > LONGEST_HEAD:
            raise WireError(f"a head has no end within {LONGEST_HEAD} bytes")
        return None
    first, *lines = LINE_END.split(data[at : end.start()])
    return Head(first, _fields(lines), end.end())


def _fields(lines: list[bytes]) -> Headers:
    fields: list[tuple[str, str]] = []
    for raw in lines:
        line = raw.decode("latin-1")
        if line[:1] in BLANK and fields and line:  # folded: a part of the value before
            name, text = fields[-1]
            fields[-1] = name, f"{text} {line.strip(BLANK)}".strip(BLANK)
            continue
        name, colon, text = line.partition(":")
        if colon and name.strip(BLANK):
            fields.append((name.strip(BLANK), text.strip(BLANK)))
    return tuple(fields)


def _is_chunked(headers: Headers) -> bool:
    return value(headers, "transfer-encoding").lower().rpartition(",")[2].strip() == "chunked"


def _length(headers: Headers) -> int | None:
    """None: it does not say. Several that agree are one."""
    lengths = {part.strip() for part in value(headers, "content-length").split(",")} - {""}
    if not lengths:
        return None
    if len(lengths) > 1 or not LENGTH.fullmatch(min(lengths)) or not min(lengths).isascii():
        raise WireError(f"an answer has the lengths {', '.join(sorted(lengths))[:60]}")
    return int(min(lengths))
