"""Stands before the application: answers for it whatever it should not see."""

from http import HTTPStatus

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lanelab.driver.page.access import HEADERS, READING, Access, Role
from lanelab.driver.page.refusal import Refusal, refusal_page

OPEN = ("/enter", "/static/")  # what needs no cookie: there is nothing of any run in it


class Guard:
    """Answers for the application whatever it should not see, and gives every answer the headers that browsers obey."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app, self._access = app, access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return

        async def send_guarded(event: Message) -> None:
            if event["type"] == "http.response.start":
                MutableHeaders(scope=event).update(HEADERS)
            await send(event)

        request = Request(scope)
        words = self._words_against(request)
        answer = refusal_page(request, Refusal(HTTPStatus.FORBIDDEN, "Not here", words)) if words else self._app
        await answer(scope, receive, send_guarded)

    def _words_against(self, request: Request) -> str:
        """Return why a request is refused; nothing for one that is not."""
        headers = request.headers
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not self._access.is_ours(hosts[0]):
            return "This is not the name of this server. Open the address that the terminal shows."
        reads = request.method in READING
        if not reads and not self._access.is_same_origin(headers):
            return "Another page asked for this."
        if request.url.path.startswith(OPEN):
            return ""
        role = self._access.role(request.cookies.get(self._access.cookie))
        if role is None:
            return "Open the link that the terminal shows, where lanelab serve runs."
        if not reads and role is not Role.RUN:
            return "This link may watch, and change nothing."
        return ""
