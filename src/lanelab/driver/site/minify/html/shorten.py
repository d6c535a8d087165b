"""Filters that make the page's text smaller: comments, white space, attributes, addresses, quotes."""

import re
from collections.abc import Callable

from lanelab.driver.site.minify.html.defaults import BOOLEAN, DEFAULTS
from lanelab.driver.site.minify.html.nodes import Comment, EndTag, StartTag, Text
from lanelab.driver.site.minify.work import Work

SENSITIVE = frozenset({"pre", "script", "style", "textarea"})
RUN = re.compile(r"[ \t\r\f\n]{2,}")
NEEDS_NO_QUOTES = re.compile(r"[a-zA-Z0-9._:-]+")
HYPERLINKS = {"a": "href", "area": "href", "link": "href", "script": "src", "img": "src"}


def remove_comments(work: Work) -> None:
    """Remove all comments but those that Internet Explorer reads."""
    gone = {
        index: ()
        for index, node in enumerate(work.page.nodes)
        if isinstance(node, Comment) and not node.conditional and node.raw.endswith("-->")
    }
    saved = sum(len(work.page.nodes[index].raw) for index in gone)
    _saved(work, "remove_comments", f"{len(gone)} comments", lambda: work.page.edit(gone), saved)


def collapse_whitespace(work: Work) -> None:
    """A run becomes its last new line, or its first character where it has none. Not in pre, script, style and
    textarea."""
    edits, depth = {}, 0
    for index, node in enumerate(work.page.nodes):
        if isinstance(node, StartTag) and node.name in SENSITIVE:
            depth += 1
        elif isinstance(node, EndTag) and node.name in SENSITIVE:
            depth = max(0, depth - 1)
        elif isinstance(node, Text) and not depth:
            text = RUN.sub(lambda run: "\n" if "\n" in run[0] else run[0][0], node.raw)
            if text != node.raw:
                edits[index] = (Text(text),)
    saved = sum(len(work.page.nodes[index].raw) - len(new[0].raw) for index, new in edits.items())
    _saved(work, "collapse_whitespace", f"{len(edits)} stretches of text", lambda: work.page.edit(edits), saved)


def elide_attributes(work: Work) -> None:
    """Remove values of boolean attributes, and attributes that say what holds without them."""
    xhtml, html_5 = work.page.xhtml, work.page.html_5

    def shorter(tag: StartTag) -> StartTag:
        for each in tag.attributes:
            again = tag.attribute(each.name)  # places move with each edit
            if again is None or again.written is None:
                continue
            if not xhtml and (tag.name, each.name) in BOOLEAN:
                tag = tag.with_written(again, None)
                continue
            default = DEFAULTS.get((tag.name, each.name))
            if default and (html_5 or not default.html_5) and (each.value or "").lower() == default.value:
                tag = tag.without(each.name)
        return tag

    _each_tag(work, "elide_attributes", "attributes of {} tags", shorter)


def trim_urls(work: Work) -> None:
    """Write references to the page's own host as short as they can be said. Those of <base> and forms stay."""
    base = work.base

    def shorter(tag: StartTag) -> StartTag:
        name = HYPERLINKS.get(tag.name, "")
        value = tag.get(name)
        if not value or not re.match(r"(?:https?:)?/", value, re.IGNORECASE):
            return tag
        if tag.name == "link" and (tag.get("rel") or "").lower() != "stylesheet":
            return tag
        if not value.startswith("/") and not value.lower().startswith(f"{work.scheme}:"):
            return tag
        reference, mark, fragment = value.partition("#")
        address = base.resolve(reference)
        if address is None or address.host != base.host:
            return tag
        short = address.relative_to(base) + mark + fragment
        again = base.resolve(short.partition("#")[0])
        return tag.with_value(name, short) if len(short) < len(value) and again == address else tag

    _each_tag(work, "trim_urls", "addresses of {} tags", shorter)


def remove_quotes(work: Work) -> None:
    """Around values of letters, digits and - . _ : only. Empty ones keep theirs, and XHTML needs them."""
    if work.page.xhtml:
        return

    def shorter(tag: StartTag) -> StartTag:
        for each in tag.attributes:
            again = tag.attribute(each.name)
            if again and again.quote and again.written and NEEDS_NO_QUOTES.fullmatch(again.written):
                tag = tag.with_written(again, again.written)
        return tag

    _each_tag(work, "remove_quotes", "quotes of {} tags", shorter)


def _each_tag(work: Work, name: str, what: str, change: Callable[[StartTag], StartTag]) -> None:
    edits, saved = {}, 0
    for each in work.page.elements():
        new = change(each.tag)
        if new.raw != each.tag.raw:
            edits[each.index] = (new,)
            saved += len(each.tag.raw) - len(new.raw)
    _saved(work, name, what.format(len(edits)), lambda: work.page.edit(edits), saved)


def _saved(work: Work, name: str, what: str, edit: Callable[[], None], saved: int) -> None:
    if saved > 0:
        size = len(work.page.written())
        edit()
        work.note(name, what, size, size - saved)
