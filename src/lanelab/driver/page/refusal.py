"""An answer that is a refusal: a page that says what is not done, and why."""

from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from lanelab.driver.page.documents import message
from lanelab.driver.page.language import say, text

NOTHING = text("There is no such page. It may have been a run that was moved or removed.")


class Refusal(Exception):
    """A request is not answered with what it asks for."""

    def __init__(self, status: int, title: str, *words: object) -> None:
        super().__init__(title, *words)
        self.status, self.title, self.words = status, title, words


class Absent(Refusal):
    """Nothing is at this address."""

    def __init__(self) -> None:
        super().__init__(HTTPStatus.NOT_FOUND, say("Nothing here"), say(NOTHING))


def nothing_done(*words: object) -> Refusal:
    """Return the refusal of what was sent, with why nothing was done."""
    return Refusal(HTTPStatus.BAD_REQUEST, say("Nothing was done"), *words)


def refusal_page(request: Request, refusal: Refusal) -> Response:
    """Return the page that says it."""
    return HTMLResponse(message(refusal.title, *refusal.words, path=request.url.path), refusal.status)
