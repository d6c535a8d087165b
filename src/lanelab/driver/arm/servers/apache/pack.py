"""A site as a pack: the one file from which mod_replay answers. Pure. native/mod_replay/core/pack.h reads it.

It consists of a header (magic, version, length, and where each part is), a table of slots that is searched by the
CRC-32 of a key, the keys' groups, the groups' members, the objects, their headers, all strings, all bodies. A key is a
letter (E: the request exactly, S: without parameters that only keep caches from answering, P: the path alone), the
method, a space, the host, and what it asks for.
"""

import hashlib
import json
import re
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from lanelab.driver.arm.servers.server import CONNECTION_HEADERS
from lanelab.driver.base.errors import InputError
from lanelab.driver.base.units import Duration
from lanelab.driver.site.site import Headers, Site, SiteObject

FILE = "pack"
VERSION = 1
ALIGNMENT = 16
_MAGIC = b"LLREPLAY"
_HEADER = struct.Struct("<8sIIQ")
_PART = struct.Struct("<QQ")  # where it begins, how many it has
_PARTS = 7
_NUMBER = struct.Struct("<I")
_GROUP = struct.Struct("<IIIIII")
_OBJECT = struct.Struct("<QQIIIIIIII20sI")
_RECORDED = struct.Struct("<II")
_HTTPS, _PLAIN, _HAS_SHA1, _GZIP, _BROTLI, _HEAD = (1 << bit for bit in range(6))
_COMPRESSED = {None: 0, "gzip": _GZIP, "br": _BROTLI}
LOWEST_STATUS, HIGHEST_STATUS = 200, 999
# Parameters with one of these names, whatever their value is, only keep caches from answering …
CACHE_BUSTERS = frozenset(
    ("_", "_t", "_ts", "cb", "cachebuster", "cachebust", "cache_buster", "nocache", "no_cache", "uncache", "rand",
     "random", "rnd", "ts", "timestamp", "ord", "correlator", "dc_rnd")
)  # fmt: skip
# … and so do values that are a time (seconds or milliseconds since 1970) or what Math.random() gives.
_BUSTING_VALUE = re.compile(r"1[0-9]{9}|1[0-9]{12}(\.[0-9]+)?|0\.[0-9]{8,}")
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_FOLD = re.compile(r"\r?\n[ \t]+")
_CONTROLS = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
Delays = Mapping[str, Duration]  # how long answers wait, by host and path
NO_DELAYS: Delays = {}


def digest(site: Site, delays: Delays = NO_DELAYS) -> str:
    """Return a digest that is the same for the same pack."""
    waits = [sorted((url, str(wait)) for url, wait in delays.items())] if delays else []
    listed = json.dumps([VERSION, site.hosts, [replace(each, late=False).to_json() for each in site.objects], *waits])
    return hashlib.sha256(listed.encode()).hexdigest()[:16]


def pack(objects: Iterable[SiteObject], body_of: Callable[[SiteObject], bytes], delays: Delays = NO_DELAYS) -> bytes:
    """Return the pack of these objects. What cannot be sent is not in it: `unsendable` names it."""
    parts = _Parts(delays)
    for each in objects:
        if not unsendable_status(each):
            parts.add(each, body_of)
    return parts.whole()


def stripped(target: str) -> str:
    """Return path and query without parameters that only keep caches from answering."""
    path, _, query = target.partition("?")
    kept = [each for each in query.split("&") if each and not is_cache_buster(each)]
    return path + ("?" + "&".join(kept) if kept else "")


def is_cache_buster(parameter: str) -> bool:
    name, mark, value = parameter.partition("=")
    named = bool(mark) and name.isascii() and name.lower() in CACHE_BUSTERS
    return named or bool(_BUSTING_VALUE.fullmatch(value if mark else parameter))


def sent_headers(each: SiteObject) -> Headers:
    """The recorded headers as Apache sends them: without those of the connection, folded values on one line."""
    return tuple(
        (name, _FOLD.sub(" ", value)) for name, value in each.headers if name.lower() not in CONNECTION_HEADERS
        and _is_sendable(name, value)
    )  # fmt: skip


def unsendable(objects: Iterable[SiteObject]) -> Iterator[str]:
    """Yield what Apache cannot reproduce, in words."""
    for each in objects:
        if unsendable_status(each):
            yield f"{each.method} {each.url}: status {each.status} is no answer's; it is not served"
        for name, value in each.headers:
            if name.lower() not in CONNECTION_HEADERS and not _is_sendable(name, value):
                yield f"{each.method} {each.url}: the header {name!r} has characters that none may have; it is left out"


def unsendable_status(each: SiteObject) -> bool:
    return not LOWEST_STATUS <= each.status <= HIGHEST_STATUS


def _is_sendable(name: str, value: str) -> bool:
    return bool(_TOKEN.fullmatch(name)) and not _CONTROLS.search(_FOLD.sub(" ", value))


def wire(text: str) -> bytes:
    """As it was on the wire: recordings have one character for each byte. Other characters can only be typed ones."""
    try:
        return text.encode("latin-1")
    except UnicodeEncodeError:
        return text.encode()


@dataclass
class _Parts:
    """The parts of a pack, while it is made."""

    delays: Delays
    objects: list[bytes] = field(default_factory=list)
    headers: list[bytes] = field(default_factory=list)
    strings: bytearray = field(default_factory=lambda: bytearray(1))  # the first is the empty one
    places: dict[bytes, int] = field(default_factory=lambda: {b"": 0})
    bodies: bytearray = field(default_factory=bytearray)
    body_places: dict[str, int] = field(default_factory=dict)
    keys: dict[bytes, list[int]] = field(default_factory=dict)

    def add(self, each: SiteObject, body_of: Callable[[SiteObject], bytes]) -> None:
        target = wire(each.path)
        about = wire(f"{each.method} {each.host.lower().removesuffix('.')}")
        without = stripped(target.decode("latin-1")).encode("latin-1")
        for letter, key in ((b"E", target), (b"S", without), (b"P", target.partition(b"?")[0])):
            self.keys.setdefault(letter + about + key, []).append(len(self.objects))
        place, length = self._body(each, body_of)
        query = target.partition(b"?")[2]
        headers = sent_headers(each)
        first = len(self.headers)
        self.headers += [_RECORDED.pack(self._string(wire(name)), self._string(wire(value))) for name, value in headers]
        sha1 = bytes.fromhex(each.request_sha1 or "")
        self.objects.append(
            _OBJECT.pack(
                place,
                length,
                each.status,
                self._string(wire(f"{each.status} {_CONTROLS.sub(' ', each.reason)}")),
                self._string(wire(_type(each, headers))),
                _flags(each, sha1),
                first,
                len(headers),
                self._string(query),
                len(query),
                sha1,
                _delay_ms(self.delays, each),
            )
        )

    def _string(self, data: bytes) -> int:
        """Where it is; equal ones are there once."""
        place = self.places.setdefault(data, len(self.strings))
        if place == len(self.strings):
            self.strings += data + b"\0"
        return place

    def _body(self, each: SiteObject, body_of: Callable[[SiteObject], bytes]) -> tuple[int, int]:
        """Where it is, and its length; equal ones are there once."""
        if each.sha256 not in self.body_places:
            data = body_of(each)
            if len(data) != each.size:
                what = f"the body of {each.url} has {len(data)} bytes instead of {each.size}"
                raise InputError(what, "Let the site be made again: remove its folder in build/sites")
            self.body_places[each.sha256] = len(self.bodies)
            self.bodies += data
        return self.body_places[each.sha256], each.size

    def whole(self) -> bytes:
        groups: list[bytes] = []
        members: list[bytes] = []
        for key, indexes in self.keys.items():
            first = len(members)
            members += [_NUMBER.pack(index) for index in indexes]
            groups.append(_GROUP.pack(zlib.crc32(key), self._string(key), len(key), first, len(indexes), 0))
        slots = _slots([zlib.crc32(key) for key in self.keys])
        parts: list[tuple[bytes | bytearray, int]] = [
            (b"".join(map(_NUMBER.pack, slots)), len(slots)),
            *((b"".join(part), len(part)) for part in (groups, members, self.objects, self.headers)),
            (self.strings, len(self.strings)),
            (self.bodies, len(self.bodies)),
        ]
        at = _aligned(_HEADER.size + _PARTS * _PART.size)
        places = []
        for data, _count in parts:
            places.append(at)
            at = _aligned(at + len(data))
        header = _HEADER.pack(_MAGIC, VERSION, 0, at)
        header += b"".join(_PART.pack(place, count) for place, (_, count) in zip(places, parts, strict=True))
        return b"".join(_padded(data) for data in (header, *(data for data, _ in parts)))


def _delay_ms(delays: Delays, each: SiteObject) -> int:
    return delays[each.url].ns // 1_000_000 if each.url in delays else 0


def _slots(hashes: Sequence[int]) -> list[int]:
    """Return the slots of a table that is at most half full, so that what is not there is soon known not to be."""
    size = 2
    while size < 2 * len(hashes):
        size *= 2
    slots = [0] * size
    for number, value in enumerate(hashes, 1):
        at = value % size
        while slots[at]:
            at = (at + 1) % size
        slots[at] = number
    return slots


def _aligned(length: int) -> int:
    return -(-length // ALIGNMENT) * ALIGNMENT


def _padded(data: bytes | bytearray) -> bytes:
    return bytes(data) + bytes(_aligned(len(data)) - len(data))


def _type(each: SiteObject, headers: Headers) -> str:
    """The Content-Type; empty: it has none."""
    if not each.headers:
        return each.mime
    return next((value for name, value in headers if name.lower() == "content-type"), "")


def _flags(each: SiteObject, sha1: bytes) -> int:
    if each.compressed not in _COMPRESSED:
        raise InputError(f"{each.url} is to be compressed with {each.compressed}", "Use gzip or br")
    flags = _COMPRESSED[each.compressed]
    flags |= _HTTPS if each.scheme == "https" else 0
    flags |= _PLAIN if not each.headers else 0
    flags |= _HAS_SHA1 if sha1 else 0
    return flags | (_HEAD if each.method == "HEAD" else 0)
