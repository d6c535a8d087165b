"""Mahimahi's recordings: a folder with one file for each request and its answer.

A file is a message of Protocol Buffers. Of its fields these are read, by their numbers:

    RequestResponse   2 port   3 scheme (1 http, 2 https)   4 request   5 response
    HTTPMessage       1 first line   2 header (several)   3 body
    HTTPHeader        1 name   2 value

A field is a key (number * 8 + wire type) and a value: type 0 is a number in groups of 7 bits, type 2 a length and so
many bytes, types 1 and 5 are 8 and 4 bytes.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lanelab.driver.base.errors import InputError
from lanelab.driver.collect.importers.files import files_below
from lanelab.driver.collect.importers.importer import Imported, Importer, Source, changed_utc, read_file, start_of
from lanelab.driver.site.archive.expanding import DamagedError
from lanelab.driver.site.archive.http_text import values_of
from lanelab.driver.site.archive.read_warc import as_encoded, shown, without_chunks
from lanelab.driver.site.exchange import Exchange
from lanelab.driver.site.site import Headers

PORT, SCHEME, REQUEST, RESPONSE = 2, 3, 4, 5
FIRST_LINE, HEADER, BODY = 1, 2, 3
NAME, VALUE = 1, 2
HTTPS = 2
OK = 200
NUMBER, EIGHT_BYTES, BYTES, FOUR_BYTES = 0, 1, 2, 5
_STATUS = re.compile(rb"HTTP/(\d\.\d)\s+(\d{3})(?:\s+(.*))?", re.DOTALL)
_REQUEST = re.compile(rb"([A-Z]{1,20})\s+(\S+)\s+HTTP/(\d\.\d)\s*", re.DOTALL)
STANDARD_PORTS = {0, 80, 443}
FIRST_BYTES = (b"\x0a", b"\x10", b"\x18", b"\x22")  # keys of the fields 1 to 4
TRIED = 3  # files of a folder that are looked at


@dataclass(frozen=True, slots=True)
class _Message:
    first: bytes
    headers: Headers
    body: bytes


def matches(path: Path) -> bool:
    """Return whether one of the folder's first files is such a message. Nothing else begins like it by chance."""
    if not path.is_dir():
        return False
    tried = [file for file in sorted(path.iterdir())[:TRIED] if file.is_file() and not file.is_symlink()]
    return any(start_of(file, 1) in FIRST_BYTES and _is_saved(start_of(file)) for file in tried)


def _is_saved(start: bytes) -> bool:
    """Return whether a file that begins so is a recording: every whole field can be read, and one has the request's
    first line."""
    try:
        for number, value in _fields(start, cut=True):
            if number == REQUEST and isinstance(value, bytes):
                lines = dict(_fields(value, cut=True)).get(FIRST_LINE)
                return isinstance(lines, bytes) and _REQUEST.fullmatch(lines.strip()) is not None
    except DamagedError:
        return False
    return False


def read(source: Source) -> Imported:
    files, left_out = files_below(source.path, source.limits)
    dated: list[tuple[int, Exchange]] = []
    total = 0
    for file in files:
        name = shown(str(file.relative_to(source.path)))
        data = read_file(file, source.limits)
        source.limits.require_record(len(data), name)
        total += len(data)
        source.limits.require_total(total, str(source.path))
        try:
            dated.append((file.stat().st_mtime_ns, _exchange(data, changed_utc(file))))
        except DamagedError as why:
            left_out.append(f"{name}: {why}")
    if not dated:
        raise InputError(f"no file in {source.path} is a recording of Mahimahi", "Name the folder of mm-webrecord")
    # Names of files are chance, and a page and its frames come within a second.
    exchanges = tuple(exchange for _, exchange in sorted(dated, key=lambda each: each[0]))
    pages = sum(map(_is_page, exchanges))
    several = f"which of its {pages:,} pages was loaded is not known: the oldest file's is taken, --entry names another"
    return Imported(exchanges, tuple(left_out), doubtful=(several,) if pages > 1 else ())


def _is_page(each: Exchange) -> bool:
    html = "html" in ",".join(values_of(each.headers, "content-type")).lower()
    return html and each.method == "GET" and each.status == OK


def _exchange(data: bytes, at_utc: str) -> Exchange:
    fields = dict(_fields(data))
    request_message, answered = _message(fields.get(REQUEST)), _message(fields.get(RESPONSE))
    request, status = _REQUEST.fullmatch(request_message.first), _STATUS.fullmatch(answered.first)
    if not request or not status:
        raise DamagedError("it is no recording of Mahimahi")
    port = fields.get(PORT, 0)
    headers, body = as_encoded(answered.headers, without_chunks(answered.body, answered.headers))
    return Exchange(
        method=request[1].decode(),
        url=_url(
            request_message,
            request[2].decode("latin-1"),
            fields.get(SCHEME) == HTTPS,
            port if isinstance(port, int) else 0,
        ),
        request_headers=request_message.headers,
        request_body=request_message.body,
        status=int(status[2]),
        reason=(status[3] or b"").strip().decode("latin-1"),
        headers=headers,
        body=body,
        protocol=f"http/{status[1].decode()}",
        at_utc=at_utc,
    )


def _url(message: _Message, target: str, secure: bool, port: int) -> str:
    if "://" in target:
        return target
    host = next(iter(values_of(message.headers, "host")), "")
    if not host:
        raise DamagedError("its request names no host")
    if ":" not in host and port not in STANDARD_PORTS:
        host = f"{host}:{port}"
    return f"{'https' if secure else 'http'}://{host}{target}"


def _message(data: object) -> _Message:
    if not isinstance(data, bytes):
        raise DamagedError("it has no request or no answer")
    fields = list(_fields(data))
    headers = [dict(_fields(value)) for number, value in fields if number == HEADER and isinstance(value, bytes)]
    last = dict(fields)
    first, body = last.get(FIRST_LINE, b""), last.get(BODY, b"")
    if not isinstance(first, bytes) or not isinstance(body, bytes):
        raise DamagedError("a field has another type")
    return _Message(first.strip(), tuple((_text(each.get(NAME)), _text(each.get(VALUE))) for each in headers), body)


def _text(value: object) -> str:
    return value.decode("latin-1").strip() if isinstance(value, bytes) else ""


def _fields(data: bytes, *, cut: bool = False) -> Iterator[tuple[int, int | bytes]]:
    """Yield numbers and values of a message's fields, in their order. `cut`: there may be more of it than `data`."""
    at = 0
    while at < len(data):
        key, at = _number(data, at)
        kind, length = key & 7, 0
        if kind == NUMBER:
            value, at = _number(data, at)
            yield key >> 3, value
            continue
        if kind == BYTES:
            length, at = _number(data, at)
        elif kind in (EIGHT_BYTES, FOUR_BYTES):
            length = 8 if kind == EIGHT_BYTES else 4
        else:
            raise DamagedError("a field has a type that there is not")
        if at + length > len(data) and not cut:
            raise DamagedError("it ends in the middle of a field")
        yield key >> 3, data[at : at + length]
        at += length


def _number(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for position in range(at, min(at + 10, len(data))):
        value |= (data[position] & 0x7F) << 7 * (position - at)
        if not data[position] & 0x80:
            return value, position + 1
    raise DamagedError("it ends in the middle of a number")


MAHIMAHI = Importer("mahimahi", "a folder of Mahimahi's", matches, read)
