"""What servers that answer from files, and can send any header with any of them, send with recorded objects. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from driver.servers.layout import MAPPED, OK, Layout, answered, content_type
from driver.servers.server import CONNECTION_HEADERS
from model.site.site import SiteObject

# 1 January 2020, as every file's: what an object without recorded headers has.
MODIFIED_S, MODIFIED = 1577836800, "Wed, 01 Jan 2020 00:00:00 GMT"
OWN = frozenset(("content-type", "content-length", "date", "server", "accept-ranges"))  # servers send these themselves
EMPTY = frozenset((204, 304))  # answers without a body
MOST_STATUS = 599


@dataclass(frozen=True, slots=True)
class Answer:
    """To a request that a file's name cannot say."""

    host: str
    path: str  # with its query
    status: int
    file: str  # below the folder of the content; "" where the answer has no body
    headers: tuple[tuple[str, str], ...]  # with its type, in the recorded order


def answers(layout: Layout) -> tuple[Answer, ...]:
    return tuple(_answer(each, layout) for each in layout.answers.values())


def _answer(each: SiteObject, layout: Layout) -> Answer:
    status = each.status if _can_say(each.status) else OK
    file = f"{MAPPED}/{layout.maps[each.host][each.path]}"
    headers = (("Content-Type", content_type(each)), *_sent(each, layout.coded.get(file)))
    return Answer(each.host, each.path, status, "" if status in EMPTY else file, headers)


def _sent(each: SiteObject, coding: str | None) -> Iterator[tuple[str, str]]:
    if not each.headers:
        yield "Last-Modified", MODIFIED
        yield "ETag", f'"{MODIFIED_S:x}-{each.size:x}"'
    for name, value in each.headers:
        if _can_send(name, value):
            yield name, value
    if coding:
        yield "Content-Encoding", coding
        yield "Vary", "Accept-Encoding"


def _can_say(status: int) -> bool:
    return OK <= status <= MOST_STATUS


def _can_send(name: str, value: str) -> bool:
    usual = name.lower() not in CONNECTION_HEADERS and name.lower() not in OWN
    return usual and name.isascii() and name.isprintable() and value.isascii() and value.isprintable()


def not_reproduced(objects: Iterable[SiteObject], title: str) -> Iterator[str]:
    """In words, with the object's method and address."""
    listed = list(objects)
    kept = {id(each) for each in answered(listed)}
    for each in listed:
        for what in _lost(each, title) if id(each) in kept else [_why_not_kept(each)]:
            yield f"{each.method} {each.url}: {what}"


def _why_not_kept(each: SiteObject) -> str:
    if each.method != "GET":
        return f"{each.method} is not answered"
    return "it has another answer with the same address, which is sent instead"


def _lost(each: SiteObject, title: str) -> Iterator[str]:
    if not _can_say(each.status):
        yield f"status {each.status} becomes 200"
    if each.status in EMPTY and each.size:
        yield f"its body is not sent with status {each.status}"
    if not each.headers:
        return
    yield "the order and the letters of its headers, its reason, and the length of its head may differ"
    for name, value in each.headers:
        key = name.lower()
        if key in ("date", "server"):
            yield f"{name} is {title}'s own"
        elif key == "content-type" and value != content_type(each):
            yield f"Content-Type becomes {content_type(each)}"
        elif key not in OWN and key not in CONNECTION_HEADERS and not _can_send(name, value):
            yield f"the header {name} is left out: {title} cannot write its value"
