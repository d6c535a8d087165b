"""A page's text into nodes, as a browser's tokeniser splits it. The nodes' raw text, joined, is the page's again."""

import re
from collections.abc import Iterable

from lanelab.driver.site.minify.html.nodes import (
    TAG_NAME,
    Comment,
    Declaration,
    EndTag,
    Node,
    RawText,
    S,
    StartTag,
    Text,
)

# Their content is characters only. (noscript is not here: filters look into it, as the module did.)
RAW = frozenset({"script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes", "plaintext"})
COMMENT = re.compile(r"<!--(?:-?>|.*?--!?>)", re.DOTALL)
BOGUS = re.compile(r"<(?:[!?]|/(?![a-zA-Z]))[^>]*>")
# A tag, part by part: a quote guards ">" in a value only, after "=".
BETWEEN = re.compile(rf"[{S}/]*")
PART = re.compile(rf"[^{S}/>][^{S}/>=]*")
VALUE = re.compile(rf"""[{S}]*=[{S}]*(?:"[^"]*"|'[^']*'|(?=>)|[^{S}>"'][^{S}>]*)""")
OPEN_QUOTE = re.compile(rf"""[{S}]*=[{S}]*["']""")
SCRIPT_PART = re.compile(rf"<!--|-->|<(/?)script(?=[{S}/>])", re.IGNORECASE)


def split(text: str) -> list[Node]:
    nodes: list[Node] = []
    place = begin = 0
    while (place := text.find("<", place)) >= 0:
        node = _markup(text, place)
        if node is None:
            place += 1
            continue
        if place > begin:
            nodes.append(Text(text[begin:place]))
        nodes.append(node)
        place += len(node.raw)
        if isinstance(node, StartTag) and node.name in RAW:
            content = text[place : _raw_end(text, place, node.name)]
            nodes += [RawText(content)] if content else []
            place += len(content)
        begin = place
    if begin < len(text):
        nodes.append(Text(text[begin:]))
    return nodes


def _markup(text: str, place: int) -> Node | None:
    """The node that begins with this "<"; None: it is a character."""
    after = text[place + 1 : place + 2]
    if after in ("!", "?") or (after == "/" and not _is_letter(text[place + 2 : place + 3])):
        if text.startswith("<!--", place):
            match = COMMENT.match(text, place)
            return Comment(match[0] if match else text[place:])
        match = BOGUS.match(text, place)
        return Declaration(match[0]) if match else None
    if not (after == "/" or _is_letter(after)):
        return None
    end = _tag_end(text, place)
    if end is None:
        return None
    raw = text[place:end]
    return EndTag(raw) if after == "/" else StartTag(raw)


def _is_letter(character: str) -> bool:
    """Say whether a character is one of those with which a tag may begin."""
    return character.isascii() and character.isalpha()


def _tag_end(text: str, place: int) -> int | None:
    """Return the place behind the ">" that ends this tag; None: there is none, or no tag."""
    name = TAG_NAME.match(text, place)
    if name is None:
        return None
    place = name.end()
    while True:
        between = BETWEEN.match(text, place)
        place = between.end() if between else place
        if text.startswith(">", place):
            return place + 1
        part = PART.match(text, place)
        if part is None:
            return None  # the end of the page
        place = part.end()
        if value := VALUE.match(text, place):
            place = value.end()
        elif OPEN_QUOTE.match(text, place):
            return None  # a quote that nothing closes


def _raw_end(text: str, place: int, name: str) -> int:
    """Find where the end tag of this raw text begins, or the end of the page."""
    if name == "plaintext":
        return len(text)
    if name == "script":
        return _script_end(text, place)
    match = re.compile(rf"</{re.escape(name)}(?=[{S}/>])", re.IGNORECASE).search(text, place)
    return match.start() if match else len(text)


def _script_end(text: str, place: int) -> int:
    """Within `<!-- <script` an end tag ends that script only."""
    commented = nested = False
    for part in SCRIPT_PART.finditer(text, place):
        if part[0] == "<!--":
            commented = True
        elif part[0] == "-->":
            commented = nested = False
        elif not part[1]:
            nested = commented
        elif nested:
            nested = False
        else:
            return part.start()
    return len(text)


def nodes_text(nodes: Iterable[Node]) -> str:
    return "".join(node.raw for node in nodes)
