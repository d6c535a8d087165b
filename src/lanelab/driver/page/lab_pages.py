"""The addresses of labs. Who watches may predict, and nothing else: guard.py says where."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from lanelab.analysis.results.run_folder import changed_ns, has_writer
from lanelab.driver.api.labs import LabLine, labs
from lanelab.driver.api.run_apart import begin_apart, require_free, require_room
from lanelab.driver.base.errors import InputError, LanelabError, StoreError
from lanelab.driver.lab.answers import read_answer
from lanelab.driver.lab.class_sheet import collect, csv_of
from lanelab.driver.lab.description import Lab, lab_names, read_lab
from lanelab.driver.lab.folder import RUN, fix
from lanelab.driver.lab.judging import CheckedLab, check_lab
from lanelab.driver.lab.sheet import SHEET
from lanelab.driver.lab.take_home import take_home
from lanelab.driver.lab.text import LabText, read_text
from lanelab.driver.page import class_view, lab_view
from lanelab.driver.page.classroom import Classroom, Student, run_name
from lanelab.driver.page.crowd import network_of
from lanelab.driver.page.enrolments import Browser, Enrolments
from lanelab.driver.page.errors import NOT_SHOWN, TELL_TEACHER, error_words, not_begun, refusing, waits_for
from lanelab.driver.page.form import Form
from lanelab.driver.page.lab_queue import Begun, LabQueue, Wish
from lanelab.driver.page.lab_view import Attempt, RunState
from lanelab.driver.page.language import say, tag, text
from lanelab.driver.page.moments import Moments
from lanelab.driver.page.news import CHANGED, WATCHING
from lanelab.driver.page.pages import Pages, leading_back, may_run, posting, reading, see, telling
from lanelab.driver.page.refusal import Absent, Refusal

Signature = tuple[object, ...]
LOOKS_EVERY_S = 1.0
NOT_FOR_ALL = text("What everybody predicted is for who may run.")


def routes(pages: Pages) -> list[Route]:
    """Return the pages of labs, and what is done on them."""
    rooms = LabRooms(pages)

    async def all_labs(_request: Request) -> Response:
        return await pages.page(lambda: lab_view.labs_page(_lines(tag())))

    return [
        reading("/labs/", all_labs),
        reading("/labs/{lab}/", rooms.lab),
        telling(pages, "/labs/{lab}/changes", LOOKS_EVERY_S, rooms.news),
        reading("/labs/{lab}/class/", rooms.of_class),
        reading("/labs/{lab}/class/class.csv", rooms.table),
        posting("/labs/{lab}/enrol", rooms.enrol),
        leading_back("/labs/{lab}/enrol"),
        posting("/labs/{lab}/remove", rooms.remove),
        leading_back("/labs/{lab}/remove"),
        posting("/labs/{lab}/begin", rooms.begin),
        leading_back("/labs/{lab}/begin"),
        reading("/labs/{lab}/{student}/", rooms.student),
        telling(pages, "/labs/{lab}/{student}/changes", LOOKS_EVERY_S, rooms.news),
        reading("/labs/{lab}/{student}/take-home", rooms.take_home),
        posting("/labs/{lab}/{student}/predict", rooms.predict),
        leading_back("/labs/{lab}/{student}/predict"),
        posting("/labs/{lab}/{student}/begin", rooms.begin),
        leading_back("/labs/{lab}/{student}/begin"),
    ]


class LabRooms:
    """The labs beside the runs of these pages."""

    def __init__(self, pages: Pages) -> None:
        self.pages, self.classroom = pages, Classroom(pages.shelf.folder)
        self.queue = LabQueue(self.classroom, self._begin, self._require_free)
        self.enrolments = Enrolments()
        self._going: asyncio.Task[None] | None = None
        self._seen: dict[str, tuple[float, Signature]] = {}  # by lab: when it was looked at, and what there was

    # --- to read

    async def lab(self, request: Request) -> Response:
        runs = may_run(request)

        def show() -> str:
            lab, content = _lab_of(request)
            if not runs:
                return lab_view.lab_page(content, None)
            students = self.classroom.students(lab.name)
            return lab_view.lab_page(content, (students, self._state(Wish(lab.name, ""), None, runs=True)))

        return await self.pages.page(show)

    async def student(self, request: Request) -> Response:
        runs = may_run(request)
        return await self.pages.page(
            refusing(lambda: self._student_page(request, runs=runs), may_run=runs, title=NOT_SHOWN)
        )

    async def take_home(self, request: Request) -> Response:
        """Send the page as a file: it is not shown here, where its own style and script may not be."""

        def make() -> Response:
            lab, content = _lab_of(request)
            student = self._student(request, lab)
            run = self.pages.shelf.run(run_name(student))
            checked = check_lab(student.folder, run.data if run else None)
            name = f'attachment; filename="{lab.name}.html"'
            return HTMLResponse(take_home(checked, content, say), headers={"Content-Disposition": name})

        return await self.pages.beside(refusing(make, may_run=may_run(request), title=NOT_SHOWN))

    async def of_class(self, request: Request) -> Response:
        _require_run(request)
        shows = "show" in request.query_params

        def show() -> str:
            lab, content = _lab_of(request)
            students = self.classroom.students(lab.name)
            lacking = [one.name for one in students if not one.sheet]
            if lacking and not shows:
                return class_view.hidden_class_page(content, lacking)
            return class_view.class_page(content, collect([one.folder.path for one in students]))

        return await self.pages.page(show)

    async def table(self, request: Request) -> Response:
        _require_run(request)

        def make() -> Response:
            lab, _ = _lab_of(request)
            sheet = collect([one.folder.path for one in self.classroom.students(lab.name)])
            name = f'attachment; filename="{lab.name}.csv"'
            headers = {"Content-Disposition": name}
            return Response(csv_of(sheet).encode("utf-8-sig"), media_type="text/csv", headers=headers)

        return await self.pages.beside(make)

    async def news(self, request: Request) -> AsyncIterator[bytes]:
        name = request.path_params["lab"]
        if name not in lab_names():
            raise Absent
        return _news(lambda: self._looked(name), self.pages.moments)

    # --- to do

    async def enrol(self, request: Request, form: Form) -> Response:
        lab, content = await self.pages.beside(lambda: _lab_of(request))
        name, runs = form.one("name"), may_run(request)
        browser = None if runs else self._browser(request)

        def do() -> str:
            if browser is None:
                return self.classroom.enrol(lab.name, name, content.language)
            with self.enrolments.of(lab.name, browser, self.classroom.keys(lab.name)) as keys:
                keys.append(self.classroom.enrol(lab.name, name, content.language))
            return keys[0]

        return see(f"{quote(await self.pages.beside(refusing(do, may_run=runs)))}/")

    async def remove(self, request: Request, form: Form) -> Response:
        """Take a student out of the class."""
        key = form.one("student")

        def do() -> Response:
            lab, _ = _lab_of(request)
            with self.classroom.fixing(lab.name):
                if self.queue.place(Wish(lab.name, key)) or self.queue.place(Wish(lab.name, "")):
                    raise Refusal(409, say("Nothing was done"), say("A run is about to begin. Wait until it has."))
                self.classroom.remove(lab.name, key)
            return see("./#class")

        return await self.pages.beside(refusing(do, may_run=may_run(request)))

    async def predict(self, request: Request, form: Form) -> Response:
        runs = may_run(request)

        def do() -> Response:
            lab, _ = _lab_of(request)
            student = self._student(request, lab)
            texts = {question.name: form.one(question.name) for question in lab.questions}
            attempt = Attempt(texts, _errors(lab, texts))
            if not attempt.errors:
                with self.classroom.fixing(lab.name):
                    self._require_waiting(student, lab)
                    fix(student.folder, texts)
                return see("./")
            self._require_waiting(student, lab)
            return HTMLResponse(self._student_page(request, runs=runs, attempt=attempt), 422)

        return await self.pages.beside(refusing(do, may_run=runs))

    async def begin(self, request: Request, form: Form) -> Response:
        """Put a student's run into the queue, or one for all who are ready."""

        accepts = bool(form.some("accept"))

        def wish() -> Wish:
            lab, _ = _lab_of(request)
            if "student" not in request.path_params:
                return Wish(lab.name, "", accepts)
            student = self._student(request, lab)
            if not student.is_ready:
                raise Refusal(409, say("Nothing was begun"), say("It takes predictions that have no run yet."))
            return Wish(lab.name, student.key, accepts)

        self.queue.ask(await self.pages.beside(wish))
        if self._going is None or self._going.done():
            self._going = asyncio.create_task(self.queue.go_on())
        return see("./")

    def _browser(self, request: Request) -> Browser:
        host = request.client.host if request.client else "127.0.0.1"
        return Browser(request.cookies[self.pages.access.cookie], network_of(host))

    def _require_waiting(self, student: Student, lab: Lab) -> None:
        """Refuse what comes too late: a run has begun, or begins, from here or from another server of these folders."""
        if student.folder.has_run():
            words = say("The run has begun: what is predicted afterwards does not count.")
            raise Refusal(409, say("It is too late"), words)
        is_led = student.folder.run.is_symlink() and not student.folder.has_run()
        place = self.queue.place(Wish(lab.name, student.key)) or self.queue.place(Wish(lab.name, ""))
        if place or (is_led and _is_busy()):
            raise Refusal(409, say("It is too late"), say("The run is about to begin with what was predicted before."))

    def _require_free(self) -> None:
        self.pages.bench.close()  # it keeps a bed, and runs that it may go on with
        require_free()
        require_room(self.pages.shelf.folder)

    def _begin(self, experiment: Path, accepts_links: bool) -> Begun:
        pages = self.pages
        runs, allowed = pages.shelf.folder, pages.allowed
        return pages.begin(lambda: begin_apart(experiment, runs, allowed, accept_links=accepts_links))

    # --- of one student

    def _student(self, request: Request, lab: Lab) -> Student:
        student = self.classroom.student(lab.name, request.path_params["student"])
        if student is None:
            raise Absent
        return student

    def _student_page(self, request: Request, *, runs: bool, attempt: Attempt | None = None) -> str:
        lab, content = _lab_of(request)
        student = self._student(request, lab)
        state = self._state(Wish(lab.name, student.key), student, runs=runs)
        checked: CheckedLab | None = None
        if state.run is not None and not state.goes_on:
            try:
                checked = check_lab(student.folder, state.run)
            except LanelabError as error:
                problem = error_words(error, may_run=runs, tell=TELL_TEACHER)
                state = RunState(0, state.name, state.run, problem)
        return lab_view.student_page(lab, content, student, state, may_run=runs, attempt=attempt, checked=checked)

    def _state(self, wish: Wish, student: Student | None, *, runs: bool) -> RunState:
        """Return where a run is. `runs`: for who runs the class."""
        everybody = Wish(wish.lab, "")
        name = run_name(student) if student else ""
        run = self.pages.shelf.run(name) if name else None
        place = 0
        if not name:
            ready = student is None or student.sheet
            place = self.queue.place(wish) or (self.queue.place(everybody) if ready else 0)
        why = self.queue.problems.get(wish, self.queue.problems.get(everybody))
        problem = None if name or place or why is None else not_begun(why, may_run=runs)
        awaits = self.queue.awaits if place == 1 else None
        return RunState(place, name if run else "", run.data if run else None, problem, waits_for(awaits, may_run=runs))

    async def _looked(self, lab: str) -> Signature:
        """Look once for all who watch: thirty pages of a class are open at the same time."""
        now = time.monotonic()
        when, last = self._seen.get(lab, (-LOOKS_EVERY_S, ()))
        if now - when >= LOOKS_EVERY_S / 2:
            self._seen[lab] = now, last  # others take the last one meanwhile
            last = await self.pages.beside(lambda: self._signature(lab))
            self._seen[lab] = now, last
        return last

    def _signature(self, lab: str) -> Signature:
        """Return what changes when a page of this lab does: predictions, the queue, runs."""
        folders = [self.classroom.of(lab) / key for key in self.classroom.keys(lab)]
        runs = {folder.resolve() for path in folders if (folder := path / RUN).exists()}
        sheets = sum((path / SHEET).exists() for path in folders)
        seen = tuple(sorted((str(run), changed_ns(run), has_writer(run)) for run in runs))
        return self.queue.changed, len(folders), sheets, seen


async def _news(look: Callable[[], Awaitable[Signature]], moments: Moments) -> AsyncIterator[bytes]:
    """Yield what each look has to tell; nothing while a trial is under way."""
    last = await look()
    yield WATCHING
    while True:
        now = await look() if moments.is_quiet else last
        yield b"" if now == last else CHANGED
        last = now


def _errors(lab: Lab, texts: dict[str, str]) -> dict[str, str]:
    """Return what is wrong with each answer that cannot be read."""
    errors = {}
    for name, typed in texts.items():
        try:
            if typed.strip():
                read_answer(lab.question(name), typed, say)
        except InputError as error:
            errors[name] = f"{error.what}. {error.remedy}"
    if not any(typed.strip() for typed in texts.values()):
        errors[lab.questions[0].name] = say("Write at least one answer.")
    return errors


def _is_busy() -> bool:
    try:
        require_free()
    except StoreError:
        return True
    return False


def _require_run(request: Request) -> None:
    if not may_run(request):
        raise Refusal(403, say("Not here"), say(NOT_FOR_ALL))


def _lab_of(request: Request) -> tuple[Lab, LabText]:
    """Return the lab that the address names, and its text in a language that the browser asks for."""
    name = request.path_params["lab"]
    if name not in lab_names():
        raise Absent
    return _lab(name), _text(name, tag())


@lru_cache(maxsize=64)
def _lab(name: str) -> Lab:
    """Read a lab once: thirty pages are asked for at the same moment."""
    return read_lab(name)


@lru_cache(maxsize=64)
def _text(name: str, language: str) -> LabText:
    return read_text(_lab(name), language)


@lru_cache
def _lines(language: str) -> tuple[LabLine, ...]:
    return tuple(replace(line, title=_text(line.name, language).title) for line in labs())
