"""A style sheet's text in tokens, as far as needed to find addresses, imports and blocks. Every character is in one."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from lanelab.driver.site.minify.html.nodes import S

TOKEN = re.compile(
    rf"""(?P<comment>/\*.*?\*/)|(?P<space>[{S}]+)"""
    r"""|(?P<string>"(?:[^"\\\n\r\f]|\\.)*"|'(?:[^'\\\n\r\f]|\\.)*')"""
    rf"""|(?P<url>url\([{S}]*(?:"(?:[^"\\\n\r\f]|\\.)*"|'(?:[^'\\\n\r\f]|\\.)*'|(?:[^{S}"'()\\]|\\[0-9a-f]{{1,6}}[{S}]?|\\.)*)[{S}]*\))"""
    r"""|(?P<at>@[-\w]+)|(?P<word>(?:[-\w\x80-\xff]|\\.)+)|(?P<cdo><!--|-->)|(?P<other>.)""",
    re.DOTALL | re.IGNORECASE | re.ASCII,
)
ESCAPE = re.compile(r"\\(?:([0-9a-fA-F]{1,6})[ \t\n\r\f]?|(\r\n|[\n\r\f])|(.))", re.DOTALL)
OPEN, CLOSE = "{[(", "}])"
IMAGE_SETS = ("image-set", "-webkit-image-set")  # a string in them is an address, as in url()


@dataclass(frozen=True, slots=True)
class Token:
    kind: str
    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    @property
    def address(self) -> str:
        """Return what a url() or a string says."""
        inner = self.text[4:-1].strip(" \t\n\r\f") if self.kind == "url" else self.text
        return unescaped(inner[1:-1] if inner[:1] in ("'", '"') else inner)


def unescaped(text: str) -> str:
    def plain(escape: re.Match[str]) -> str:
        if escape[1]:
            code = int(escape[1], 16)
            return chr(code) if 0 < code < 0x110000 else "�"
        return escape[3] or ""

    return ESCAPE.sub(plain, text)


def tokens(text: str) -> Iterator[Token]:
    for match in TOKEN.finditer(text):
        yield Token(match.lastgroup or "other", match[0], match.start())


@dataclass(frozen=True, slots=True)
class Reference:
    """An address in a style sheet, with the place of the url() or string that says it."""

    address: str
    start: int
    end: int
    imports: bool  # of an @import


def located(text: str) -> list[Reference]:
    references: list[Reference] = []
    after_import = False
    word = ""
    functions: list[str] = []  # that are open here; "": brackets without a name
    for each in tokens(text):
        if each.kind in ("space", "comment"):
            word = ""
            continue
        in_set = bool(functions) and functions[-1] in IMAGE_SETS
        if each.kind == "url" or (each.kind == "string" and (after_import or in_set)):
            references.append(Reference(each.address, each.start, each.end, after_import))
        if each.text == "(":
            functions.append(word)
        elif each.text in "){}" and functions:
            functions = functions[:-1] if each.text == ")" else []
        word = each.text.lower() if each.kind == "word" else ""
        after_import = each.kind == "at" and each.text.lower() == "@import"
    return references


def references(text: str) -> list[str]:
    return [each.address for each in located(text)]


def with_addresses(text: str, change: Callable[[Reference], str | None]) -> str:
    """Return the text with other addresses, where `change` gives one."""
    parts, place = [], 0
    for each in located(text):
        new = change(each)
        if new is not None:
            parts += [text[place : each.start], url(new, text[each.start : each.end])]
            place = each.end
    return "".join([*parts, text[place:]])


def url(address: str, like: str = "url()") -> str:
    """Return an address as style sheets write it, with the quotes of what it replaces."""
    inner = like[4:-1].strip(" \t\n\r\f") if like[:4].lower() == "url(" else like
    quote = inner[:1] if inner[:1] in ("'", '"') else ""
    escaped = "".join(_escape(each) for each in address)
    return f"{quote}{escaped}{quote}" if like[:4].lower() != "url(" else f"url({quote}{escaped}{quote})"


def _escape(character: str) -> str:
    if character in "\"'()\\":
        return "\\" + character
    if character in "\n\r\f\t ":
        return f"\\{ord(character):X} "
    return character if ord(character) < 256 else f"\\{ord(character):X} "


def whole(text: str) -> bool:
    """Return whether it can be parsed without an error that would spill into what follows: brackets and strings are
    closed, every block has a selector, nothing follows the last rule."""
    stack: list[str] = []
    before = False  # whether something stands before a block
    for each in tokens(text):
        if each.kind in ("space", "comment"):
            continue
        if each.kind == "other":
            if each.text in OPEN:
                if each.text == "{" and not before:
                    return False
                stack.append(each.text)
            elif each.text in CLOSE:
                if not stack or OPEN[CLOSE.index(each.text)] != stack.pop():
                    return False
            elif each.text in "\"'" or text.startswith("/*", each.start):
                return False  # a string or comment that nothing closes
        before = not (each.kind == "cdo" or (each.text in "{};" and each.kind == "other"))
    return not stack and not before


def has_import(text: str) -> bool:
    return any(each.kind == "at" and each.text.lower() == "@import" for each in tokens(text))
