"""Markdown of labs as HTML. They are texts of lanelab's own; HTML within them stays text all the same."""

import functools
import posixpath
import re
from collections.abc import Callable

from markdown_it import MarkdownIt
from markdown_it.token import Token

from lanelab.analysis.results.layout.markup import Html
from lanelab.driver.lab.description import lab_names

COMMAND = "./lanelab "
_TABLE = re.compile(r"<table>.*?</table>", re.DOTALL)


Behind = Callable[[list[str]], Html | None]  # what a page has behind a block of commands


def rendered(markdown: str, *, links: str = "", behind: Behind | None = None) -> Html:
    """Return a text with its blocks. `links`: what an address of another lab begins with; "": such links are words."""
    return _rendered(markdown, links) if behind is None else _with_behind(markdown, links, behind)


@functools.lru_cache(maxsize=512)
def _rendered(markdown: str, links: str) -> Html:
    """Render once: a class asks for the same text again with each trial."""
    return _with_behind(markdown, links, lambda _: None)


def _with_behind(markdown: str, links: str, behind: Behind) -> Html:
    tokens = list[Token]()
    for token in _parser().parse(markdown):
        for child in token.children or ():
            _point(child, links)
        tokens.append(token)
        commands = [line for line in token.content.splitlines() if line.startswith(COMMAND)]
        if token.type == "code_block" and commands and (more := behind(commands)):
            tokens.append(Token("html_block", "", 0, content=more))
    return _scrolled(_parser().renderer.render(_without_bare_links(tokens), _parser().options, {}))


@functools.lru_cache(maxsize=512)
def rendered_line(markdown: str) -> Html:
    """Return one sentence, without a paragraph around it."""
    tokens = _without_bare_links(_parser().parseInline(markdown))
    return Html(_parser().renderer.render(tokens, _parser().options, {}))


@functools.cache
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False}).enable("table")


def _point(token: Token, links: str) -> None:
    """Lead a link to another lab there, and none to files that are not beside the page."""
    if token.type != "link_open":
        return
    href = str(token.attrs.get("href", ""))
    name = posixpath.basename(href.partition("#")[0]).removesuffix(".md")
    if href.startswith("https://"):
        token.attrs["rel"] = "noreferrer"
    else:
        token.attrs["href"] = f"{links}{name}/" if links and name in lab_names() else ""


def _without_bare_links(tokens: list[Token]) -> list[Token]:
    for token in tokens:
        if token.children:
            kept, depth = list[Token](), 0
            for child in token.children:
                if child.type == "link_open" and not child.attrs.get("href"):
                    depth += 1
                elif child.type == "link_close" and depth:
                    depth -= 1
                else:
                    kept.append(child)
            token.children = kept
    return tokens


def _scrolled(html: str) -> Html:
    """Let wide tables scroll within themselves, and say of a column what its head is."""

    def around(match: re.Match[str]) -> str:
        table = re.sub(r"<th style=\"text-align:right\">", '<th scope="col" class="num">', match[0])
        table = re.sub(r"<th( style=\"[^\"]*\")?>", '<th scope="col">', table)
        table = re.sub(r"<td style=\"text-align:right\">", '<td class="num">', table)
        table = re.sub(r" style=\"[^\"]*\"", "", table)
        return f'<div class="scroll" tabindex="0">{table}</div>'

    wide = _TABLE.sub(around, html)
    return Html(re.sub(r"<pre>(.*?)</pre>", r'<pre tabindex="0">\1</pre>', wide, flags=re.DOTALL))
