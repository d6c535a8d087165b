"""Exchanges -> a WARC file that every tool for WARC reads. The same exchanges give the same bytes.

Heads are put together here: warcio's own way to make records rewrites them (%-encodes what is not ASCII, joins folded
lines). warcio compresses, and writes each record as a gzip member of its own.
"""

import base64
import hashlib
import io
import uuid
from collections.abc import Iterable
from typing import BinaryIO
from urllib.parse import urlsplit

from warcio.recordloader import ArcWarcRecord
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from lanelab.driver.base.errors import InputError
from lanelab.driver.base.version import VERSION
from lanelab.driver.site.archive.http_text import chunked, values_of
from lanelab.driver.site.exchange import Exchange
from lanelab.driver.site.site import Headers

VERSION_OF_WARC = "WARC/1.1"
RENAMED = "X-Archive-Orig-Transfer-Encoding"  # as archives name it where the record's body is not written so
TRANSFER = "transfer-encoding"
HTTP_1_0 = "http/1.0"


def write_warc(out: BinaryIO, exchanges: Iterable[Exchange], description: str = "") -> None:
    """Write a record about the file, then each answer with its request."""
    writer = WARCWriter(out, gzip=True, warc_version=VERSION_OF_WARC)
    for number, exchange in enumerate(exchanges):
        if not number:
            _write_info(writer, exchange.at_utc, description)
        _write_exchange(writer, exchange, number)


def _write_info(writer: WARCWriter, date: str, description: str) -> None:
    lines = {
        "software": f"lanelab {VERSION}",
        "format": "WARC File Format 1.1",
        "conformsTo": "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/",
        "description": " ".join(description.split()),
    }
    block = "".join(f"{name}: {value}\r\n" for name, value in lines.items() if value).encode()
    _write(writer, "warcinfo", (("WARC-Date", date), ("Content-Type", "application/warc-fields")), block, b"info")


def _write_exchange(writer: WARCWriter, exchange: Exchange, number: int) -> None:
    version = "HTTP/1.0" if exchange.protocol == HTTP_1_0 else "HTTP/1.1"
    name, target = _require_line(exchange.url, "address"), _target(exchange.url)
    common = (("WARC-Date", exchange.at_utc), ("WARC-Target-URI", name), ("WARC-Protocol", exchange.protocol))
    fields, payload = _as_written(exchange.headers, exchange.body)
    status = f"{version} {exchange.status:03d} {_require_line(exchange.reason, 'reason')}"
    answer = _head(status, fields) + payload
    seed = f"{number} ".encode()
    answer_type = (_payload_digest(payload), ("Content-Type", "application/http; msgtype=response"))
    answer_id = _write(writer, "response", (*common, *answer_type), answer, seed)
    fields, payload = _as_written(exchange.request_headers, exchange.request_body)
    first = f"{_require_line(exchange.method, 'method')} {target} {version}"
    request = _head(first, fields) + payload
    request_type = (_payload_digest(payload), ("Content-Type", "application/http; msgtype=request"))
    _write(writer, "request", (*common, ("WARC-Concurrent-To", answer_id), *request_type), request, seed)


def _write(writer: WARCWriter, kind: str, fields: Headers, block: bytes, seed: bytes) -> str:
    """Its id, which comes from its content. warcio writes the content type that it is told, also where it is empty."""
    content = hashlib.sha256(seed + kind.encode() + repr(fields).encode() + block).hexdigest()
    record_id = f"<urn:uuid:{uuid.uuid5(uuid.NAMESPACE_OID, content)}>"
    head = [("WARC-Type", kind), ("WARC-Record-ID", record_id), *fields, ("WARC-Block-Digest", _sha1(block))]
    headers = StatusAndHeaders("", head, protocol=VERSION_OF_WARC)
    content_type = headers.get_header("Content-Type")
    writer.write_record(ArcWarcRecord("warc", kind, headers, io.BytesIO(block), None, content_type, len(block)))
    return record_id


def _payload_digest(payload: bytes) -> tuple[str, str]:
    """Written here, or warcio would write that of the whole block."""
    return "WARC-Payload-Digest", _sha1(payload)


def _as_written(fields: Headers, body: bytes) -> tuple[Headers, bytes]:
    """Return the body as the fields describe it: in chunks where they say so. Another transfer coding is not made
    again."""
    transfer = ",".join(values_of(fields, TRANSFER)).strip().lower()
    if transfer == "chunked":
        return fields, chunked(body)
    if transfer:
        fields = tuple((RENAMED if name.lower() == TRANSFER else name, value) for name, value in fields)
    return fields, body


def _head(first: str, fields: Headers) -> bytes:
    lines = [first, *(f"{_require_line(name, 'field')}: {_require_line(value, name)}" for name, value in fields)]
    return "".join(f"{line}\r\n" for line in (*lines, "")).encode("latin-1")


def _require_line(text: str, what: str) -> str:
    """What ends a line would begin a field that nobody sent."""
    if any(each in text for each in "\r\n\0") or any(ord(each) > 0xFF for each in text):
        raise InputError(f"the {what} {text[:100]!r} has a character that no head can have", "Leave it out")
    return text


def _target(url: str) -> str:
    parts = urlsplit(url)
    return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


def _sha1(data: bytes) -> str:
    """Write a digest as tools for WARC do."""
    return "sha1:" + base64.b32encode(hashlib.sha1(data, usedforsecurity=False).digest()).decode()
