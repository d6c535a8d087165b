"""Runs of labs, one after the other: only one may measure on this machine at a time."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from lanelab.analysis.results.run_summary import is_run
from lanelab.driver.base.errors import DiskFull, LanelabError, StoreError
from lanelab.driver.base.writing import writing
from lanelab.driver.page.classroom import Classroom, Student
from lanelab.driver.page.errors import note

LOOKS_EVERY_S = 1.0
MOST_WAITING = 100
LAST = 400  # characters of what a run that did not begin has said last


class Begun(Protocol):
    """A run that was begun as a process of its own."""

    @property
    def folder(self) -> Path: ...

    @property
    def status(self) -> int | None: ...

    def words(self) -> str:
        """Return what it has said so far."""


Free = Callable[[], None]  # it raises StoreError while something is measured here, and where the disk is full
Begin = Callable[[Path, bool], Begun]  # an experiment, and whether it goes on where the link is not what it should be


@dataclass(frozen=True, slots=True)
class Wish:
    """A run that is waited for: of one student, or of a whole class (""). `accepts_links`: it goes on where the link is
    not what was asked for."""

    lab: str
    key: str
    accepts_links: bool = field(default=False, compare=False)


@dataclass(slots=True)
class Current:
    """The run that was begun last. `unled`: who is judged by it, and whose folder does not lead there yet."""

    wish: Wish
    begun: Begun
    experiment: Path
    unled: list[Student]

    @property
    def is_beginning(self) -> bool:
        return bool(self.unled) or not is_run(self.begun.folder)


@dataclass(slots=True)
class LabQueue:
    """The runs that are waited for, the first first."""

    classroom: Classroom
    begin: Begin
    require_free: Free
    waiting: list[Wish] = field(default_factory=list)
    problems: dict[Wish, str] = field(default_factory=dict)  # why a run did not begin
    awaits: StoreError | None = None  # what the first one waits for
    changed: int = 0
    _now: Current | None = None

    def ask(self, wish: Wish) -> None:
        """Put a run at the end. One that is there already keeps its place."""
        is_there = wish in self.waiting or bool(self._now and self._now.wish == wish)
        if is_there or len(self.waiting) >= MOST_WAITING:
            return
        self.problems.pop(wish, None)
        self.waiting.append(wish)
        self.changed += 1

    def place(self, wish: Wish) -> int:
        """Return its place, the first is 1; 0 for one that does not wait. One that is about to begin waits."""
        if self._now and wish == self._now.wish and self._now.is_beginning:
            return 1
        return self.waiting.index(wish) + 1 + (self._now is not None) if wish in self.waiting else 0

    async def go_on(self) -> None:
        """Begin one after the other until nothing waits."""
        while self.waiting or self._now:
            await asyncio.to_thread(self.step)
            await asyncio.sleep(LOOKS_EVERY_S)

    def step(self) -> None:
        """Begin the next run where none is measured."""
        try:
            if self._now:
                self._follow(self._now)
            if self._now or not self.waiting:
                self.awaits = None
                return
            wish = self.waiting[0]
            self.require_free()  # before anything is read and written: it is asked again and again, also during trials
            self._begin(wish)
        except StoreError as error:  # something else is measured here, or the disk is full
            is_new = str(error) != str(self.awaits)
            self.changed += is_new
            if is_new and not (isinstance(error, DiskFull) and isinstance(self.awaits, DiskFull)):
                note(error)  # but how full the disk is changes all the time
            self.awaits = error
            return
        except LanelabError as error:
            self.problems[wish] = str(error)
            note(error)
        self.awaits = None
        self.waiting.remove(wish)
        self.changed += 1

    def _begin(self, wish: Wish) -> None:
        room = self.classroom
        with room.fixing(wish.lab):  # what the run is to judge stays as it is until its students are led there
            students = [one for one in room.waiting(wish.lab) if wish.key in ("", one.key)]
            experiment = room.experiment_of(wish.lab, students)
            try:
                with writing("begin the run of a lab"):
                    begun = self.begin(experiment, wish.accepts_links)
            except LanelabError:
                room.forget(experiment)
                raise
            self._now = Current(wish, begun, experiment, students)
            with suppress(StoreError):  # the next step tries it again
                self._lead(self._now)

    def _lead(self, now: Current) -> None:
        while now.unled:
            self.classroom.lead(now.unled[:1], now.begun.folder)
            now.unled.pop(0)

    def _follow(self, now: Current) -> None:
        """Look at what was begun last. Raises StoreError where somebody's folder still cannot lead to it."""
        has_ended, there = now.begun.status is not None, is_run(now.begun.folder)
        if there or not has_ended:
            self._lead(now)
        if not has_ended:
            return
        if not there:
            self.problems[now.wish] = now.begun.words()[-LAST:].strip()
            note(f"the run {now.begun.folder} did not begin: {self.problems[now.wish]}")
        self.classroom.forget(now.experiment)
        self._now = None
        self.changed += 1
