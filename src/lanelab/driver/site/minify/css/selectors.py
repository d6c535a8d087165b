"""Which selectors have an element in a page. In doubt one has: elements that are not closed, relations between elements
and states are taken generously."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from lanelab.driver.site.minify.css.scan import unescaped
from lanelab.driver.site.minify.html.nodes import EndTag, StartTag
from lanelab.driver.site.minify.html.page import VOID, Page

NAME = r"(?:[-\w\x80-\xff]|\\.)+"
PART = re.compile(
    rf"(?P<tag>\*|{NAME})|#(?P<id>{NAME})|\.(?P<class>{NAME})|\[[ \t\n]*(?P<attribute>{NAME})[^\]]*\]"
    rf"|(?P<pseudo>::?{NAME}(?:\((?:[^()]|\([^()]*\))*\))?)",
    re.ASCII,
)
COMBINATOR = re.compile(r"[ \t\n\r\f]*(?P<sign>[>+~]|[ \t\n\r\f])[ \t\n\r\f]*")
IMPLIED = ("html", "head", "body", "tbody")  # a browser adds them where the page does not


@dataclass(frozen=True, slots=True)
class Compound:
    """What one element must have."""

    tag: str = ""
    ids: frozenset[str] = frozenset()
    classes: frozenset[str] = frozenset()
    attributes: frozenset[str] = frozenset()

    @property
    def empty(self) -> bool:
        return not (self.tag or self.ids or self.classes or self.attributes)


@dataclass(frozen=True, slots=True)
class PageElement:
    """An element of a page: its name, and those that it is in."""

    tag: str
    id: str = ""
    classes: frozenset[str] = frozenset()
    attributes: frozenset[str] = frozenset()
    around: tuple[int, ...] = ()  # from the outermost

    def fits(self, compound: Compound) -> bool:
        return (
            compound.tag in ("", "*", self.tag)
            and compound.ids <= {self.id}
            and compound.classes <= self.classes
            and compound.attributes <= self.attributes
        )


@dataclass(slots=True)
class Elements:
    """The elements of a page, by what a selector asks for first."""

    all: list[PageElement]
    by_name: dict[str, list[int]] = field(default_factory=dict)

    @classmethod
    def of(cls, page: Page) -> "Elements":
        elements = cls([PageElement(name, around=tuple(range(place))) for place, name in enumerate(IMPLIED)])
        around = list(range(len(IMPLIED)))
        for node in page.nodes:
            if isinstance(node, StartTag):
                elements.all.append(_element(node, tuple(around)))
                if node.name not in VOID and not node.self_closing:
                    around.append(len(elements.all) - 1)
            elif isinstance(node, EndTag):
                opened = [place for place in around[len(IMPLIED) :] if elements.all[place].tag == node.name]
                if opened:
                    del around[around.index(opened[-1]) :]
        for place, each in enumerate(elements.all):
            keys = (each.tag, "*", *(f".{name}" for name in each.classes), *((f"#{each.id}",) if each.id else ()))
            for key in keys:
                elements.by_name.setdefault(key, []).append(place)
        return elements

    def have(self, selector: str) -> bool:
        """Return whether an element is one of those that the selector means."""
        steps = parse_selector(selector)
        if steps is None or not steps:
            return True
        last, *before = reversed(steps)
        return any(
            self.all[place].fits(last[1]) and self._stands(place, last[0], before)
            for place in self.by_name.get(_key(last[1]), [])
        )

    def _stands(self, place: int, sign: str, before: list[tuple[str, Compound]]) -> bool:
        """Return whether such elements stand before or around this one. Any that is around it may be its parent, and
        any of the page its neighbour. The innermost that fits leaves most for the others."""
        candidates = list(self.all[place].around)
        for next_sign, compound in before:
            if sign in ("+", "~"):
                candidates = list(range(len(self.all)))
            fitting = [index for index, other in enumerate(candidates) if self.all[other].fits(compound)]
            if not fitting:
                return False
            if sign not in ("+", "~"):
                candidates = candidates[: fitting[-1]]
            sign = next_sign
        return True


def _element(tag: StartTag, around: tuple[int, ...]) -> PageElement:
    values: Mapping[str, str] = {each.name: each.value or "" for each in tag.attributes}
    classes = frozenset(values.get("class", "").lower().split())
    return PageElement(tag.name, values.get("id", "").lower(), classes, frozenset(values), around)


def _key(compound: Compound) -> str:
    if compound.ids:
        return f"#{next(iter(sorted(compound.ids)))}"
    if compound.classes:
        return f".{next(iter(sorted(compound.classes)))}"
    return compound.tag or "*"


def parse_selector(text: str) -> list[tuple[str, Compound]] | None:
    """Parse a selector into compounds, each with the sign before it. Names in lower case: quirks are taken for granted.
    What depends on an element's state is left out; nothing behind a compound that is nothing else. None: it cannot be
    read."""
    steps: list[tuple[str, Compound]] = []
    text, place, sign = text.strip(" \t\n\r\f"), 0, ""
    while place < len(text):
        begin = place
        parts: dict[str, set[str]] = {"tag": set(), "id": set(), "class": set(), "attribute": set()}
        while part := PART.match(text, place):
            kind = part.lastgroup or ""
            if kind in parts:
                parts[kind].add(unescaped(part[kind]).lower())
            place = part.end()
        if place == begin:
            return None
        compound = Compound(
            next(iter(parts["tag"]), ""),
            frozenset(parts["id"]),
            frozenset(parts["class"]),
            frozenset(parts["attribute"]),
        )
        if compound.empty:
            return steps
        steps.append((sign, compound))
        between = COMBINATOR.match(text, place)
        if place < len(text) and between is None:
            return None
        sign, place = (between["sign"], between.end()) if between else (sign, place)
    return steps
