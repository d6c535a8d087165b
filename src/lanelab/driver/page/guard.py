"""Stands before the application: answers for it whatever it should not see."""

import re
from http import HTTPStatus
from urllib.parse import quote

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lanelab.driver.page.access import HEADERS, READING, Access, Role
from lanelab.driver.page.language import say, text
from lanelab.driver.page.refusal import Refusal, refusal_page
from lanelab.driver.page.screens import Reader, read_by
from lanelab.driver.site.fetch.packages import kept_packages_only

STATIC = "/static/"
OPEN = ("/enter", STATIC)  # what needs no cookie: there is nothing of any run in it
ROLE = "lanelab.role"  # of who asks, in the scope of a request
OUTSIDE = text("Open the link that the terminal shows, where lanelab serve runs.")
# What who watches may do besides: begin a lab, and predict. It is written into that student's folder alone.
PREDICTING = re.compile(r"/labs/[^/]+/(enrol|[^/]+/predict)")


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

        answer = self._answer(Request(scope))
        await answer(scope, receive, send_guarded)

    def _answer(self, request: Request) -> ASGIApp:
        """Return what answers: the application, a refusal, or the way to where who asks may be."""
        access, address, reads = self._access, str(request.scope["path"]), request.method in READING
        if words := self._words_against(request):
            return _refused(request, words)
        if address.startswith(STATIC):
            return self._app
        place, slash, rest = address[1:].partition("/")
        role, path = access.at(place) if slash else None, slash + rest
        if role is None:
            return _refused(request, say(OUTSIDE))
        if not path.startswith(OPEN) and not access.has_come_in(role, request.cookies.get(access.cookie)):
            return self._to_watch(request, path) if role is Role.RUN and reads else _refused(request, say(OUTSIDE))
        if not reads and role is not Role.RUN and not PREDICTING.fullmatch(path):
            return _refused(request, say("This link may watch, and change nothing."))
        return self._within(path, role, request.cookies.get(access.cookie) or "")

    def _words_against(self, request: Request) -> str:
        """Return why a request is none of this server's, whoever sends it; nothing for others."""
        hosts = request.headers.getlist("host")
        if len(hosts) != 1 or not self._access.is_ours(hosts[0]):
            return say("This is not the name of this server. Open the address that the terminal shows.")
        is_ours = request.method in READING or self._access.is_same_origin(request.headers)
        return "" if is_ours else say("Another page asked for this.")

    def _within(self, path: str, role: Role, session: str) -> ASGIApp:
        """Return the application, for which the place is the whole server."""

        async def answer(scope: Scope, receive: Receive, send: Send) -> None:
            inner = {**scope, "path": path, "raw_path": quote(path).encode(), ROLE: role}
            with read_by(Reader(path, begins=role is Role.RUN, session=session)), kept_packages_only():
                await self._app(inner, receive, send)

        return answer

    def _to_watch(self, request: Request, path: str) -> ASGIApp:
        """Send a browser that has come in to watch to the same page there: somebody who may run has sent the address of
        his own. Whoever has not come in is refused there."""
        query = f"?{request.url.query}" if request.url.query else ""
        up = "../" * path.count("/")
        return RedirectResponse(f"{up}{self._access.places[Role.WATCH]}{quote(path)}{query}", HTTPStatus.SEE_OTHER)


def role_of(request: Request) -> Role:
    """Return what who asks may do, of a request that the guard has let in."""
    role: Role = request.scope[ROLE]
    return role


def _refused(request: Request, words: str) -> ASGIApp:
    return refusal_page(request, Refusal(HTTPStatus.FORBIDDEN, say("Not here"), words))
