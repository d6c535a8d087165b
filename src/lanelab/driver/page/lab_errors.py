"""What pages of labs say of an error: to a student what it means for the lab, in the language of the page and without a
path of the server; to who runs the class its own words as well. Those are in the server's log, too.
"""

import logging
from collections.abc import Callable
from http import HTTPStatus
from typing import TypeVar

from lanelab.analysis.results.layout.markup import Html, el, join
from lanelab.driver.base.errors import ChangedError, DiskFull, InputError, LanelabError, StoreError
from lanelab.driver.page.language import in_english, say, text
from lanelab.driver.page.refusal import Refusal

T = TypeVar("T")
FULL = text("The disk of the server is full.")
CHANGED = text("The predictions, their lab and its run do not belong together any more.")
UNREADABLE = text("The server cannot read or write a file.")
OTHER = text("The server cannot do this.")
TELL = text("Tell the teacher.")
NOTHING = text("Nothing was done")
_LOG = logging.getLogger(__name__)


def error_words(error: LanelabError, *, may_run: bool) -> Html:
    """Return what a page says of an error. `may_run`: to who runs the class."""
    return join(say(_meaning(error)), " ", detail(error) if may_run else say(TELL))


def detail(words: object) -> Html | None:
    """Return an error's own words, for who runs the class."""
    return in_english(el("span", str(words)))


def not_begun(why: str, *, may_run: bool) -> Html:
    """Say that a run did not begin; to who runs the class also why."""
    return join(say("The run did not begin."), " ", detail(why) if may_run else say(TELL))


def waits_for(error: StoreError | None, *, may_run: bool) -> Html | None:
    """Say what the first run in the queue waits for. That something else is measured, a student knows already."""
    if error is None:
        return None
    if may_run:
        return join(" (", detail(error), ")")
    return join(" ", say(FULL), " ", say(TELL)) if isinstance(error, DiskFull) else None


def note(error: LanelabError | str) -> None:
    """Put an error into the log, which is the terminal of lanelab serve."""
    _LOG.warning("a lab on the page: %s", error)


def refusing(do: Callable[[], T], *, may_run: bool, title: str = NOTHING) -> Callable[[], T]:
    """Say on a page of its own what is wrong with what was asked for, or with the disk. `may_run`: to who runs the
    class; `title`: of that page."""

    def tried() -> T:
        try:
            return do()
        except LanelabError as error:
            note(error)
            raise Refusal(_status(error), say(title), error_words(error, may_run=may_run)) from error

    return tried


def _meaning(error: LanelabError) -> str:
    if isinstance(error, DiskFull):
        return FULL
    if isinstance(error, ChangedError):
        return CHANGED
    return UNREADABLE if isinstance(error, StoreError) else OTHER


def _status(error: LanelabError) -> HTTPStatus:
    if isinstance(error, InputError):
        return HTTPStatus.BAD_REQUEST
    is_full = isinstance(error, DiskFull)
    return HTTPStatus.INSUFFICIENT_STORAGE if is_full else HTTPStatus.INTERNAL_SERVER_ERROR
