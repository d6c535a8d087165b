"""What a run does at this moment: it writes its events into its folder while it goes on, and they go when it ends."""

import json
import os
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from lanelab.driver.api.progress import Progress
from lanelab.driver.api.read_events import read_event
from lanelab.driver.api.sweep_progress import SweepProgress
from lanelab.driver.base.errors import RecordError
from lanelab.driver.run.events import (
    BedAwaited,
    BedReplaced,
    BedUp,
    Event,
    LinkTestBegun,
    LinkTested,
    RoundEnded,
    RunBegun,
    SessionEnded,
    Stopping,
    TrialBegun,
    TrialEnded,
    TrialRefused,
)
from lanelab.driver.run.folder.store import SCRATCH
from lanelab.driver.run.sweep import events as sweep_events

TROUBLES = 5  # that are shown: the last ones
_ENDS = (TrialEnded, TrialRefused, LinkTested, BedReplaced, SessionEnded)  # what is under way is over


def live_events(folder: Path) -> Path:
    """Return where a run writes its events while it goes on."""
    return folder / SCRATCH / "events.jsonl"


@dataclass
class RunNow:
    """The state of a session, as its events say it so far."""

    progress: Progress | None = None  # None: nothing is known
    sweep: SweepProgress | None = None  # of several beds at once
    _sweep: SweepProgress = field(default_factory=lambda: SweepProgress(0, 0))
    round: int = 0
    rounds: int = 0
    line: str = ""  # what it does, or has just found out, for who looks on
    is_stopping: bool = False
    tests: dict[str, LinkTested] = field(default_factory=dict)  # the last one of each link
    troubles: deque[str] = field(default_factory=lambda: deque(maxlen=TROUBLES))
    steps: int = 0  # that have ended: trials, self-tests, rounds
    under_way: str = ""  # the kind of event with which it began

    @property
    def is_measuring(self) -> bool:
        """Return whether a trial or a self-test is under way: what is drawn now may disturb it. Of several beds one
        always is, and this says nothing."""
        return bool(self.under_way) and not self.sweep

    @property
    def is_in_trial(self) -> bool:
        return self.under_way == TrialBegun.kind and not self.sweep

    def see(self, event: Event) -> None:
        """Note an event."""
        if isinstance(event, RunBegun):
            self.progress, self.rounds = Progress.of(event), event.rounds
            self._sweep = SweepProgress.of(event)
        if self.progress is None:  # nothing that belongs to a session
            return
        if isinstance(event, sweep_events.EVENTS):
            self.sweep = self._sweep
        words = self.progress.words(event)
        self.progress.see(event)
        self._sweep.see(event)
        self._note(event)
        if words and (event.is_trouble or (isinstance(event, TrialEnded) and not event.ok)):
            self.troubles.append(words)

    def _note(self, event: Event) -> None:
        match event:
            case TrialBegun():
                self.under_way, self.round = event.kind, event.round
            case LinkTestBegun():
                self.under_way, self.line = event.kind, event.activity
            case Stopping():
                self.is_stopping = True
            case LinkTested():
                self.tests[event.link], self.line = event, event.words
            case BedUp() | BedReplaced() | BedAwaited() | RunBegun():
                self.line = event.words
        if isinstance(event, _ENDS):
            self.under_way = ""
        if isinstance(event, (*_ENDS, RoundEnded, Stopping)):
            self.steps += 1


@dataclass
class FollowedRun:
    """A run whose events are read as they come."""

    folder: Path
    now: RunNow = field(default_factory=RunNow)
    _offset: int = 0
    _inode: int = 0

    def look(self) -> RunNow:
        """Read what is new; from the beginning where another session has begun. A run that writes no events, or none
        any more, is one of which nothing is known."""
        try:
            with live_events(self.folder).open("rb") as file:
                status = os.fstat(file.fileno())
                if status.st_ino != self._inode or status.st_size < self._offset:
                    self.now, self._offset, self._inode = RunNow(), 0, status.st_ino
                file.seek(self._offset)
                whole_lines, end, _ = file.read().rpartition(b"\n")  # the last one may be on its way
        except OSError:
            self.now, self._offset, self._inode = RunNow(), 0, 0
            return self.now
        self._offset += len(whole_lines + end)
        for line in filter(None, whole_lines.split(b"\n")):
            with suppress(ValueError, RecordError):  # of another lanelab
                self.now.see(read_event(json.loads(line)))
        return self.now
