"""All of it at addresses. An address is relative, ends where a folder would, and can be sent to a colleague."""

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import TypeAlias, TypeVar

from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lanelab.driver.api.opened_run import Run
from lanelab.driver.api.trial import Trial
from lanelab.driver.base.errors import LanelabError
from lanelab.driver.page import comparison_view, run_view
from lanelab.driver.page.access import HEADERS, READING, Access, Role
from lanelab.driver.page.changes import changes
from lanelab.driver.page.documents import message, static_files
from lanelab.driver.page.library import Wanted, library
from lanelab.driver.page.priority import drawers
from lanelab.driver.page.race_view import race_page
from lanelab.driver.page.shelf import Shelf
from lanelab.driver.page.trial_view import trial_page

T = TypeVar("T")
View: TypeAlias = Callable[[Request], Awaitable[Response]]
OPEN = ("/enter", "/static/")  # what needs no cookie: there is nothing of any run in it
LONGEST_NUMBER = 9  # digits of a trial
NOTHING = "There is no such page. It may have been a run that was moved or removed."


class Absent(Exception):
    """Nothing is at this address."""


@dataclass(slots=True)
class Pages:
    """The pages of a folder with runs."""

    shelf: Shelf
    access: Access
    ending: bool = False
    _drawers: Executor = field(default_factory=drawers)

    def app(self) -> ASGIApp:
        """Return the application, behind its guard."""
        views: list[tuple[str, View]] = [
            ("/enter", self.enter),
            ("/static/{name}", self.static),
            ("/", self.library),
            ("/compare/", self.compare),
            ("/runs/{run}/", self.run),
            ("/runs/{run}/changes", self.changes),
            ("/runs/{run}/report/", self.report),
            ("/runs/{run}/race/", self.race),
            ("/runs/{run}/trials/", self.trials),
            ("/runs/{run}/trials/{trial}/", self.trial),
            ("/runs/{run}/trials/{trial}/files/{name}", self.file),
        ]
        routes = [Route(path, _caught(view), methods=["GET"]) for path, view in views]
        return Guard(Starlette(routes=routes, exception_handlers={404: _not_there}), self.access)

    async def enter(self, request: Request) -> Response:
        """Let in who has a link. Our page then asks for the next one: where a link in somebody's mail is followed, the
        cookie does not come along."""
        token = request.query_params.get("token", "") if request.method == "GET" else ""
        session = self.access.enter(token)
        if session is None:
            words = (
                "This link has been used, or the server was started again. The terminal where it runs has a new one."
            )
            return HTMLResponse(message("This link holds no more", words), 403)
        response = HTMLResponse(message("Welcome", "The runs are on the next page."), headers={"Refresh": "0; url=./"})
        secure = self.access.scheme == "https"
        response.set_cookie(self.access.cookie, session, httponly=True, samesite="strict", secure=secure)
        return response

    async def static(self, request: Request) -> Response:
        files = static_files()
        name = request.path_params["name"]
        if name not in files:
            raise Absent
        kind, text = files[name]
        return Response(text, media_type=kind)

    async def library(self, request: Request) -> Response:
        wanted = Wanted.read(request.query_params)
        return await self._page(lambda: library(self.shelf.lines(), wanted))

    async def run(self, request: Request) -> Response:
        name = request.path_params["run"]
        return await self._page(lambda: run_view.run_page(self._run(name).data))

    async def report(self, request: Request) -> Response:
        return await self._page(lambda: run_view.report_page(self._run(request.path_params["run"]).data))

    async def race(self, request: Request) -> Response:
        cells, number = request.query_params.getlist("cell"), request.query_params.get("round", "")
        return await self._page(lambda: race_page(self._run(request.path_params["run"]).data, cells, number))

    async def trials(self, request: Request) -> Response:
        page = request.query_params.get("page", "1")
        number = int(page) if page.isdecimal() and len(page) <= LONGEST_NUMBER else 1
        return await self._page(lambda: run_view.trials_page(self._run(request.path_params["run"]).data, number))

    async def trial(self, request: Request) -> Response:
        def show() -> str:
            run = self._run(request.path_params["run"])
            return trial_page(run, _trial(run, request.path_params["trial"]))

        return await self._page(show)

    async def file(self, request: Request) -> Response:
        """Send a file to be kept. It is never shown here: what a server sent is not ours."""

        def find() -> Response:
            trial = _trial(self._run(request.path_params["run"]), request.path_params["trial"])
            name = request.path_params["name"]
            if name not in trial.files():
                raise Absent
            path = trial.file(name)
            return FileResponse(path, media_type="application/octet-stream", filename=name)

        return await self._beside(find)

    async def compare(self, request: Request) -> Response:
        names, cells = request.query_params.getlist("run"), request.query_params.getlist("cell")

        def show() -> str:
            if len(names) != 2:
                return message("Two are compared", "Go back, and tick two runs.", path=request.url.path)
            sides = [
                comparison_view.side(name, self._run(name), cell)
                for name, cell in zip(names, [*cells, "", ""], strict=False)
            ]
            if sides[0] is None or sides[1] is None:
                return message("Nothing to compare", "One of these runs has no cells yet.", path=request.url.path)
            return comparison_view.comparison_page(sides[0], sides[1])

        return await self._page(show)

    async def changes(self, request: Request) -> Response:
        path = (await self._beside(self.shelf.names)).get(request.path_params["run"])
        if path is None or request.method != "GET":
            raise Absent
        return StreamingResponse(changes(path, lambda: self.ending), media_type="text/event-stream")

    async def _page(self, show: Callable[[], str]) -> Response:
        return HTMLResponse(await self._beside(show))

    async def _beside(self, do: Callable[[], T]) -> T:
        """Do something beside the server's own work, and after everybody else's: a large run takes a while."""
        return await asyncio.get_running_loop().run_in_executor(self._drawers, do)

    def _run(self, name: str) -> Run:
        run = self.shelf.run(name)
        if run is None:
            raise Absent
        return run


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

        refusal = self._refusal(Request(scope))
        await (refusal or self._app)(scope, receive, send_guarded)

    def _refusal(self, request: Request) -> Response | None:
        headers = request.headers
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not self._access.is_ours(hosts[0]):
            return _refused(request, "This is not the name of this server. Open the address that the terminal shows.")
        reads = request.method in READING
        if not reads and not self._access.is_same_origin(headers):
            return _refused(request, "Another page asked for this.")
        if request.url.path.startswith(OPEN):
            return None
        role = self._access.role(request.cookies.get(self._access.cookie))
        if role is None:
            return _refused(request, "Open the link that the terminal shows, where lanelab serve runs.")
        if not reads and role is not Role.RUN:
            return _refused(request, "This link may watch, and change nothing.")
        return None


def _refused(request: Request, words: str) -> Response:
    return HTMLResponse(message("Not here", words, path=request.url.path), 403)


def _trial(run: Run, text: str) -> Trial:
    number = int(text) if text.isdecimal() and len(text) <= LONGEST_NUMBER else 0
    if not any(trial.number == number for trial in run.data.trials):
        raise Absent
    return run.trial(number)


def _caught(view: View) -> View:
    """Say what is not there, and what cannot be read, on a page."""

    async def caught(request: Request) -> Response:
        try:
            return await view(request)
        except Absent:
            return await _not_there(request, None)
        except LanelabError as error:
            return HTMLResponse(message("This cannot be shown", str(error), path=request.url.path), 500)

    return caught


async def _not_there(request: Request, _error: object) -> Response:
    return HTMLResponse(message("Nothing here", NOTHING, path=request.url.path), 404)
