"""What servers that answer from files send with recorded objects, and what they cannot send. Pure."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from lanelab.driver.arm.servers.layout import MAPPED, OK, Layout, answered, content_type
from lanelab.driver.arm.servers.server import CONNECTION_HEADERS, OWN_HEADERS
from lanelab.driver.site.site import SiteObject

EMPTY = frozenset((204, 304))  # answers without a body
MOST_STATUS = 599


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer to a request that a file's name cannot say."""

    host: str
    path: str  # with its query
    status: int
    file: str  # below the folder of the content; "" where the answer has no body
    headers: tuple[tuple[str, str], ...]  # with its type, in the recorded order


def is_file_status(status: int) -> bool:
    return OK <= status <= MOST_STATUS


def is_plain(value: str) -> bool:
    return value.isascii() and value.isprintable()


@dataclass(frozen=True, slots=True)
class Ability:
    """Says what a server can send with a file. Most can send any status and any header."""

    title: str
    can_say: Callable[[int], bool] = is_file_status  # of statuses besides 200
    can_write: Callable[[str], bool] = is_plain  # of values of headers

    def sent(self, each: SiteObject, coding: str | None) -> Iterator[tuple[str, str]]:
        """Yield the headers of an object, besides its type. `coding`: that its file has."""
        yield from undated(each)
        for name, value in each.headers:
            if self.can_send(name, value):
                yield name, value
        if coding:
            yield "Content-Encoding", coding
            yield "Vary", "Accept-Encoding"

    def can_send(self, name: str, value: str) -> bool:
        usual = name.lower() not in CONNECTION_HEADERS | OWN_HEADERS
        return usual and name.isascii() and name.isprintable() and self.can_write(value)


def undated(each: SiteObject) -> Iterator[tuple[str, str]]:
    """Yield what an object without recorded headers has instead: those of a file."""
    if not each.headers:
        yield from each.file_headers


def answers(layout: Layout, ability: Ability) -> tuple[Answer, ...]:
    return tuple(_answer(each, layout, ability) for each in layout.answers.values())


def _answer(each: SiteObject, layout: Layout, ability: Ability) -> Answer:
    status = each.status if ability.can_say(each.status) else OK
    file = f"{MAPPED}/{layout.maps[each.host][each.path]}"
    headers = (("Content-Type", content_type(each)), *ability.sent(each, layout.coded.get(file)))
    return Answer(each.host, each.path, status, "" if status in EMPTY else file, headers)


def not_reproduced(objects: Iterable[SiteObject], ability: Ability) -> Iterator[str]:
    """Yield what is not reproduced, in words, with the object's method and address."""
    listed = list(objects)
    kept = {id(each) for each in answered(listed)}
    for each in listed:
        for what in _lost(each, ability) if id(each) in kept else [_why_not_kept(each)]:
            yield f"{each.method} {each.url}: {what}"


def _why_not_kept(each: SiteObject) -> str:
    if each.method != "GET":
        return f"{each.method} is not answered"
    return "it has another answer with the same address, which is sent instead"


def _lost(each: SiteObject, ability: Ability) -> Iterator[str]:
    title = ability.title
    if each.status != OK and not ability.can_say(each.status):
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
        elif key not in OWN_HEADERS | CONNECTION_HEADERS and not ability.can_send(name, value):
            yield f"the header {name} is left out: {title} cannot write its value"
