"""What every group of addresses shares: the runs, who may do what, and the threads that draw.

A group is a module with `routes(pages)`: a `reading` for each page, a `telling` for its news, a `posting` for each
thing that is done. It has its line in app.py. An address is relative, ends where a folder would, and can be sent to a
colleague.
"""

import asyncio
import contextvars
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import TypeAlias, TypeVar
from weakref import WeakValueDictionary

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from lanelab.driver.api.opened_run import Run
from lanelab.driver.api.run_apart import Apart
from lanelab.driver.api.trial import Trial
from lanelab.driver.page.access import Access, Role
from lanelab.driver.page.bench import Bench
from lanelab.driver.page.form import Form, read_form
from lanelab.driver.page.guard import role_of
from lanelab.driver.page.moments import Moments
from lanelab.driver.page.news import stream
from lanelab.driver.page.priority import Aside, drawers, ordinary
from lanelab.driver.page.refusal import Absent
from lanelab.driver.page.screens import session_of_reader
from lanelab.driver.page.shelf import Shelf

T = TypeVar("T")
View: TypeAlias = Callable[[Request], Awaitable[Response]]
Deed: TypeAlias = Callable[[Request, Form], Awaitable[Response]]
Source: TypeAlias = Callable[[Request], Awaitable[AsyncIterator[bytes]]]
LONGEST_NUMBER = 9  # digits of a trial
AT_ONCE = 2  # that one browser may have drawn
FREE_WITHIN_S, LOOKS_EVERY_S = 30.0, 0.1  # for the bench to end its bed


@dataclass(slots=True)
class Pages:
    """The pages of a folder with runs."""

    shelf: Shelf
    access: Access
    allowed: frozenset[str] = frozenset()  # of what runs code of an experiment's author: who owns the server says so
    ending: bool = False
    bench: Bench = field(default_factory=Bench)
    moments: Moments = field(init=False)
    begun: dict[str, Apart] = field(default_factory=dict)  # the runs that were begun from here, by the name of each
    _turns: WeakValueDictionary[str, asyncio.Semaphore] = field(default_factory=WeakValueDictionary)
    _drawers: Executor = field(default_factory=drawers)
    _aside: Aside = field(default_factory=Aside)
    _ordinary: Executor = field(default_factory=ordinary)

    def __post_init__(self) -> None:
        self.moments = Moments(self.shelf.folder)

    async def page(self, show: Callable[[], str]) -> Response:
        """Draw a page."""
        return HTMLResponse(await self.beside(show))

    async def beside(self, do: Callable[[], T]) -> T:
        """Do something beside the server's own work, and after everybody else's: a large run takes a while. A browser
        that asks for much waits for itself, and others have their turns in between."""
        in_language = contextvars.copy_context().run

        def do_aside() -> T:
            self._aside.step()
            return do()

        turns = self._turns.setdefault(session_of_reader(), asyncio.Semaphore(AT_ONCE))
        async with turns:
            return await asyncio.get_running_loop().run_in_executor(self._drawers, in_language, do_aside)

    async def free_bed(self) -> None:
        """Let the bench give up its bed, and wait until it has. After a while whoever needs one says what is there."""
        self.bench.close()
        until = asyncio.get_running_loop().time() + FREE_WITHIN_S
        while self.bench.is_ending and asyncio.get_running_loop().time() < until:
            await asyncio.sleep(LOOKS_EVERY_S)

    def begin(self, start: Callable[[], Apart]) -> Apart:
        """Begin a run, and note it. It takes a while: call it `beside`. What is begun may not yield to others as we do,
        so another thread begins it."""
        apart = self._ordinary.submit(start).result()
        self.begun[apart.folder.name] = apart
        return apart

    def run(self, request: Request) -> Run:
        """Return the run that the address names. It takes a while: call it `beside`."""
        return self.named_run(request.path_params["run"])

    def named_run(self, name: str) -> Run:
        """Return the run of this name."""
        run = self.shelf.run(name)
        if run is None:
            raise Absent
        return run

    def trial(self, request: Request) -> Trial:
        """Return the trial that the address names."""
        run, number = self.run(request), whole_number(request.path_params["trial"])
        if not any(trial.number == number for trial in run.data.trials):
            raise Absent
        return run.trial(number)


def reading(path: str, view: View) -> Route:
    """Return the address of a page. Nothing changes by asking for it."""
    return Route(path, view, methods=["GET"])


def telling(pages: Pages, path: str, every_s: float, source: Source) -> Route:
    """Return the address of news, for which it looks so often. They have no end while the server goes on, so there is
    nothing for who asks for their head alone."""

    async def answer(request: Request) -> Response:
        if request.method != "GET":
            raise Absent
        news = stream(await source(request), every_s, lambda: pages.ending)
        return StreamingResponse(news, media_type="text/event-stream")

    return reading(path, answer)


def posting(path: str, deed: Deed) -> Route:
    """Return the address of what changes something: the guard lets only forms of our pages here, by who may run."""

    async def posted(request: Request) -> Response:
        return await deed(request, await read_form(request))

    return Route(path, posted, methods=["POST"])


def leading_back(path: str) -> Route:
    """Return the address of a deed, for who opens it: the page that has its form is beside it."""

    async def back(_request: Request) -> Response:
        return see("./")

    return reading(path, back)


def see(path: str) -> Response:
    """Send the browser to a page after a deed, so that to load it again does nothing twice. path: relative."""
    return RedirectResponse(path, 303)


def whole_number(text: str) -> int:
    """Return a number in an address; 0, which nothing has, for any other text."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= LONGEST_NUMBER else 0


def may_run(request: Request) -> bool:
    """Return whether who asks may change something: others are shown no buttons."""
    return role_of(request) is Role.RUN
