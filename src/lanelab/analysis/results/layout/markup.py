"""HTML that cannot be broken by what it shows: text is escaped unless it is markup already."""

import html

from lanelab.analysis.results.text import visible

_VOID = {"br", "meta", "hr", "img"}


class Html(str):
    """Markup, in contrast to text."""

    __slots__ = ()


def el(name: str, /, *children: object, **attributes: object) -> Html:
    """Return an element. Attributes: `class_` for class, underscores for dashes; None leaves one out, True has no
    value."""
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
    return html.escape(visible(str(child)))


def _attribute(key: str, value: object) -> str:
    if value is None or value is False:
        return ""
    name = key.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{html.escape(visible(str(value)))}"'
