"""What is done to runs from the page: they are begun, stopped, and gone on with. The server is the owner of none: each
is a process of its own, and is stopped as its terminal would stop it."""

import time
from http import HTTPStatus
from pathlib import Path
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from lanelab.analysis.results.layout.markup import Html
from lanelab.analysis.results.model import Run
from lanelab.driver.api.plans import plan
from lanelab.driver.api.run_apart import begin_apart, interrupt_writer, resume_apart
from lanelab.driver.api.studies import MOST_TRIALS
from lanelab.driver.base.errors import InputError, LanelabError
from lanelab.driver.base.settings.kinds import LARGEST_SEED
from lanelab.driver.page.begin_view import SEED, TRIALS, Wish, begin_page, waiting_page
from lanelab.driver.page.choices import as_whole
from lanelab.driver.page.documents import message
from lanelab.driver.page.errors import error_words
from lanelab.driver.page.experiments import description_of, experiments
from lanelab.driver.page.form import Form
from lanelab.driver.page.language import say, text
from lanelab.driver.page.now_view import AFTER_THIS_TRIAL, AT_ONCE, why_not
from lanelab.driver.page.pages import Pages, leading_back, may_run, posting, reading, see
from lanelab.driver.page.refusal import Absent, Refusal
from lanelab.driver.page.shelf import is_of_study

ANOTHER_AFTER_S = 5.0  # a second press of the button within it is the same wish
DONE = (0, 3)  # how a run ends that came to its end
NOT_RESUMED = text("It does not go on")


def routes(pages: Pages) -> list[Route]:
    """Return the addresses of what is done."""
    stops: dict[Path, float] = {}  # runs that were asked to stop from here, and when

    async def show(request: Request) -> Response:
        if not may_run(request):
            raise Refusal(HTTPStatus.FORBIDDEN, say("Not here"), say("This link may watch, and change nothing."))
        name = request.query_params.get("experiment", "")
        return await pages.page(lambda: begin_page(*_planned(pages, name)))

    async def begin(_request: Request, form: Form) -> Response:
        await pages.free_bed()
        return await pages.beside(lambda: _begin(pages, form))

    async def begun(request: Request) -> Response:
        name, runs = request.path_params["name"], may_run(request)
        return await pages.beside(lambda: _begun(pages, name, may_run=runs))

    async def resume(request: Request, _form: Form) -> Response:
        run = await pages.beside(lambda: _run_to_resume(pages, request))
        await pages.free_bed()
        return await pages.beside(lambda: _resume(pages, run))

    async def stop(request: Request, form: Form) -> Response:
        return await pages.beside(lambda: _stop(pages, request, form.one("how"), stops))

    return [
        reading("/begin/", show),
        posting("/begin/", begin),
        reading("/begun/{name}/", begun),
        posting("/runs/{run}/resume", resume),
        leading_back("/runs/{run}/resume"),
        posting("/runs/{run}/stop", stop),
        leading_back("/runs/{run}/stop"),
    ]


def _planned(pages: Pages, name: str, problem: Html | None = None, **typed: str) -> tuple[dict[str, str], Wish]:
    """Return the descriptions of all experiments, and what one of them would do."""
    files = experiments(pages.shelf.folder, Path.cwd())
    descriptions = {each: description_of(file) for each, file in files.items()}
    if not name:
        return descriptions, Wish()
    if name not in files:
        raise Absent
    try:
        return descriptions, Wish(name, typed, plan(files[name]), problem)
    except LanelabError as error:
        return descriptions, Wish(name, typed, None, problem or error_words(error, may_run=True))


def _begin(pages: Pages, form: Form) -> Response:
    name, typed = form.one("experiment"), {each: form.one(each).strip() for each in ("trials", "seed")}
    files = experiments(pages.shelf.folder, Path.cwd())
    if name not in files:
        raise Absent
    try:
        trials = _whole(typed["trials"], say(TRIALS), 1, MOST_TRIALS)
        seed = _whole(typed["seed"], say(SEED), 0, LARGEST_SEED)
        runs, allowed = pages.shelf.folder, pages.allowed
        apart = pages.begin(lambda: begin_apart(files[name], runs, allowed, trials=trials, seed=seed))
    except LanelabError as error:
        page = begin_page(*_planned(pages, name, error_words(error, may_run=True), **typed))
        return HTMLResponse(page, _status(error))
    return see(f"../begun/{quote(apart.folder.name)}/")


def _whole(text: str, name: str, least: int, most: int) -> int | None:
    return as_whole(text, name, least, most) if text else None


def _status(error: LanelabError) -> int:
    return HTTPStatus.BAD_REQUEST if isinstance(error, InputError) else HTTPStatus.CONFLICT


def _begun(pages: Pages, name: str, *, may_run: bool) -> Response:
    """Show a run that was begun here until it is there: then it has its page."""
    apart = pages.begun.get(name)
    if apart is None:
        raise Absent
    address = next((each for each, path in pages.shelf.names().items() if path == apart.folder), "")
    is_there = pages.moments.goes_on(apart.folder) if apart.status is None else apart.status in DONE
    if address and is_there:
        return see(f"../../runs/{quote(address)}/")
    refresh = {"Refresh": "1"} if apart.status is None else {}
    return HTMLResponse(waiting_page(name, apart, may_run=may_run), headers=refresh)


def _run_to_resume(pages: Pages, request: Request) -> Run:
    """Return the run that the address names. One that has no button does not go on for a form without one, either."""
    run = pages.run(request).data
    if words := why_not(run, of_study=is_of_study(request.path_params["run"])):
        raise Refusal(HTTPStatus.CONFLICT, say(NOT_RESUMED), words)
    return run


def _resume(pages: Pages, run: Run) -> Response:
    try:
        pages.begin(lambda: resume_apart(run.folder, run.meta, pages.allowed))
    except LanelabError as error:
        raise Refusal(_status(error), say(NOT_RESUMED), error_words(error, may_run=True)) from error
    return see(f"../../begun/{quote(run.folder.name)}/")


def _stop(pages: Pages, request: Request, how: str, stops: dict[Path, float]) -> Response:
    """Ask a run to stop, once. What stops it at once is a second wish, and not the same one again."""
    folder = pages.run(request).data.folder
    is_stopping = pages.moments.now(folder).is_stopping or time.monotonic() - stops.get(folder, -1e9) < ANOTHER_AFTER_S
    if how not in (AFTER_THIS_TRIAL, AT_ONCE):
        raise Refusal(HTTPStatus.BAD_REQUEST, say("It does not stop"), say("Nobody stops a run like that."))
    if how == AT_ONCE or not is_stopping:
        try:
            interrupt_writer(folder)
        except LanelabError as error:
            raise Refusal(_status(error), say("It does not stop"), error_words(error, may_run=True)) from error
        stops[folder] = time.monotonic()
    at_once = how == AT_ONCE and is_stopping
    words = say("It stops at once.") if at_once else say("What is under way is finished first.")
    page = message(say("The run was asked to stop"), words, path=request.url.path)
    return HTMLResponse(page, headers={"Refresh": "2; url=./"})
