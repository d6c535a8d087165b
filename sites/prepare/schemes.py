"""All addresses of a site's hosts with one scheme: an arm speaks either in clear or with TLS. Pure.

Changed are the bodies of text types and the header fields that hold addresses. An address that a script puts together
from parts is not seen: it shows as a request that the site has no answer for.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from urllib.parse import urljoin, urlsplit

from model.errors import InputError
from model.site.site import Headers, SiteObject, StoredObject
from sites.coding import CODINGS, decoded, encoded

TEXT_TYPES = re.compile(r"text/.*|.*[/+](json|xml|javascript|ecmascript|x-javascript|manifest)|image/svg\+xml")
WITH_ADDRESSES = frozenset(
    ("location", "content-location", "link", "refresh", "content-security-policy", "access-control-allow-origin",
     "content-security-policy-report-only", "report-to", "reporting-endpoints", "timing-allow-origin", "sourcemap")
)  # fmt: skip
# They make a browser leave http. In a directive's list of CSP and in a page's meta element.
UPGRADES = re.compile(r"(?i)\s*(?:upgrade-insecure-requests|block-all-mixed-content)\s*;?")
HSTS = "strict-transport-security"
HASHES = ("sha256", "sha384", "sha512")  # of subresource integrity
ROUNDS = 10  # of mending hashes: a script may hold the hash of a script that holds a hash


def unify(objects: Iterable[StoredObject], scheme: str) -> tuple[StoredObject, ...]:
    """The same objects, all with that scheme."""
    before = tuple(objects)
    addresses = _addresses({each.object.host for each in before}, "http" if scheme == "https" else "https")
    changed = [_with_scheme(each, scheme, addresses) for each in before]
    mended = _mend_integrity(before, changed)
    return tuple(_single(each for each in mended if not _leads_to_itself(each.object)))


def _addresses(hosts: set[str], other: str) -> re.Pattern[str]:
    """Addresses of these hosts that have the other scheme; slashes may be escaped as in JSON or in a query."""
    names = "|".join(re.escape(host) for host in sorted(hosts, key=len, reverse=True))
    port = {"http": 80, "https": 443}[other]
    return re.compile(
        rf"(?i)\b{other}(?P<mark>:(?://|\\/\\/)|%3a%2f%2f)(?P<host>{names})(?::{port}\b|(?![\w.-]*[\w-]))"
    )


def _with_scheme(stored: StoredObject, scheme: str, addresses: re.Pattern[str]) -> StoredObject:
    clear = scheme == "http"
    headers = _headers(stored.object, scheme, addresses)
    result = StoredObject(replace(stored.object, scheme=scheme, headers=headers), stored.body)
    if not TEXT_TYPES.fullmatch(stored.object.mime):
        return result
    plain = _plain(result)
    if plain is None:
        return result
    text = plain.body.decode("latin-1")  # every byte is one character, and comes back
    new = addresses.sub(lambda match: scheme + match["mark"] + match["host"], text)
    if clear and stored.object.mime == "text/html":
        new = UPGRADES.sub("", new)
    if new == text:
        return result
    return _again(replace(plain, body=new.encode("latin-1")), result.object.encoding)


def _plain(stored: StoredObject) -> StoredObject | None:
    """None: a coding that nobody knows, or a body that is damaged. The browser will fare as when it was recorded."""
    try:
        plain = decoded(stored)
    except InputError:
        return None
    return None if plain.object.encoding else plain


def _headers(each: SiteObject, scheme: str, addresses: re.Pattern[str]) -> Headers:
    changed = []
    for name, value in each.headers:
        key = name.lower()
        if scheme == "http" and key == HSTS:
            continue
        new = addresses.sub(lambda match: scheme + match["mark"] + match["host"], value)
        if scheme == "http" and key.startswith("content-security-policy"):
            new = UPGRADES.sub("", new)
        changed.append((name, new if key in WITH_ADDRESSES else value))
    return tuple(changed)


def _again(plain: StoredObject, encoding: str | None) -> StoredObject:
    """With the coding that it had. Several at once are left as they are sent: plain."""
    plain = replace(plain, object=replace(plain.object, size=len(plain.body)))
    return encoded(plain, encoding) if encoding in CODINGS else plain


def _mend_integrity(before: Sequence[StoredObject], after: Sequence[StoredObject]) -> list[StoredObject]:
    """A page may name the hash of what it loads: where that was changed, the hash changes with it."""
    result = list(after)
    known = [_hashes(each) for each in before]
    for _ in range(ROUNDS):
        new_of: dict[str, str] = {}
        for number, each in enumerate(result):
            if each.body == before[number].body:
                continue
            new = _hashes(each)
            new_of |= {old: fresh for old, fresh in zip(known[number], new, strict=True) if old != fresh}
            known[number] = new
        if not new_of:
            break
        pattern = re.compile("|".join(re.escape(old) for old in new_of))
        result = [_with_hashes(each, pattern, new_of) for each in result]
    return result


def _hashes(stored: StoredObject) -> tuple[str, ...]:
    if not TEXT_TYPES.fullmatch(stored.object.mime):
        return ()
    plain = _plain(stored)
    if plain is None:
        return ()
    body = plain.body
    return tuple(f"{name}-{base64.b64encode(hashlib.new(name, body).digest()).decode()}" for name in HASHES)


def _with_hashes(stored: StoredObject, pattern: re.Pattern[str], new_of: dict[str, str]) -> StoredObject:
    if not TEXT_TYPES.fullmatch(stored.object.mime):
        return stored
    plain = _plain(stored)
    if plain is None:
        return stored
    text = plain.body.decode("latin-1")
    new = pattern.sub(lambda match: new_of[match[0]], text)
    return stored if new == text else _again(replace(plain, body=new.encode("latin-1")), stored.object.encoding)


def _leads_to_itself(each: SiteObject) -> bool:
    """A redirect from http to https of the same address is no step any more."""
    location = next((value for name, value in each.headers if name.lower() == "location"), None)
    if location is None or not 300 <= each.status < 400:
        return False
    here = f"{each.scheme}://{each.url}"
    try:
        there = urlsplit(urljoin(here, location.strip()))
    except ValueError:
        return False
    # As a browser asks for it: a host in any case, and the path / where none is written.
    path = (there.path or "/") + (f"?{there.query}" if there.query else "")
    return (there.scheme, there.netloc.lower(), path) == (each.scheme, each.host, each.path)


def _single(objects: Iterable[StoredObject]) -> list[StoredObject]:
    """Of an object that was recorded with both schemes, the one with the better status: found before not found."""
    kept: dict[tuple[str, str, str | None], StoredObject] = {}
    for each in objects:
        key = (each.object.method, each.object.url, each.object.request_sha1)
        if key not in kept or each.object.status < kept[key].object.status:
            kept[key] = each
    return list(kept.values())
