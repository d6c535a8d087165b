"""All addresses of a site's hosts with one scheme: an arm speaks either in clear or with TLS. Pure.

Changed are the bodies of text types and the header fields that hold addresses; those of WebSockets of any host, since a
page with TLS may not even name one without. An address that a script puts together from parts is not seen: it shows as
a request that the site has no answer for. Hashes by which pages name scripts and styles change with them.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from urllib.parse import urlsplit

from lanelab.driver.site.prepare.integrity import mend
from lanelab.driver.site.prepare.texts import CSP, TEXT_TYPES, again, plain
from lanelab.driver.site.redirects import leads_to
from lanelab.driver.site.site import Headers, SiteObject, StoredObject

WITH_ADDRESSES = frozenset(
    ("location", "content-location", "link", "refresh", "content-security-policy", "access-control-allow-origin",
     "content-security-policy-report-only", "report-to", "reporting-endpoints", "timing-allow-origin", "sourcemap")
)  # fmt: skip
# They make a browser leave http. In a directive's list of CSP and in a page's meta element.
UPGRADES = re.compile(r"(?i)\s*(?:upgrade-insecure-requests|block-all-mixed-content)\s*;?")
OTHERS = {"http": ("https", 443, "ws", "wss"), "https": ("http", 80, "wss", "ws")}  # scheme, port and WebSocket's
HSTS = "strict-transport-security"


def unify(objects: Iterable[StoredObject], scheme: str) -> tuple[StoredObject, ...]:
    """The same objects, all with that scheme."""
    before = tuple(objects)
    unified = _unified({each.object.host for each in before}, scheme)
    changed = [_with_scheme(each, scheme, unified) for each in before]
    mended = mend(before, changed)
    return tuple(_single(each for each in mended if not _leads_to_itself(each.object)))


def _unified(hosts: set[str], scheme: str) -> Callable[[str], str]:
    """A text with the addresses that have the other scheme changed; slashes may be escaped as in JSON or in a query."""
    other, port, socket, other_socket = OTHERS[scheme]
    written = sorted({*hosts, *map(_in_unicode, hosts)}, key=len, reverse=True)
    names, mark = "|".join(map(re.escape, written)), r"(?P<mark>:(?://|\\/\\/)|%3a%2f%2f)"
    addresses = re.compile(rf"(?i)\b{other}{mark}(?P<host>{names})(?::{port}\b|(?![\w.-]*[\w-]))")
    sockets = re.compile(rf"(?i)\b{other_socket}{mark}")

    def unified(text: str) -> str:
        changed = addresses.sub(lambda match: scheme + match["mark"] + match["host"], text)
        return sockets.sub(lambda match: socket + match["mark"], changed)

    return unified


def _in_unicode(host: str) -> str:
    """Write bytes as a page in UTF-8 may have them, each byte as one character."""
    labels = (
        each.removeprefix("xn--").encode().decode("punycode") if each.startswith("xn--") else each
        for each in host.split(".")
    )
    try:
        return ".".join(labels).encode().decode("latin-1")
    except ValueError:
        return host


def _with_scheme(stored: StoredObject, scheme: str, unified: Callable[[str], str]) -> StoredObject:
    clear = scheme == "http"
    headers = _headers(stored.object, scheme, unified)
    result = StoredObject(replace(stored.object, scheme=scheme, headers=headers), stored.body)
    if not TEXT_TYPES.fullmatch(stored.object.mime):
        return result
    page = plain(result)
    if page is None:
        return result
    text = page.body.decode("latin-1")  # every byte is one character, and comes back
    new = unified(text)
    if clear and stored.object.mime == "text/html":
        new = UPGRADES.sub("", new)
    if new == text:
        return result
    return again(replace(page, body=new.encode("latin-1")), result.object.encoding)


def _headers(each: SiteObject, scheme: str, unified: Callable[[str], str]) -> Headers:
    changed = []
    for name, value in each.headers:
        key = name.lower()
        if scheme == "http" and key == HSTS:
            continue
        new = unified(value)
        if scheme == "http" and key.startswith(CSP):
            new = UPGRADES.sub("", new)
        changed.append((name, new if key in WITH_ADDRESSES else value))
    return tuple(changed)


def _leads_to_itself(each: SiteObject) -> bool:
    """A redirect from http to https of the same address is no step any more."""
    led = leads_to(f"{each.scheme}://{each.url}", each.status, each.headers)
    if led is None:
        return False
    there = urlsplit(led)
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
