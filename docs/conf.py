"""How Sphinx makes the pages of `lanelab docs` from these files. README.md says what there is, and in which order."""

import posixpath
import re
from typing import Protocol

project = "lanelab"
extensions = ["myst_parser"]
root_doc = "README"
source_suffix = {".md": "markdown"}
exclude_patterns = ["examples"]
html_theme = "furo"
html_title = "lanelab"
html_copy_source = False
html_show_copyright = False
html_show_sphinx = False
myst_heading_anchors = 4  # headings are linked to by their words, as on a forge
suppress_warnings = ["misc.highlighting_failure"]  # some examples are of no language that there is a lexer for

_SECTION = re.compile(r"^## (.+)$", re.MULTILINE)
_LINK = re.compile(r"\[([^\]]+)\]\(((?:\.\./)[\w./-]+\.md)(?:#[^)]*)?\)")
_TERM = re.compile(r"^- \*\*(.+?)\*\*: (.*)$", re.MULTILINE)
_PAGE = re.compile(r"\]\(((?!https?:|\.\./)[\w./-]+)\.md[#)]")


class Sphinx(Protocol):
    def connect(self, event: str, callback: object) -> int: ...


def contents(text: str) -> str:
    """Return a hidden table of contents for each section: of the pages that are linked to there for the first time."""
    first, *rest = _SECTION.split(text)
    sections = [("", first), *zip(rest[::2], rest[1::2], strict=True)]
    listed: set[str] = set()
    tables = []
    for title, body in sections:
        pages = [page for page in dict.fromkeys(_PAGE.findall(body)) if page not in listed]
        listed.update(pages)
        if pages:
            caption = [f":caption: {title}"] if title else []
            tables.append("\n".join(["```{toctree}", ":hidden:", *caption, "", *pages, "```"]))
    return "\n\n".join(tables)


def without_links_outside(page: str, text: str) -> str:
    """Return the text with plain words where a page of the checkout is linked to that is not among these."""

    def words(match: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(page), match[2]))
        return match[1] if target.startswith("../") else match[0]

    return _LINK.sub(words, text)


def glossary(text: str) -> str:
    """Return the page with its list as a glossary, so that the search knows each term."""
    before, _, terms = text.partition("\n- ")
    definitions = _TERM.sub(lambda term: f"{term[1]}\n  {term[2]}\n", f"- {terms}")
    return "\n".join([before, "````{glossary}", definitions, "````"])


def prepare(_app: object, page: str, source: list[str]) -> None:
    source[0] = without_links_outside(page, source[0])
    if page == root_doc:
        source[0] += "\n\n" + contents(source[0])
    if page == "glossary":
        source[0] = glossary(source[0])


def setup(app: Sphinx) -> None:
    app.connect("source-read", prepare)
