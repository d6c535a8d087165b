"""The way from each page to the screens, for who reads what a server sends. A page in a file has none of it: which
screens there are beside it, nobody knows."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from lanelab.analysis.results.layout.markup import Html, el
from lanelab.driver.page.language import say, text

RUNS, BEGIN = "", "begin/"
SCREENS = {
    RUNS: text("Runs"),
    BEGIN: text("Begin a run"),
    "race/": text("Race"),
    "bench/": text("Link bench"),
    "labs/": text("Labs"),
}


@dataclass(frozen=True, slots=True)
class Reader:
    """A reader is at a path. `begins`: whether he may begin a run. `session`: of his browser."""

    path: str
    begins: bool
    session: str = ""


_reader: ContextVar[Reader | None] = ContextVar("reader", default=None)


@contextmanager
def read_by(reader: Reader) -> Iterator[None]:
    before = _reader.set(reader)
    try:
        yield
    finally:
        _reader.reset(before)


def session_of_reader() -> str:
    """Return the session of the browser for which something is done; nothing outside of a request."""
    reader = _reader.get()
    return reader.session if reader else ""


def links_to_screens(root: str) -> list[Html]:
    """Return a link to each screen, of which the reader's own says that it is. root: the address of the first page."""
    reader = _reader.get()
    if reader is None:
        return []
    here = reader.path.lstrip("/")
    return [
        el("a", say(title), href=f"{root}{path}", aria_current=_current(here, path))
        for path, title in SCREENS.items()
        if reader.begins or path != BEGIN
    ]


def _current(here: str, path: str) -> str | None:
    if here == path:
        return "page"
    below = ("runs/", "compare/") if path == RUNS else (path,)
    return "true" if here.startswith(below) else None
