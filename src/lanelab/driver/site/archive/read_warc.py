"""WARC and ARC files -> Exchanges: requests joined with answers, revisits with what they repeat."""

import base64
import hashlib
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

import brotlicffi
import zstandard

from lanelab.driver.base.errors import InputError
from lanelab.driver.site.archive.dates import utc_of
from lanelab.driver.site.archive.digests import agrees
from lanelab.driver.site.archive.expanding import DamagedError
from lanelab.driver.site.archive.http_text import Head, answer_head, begins_as_chunk, dechunked, request_head, values_of
from lanelab.driver.site.archive.limits import LIMITS, Limits
from lanelab.driver.site.archive.records import Damages, Record, read_records
from lanelab.driver.site.exchange import Exchange
from lanelab.driver.site.site import Headers

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
    """Return whether a body has that coding. An unknown coding is believed, and so is that of an empty body."""
    if coding not in _TRIED or not body:
        return True
    try:
        _TRIED[coding](body[:FIRST])
    except _ERRORS:
        return False
    return True


NOT_MODIFIED = 304
TRANSFER, RENAMED = "Transfer-Encoding", "x-archive-orig-transfer-encoding"
_OF_INTEREST = ("response", "request", "revisit", "resource")
_SPOKEN = ("http/", "h2", "h3", "spdy/")


@dataclass(frozen=True, slots=True)
class Archive:
    """The content of an archive: answers in its order, and words on what could not be used."""

    exchanges: tuple[Exchange, ...]
    left_out: tuple[str, ...] = ()
    doubtful: tuple[str, ...] = ()  # words on what is used although it may not be what was recorded


def read_warc(data: bytes, what: str, limits: Limits = LIMITS) -> Archive:
    """Return every answer that can be read, with its request where there is one. Raises InputError where there is
    none."""
    return read_warcs([(what, data)], limits)


def read_warcs(files: Sequence[tuple[str, bytes]], limits: Limits = LIMITS) -> Archive:
    """Read several files, which may refer to each other."""
    damages = Damages(limits)
    records = []
    size = 0
    for what, data in files:
        for record in read_records(data, what, damages):
            size += len(record.block)
            limits.require_total(size, what)
            if record.kind in _OF_INTEREST:
                records.append(record)
    joined = _Joined(limits, damages)
    archive = joined.exchanges(records)
    if not archive.exchanges:
        why = f": {archive.left_out[0]}" if archive.left_out else ""
        names = ", ".join(what for what, _ in files)
        raise InputError(f"there is no answer of a web server in {names}{why}", "See docs/reference/import.md")
    return archive


@dataclass(slots=True)
class _Joined:
    """The records by all names that others call them."""

    limits: Limits
    damages: Damages
    other: Counter[str] = field(default_factory=Counter)
    doubtful: list[str] = field(default_factory=list)
    changed: set[int] = field(default_factory=set)  # id() of the records whose payload has another digest
    by_id: dict[str, Exchange] = field(default_factory=dict)
    by_digest: dict[str, Exchange] = field(default_factory=dict)
    by_url: dict[str, Exchange] = field(default_factory=dict)

    def exchanges(self, records: Sequence[Record]) -> Archive:
        requests = _Requests(records)
        answers: list[tuple[Record, Exchange]] = []
        for record in records:
            if record.kind in ("response", "resource") and (answer := self._guarded(record)):
                exchange = requests.with_request(record, answer, self)
                self._remember(record, exchange)
                answers.append((record, exchange))
        for record in records:  # what they repeat may come later in the archive
            if record.kind == "revisit" and (answer := self._guarded(record)):
                answers.append((record, requests.with_request(record, answer, self)))
        place = {id(record): number for number, record in enumerate(records)}  # each file counts its own from 1
        answers.sort(key=lambda each: place[id(each[0])])
        other = [f"{count} records of {scheme}:" for scheme, count in sorted(self.other.items())]
        return Archive(tuple(exchange for _, exchange in answers), (*self.damages.words, *other), tuple(self.doubtful))

    def _guarded(self, record: Record) -> Exchange | None:
        scheme = record.url.partition(":")[0].lower()
        if scheme not in ("http", "https"):
            self.other[shown(scheme)[:20] or "no address"] += 1
            return None
        try:
            # A revisit lacks its body by design, and some tools call that cut off.
            if record.get("warc-truncated") and record.kind != "revisit":
                raise DamagedError("the tool that made it cut it off")
            if record.get("warc-segment-number"):
                raise DamagedError("it is a part of a record in several pieces")
            read = {"response": self._response, "resource": self._resource, "revisit": self._revisit}[record.kind]
            return read(record)
        except DamagedError as error:
            self.damages.add(record.number, f"{shown(record.url)}: {error}")
            return None

    def _response(self, record: Record) -> Exchange:
        head = answer_head(record.block, self.limits.head_bytes)
        stored = record.block[head.body_at :]
        body = without_chunks(stored, head.fields)
        if self._is_other_payload(record, stored, body):
            self.changed.add(id(record))
            self.doubtful.append(f"{shown(record.url)}: its body has another digest than its record says")
        if body is stored and begins_as_chunk(stored) and _is_chunked(head.fields):
            self.doubtful.append(f"{shown(record.url)}: its body may be a chunk that is cut off")
        return self._answer(record, head, body)

    def _is_other_payload(self, record: Record, stored: bytes, body: bytes) -> bool:
        """Return whether its payload has another digest than its head says, however that is read: tools differ in what
        they take for the payload."""
        return agrees(record.get("warc-payload-digest"), stored, body, record.block) is False

    def _answer(self, record: Record, head: Head, body: bytes) -> Exchange:
        version, status, reason = head.first
        fields, body = as_encoded(head.fields, body)
        return Exchange(
            "GET",
            record.url,
            (),
            b"",
            int(status),
            reason,
            _restored(fields),
            body,
            _protocol(record, version),
            _date(record),
        )

    def _resource(self, record: Record) -> Exchange:
        """Return a file without a head."""
        media_type = record.get("content-type")
        fields = (("Content-Type", media_type),) if media_type else ()
        return Exchange("GET", record.url, (), b"", 200, "OK", fields, record.block, "http/1.1", _date(record))

    def _revisit(self, record: Record) -> Exchange:
        """Return an answer with the body of another. Where it has no head, or one that says "as before", the
        other's."""
        before = self._repeated(record)
        if before is None:
            raise DamagedError("what it repeats is not in the archive")
        head = answer_head(record.block, self.limits.head_bytes) if record.block.strip() else None
        if head is None or head.first[1] == str(NOT_MODIFIED):
            return replace(before, url=record.url, at_utc=_date(record), request_headers=(), request_body=b"")
        return self._answer(record, head, before.body)

    def _repeated(self, record: Record) -> Exchange | None:
        return (
            self.by_id.get(record.get("warc-refers-to"))
            or self.by_digest.get(_digest(record.get("warc-payload-digest")))
            or self.by_url.get(record.get("warc-refers-to-target-uri"))
            or (self.by_url.get(record.url) if record.get("warc-profile").endswith("not-modified") else None)
        )

    def _remember(self, record: Record, exchange: Exchange) -> None:
        if record.id:
            self.by_id.setdefault(record.id, exchange)
        """What a record says of its payload names it for revisits where it is right, or where the digest of its block
        is: then its tool takes something else for the payload, and does so in the revisit, too."""
        right = id(record) not in self.changed or record.get("warc-block-digest")
        digest_of_record = _digest(record.get("warc-payload-digest")) if right else ""
        digests = {digest_of_record, f"sha1:{_sha1(exchange.body)}"} - {""}
        for digest in digests:
            self.by_digest.setdefault(digest, exchange)
        self.by_url.setdefault(record.url, exchange)


class _Requests:
    """The requests of an archive: by the answer that they name, else the next one for the same address."""

    def __init__(self, records: Iterable[Record]) -> None:
        self._of_answer: dict[str, Record] = {}
        self._by_id: dict[str, Record] = {}
        self._by_url: defaultdict[str, dict[int, Record]] = defaultdict(dict)  # by id(): many may have one
        for record in records:
            if record.kind == "request":
                if record.id:
                    self._by_id[record.id] = record
                if concurrent := record.get("warc-concurrent-to"):
                    self._of_answer.setdefault(concurrent, record)
                else:
                    self._by_url[record.url][id(record)] = record

    def with_request(self, record: Record, exchange: Exchange, joined: _Joined) -> Exchange:
        request = (
            self._of_answer.get(record.id)
            or self._by_id.get(record.get("warc-concurrent-to"))
            or next(iter(self._by_url[record.url].values()), None)
        )
        if request is None:
            return exchange
        self._by_url[record.url].pop(id(request), None)
        try:
            head = request_head(request.block, joined.limits.head_bytes)
            body = without_chunks(request.block[head.body_at :], head.fields)
        except DamagedError as error:
            joined.damages.add(request.number, f"{shown(request.url)}: {error}")
            return exchange
        return replace(exchange, method=head.first[0], request_headers=_restored(head.fields), request_body=body)


def without_chunks(stored: bytes, fields: Headers) -> bytes:
    """Return a body without transfer coding. Some tools remove it and leave the field."""
    plain = dechunked(stored) if _is_chunked(fields) else None
    return stored if plain is None else plain


def _is_chunked(fields: Headers) -> bool:
    return "chunked" in ",".join(values_of(fields, "transfer-encoding")).lower()


def as_encoded(fields: Headers, body: bytes) -> tuple[Headers, bytes]:
    """Without a Content-Encoding that the body does not have: some tools store it decoded."""
    coding = ",".join(values_of(fields, "content-encoding")).strip().lower()
    if is_encoded(body, coding):
        return fields, body
    return tuple(each for each in fields if each[0].lower() not in ("content-encoding", "content-length")), body


def _restored(fields: Headers) -> Headers:
    """Return headers with their own name for the field that archives rename, where they do not store the body as it
    says."""
    return tuple((TRANSFER if name.lower() == RENAMED else name, value) for name, value in fields)


def _protocol(record: Record, version: str) -> str:
    protocol = record.get("warc-protocol").lower()
    return protocol if protocol.startswith(_SPOKEN) else {"2": "h2", "3": "h3"}.get(version, f"http/{version}")


def _date(record: Record) -> str:
    date = utc_of(record.get("warc-date"))
    if date is None:
        raise DamagedError("it has no date")
    return date


def _digest(text: str) -> str:
    algorithm, _, value = text.partition(":")
    return f"{algorithm.lower()}:{value.upper()}" if value else ""


def _sha1(body: bytes) -> str:
    return base64.b32encode(hashlib.sha1(body, usedforsecurity=False).digest()).decode()


def shown(url: str) -> str:
    """Make a text safe to print, and short."""
    text = "".join(each if each.isprintable() else "?" for each in url)
    return text if len(text) <= 120 else text[:117] + "…"
