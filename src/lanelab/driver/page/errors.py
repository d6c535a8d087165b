"""What pages say of an error: to who watches what it means, in the language of the page and without a path of the
server; to who may run its own words. Those are in the server's log, too.
"""

import logging
from collections.abc import Callable
from http import HTTPStatus
from typing import TypeVar

from lanelab.analysis.results.layout.markup import Html, el, join
from lanelab.driver.base.errors import ChangedError, DiskFull, InputError, LanelabError, MachineBusy, StoreError
from lanelab.driver.page.choices import ForAll
from lanelab.driver.page.language import ENGLISH, in_english, say, tag, text
from lanelab.driver.page.refusal import Refusal

T = TypeVar("T")
FULL = text("The disk of the server is full.")
BUSY = text("Something else is measured on this machine.")
CHANGED = text("Files of the server were changed since, and do not belong together any more.")
UNREADABLE = text("The server cannot read or write a file.")
OTHER = text("The server cannot do this.")
TELL, TELL_TEACHER = text("Tell whoever runs this server."), text("Tell the teacher.")
NOTHING, NOT_SHOWN = text("Nothing was done"), text("This cannot be shown")
_LOG = logging.getLogger(__name__)


def error_words(error: LanelabError, *, may_run: bool, tell: str = TELL) -> Html:
    """Return what a page says of an error. `may_run`: to who runs things here; `tell`: what others may do."""
    is_english = tag() == ENGLISH.tag
    if isinstance(error, ForAll):
        if is_english or not error.is_english:
            return join(str(error))
        return join(f"{error.key}: " if error.key else None, detail(LanelabError(error.what, error.remedy)))
    if not may_run:
        return join(say(_meaning(error)), " ", say(tell))
    return join(None if is_english else f"{say(_meaning(error))} ", detail(error))


def detail(words: object) -> Html | None:
    """Return an error's own words, for who may run."""
    return in_english(el("span", str(words)))


def not_begun(why: str, *, may_run: bool) -> Html:
    """Say that the run of a lab did not begin; to who runs the class also why."""
    return join(say("The run did not begin."), " ", detail(why) if may_run else say(TELL_TEACHER))


def waits_for(error: StoreError | None, *, may_run: bool) -> Html | None:
    """Say what the first run in the queue waits for. That something else is measured, a student knows already."""
    if error is None:
        return None
    if may_run:
        return join(" (", detail(error), ")")
    return join(" ", say(FULL), " ", say(TELL_TEACHER)) if isinstance(error, DiskFull) else None


def note(error: LanelabError | str) -> None:
    """Put an error into the log, which is the terminal of lanelab serve."""
    _LOG.warning("a page: %s", error)


def error_page(error: LanelabError, *, may_run: bool, title: str, tell: str = TELL) -> Refusal:
    """Return a page of its own for an error, which is in the log then."""
    note(error)
    return Refusal(_status(error), say(title), error_words(error, may_run=may_run, tell=tell))


def refusing(do: Callable[[], T], *, may_run: bool, title: str = NOTHING) -> Callable[[], T]:
    """Say on a page of its own what is wrong with what was asked of a lab, or with the disk. `may_run`: to who runs the
    class; `title`: of that page."""

    def tried() -> T:
        try:
            return do()
        except LanelabError as error:
            raise error_page(error, may_run=may_run, title=title, tell=TELL_TEACHER) from error

    return tried


def _meaning(error: LanelabError) -> str:
    if isinstance(error, DiskFull):
        return FULL
    if isinstance(error, MachineBusy):
        return BUSY
    if isinstance(error, ChangedError):
        return CHANGED
    return UNREADABLE if isinstance(error, StoreError) else OTHER


def _status(error: LanelabError) -> HTTPStatus:
    if isinstance(error, InputError):
        return HTTPStatus.BAD_REQUEST
    is_full = isinstance(error, DiskFull)
    return HTTPStatus.INSUFFICIENT_STORAGE if is_full else HTTPStatus.INTERNAL_SERVER_ERROR
