"""A page that filters edit, one after the other: a list of nodes, and what its markup says of them."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from lanelab.driver.site.minify.html.nodes import Declaration, EndTag, Node, StartTag
from lanelab.driver.site.minify.html.split import nodes_text, split

_VOID = "area base basefont bgsound br col command embed frame hr img input keygen link meta param source track wbr"
VOID = frozenset(_VOID.split())
XHTML = re.compile(r"<!doctype[^>]*//dtd xhtml", re.IGNORECASE)
HTML_5 = re.compile(r"<!doctype\s+html\s*>", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Element:
    """A start tag at its place, and what surrounds it."""

    index: int
    tag: StartTag
    in_noscript: bool
    in_head: bool


@dataclass(slots=True)
class Page:
    nodes: list[Node] = field(default_factory=list)

    @classmethod
    def read(cls, body: bytes) -> "Page":
        return cls(split(body.decode("latin-1")))

    def written(self) -> bytes:
        return nodes_text(self.nodes).encode("latin-1")

    def edit(self, edits: Mapping[int, Sequence[Node]]) -> None:
        """Put these nodes where one was; none: it goes."""
        if edits:
            self.nodes = [new for index, node in enumerate(self.nodes) for new in edits.get(index, (node,))]

    def elements(self, *names: str) -> Iterator[Element]:
        """Start tags of these names (all without any), in order. Edit afterwards, by their index."""
        noscript, in_head = 0, False
        for index, node in enumerate(self.nodes):
            if isinstance(node, StartTag):
                if node.name == "noscript":
                    noscript += 1
                elif node.name in ("head", "body"):
                    in_head = node.name == "head"
                if not names or node.name in names:
                    yield Element(index, node, noscript > 0, in_head)
            elif isinstance(node, EndTag):
                if node.name == "noscript":
                    noscript = max(0, noscript - 1)
                elif node.name == "head":
                    in_head = False

    def end_of(self, index: int) -> int | None:
        """Return the end tag of the element that begins there. None: it has none, or is void."""
        node = self.nodes[index]
        if not isinstance(node, StartTag) or node.name in VOID:
            return None
        depth = 0
        for place in range(index, len(self.nodes)):
            each = self.nodes[place]
            if isinstance(each, StartTag) and each.name == node.name:
                depth += 1
            elif isinstance(each, EndTag) and each.name == node.name:
                depth -= 1
                if depth == 0:
                    return place
        return None

    def text_in(self, index: int) -> str | None:
        """Return the characters in a style or script that begins there: "" where it is empty. None: no end tag closes
        it."""
        end = self.end_of(index)
        if end is None or end > index + 2:
            return None
        return self.nodes[index + 1].raw if end == index + 2 else ""

    def whole(self, index: int) -> range:
        """Return the places of an element with its content, or of its tag alone where nothing closes it."""
        end = self.end_of(index)
        return range(index, index + 1 if end is None else end + 1)

    @property
    def xhtml(self) -> bool:
        """Say by its doctype whether the page is XHTML."""
        return any(isinstance(node, Declaration) and XHTML.match(node.raw) for node in self._before_markup())

    @property
    def html_5(self) -> bool:
        return any(isinstance(node, Declaration) and HTML_5.match(node.raw) for node in self._before_markup())

    @property
    def base(self) -> str | None:
        """Return what the first <base> says."""
        return next((href for each in self.elements("base") if (href := each.tag.get("href")) is not None), None)

    def _before_markup(self) -> Iterator[Node]:
        for node in self.nodes:
            if isinstance(node, StartTag):
                return
            yield node
