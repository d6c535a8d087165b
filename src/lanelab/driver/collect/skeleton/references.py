"""Who asks for what in a recorded site: by tags, style sheets, modules, and the words of scripts. Pure."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html.parser import HTMLParser
from urllib.parse import urljoin

from lanelab.driver.site.redirects import leads_to
from lanelab.driver.site.site import SiteObject, StoredObject

PAGES = ("text/html", "application/xhtml+xml")
_URL = re.compile(r"""url\(\s*(?:"([^"]*)"|'([^']*)'|([^\s"'()]+))\s*\)""", re.IGNORECASE)
_IMPORT = re.compile(r"""@import\s+(?:url\(\s*)?["']?([^"')\s;]+)""", re.IGNORECASE)
_MODULE = re.compile(r"""(?:\bimport|\bfrom)\s*["']([^"']+)["']""")
_SIZE = re.compile(r"\s+[0-9.]+[wx]\s*(?:,|$)|,\s+")
SHORTEST_NAME = 4  # characters of a file's name that are looked for in scripts


@dataclass(frozen=True, slots=True)
class Reference:
    """Says how one object is asked for. `type` is the generator's."""

    child: int
    parent: int
    type: str
    place: str = "body"
    mode: str = "plain"
    rel: str = ""
    inline: str = ""


def references(objects: Sequence[StoredObject], entry: int) -> tuple[Reference, ...]:
    """Return one for each object but the entry and what redirects lead to, parents first as far as they are known."""
    by_url = {_url(each.object): number for number, each in reversed([*enumerate(objects)])}
    by_number: dict[int, Reference] = {}
    waiting, seen = [entry], {entry}
    while waiting:
        parent = waiting.pop(0)
        for each in _of(objects[parent], parent, by_url, by_number.get(parent)):
            if each.child != entry and each.child not in by_number and not _above(by_number, each.child, parent):
                by_number[each.child] = each
        followed = _redirected(objects[parent].object, by_url)
        children = [each.child for each in by_number.values() if each.parent == parent]
        for child in (*children, *(() if followed is None else (followed,))):
            if child not in seen:
                seen.add(child)
                waiting.append(child)
    led = {target for each in objects if (target := _redirected(each.object, by_url)) is not None}
    for child, stored in enumerate(objects):
        if child != entry and child not in by_number and child not in led:
            by_number[child] = _by_script(child, stored.object, objects, by_number, entry)
    return tuple(by_number[child] for child in sorted(by_number))


def _url(each: SiteObject) -> str:
    """Return the address without the scheme, which pages mix."""
    return each.url


def _above(by_number: Mapping[int, Reference], child: int, parent: int) -> bool:
    """Return whether `child` is above `parent` already: no circle."""
    while parent in by_number:
        if parent == child:
            return True
        parent = by_number[parent].parent
    return parent == child


def _redirected(each: SiteObject, by_url: Mapping[str, int]) -> int | None:
    there = leads_to(_base(each), each.status, each.headers)
    return None if there is None else _known(there, _base(each), by_url)


def _base(each: SiteObject) -> str:
    return f"{each.scheme}://{each.url}"


def _known(link: str, base: str, by_url: Mapping[str, int]) -> int | None:
    try:
        absolute = urljoin(base, link.strip()).partition("#")[0]
    except ValueError:
        return None
    return by_url.get(absolute.partition("://")[2])


def _of(stored: StoredObject, parent: int, by_url: Mapping[str, int], how: Reference | None) -> Iterator[Reference]:
    text, base = stored.body.decode("latin-1"), _base(stored.object)
    mime = stored.object.mime
    if mime in PAGES:
        reader = _Reader(parent, base, by_url)
        reader.feed(text)
        yield from reader.references
    elif mime == "text/css":
        yield from of_css(text, parent, base, by_url)
    elif how is not None and how.type == "module":
        for match in _MODULE.finditer(text):
            child = _known(match[1], base, by_url)
            if child is not None:
                yield Reference(child, parent, "module")


def of_css(text: str, parent: int, base: str, by_url: Mapping[str, int], inline: str = "") -> Iterator[Reference]:
    for match in _IMPORT.finditer(text):
        child = _known(match[1], base, by_url)
        if child is not None and not inline:
            yield Reference(child, parent, "css")
    for match in _URL.finditer(text):
        link = next((part for part in match.groups() if part), "")
        child = _known(link, base, by_url)
        if child is not None:
            font = re.search(r"\.(woff2?|ttf|otf|eot)([?#]|$)", link, re.IGNORECASE)
            yield Reference(child, parent, "font" if font else "image", inline=inline)


def _by_script(
    child: int, each: SiteObject, objects: Sequence[StoredObject], by_number: Mapping[int, Reference], entry: int
) -> Reference:
    """Return the script that loads it, as no tag does: the one with its file name inside, else the page's own."""
    kind = scripted_type(each)
    name = each.path.partition("?")[0].rstrip("/").rpartition("/")[2].encode("latin-1", "replace")
    if len(name) >= SHORTEST_NAME:
        for parent, how in by_number.items():
            if how.type in ("script", "module") and parent != child and name in objects[parent].body:
                return Reference(child, parent, kind)
    return Reference(child, entry, kind, inline="script")


def scripted_type(each: SiteObject) -> str:
    family = each.mime.partition("/")[0]
    if family == "image":
        return "image"
    if "javascript" in each.mime:
        return "script"
    if each.mime == "text/css":
        return "css"
    return "other"


class _Reader(HTMLParser):
    def __init__(self, parent: int, base: str, by_url: Mapping[str, int]) -> None:
        super().__init__(convert_charrefs=True)
        self.parent, self.base, self.by_url = parent, base, by_url
        self.references: list[Reference] = []
        self._head, self._style, self._noscript = True, False, 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in reversed(attrs)}
        if tag == "noscript":
            self._noscript += 1
        if self._noscript:
            return
        if tag == "base" and values.get("href"):
            self.base = urljoin(self.base, values["href"])
        if tag in ("body", "img", "div", "p", "section", "main", "header", "h1", "table"):
            self._head = False
        self._style = tag == "style"
        place = "head" if self._head else "body"
        if values.get("style"):
            self.references += of_css(values["style"], self.parent, self.base, self.by_url, "style")
        if tag == "script":
            self._script(values, place)
        elif tag == "link":
            self._link(values)
        else:
            self._shown(tag, values)

    def _script(self, values: Mapping[str, str], place: str) -> None:
        if values.get("type") == "module":
            self._add(values.get("src"), "module", place=place)
        else:
            mode = "async" if "async" in values else "defer" if "defer" in values else "plain"
            self._add(values.get("src"), "script", place=place, mode=mode)

    def _shown(self, tag: str, values: Mapping[str, str]) -> None:
        if tag in ("iframe", "frame"):
            self._add(values.get("src"), "frame")
        elif tag in ("video", "audio", "source", "embed", "track", "object"):
            self._add(values.get("src") or values.get("data"), "media")
            self._add(values.get("poster"), "image")
        elif tag in ("img", "input", "image"):
            self._add(values.get("src") or values.get("href"), "image")
        for part in _SIZE.split(values.get("srcset", "")):
            self._add(part.strip(" ,"), "image")
        self._add(values.get("background"), "image")

    def handle_endtag(self, tag: str) -> None:
        if tag == "noscript":
            self._noscript = max(0, self._noscript - 1)
        self._style = False
        self._head = self._head and tag != "head"

    def handle_data(self, data: str) -> None:
        if self._style and not self._noscript:
            self.references += of_css(data, self.parent, self.base, self.by_url, "style")

    def _link(self, values: Mapping[str, str]) -> None:
        relations = values.get("rel", "").lower().split()
        if "stylesheet" in relations:
            self._add(values.get("href"), "css", place="head")
        elif "icon" in relations:
            self._add(values.get("href"), "image", place="head", rel='rel="icon"')
        elif "modulepreload" in relations:
            self._add(values.get("href"), "module", place="head", rel='rel="modulepreload"')
        elif "preload" in relations and re.fullmatch("[a-z]+", values.get("as", "")):
            crossorigin = " crossorigin" if "crossorigin" in values else ""
            kind = {"style": "css", "font": "font", "image": "image", "script": "script"}.get(values["as"], "other")
            self._add(values.get("href"), kind, place="head", rel=f'rel="preload" as="{values["as"]}"{crossorigin}')

    def _add(self, link: str | None, kind: str, *, place: str = "body", mode: str = "plain", rel: str = "") -> None:
        child = _known(link, self.base, self.by_url) if link else None
        if child is not None:
            self.references.append(Reference(child, self.parent, kind, place, mode, rel))
