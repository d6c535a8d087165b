"""A whole page around what is shown. Style and script are files of their own, since nothing inline is allowed."""

import functools
from importlib import resources

from lanelab.analysis.results.layout.markup import Html, el
from lanelab.analysis.results.report.page import page_head, script_of_reports, style_of_reports
from lanelab.driver.page.language import other_languages, say, tag, text
from lanelab.driver.page.screens import links_to_screens

STYLE, SCRIPT = "style.css", "script.js"
SCRIPTS = ("page.js", "replay.js", "bench.js", "compare.js")
TITLE = "lanelab"
LOST = text("The server does not answer any more, or the run is gone: this page is as it was.")
DEEPEST = 6  # folders that a page of ours is below the first one


def document(title: str, *parts: object, up: int = 0, changes: str = "") -> str:
    """Return a page. `up`: how many folders it is below the first page, to which its links are relative. `changes`:
    where news of it come from, by which its parts are loaded again."""
    root = "../" * up or "./"
    head = page_head(
        f"{title} - {TITLE}" if title else TITLE,
        el("link", rel="stylesheet", href=f"{root}static/{STYLE}"),
        el("link", rel="icon", href="data:,"),
        el("script", src=f"{root}static/{SCRIPT}", defer=True),
    )
    skip = el("a", say("Skip to the contents"), href="#main", class_="skip")
    top = el(
        "nav", el("a", TITLE, href=root), links_to_screens(root), _switch(), aria_label=say("Pages"), class_="pages"
    )
    main = el("main", *parts, id="main", data_changes=changes or None)
    lost = el("p", say(LOST), id="lost", role="alert", hidden=True, class_="bad") if changes else None
    return f"<!doctype html>\n{el('html', head, el('body', skip, top, lost, main), lang=tag())}\n"


def _switch() -> list[Html]:
    """Return links to this page in other languages, each in its own."""
    return [
        el("a", language.name, href=address, lang=language.tag, hreflang=language.tag, rel="alternate", class_="switch")
        for language, address in other_languages()
    ]


def message(title: str, *words: object, path: str = "/") -> str:
    """Return a page that says one thing. path: the address at which it is said."""
    up = min(path.count("/") - 1, DEEPEST)
    return document(title, el("header", el("h1", title)), *(el("p", each) for each in words), up=up)


@functools.cache
def static_files() -> dict[str, tuple[str, str]]:
    """Return what is at static/: a name, its kind, its text."""
    ours = resources.files(__package__)
    style = style_of_reports() + ours.joinpath("page.css").read_text()
    script = script_of_reports() + "".join(ours.joinpath(name).read_text() for name in SCRIPTS)
    return {STYLE: ("text/css", style), SCRIPT: ("text/javascript", script)}
