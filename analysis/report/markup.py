"""HTML that cannot be broken by what it shows: text is escaped unless it is markup already."""

from __future__ import annotations

import html

_VOID = {"br", "meta", "hr"}


class Html(str):
    """Markup, in contrast to text."""

    __slots__ = ()


def el(name: str, /, *children: object, **attributes: object) -> Html:
    """An element. Attributes: `class_` for class, underscores for dashes; None leaves one out, True has no value."""
    written = "".join(_attribute(key, value) for key, value in attributes.items())
    if name in _VOID:
        return Html(f"<{name}{written}>")
    return Html(f"<{name}{written}>{join(*children)}</{name}>")


def join(*children: object) -> Html:
    """One after the other; lists are laid out, None is left out."""
    return Html("".join(map(_text, children)))


def _text(child: object) -> str:
    if child is None:
        return ""
    if isinstance(child, Html):
        return child
    if isinstance(child, list | tuple):
        return join(*child)
    return html.escape(_visible(str(child)))


def _visible(text: str) -> str:
    """Control characters have no place in HTML; they are shown as what they are."""
    return "".join(c if c in "\n\t" or c.isprintable() or ord(c) > 0x9F else "\N{REPLACEMENT CHARACTER}" for c in text)


def _attribute(key: str, value: object) -> str:
    if value is None or value is False:
        return ""
    name = key.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{html.escape(_visible(str(value)))}"'
