"""What nginx sends with recorded objects: maps from what is asked for to header values and statuses. Pure.

A map's value is empty for what has none, and nginx sends no header without a value.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from driver.servers.layout import MAPPED, OK, Layout, answered, content_type
from driver.servers.server import CONNECTION_HEADERS
from model.site.site import SiteObject

# 1 January 2020, as every file's: what an object without recorded headers has.
MODIFIED_S, MODIFIED = 1577836800, "Wed, 01 Jan 2020 00:00:00 GMT"
# nginx sends these by itself, and `add_header` would send them twice.
OWN = frozenset(("content-type", "content-length", "date", "server", "accept-ranges"))
EMPTY = frozenset((204, 304))  # answers without a body
# An error page can have these statuses, but for those that mean something else to nginx.
PAGES = frozenset(range(300, 600)) - {*EMPTY, 444, *range(494, 500)}


@dataclass(frozen=True, slots=True)
class Recorded:
    """What nginx can send of the recorded headers and statuses."""

    headers: tuple[tuple[str, Mapping[str, str]], ...]  # name, and its value by URL; a name may come again
    statuses: Mapping[str, int]  # by URL, where it is not 200


def recorded(layout: Layout) -> Recorded:
    columns: dict[tuple[str, int], dict[str, str]] = {}
    for url, each in layout.answers.items():
        seen: Counter[str] = Counter()
        for name, value in _sent(each, layout):
            columns.setdefault((name.lower(), seen[name.lower()]), {})[url] = value
            seen[name.lower()] += 1
    names = {"etag": "ETag", **{name.lower(): name for each in layout.answers.values() for name, _ in each.headers}}
    headers = tuple((names.get(name, name.title()), values) for (name, _), values in columns.items())
    return Recorded(headers, {url: each.status for url, each in layout.answers.items() if _can_say(each.status)})


def _sent(each: SiteObject, layout: Layout) -> Iterator[tuple[str, str]]:
    if not each.headers:
        yield "Last-Modified", MODIFIED
        yield "ETag", f'"{MODIFIED_S:x}-{each.size:x}"'
    for name, value in each.headers:
        if _can_send(name, value):
            yield name, value
    coding = layout.coded.get(f"{MAPPED}/{layout.maps[each.host][each.path]}")
    if coding:
        yield "Content-Encoding", coding
        yield "Vary", "Accept-Encoding"


def _can_say(status: int) -> bool:
    return status in PAGES or status in EMPTY


def _can_send(name: str, value: str) -> bool:
    """nginx reads `$` as a variable, and has no way to write one."""
    usual = name.lower() not in CONNECTION_HEADERS and name.lower() not in OWN
    return usual and name.isascii() and name.isprintable() and value.isprintable() and "$" not in value


def not_reproduced(objects: Iterable[SiteObject]) -> Iterator[str]:
    """In words, with the object's method and address."""
    listed = list(objects)
    kept = {id(each) for each in answered(listed)}
    for each in listed:
        for what in _lost(each) if id(each) in kept else [_why_not_kept(each)]:
            yield f"{each.method} {each.url}: {what}"


def _why_not_kept(each: SiteObject) -> str:
    if each.method != "GET":
        return f"{each.method} is not answered"
    return "it has another answer with the same address, which is sent instead"


def _lost(each: SiteObject) -> Iterator[str]:
    if each.status != OK and not _can_say(each.status):
        yield f"status {each.status} becomes 200"
    if each.status in EMPTY and each.size:
        yield f"its body is not sent with status {each.status}"
    if not each.headers:
        return
    yield "the order and the letters of its headers, its reason, and the length of its head may differ"
    for name, value in each.headers:
        key = name.lower()
        if key in ("date", "server"):
            yield f"{name} is nginx's own"
        elif key == "content-type" and value != content_type(each):
            yield f"Content-Type becomes {content_type(each)}"
        elif key not in OWN and key not in CONNECTION_HEADERS and not _can_send(name, value):
            yield f"the header {name} is left out: nginx cannot write its value"
