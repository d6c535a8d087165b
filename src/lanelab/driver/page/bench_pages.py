"""The addresses of the link bench."""

import asyncio
import datetime
from collections.abc import AsyncIterator

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from lanelab.analysis.results.layout.markup import Html
from lanelab.driver.api.run_apart import require_free, require_room
from lanelab.driver.base.errors import LanelabError
from lanelab.driver.page.bench import Bench
from lanelab.driver.page.bench_numbers import NAME, Results
from lanelab.driver.page.bench_view import Setup, bench_page
from lanelab.driver.page.choices import another_run, checked
from lanelab.driver.page.errors import error_words
from lanelab.driver.page.form import Form
from lanelab.driver.page.news import WATCHING, event
from lanelab.driver.page.pages import Pages, may_run, posting, reading, see, telling

EVERY_S = 0.3


def routes(pages: Pages) -> list[Route]:
    """Return the page with the dials, the button that measures, and news of it."""
    bench, results = pages.bench, Results(pages.shelf)

    def drawn(setup: Setup, request: Request, problem: Html | None = None) -> str:
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
            problem = error_words(error, may_run=may_run(request))
            return HTMLResponse(await pages.beside(lambda: drawn(setup, request, problem)), 422)
        return see(f"./?{setup.query}")

    async def news(_request: Request) -> AsyncIterator[bytes]:
        return _news(bench)

    return [
        reading("/bench/", show),
        posting("/bench/", measure),
        telling(pages, "/bench/changes", EVERY_S, news),
    ]


def _begin(pages: Pages, bench: Bench, setup: Setup) -> None:
    """Let the bench measure. Raises InputError where it cannot be, StoreError while something else is measured."""
    text, _here = setup.text(), setup.here
    checked(text)
    _require_quiet(pages)
    require_room(pages.shelf.folder)
    if not bench.has_bed:
        require_free()  # also of a run that has no folder yet, or one elsewhere
    bench.measure(text, pages.shelf.folder / _folder_name(), setup.more, accept_links=setup.accept)


def _require_quiet(pages: Pages) -> None:
    """Raise InputError where another run goes on: two beds at once would measure each other."""
    for name, run in pages.shelf.lines().items():
        if run.state == "running" and run.name != NAME:
            raise another_run(name)


def _folder_name() -> str:
    return f"{datetime.datetime.now(datetime.UTC):%Y%m%dT%H%M%S.%fZ}-{NAME}"


async def _news(bench: Bench) -> AsyncIterator[bytes]:
    """Yield what the bench is at, as text, and an event when something was measured. Nothing is drawn for it."""
    seen, measured = bench.changed, bench.measured
    yield WATCHING
    while True:
        message = b""
        if bench.changed != seen:
            seen = bench.changed
            message = event("state", str(bench.at))
        if bench.measured != measured:
            measured = bench.measured
            message += event("changed", "bench")
        yield message
