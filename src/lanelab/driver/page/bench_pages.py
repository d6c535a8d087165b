"""The addresses of the link bench."""

import asyncio
import datetime
from collections.abc import AsyncIterator, Callable

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response, StreamingResponse
from starlette.routing import Route

from lanelab.driver.api.run_apart import require_free
from lanelab.driver.base.errors import InputError, LanelabError
from lanelab.driver.page.bench import Bench
from lanelab.driver.page.bench_numbers import NAME, Results
from lanelab.driver.page.bench_view import Setup, bench_page
from lanelab.driver.page.choices import checked
from lanelab.driver.page.form import Form
from lanelab.driver.page.pages import Pages, may_run, posting, reading, see

EVERY_S, ALIVE_EVERY_S = 0.3, 15.0


def routes(pages: Pages) -> list[Route]:
    """Return the page with the dials, the button that measures, and news of it."""
    bench, results = pages.bench, Results(pages.shelf)

    def drawn(setup: Setup, request: Request, problem: str = "") -> str:
        return bench_page(setup, bench, pages.shelf, results, may_run=may_run(request), problem=problem)

    async def show(request: Request) -> Response:
        query = request.query_params
        setup = Setup.read({name: query.getlist(name) for name in query})
        await pages.moments.wait()  # its page is not kept for others: it says what the bench is at
        return await pages.page(lambda: drawn(setup, request))

    async def measure(request: Request, form: Form) -> Response:
        setup = Setup.read(form.fields)
        try:
            # Not beside: a process that such a thread begins would yield to all others, too.
            await asyncio.to_thread(_begin, pages, bench, setup)
        except LanelabError as error:
            problem = str(error)
            return HTMLResponse(await pages.beside(lambda: drawn(setup, request, problem)), 422)
        return see(f"./?{setup.query}")

    async def news(_request: Request) -> Response:
        return StreamingResponse(bench_news(bench, lambda: pages.ending), media_type="text/event-stream")

    return [reading("/bench/", show), posting("/bench/", measure), reading("/bench/changes", news)]


def _begin(pages: Pages, bench: Bench, setup: Setup) -> None:
    """Let the bench measure. Raises InputError where it cannot be, StoreError while something else is measured."""
    text, _here = setup.text(), setup.here
    checked(text)
    _require_quiet(pages)
    if not bench.has_bed:
        require_free()  # also of a run that has no folder yet, or one elsewhere
    bench.measure(text, pages.shelf.folder / _folder_name(), setup.more, accept_links=setup.accept)


def _require_quiet(pages: Pages) -> None:
    """Raise InputError where another run goes on: two beds at once would measure each other."""
    for name, run in pages.shelf.lines().items():
        if run.state == "running" and run.name != NAME:
            remedy = "Wait until it has ended, or stop it: two would disturb each other"
            raise InputError(f"the run {name} goes on", remedy)


def _folder_name() -> str:
    return f"{datetime.datetime.now(datetime.UTC):%Y%m%dT%H%M%S.%fZ}-{NAME}"


async def bench_news(bench: Bench, is_ending: Callable[[], bool]) -> AsyncIterator[bytes]:
    """Yield what the bench is at, as text, and an event when something was measured. Nothing is drawn for it."""
    seen, measured, silent_s = bench.changed, bench.measured, 0.0
    yield b": watching\n\n"
    while not is_ending():
        await asyncio.sleep(EVERY_S)
        silent_s += EVERY_S
        if bench.changed != seen:
            seen, silent_s = bench.changed, 0.0
            yield f"event: state\ndata: {' '.join(str(bench.at).split())}\n\n".encode()
        if bench.measured != measured:
            measured = bench.measured
            yield b"event: changed\ndata: bench\n\n"
        if silent_s >= ALIVE_EVERY_S:
            silent_s = 0.0
            yield b": still here\n\n"
