"""The addresses of the library, of runs and of their trials."""

from collections.abc import AsyncIterator
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.routing import Route

from lanelab.driver.page import comparison_view, run_view
from lanelab.driver.page.changes import EVERY_S, changes
from lanelab.driver.page.documents import message
from lanelab.driver.page.language import say
from lanelab.driver.page.library import Wanted, library
from lanelab.driver.page.now_view import Controls
from lanelab.driver.page.pages import Pages, may_run, reading, see, telling, whole_number
from lanelab.driver.page.refusal import Absent
from lanelab.driver.page.shelf import is_of_study
from lanelab.driver.page.trial_view import trial_page


def routes(pages: Pages) -> list[Route]:
    """Return the pages of what was measured."""

    async def show_library(request: Request) -> Response:
        wanted = Wanted.read(request.query_params)
        return await pages.page(lambda: library(pages.shelf.lines(), wanted, begins=may_run(request)))

    async def run(request: Request) -> Response:
        return await pages.page(lambda: _run(pages, request))

    async def report(request: Request) -> Response:
        return await pages.page(lambda: run_view.report_page(pages.run(request).data))

    async def trials(request: Request) -> Response:
        number = whole_number(request.query_params.get("page", "1"))
        return await pages.page(lambda: run_view.trials_page(pages.run(request).data, number))

    async def trial(request: Request) -> Response:
        against = request.query_params.get("against", "")
        return await pages.page(lambda: trial_page(pages.run(request), pages.trial(request), against))

    async def file(request: Request) -> Response:
        return await pages.beside(lambda: _file(pages, request))

    async def compare(request: Request) -> Response:
        return await pages.beside(lambda: _comparison(pages, request))

    async def news(request: Request) -> AsyncIterator[bytes]:
        path = (await pages.beside(pages.shelf.names)).get(request.path_params["run"])
        if path is None:
            raise Absent
        return changes(path, pages.moments)

    return [
        reading("/", show_library),
        reading("/compare/", compare),
        reading("/runs/{run}/", run),
        telling(pages, "/runs/{run}/changes", EVERY_S, news),
        reading("/runs/{run}/report/", report),
        reading("/runs/{run}/trials/", trials),
        reading("/runs/{run}/trials/{trial}/", trial),
        reading("/runs/{run}/trials/{trial}/files/{name}", file),
    ]


def _run(pages: Pages, request: Request) -> str:
    data = pages.run(request).data
    controls = Controls(pages.moments.now(data.folder), may_run(request), is_of_study(request.path_params["run"]))
    return run_view.run_page(data, controls)


def _file(pages: Pages, request: Request) -> Response:
    """Send a file to be kept. It is never shown here: what a server sent is not ours."""
    trial, name = pages.trial(request), request.path_params["name"]
    if name not in trial.files():
        raise Absent
    return FileResponse(trial.file(name), media_type="application/octet-stream", filename=name)


def _comparison(pages: Pages, request: Request) -> Response:
    """Show two cells. The address says which: one that names runs alone leads there."""
    names, cells = request.query_params.getlist("run"), request.query_params.getlist("cell")
    if len(names) != 2:
        words = say("Go back, and tick two runs.")
        return HTMLResponse(message(say("Two are compared"), words, path=request.url.path))
    sides = comparison_view.sides([(name, pages.named_run(name)) for name in names], cells)
    if sides is None:
        words = say("One of these runs has no cells yet.")
        return HTMLResponse(message(say("Nothing to compare"), words, path=request.url.path))
    numbers = [str(each.cell.number) for each in sides]
    if numbers != cells:
        pairs = zip(names, numbers, strict=True)
        fields = [field for name, number in pairs for field in (("run", name), ("cell", number))]
        return see(f"?{urlencode(fields)}")
    return HTMLResponse(comparison_view.comparison_page(*sides))
