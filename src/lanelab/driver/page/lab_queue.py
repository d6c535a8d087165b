"""Runs of labs, one after the other: only one may measure on this machine at a time."""

import asyncio
import datetime
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from lanelab.analysis.results.run_folder import has_writer
from lanelab.analysis.results.run_summary import is_run, run_folders
from lanelab.driver.base.errors import LanelabError
from lanelab.driver.page.classroom import Classroom, Student
from lanelab.driver.page.language import say
from lanelab.driver.page.run_process import Process, last_words

LOOKS_EVERY_S = 1.0
MOST_WAITING = 100


Begin = Callable[[Path, Path, bool], Process]


@dataclass(frozen=True, slots=True)
class Wish:
    """A run that is waited for: of one student, or of a whole class (""). `accepts_links`: it goes on where the link is
    not what was asked for."""

    lab: str
    key: str
    accepts_links: bool = field(default=False, compare=False)


@dataclass(slots=True)
class LabQueue:
    """The runs that are waited for, the first first."""

    classroom: Classroom
    begin: Begin
    waiting: list[Wish] = field(default_factory=list)
    problems: dict[Wish, str] = field(default_factory=dict)
    changed: int = 0
    _now: Wish | None = None
    _process: Process | None = None
    _folder: Path | None = None

    def ask(self, wish: Wish) -> None:
        """Put a run at the end. One that is there already keeps its place."""
        if wish in (*self.waiting, self._now) or len(self.waiting) >= MOST_WAITING:
            return
        self.problems.pop(wish, None)
        self.waiting.append(wish)
        self.changed += 1

    def place(self, wish: Wish) -> int:
        """Return its place, the first is 1; 0 for one that does not wait. One that is about to begin waits."""
        if wish == self._now and not (self._folder and is_run(self._folder)):
            return 1
        return self.waiting.index(wish) + 1 + (self._now is not None) if wish in self.waiting else 0

    async def go_on(self) -> None:
        """Begin one after the other until nothing waits."""
        while self.waiting or self._now:
            await asyncio.to_thread(self.step)
            await asyncio.sleep(LOOKS_EVERY_S)

    def step(self) -> None:
        """Begin the next run where none is measured."""
        if self._now and self._process and self._process.poll() is not None:
            self._end(self._now)
        if self._now or not self.waiting or self._is_measuring():
            return
        wish = self.waiting.pop(0)
        try:
            self._begin(wish)
        except (LanelabError, OSError) as error:
            self.problems[wish], self._now = str(error), None
        self.changed += 1

    def _begin(self, wish: Wish) -> None:
        students = self._students(wish)
        stamp = datetime.datetime.now(datetime.UTC).strftime("%Y%m%dT%H%M%S%fZ")
        folder = self.classroom.runs / f"{stamp}-{wish.lab}"
        experiment = self.classroom.experiment_of(wish.lab, students, folder)
        self._process, self._folder, self._now = self.begin(experiment, folder, wish.accepts_links), folder, wish

    def _students(self, wish: Wish) -> list[Student]:
        ready = self.classroom.waiting(wish.lab)
        return [one for one in ready if wish.key in ("", one.key)]

    def _end(self, wish: Wish) -> None:
        if self._folder and not is_run(self._folder):
            self.problems[wish] = f"{say('The run did not begin.')} {last_words(self._folder)}"
        self._now = self._process = self._folder = None
        self.changed += 1

    def _is_measuring(self) -> bool:
        """Return whether something is measured here, whoever began it."""
        return any(has_writer(folder) for folder in run_folders(self.classroom.runs))
