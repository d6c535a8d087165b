"""In which language somebody reads: by the address (?lang=de), else by the cookie that such an address leaves in the
browser, else by what the browser asks for. Nothing of it is kept here."""

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lanelab.driver.page.language import ENGLISH, FIELD, LANGUAGES, Language, Reading, read_as

COOKIE = "lanelab-lang"
KEPT_S = 365 * 24 * 3600
NOT_OF_ADDRESSES = (FIELD, "token")  # what the address of a page in another language does not have


class Languages:
    """Stands before everything that answers: each answer is in the language of who asked."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        chosen = LANGUAGES.get(request.query_params.get(FIELD, ""))
        language = chosen or LANGUAGES.get(request.cookies.get(COOKIE, "")) or _asked_for(request)
        others = tuple(each for each in request.query_params.multi_items() if each[0] not in NOT_OF_ADDRESSES)

        async def send_with_cookie(event: Message) -> None:
            if chosen and event["type"] == "http.response.start":
                kept = f"{COOKIE}={chosen.tag}; Max-Age={KEPT_S}; Path=/; SameSite=Strict; HttpOnly"
                MutableHeaders(scope=event).append("Set-Cookie", kept)
            await send(event)

        with read_as(Reading(language, others if request.method == "GET" else None)):
            await self._app(scope, receive, send_with_cookie)


def _asked_for(request: Request) -> Language:
    """Return the first language of the browser's list that there is. Browsers write them in their order."""
    for each in request.headers.get("accept-language", "").split(","):
        language = LANGUAGES.get(each.partition(";")[0].strip().partition("-")[0].lower())
        if language:
            return language
    return ENGLISH
