"""Exchanges -> what a site answers with. Pure; what cannot be served is left out and named."""

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from lanelab.driver.base.errors import InputError
from lanelab.driver.site.archive.addresses import Address, NotServedError, address_of
from lanelab.driver.site.archive.http_text import values_of
from lanelab.driver.site.archive.limits import LIMITS, Limits
from lanelab.driver.site.archive.media_types import is_media_type, media_type
from lanelab.driver.site.archive.read_warc import shown
from lanelab.driver.site.coding import CODINGS, decode
from lanelab.driver.site.exchange import Exchange
from lanelab.driver.site.site import Headers, SiteObject, StoredObject

PARTIAL, OUT_OF_RANGE = 206, 416
_RANGE = re.compile(r"bytes (\d{1,15})-(\d{1,15})/(\d{1,15})")
_VALIDATORS = ("etag", "last-modified", "content-encoding", "content-type")


def joined(parts: Sequence[Exchange]) -> Exchange | None:
    """Return the answer to a request for all of it; None where bytes are missing, or where the parts are of several
    files."""
    pieces: list[tuple[int, bytes]] = []
    totals = set()
    for part in parts:
        ranges = [_RANGE.fullmatch(value.strip()) for value in values_of(part.headers, "content-range")]
        match = ranges[0] if len(ranges) == 1 else None
        if match is None or int(match[2]) - int(match[1]) + 1 != len(part.body):
            return None
        pieces.append((int(match[1]), part.body))
        totals.add(int(match[3]))
    kinds = {tuple(tuple(values_of(part.headers, name)) for name in _VALIDATORS) for part in parts}
    if len(totals) != 1 or len(kinds) != 1:
        return None
    body = bytearray()  # grows without copies: there may be many parts
    for begin, piece in sorted(pieces, key=lambda each: (each[0], -len(each[1]))):
        if begin > len(body):
            return None
        body += piece[len(body) - begin :]
    if len(body) != totals.pop():
        return None
    headers = tuple(each for each in parts[0].headers if each[0].lower() != "content-range")
    late = all(part.late for part in parts)
    return replace(parts[0], status=200, reason="OK", headers=headers, body=bytes(body), late=late)


OK, NO_CONTENT, NOT_MODIFIED = 200, 204, 304
LEAST_STATUS, MOST_STATUS = 200, 599
# Fields of one connection, not of the page: the arm's server writes its own.
OF_THE_CONNECTION = frozenset(
    ("connection", "keep-alive", "transfer-encoding", "te", "trailer", "upgrade", "alt-svc", "content-length")
)
OF_PROXIES = "proxy-"
LARGEST_HEAD = 250_000  # bytes: Chromium takes 256 kB, with a status line and what a server adds
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
_LENGTH = re.compile(r"[0-9]{1,18}")
_METHOD = re.compile(r"[A-Z]{1,20}")
_NO_METHODS = ("CONNECT", "TRACE")
Key = tuple[str, str, str, str, str | None]  # method, scheme, host, path, sha1 of the request's body


@dataclass(frozen=True, slots=True)
class Objects:
    """The objects that a site has of its recording, in its order."""

    stored: tuple[StoredObject, ...]
    left_out: tuple[str, ...]  # words on what it has not, for people
    exchanges: tuple[Exchange, ...]  # what the objects are made of: these and no others belong into its archive


def objects_of(exchanges: Iterable[Exchange], limits: Limits = LIMITS, *, by_lanelab: bool = False) -> Objects:
    """Return one object for each request. Of several answers to one request the best: a whole one above a part, and
    above "not modified"; of equals the first. `by_lanelab`: of an archive that lanelab wrote, when it had decoded every
    body."""
    bodies = _Bodies(limits, by_lanelab=by_lanelab)
    groups: dict[Key, list[tuple[Exchange, Address]]] = {}
    left_out: list[str] = []
    for each in exchanges:
        try:
            address = address_of(each.url)
            _require_servable(each)
        except NotServedError as why:
            left_out.append(_words(each, why))
            continue
        groups.setdefault(_key(each, address), []).append((_clean(each, address), address))
    stored: list[StoredObject] = []
    used: list[Exchange] = []
    for group in groups.values():
        address = group[0][1]
        try:
            answer, sources, words = _best([each for each, _ in group])
            stored.append(_stored(answer, address, bodies))
            used += sources
            left_out += [f"{shown(address.url)}: {each}" for each in words]
        except NotServedError as why:
            left_out.append(_words(group[0][0], why))
    return Objects(tuple(stored), tuple(dict.fromkeys(left_out)), tuple(used))


@dataclass(slots=True)
class _Bodies:
    """Decodes bodies, up to a number of bytes in sum."""

    limits: Limits
    by_lanelab: bool
    total: int = 0

    def decoded(self, headers: Headers, body: bytes) -> bytes:
        """The body as the page sees it: everything that prepares a site has to be able to decode it."""
        words = ",".join(values_of(headers, "content-encoding")).lower().split(",")
        codings = [word.strip() for word in words if word.strip() not in ("", "identity")]
        if len(codings) > 1:
            raise NotServedError("its body is encoded more than once")
        if not codings or codings[0] not in CODINGS:
            return body
        try:
            plain = decode(body, codings[0], "its body")
        except InputError as error:
            raise NotServedError(error.what) from error
        self.total += len(plain)
        self.limits.require_total(self.total, "the recording, with its bodies decoded,")
        return plain


def _clean(each: Exchange, address: Address) -> Exchange:
    """With the address as a browser asks for it, and without fields that no head can have: those would be refused by
    servers and archives, or would begin another field there. Names that begin with ':' are HTTP/2's own."""
    reason = each.reason if _VALUE.fullmatch(each.reason) else ""
    request_headers, answered = _possible(each.request_headers), _possible(each.headers)
    return replace(each, url=address.url, reason=reason, request_headers=request_headers, headers=answered)


def _possible(fields: Headers) -> Headers:
    return tuple(
        (name, value.strip(" \t")) for name, value in fields if _TOKEN.fullmatch(name) and _VALUE.fullmatch(value)
    )


def _require_servable(each: Exchange) -> None:
    if not _METHOD.fullmatch(each.method) or each.method in _NO_METHODS:
        raise NotServedError(f"its method is {each.method[:20]!r}")
    if sum(len(name) + len(value) + 4 for name, value in each.headers) > LARGEST_HEAD:
        raise NotServedError(f"its head is larger than {LARGEST_HEAD:,} bytes, which no browser takes")
    if any("websocket" in value.lower() for value in values_of(each.request_headers, "upgrade")):
        raise NotServedError("it is the handshake of a WebSocket")
    if not LEAST_STATUS <= each.status <= MOST_STATUS:
        raise NotServedError(f"its status is {each.status}")
    lengths = {value.strip() for value in values_of(each.headers, "content-length")}
    length = lengths.pop() if len(lengths) == 1 else ""
    has_body = each.method != "HEAD" and each.status not in (NO_CONTENT, NOT_MODIFIED)
    if has_body and _LENGTH.fullmatch(length) and len(each.body) < int(length):
        raise NotServedError("its body is shorter than its Content-Length")


def _key(each: Exchange, address: Address) -> Key:
    digest = hashlib.sha1(each.request_body, usedforsecurity=False).hexdigest() if each.request_body else None
    return each.method, address.scheme, address.host, address.path, digest


def _best(answers: Sequence[Exchange]) -> tuple[Exchange, list[Exchange], list[str]]:
    """Return the answer to serve, what it is made of, and words on what is lost."""
    parts = [each for each in answers if each.status == PARTIAL]
    of_a_part = (PARTIAL, OUT_OF_RANGE) if parts else ()  # alone, that a range is out of the file is all there is
    whole = [each for each in answers if each.status not in (NOT_MODIFIED, *of_a_part)]
    if whole:
        best = min(whole, key=lambda each: each.status != OK)
        return replace(best, late=all(each.late for each in answers)), [best], []
    if not parts:
        raise NotServedError('only "not modified" was recorded; the browser\'s cache had the rest')
    if complete := joined(parts):
        return complete, parts, []
    return parts[0], parts[:1], ["only a part of it was recorded"]


def _stored(each: Exchange, address: Address, bodies: _Bodies) -> StoredObject:
    headers = _served(each.headers)
    body = each.body
    if each.method == "HEAD" or each.status == NO_CONTENT:
        body = b""
    if len(body) > bodies.limits.record_bytes:
        raise NotServedError(f"it is larger than {bodies.limits.record_bytes:,} bytes")
    content_type = next(iter(values_of(headers, "content-type")), "")
    plain = b"" if bodies.by_lanelab and is_media_type(content_type) else bodies.decoded(headers, body)
    archived = SiteObject(
        host=address.host,
        path=address.path,
        size=len(body),
        mime=media_type(content_type, address.path, plain),
        sha256=hashlib.sha256(body).hexdigest(),
        method=each.method,
        scheme=address.scheme,
        status=each.status,
        reason=each.reason,
        headers=headers,
        request_sha1=_key(each, address)[-1],
        late=each.late,
    )
    return StoredObject(archived, body)


def _served(fields: Headers) -> Headers:
    """Return those of the answer itself."""
    return tuple(
        (name, value)
        for name, value in fields
        if name.lower() not in OF_THE_CONNECTION and not name.lower().startswith(OF_PROXIES)
    )


def _words(each: Exchange, why: object) -> str:
    method = "" if each.method == "GET" else f"{each.method[:20]!s} "
    return f"{method}{shown(each.url)}: {why}" if method.isprintable() else f"{shown(each.url)}: {why}"
