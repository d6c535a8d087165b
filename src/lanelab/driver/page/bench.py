"""The bench as the server has it: a process that measures, what it is at, and one measurement at a time."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from lanelab.driver.api.events import BedUp, LinkTestBegun, LinkTested, TrialBegun, TrialEnded, read_event
from lanelab.driver.base import configuration
from lanelab.driver.base.child_start import start_of
from lanelab.driver.base.errors import LanelabError
from lanelab.driver.base.paths import SOURCES
from lanelab.driver.page.choices import ForAll
from lanelab.driver.page.errors import note
from lanelab.driver.page.language import say, text
from lanelab.driver.run.events import Event

START = start_of("lanelab.driver.page.bench_process")
BEGINS = text("The bed is being made.")
PREPARES = text("Server and browser are being started.")
TESTS = {
    "before": text("The link is measured before anything is loaded over it, which takes 3 to 5 s."),
    "after": text("The link is measured again, now that loads went over it."),
}
GONE = text(
    "The measuring process has ended; the terminal of the server may say why. The next measurement begins another."
)
NOT_AS_ASKED = text(
    "The link is not what was asked for, so nothing was loaded over it: {why}. Measure again, best when this machine "
    "is less busy."
)
FAILED = text("The measurement has failed.")
LOADS = text("Round {round}: {arm} is loading.")
TOOK = text("Round {round}: {arm} took {ms} ms.")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A text with values in its places, which every reader has in a language of his own. `detail`: what the process
    that measures said of it, in English, where paths of the server may be."""

    text: str = ""
    values: Mapping[str, object] = field(default_factory=dict)
    detail: str = ""

    def __str__(self) -> str:
        return say(self.text, **self.values)


NOTHING = Sentence()


def sentence_of(event: Event) -> Sentence:
    """Say what the bench is at, to all who watch. Of some events there are words in English alone; those of the others
    may have paths of the server."""
    if isinstance(event, LinkTestBegun):
        return Sentence(TESTS[event.moment])
    if isinstance(event, TrialBegun):
        return Sentence(LOADS, {"round": event.round, "arm": event.arm})
    if isinstance(event, TrialEnded) and event.value is not None:
        return Sentence(TOOK, {"round": event.round, "arm": event.arm, "ms": f"{event.value:.0f}"})
    return Sentence(event.words) if isinstance(event, BedUp | LinkTested) else NOTHING


@dataclass(slots=True)
class Bench:
    """`at`: what it is at; `problem`: why the last measurement failed; `measured`: how many have ended."""

    at: Sentence = NOTHING
    problem: Sentence = NOTHING
    measured: int = 0
    is_busy: bool = False
    changed: int = 0  # grows with whatever is said
    start: Callable[[], "subprocess.Popen[str]"] = field(default_factory=lambda: begin_process)
    _trouble: Sentence = NOTHING  # of the latest load
    _process: "subprocess.Popen[str] | None" = None
    _measuring: "subprocess.Popen[str] | None" = None  # the one that was asked last: it may be closed already
    _closed: "subprocess.Popen[str] | None" = None  # the last one that may ask for nothing more
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def has_bed(self) -> bool:
        """Return whether a bed is kept."""
        return self._process is not None and self._process.poll() is None

    @property
    def is_ending(self) -> bool:
        """Return whether a bed that was given up is still there."""
        return self._closed is not None and self._closed.poll() is None

    def measure(self, experiment: str, folder: Path, rounds: int, *, accept_links: bool = False) -> None:
        """Begin to measure. Raises InputError where something is under way. accept_links: also where the link fails its
        self-test."""
        with self._lock:
            if self.is_busy:
                raise ForAll(say("a measurement is under way"), say("Wait until it has ended: there is one bed"))
            self.at = Sentence(PREPARES)
            if self._process is None or self._process.poll() is not None:
                self._process = self.start()
                threading.Thread(target=self._listen, args=(self._process,), daemon=True).start()
                self.at = Sentence(BEGINS)
            self.is_busy, self.problem, self._measuring = True, NOTHING, self._process
            self.changed += 1
            request = {"experiment": experiment, "folder": str(folder), "rounds": rounds, "accept": accept_links}
            if self._process.stdin is not None:
                with suppress(BrokenPipeError):  # it is gone: whoever listens to it says so
                    self._process.stdin.write(f"{json.dumps(request)}\n")
                    self._process.stdin.flush()

    def close(self) -> None:
        """Ask for nothing more: what is under way is finished, and the bed ends."""
        with self._lock:
            if self._process is None:
                return
            if self._process.stdin is not None:
                with suppress(BrokenPipeError):  # it is gone, and has not read the last question
                    self._process.stdin.close()
            self._process, self._closed = None, self._process

    def _listen(self, process: "subprocess.Popen[str]") -> None:
        for line in process.stdout or ():
            self._hear(json.loads(line))
        process.wait()
        with self._lock:
            if self.is_busy and self._measuring is process:
                self._end(Sentence(GONE))
            self.at, self.changed = NOTHING, self.changed + 1

    def _hear(self, answer: dict[str, object]) -> None:
        with self._lock:
            if "problem" in answer:
                note(str(answer["problem"]))
                self._end(Sentence(FAILED, detail=str(answer["problem"])))
            elif "done" in answer:
                self._end(self._trouble)
            elif "rests" in answer:
                self.at = NOTHING
            else:
                self._note(answer)
            self.changed += 1

    def _note(self, answer: dict[str, object]) -> None:
        """Say what happens. What becomes of the latest load is left at the end, where it is trouble."""
        try:
            event = read_event(answer)
        except LanelabError:  # of another version's
            return
        sentence = sentence_of(event)
        self.at = sentence if sentence.text else self.at
        if isinstance(event, LinkTested):
            self._trouble = NOTHING if event.passed else Sentence(NOT_AS_ASKED, {"why": event.failures})
        elif isinstance(event, TrialEnded):
            self._trouble = NOTHING if event.ok else Sentence(FAILED, detail=event.words)

    def _end(self, problem: Sentence) -> None:
        self.is_busy, self.problem, self.at = False, problem, NOTHING
        self.measured += 1


def begin_process() -> "subprocess.Popen[str]":
    """Begin the process that measures. It outlives the server where something is under way."""
    return subprocess.Popen(
        [sys.executable, "-I", "-c", START, str(SOURCES)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **configuration.current().environment()},
        start_new_session=True,
    )
