"""The addresses of the library, of runs and of their trials."""

from starlette.requests import Request
from starlette.responses import FileResponse, Response, StreamingResponse
from starlette.routing import Route

from lanelab.driver.page import comparison_view, run_view
from lanelab.driver.page.changes import changes
from lanelab.driver.page.documents import message
from lanelab.driver.page.language import say
from lanelab.driver.page.library import Wanted, library
from lanelab.driver.page.pages import Pages, reading, whole_number
from lanelab.driver.page.refusal import Absent
from lanelab.driver.page.trial_view import trial_page


def routes(pages: Pages) -> list[Route]:
    """Return the pages of what was measured."""

    async def show_library(request: Request) -> Response:
        wanted = Wanted.read(request.query_params)
        return await pages.page(lambda: library(pages.shelf.lines(), wanted))

    async def run(request: Request) -> Response:
        return await pages.page(lambda: run_view.run_page(pages.run(request).data))

    async def report(request: Request) -> Response:
        return await pages.page(lambda: run_view.report_page(pages.run(request).data))

    async def trials(request: Request) -> Response:
        number = whole_number(request.query_params.get("page", "1"))
        return await pages.page(lambda: run_view.trials_page(pages.run(request).data, number))

    async def trial(request: Request) -> Response:
        return await pages.page(lambda: trial_page(pages.run(request), pages.trial(request)))

    async def file(request: Request) -> Response:
        return await pages.beside(lambda: _file(pages, request))

    async def compare(request: Request) -> Response:
        return await pages.page(lambda: _comparison(pages, request))

    async def news(request: Request) -> Response:
        path = (await pages.beside(pages.shelf.names)).get(request.path_params["run"])
        if path is None or request.method != "GET":
            raise Absent
        return StreamingResponse(changes(path, lambda: pages.ending), media_type="text/event-stream")

    return [
        reading("/", show_library),
        reading("/compare/", compare),
        reading("/runs/{run}/", run),
        reading("/runs/{run}/changes", news),
        reading("/runs/{run}/report/", report),
        reading("/runs/{run}/trials/", trials),
        reading("/runs/{run}/trials/{trial}/", trial),
        reading("/runs/{run}/trials/{trial}/files/{name}", file),
    ]


def _file(pages: Pages, request: Request) -> Response:
    """Send a file to be kept. It is never shown here: what a server sent is not ours."""
    trial, name = pages.trial(request), request.path_params["name"]
    if name not in trial.files():
        raise Absent
    return FileResponse(trial.file(name), media_type="application/octet-stream", filename=name)


def _comparison(pages: Pages, request: Request) -> str:
    names, cells = request.query_params.getlist("run"), request.query_params.getlist("cell")
    if len(names) != 2:
        return message(say("Two are compared"), say("Go back, and tick two runs."), path=request.url.path)
    sides = [
        comparison_view.side(name, pages.named_run(name), cell)
        for name, cell in zip(names, [*cells, "", ""], strict=False)
    ]
    if sides[0] is None or sides[1] is None:
        return message(say("Nothing to compare"), say("One of these runs has no cells yet."), path=request.url.path)
    return comparison_view.comparison_page(sides[0], sides[1])
