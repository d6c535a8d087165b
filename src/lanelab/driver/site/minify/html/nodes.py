"""What a page consists of. Text is latin-1: one character per byte, so that every page can be read and written back."""

import html
import re
from dataclasses import dataclass
from functools import cached_property

SPACE = " \t\n\r\f"
S = r" \t\n\r\f"  # in a pattern's brackets; \s would have more
# As browsers split a tag: a slash separates, a name may begin with "=", a value has one of two quotes or none.
ATTRIBUTE = re.compile(
    rf"""(?P<lead>[{S}/]*)(?P<name>[^{S}/>][^{S}/>=]*)"""
    rf"""(?:(?P<equals>[{S}]*=[{S}]*)(?:"(?P<double>[^"]*)"|'(?P<single>[^']*)'|(?P<bare>[^{S}>"'][^{S}>]*)|(?=>)))?"""
)
TAG_NAME = re.compile(rf"</?([a-zA-Z][^{S}/>]*)")
LAST_PLAIN = 0x7F


@dataclass(frozen=True)
class Node:
    """`raw` is what the page has, and the only thing that is written."""

    raw: str


class Text(Node):
    """Characters between tags, with their references as written."""


class RawText(Node):
    """The content of script, style, textarea and the like, where tags mean nothing."""


class Comment(Node):
    @property
    def content(self) -> str:
        return self.raw.removeprefix("<!--").removesuffix("-->")

    @property
    def conditional(self) -> bool:
        """Internet Explorer reads it: other browsers see a comment."""
        content = self.content.strip(SPACE).lower()
        return content.startswith(("[if", "<![endif]")) or content.endswith("endif]")


class Declaration(Node):
    """A doctype, `<![if …]>`, `<?…>`, CDATA: what begins with <! or <? and is no comment."""


@dataclass(frozen=True, slots=True)
class Attribute:
    name: str  # in lower case
    written: str | None  # the value as the page has it; None: no value
    quote: str  # ", ' or nothing
    start: int  # in the tag, with the white space before it
    end: int

    @property
    def value(self) -> str | None:
        """Return the value with references resolved. None: no value, or one that says characters beyond ASCII by
        reference, which the page's encoding would have to say."""
        if self.written is None or "&" not in self.written:
            return self.written
        plain = html.unescape(self.written)
        beyond = sum(ord(each) > LAST_PLAIN for each in plain) - sum(ord(each) > LAST_PLAIN for each in self.written)
        return None if beyond else plain


@dataclass(frozen=True)
class Tag(Node):
    @cached_property
    def name(self) -> str:
        match = TAG_NAME.match(self.raw)
        return match[1].lower() if match else ""


class EndTag(Tag):
    pass


class StartTag(Tag):
    @cached_property
    def attributes(self) -> tuple[Attribute, ...]:
        """The first of each name, as browsers take it."""
        by_name: dict[str, Attribute] = {}
        begin = TAG_NAME.match(self.raw)
        place = begin.end() if begin else len(self.raw)
        while part := ATTRIBUTE.match(self.raw, place):
            if part.end() >= len(self.raw) and not self.raw.endswith(">"):
                break
            quote = '"' if part["double"] is not None else "'" if part["single"] is not None else ""
            values = (part["double"], part["single"], part["bare"], "" if part["equals"] else None)
            written = next((value for value in values if value is not None), None)
            name = part["name"].lower()
            by_name.setdefault(name, Attribute(name, written, quote, part.start(), part.end()))
            place = part.end()
        return tuple(by_name.values())

    def attribute(self, name: str) -> Attribute | None:
        return next((each for each in self.attributes if each.name == name), None)

    def has(self, name: str) -> bool:
        return self.attribute(name) is not None

    def get(self, name: str) -> str | None:
        """Return the value, with references resolved; None: no such attribute, or no value that can be read."""
        attribute = self.attribute(name)
        return attribute.value if attribute else None

    @property
    def unreadable(self) -> bool:
        """Return whether an attribute has a value that only the page's encoding could say."""
        return any(each.written is not None and each.value is None for each in self.attributes)

    @property
    def self_closing(self) -> bool:
        last = max((each.end for each in self.attributes), default=0)
        return self.raw.endswith("/>") and last < len(self.raw) - 1  # in <a b=c/> the slash is the value's

    @property
    def _room(self) -> int:
        """Return where an attribute can be added: at the end, but not where the last one would take it for its
        value."""
        last = max(self.attributes, key=lambda each: each.end, default=None)
        if last and last.written == "" and not last.quote:
            return min(each.start for each in self.attributes)
        return len(self.raw) - (2 if self.self_closing else 1)

    def with_value(self, name: str, value: str) -> "StartTag":
        """The same tag with this attribute set; the rest of it keeps every byte."""
        attribute = self.attribute(name)
        if attribute is None:
            return StartTag(
                self.raw[: self._room].rstrip(SPACE) + f' {name}="{escape(value)}"' + self.raw[self._room :]
            )
        quote = attribute.quote or '"'
        lead = self._lead(attribute)
        written = self.raw[attribute.start + len(lead) :][: len(name)]
        return self._spliced(attribute, f"{lead}{written}={quote}{escape(value, quote)}{quote}")

    def without(self, name: str) -> "StartTag":
        attribute = self.attribute(name)
        return self._spliced(attribute, "") if attribute else self

    def with_written(self, attribute: Attribute, value: str | None) -> "StartTag":
        """Return the tag with the value of an attribute as it is to be written, without quotes."""
        lead = self._lead(attribute)
        name = self.raw[attribute.start + len(lead) :][: len(attribute.name)]
        return self._spliced(attribute, f"{lead}{name}" if value is None else f"{lead}{name}={value}")

    def _lead(self, attribute: Attribute) -> str:
        text = self.raw[attribute.start : attribute.end]
        return text[: len(text) - len(text.lstrip(SPACE + "/"))]

    def _spliced(self, attribute: Attribute, text: str) -> "StartTag":
        before, after = self.raw[: attribute.start] + text, self.raw[attribute.end :]
        # Behind a value without quotes a slash, or another name, would become part of it.
        if after.lstrip(SPACE).startswith("="):
            return StartTag(f"{before} /{after}")  # a name that begins so, and would give the one before it a value
        gap = "" if after[0] in SPACE + ">" or before[-1] in SPACE + "\"'" else " "
        return StartTag(before + gap + after)


def escape(value: str, quote: str = '"') -> str:
    """Escape the value of an attribute. Characters that latin-1 does not have become references."""
    value = value.replace("&", "&amp;").replace(quote, "&quot;" if quote == '"' else "&#39;")
    return "".join(each if ord(each) < 256 else f"&#{ord(each)};" for each in value)


def start_tag(name: str, *attributes: tuple[str, str | None]) -> StartTag:
    written = (f" {key}" if value is None else f' {key}="{escape(value)}"' for key, value in attributes)
    return StartTag(f"<{name}{''.join(written)}>")


def end_tag(name: str) -> EndTag:
    return EndTag(f"</{name}>")
