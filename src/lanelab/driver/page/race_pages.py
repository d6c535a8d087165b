"""The addresses where a race is begun. Its run is one like any other: `lanelab run` makes it, and needs no server."""

import asyncio
import datetime
from functools import partial

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from lanelab.analysis.results.layout.markup import Html
from lanelab.analysis.results.report.atomic_files import write_whole
from lanelab.analysis.results.run_folder import has_writer
from lanelab.analysis.results.run_summary import is_run
from lanelab.driver.api.run_apart import begin_apart
from lanelab.driver.base.errors import InputError, LanelabError
from lanelab.driver.page import bench_numbers
from lanelab.driver.page.choices import Choice, another_run
from lanelab.driver.page.errors import error_words
from lanelab.driver.page.form import Form
from lanelab.driver.page.pages import Pages, may_run, posting, reading, see
from lanelab.driver.page.race_form import NAME, USUAL, form_page, race_file

LOOKS_EVERY_S = 0.2
FREE_WITHIN_S = 30.0  # for the bench to end its bed
FILES = ".experiments"  # beside the runs: what they were begun with


def routes(pages: Pages) -> list[Route]:
    """Return the form, and where it is sent."""

    def drawn(choice: Choice, request: Request, problem: Html | None = None) -> str:
        races = {name: run for name, run in pages.shelf.lines().items() if run.name == NAME and not run.problem}
        return form_page(choice, races, may_run=may_run(request), problem=problem)

    async def show(request: Request) -> Response:
        query = request.query_params
        choice = Choice.read({name: query.getlist(name) for name in query}, USUAL)
        return await pages.page(lambda: drawn(choice, request))

    async def begin(request: Request, form: Form) -> Response:
        choice = Choice.read(form.fields, USUAL)
        try:
            text = await pages.beside(lambda: race_file(choice))
            await _free(pages)
            name = await _begun(pages, text, accept_links=bool(form.some("accept")))
        except LanelabError as error:
            problem = error_words(error, may_run=may_run(request))
            return HTMLResponse(await pages.beside(lambda: drawn(choice, request, problem)), 422)
        return see(f"../runs/{name}/race/")

    return [reading("/race/", show), posting("/race/", begin)]


async def _free(pages: Pages) -> None:
    """Let the bench give up its bed. Raises InputError where something else is measured: both would be disturbed."""
    await pages.free_bed()
    until = asyncio.get_running_loop().time() + FREE_WITHIN_S
    while busy := await pages.beside(lambda: _measuring(pages)):
        if asyncio.get_running_loop().time() > until or not busy.endswith(f"-{bench_numbers.NAME}"):
            raise another_run(busy)
        await asyncio.sleep(LOOKS_EVERY_S)


def _measuring(pages: Pages) -> str:
    """Return the name of a run that is being made; "" where there is none."""
    return next((name for name, folder in pages.shelf.names().items() if has_writer(folder)), "")


async def _begun(pages: Pages, text: str, *, accept_links: bool) -> str:
    """Begin a run of this experiment, and return its name when it is there."""
    runs = pages.shelf.folder
    file = runs / FILES / f"{datetime.datetime.now(datetime.UTC):%Y%m%dT%H%M%S.%fZ}-{NAME}.yaml"
    await pages.beside(lambda: write_whole(file, text.encode()))
    start = partial(begin_apart, file, runs, pages.allowed, accept_links=accept_links)
    try:
        apart = await pages.beside(lambda: pages.begin(start))
    except LanelabError:
        await pages.beside(file.unlink)  # no run was begun with it
        raise
    name = apart.folder.name
    while not is_run(apart.folder):
        if apart.status is not None:
            raise InputError("the run did not begin", apart.words().strip())
        await asyncio.sleep(LOOKS_EVERY_S)
    return name
