"""When something may be drawn: between trials. A run that goes on writes its events, and they are followed here,
whoever began it.

Between two trials is a moment of some tenths of a second. Whoever wants to draw waits for it, but not for ever: a load
takes minutes.
"""

import asyncio
import time
from dataclasses import dataclass, field
from pathlib import Path
from threading import RLock

from lanelab.analysis.results.run_folder import has_writer
from lanelab.analysis.results.run_summary import run_folders
from lanelab.driver.api.run_now import FollowedRun, RunNow, live_events

FIND_EVERY_S = 1.0  # which runs go on
LOOK_EVERY_S = 0.05  # what is new of them
LONGEST_WAIT_S = 30.0

Stamp = tuple[tuple[Path, int], ...]


@dataclass
class Moments:
    """The runs in a folder that go on."""

    folder: Path
    _followed: dict[Path, FollowedRun] = field(default_factory=dict)
    _found_at: float = float("-inf")
    _looked_at: float = float("-inf")
    _lock: RLock = field(default_factory=RLock)

    def now(self, run: Path) -> RunNow:
        """Return what a run does; one that does not go on, or tells nothing, does nothing that is known."""
        self._look()
        followed = self._followed.get(run)
        return followed.now if followed else RunNow()

    def goes_on(self, run: Path) -> bool:
        """Return whether the run may still change. One that tells nothing is asked for its writer."""
        self._look()
        return run in self._followed or has_writer(run)

    @property
    def is_quiet(self) -> bool:
        """Return whether nothing is measured now, as far as runs of this folder tell."""
        self._look()
        return not any(each.now.is_measuring for each in self._followed.values())

    @property
    def stamp(self) -> Stamp:
        """Return what changes whenever a trial has ended; nothing while no run goes on."""
        self._look()
        return tuple((run, each.now.steps) for run, each in sorted(self._followed.items()))

    async def wait(self) -> None:
        """Wait until something may be drawn."""
        until = time.monotonic() + LONGEST_WAIT_S
        while not self.is_quiet and time.monotonic() < until:
            await asyncio.sleep(LOOK_EVERY_S)

    def _look(self) -> None:
        with self._lock:
            now = time.monotonic()
            if now - self._found_at >= FIND_EVERY_S:
                self._find()
                self._found_at = time.monotonic()
            if now - self._looked_at >= LOOK_EVERY_S:
                for each in self._followed.values():
                    each.look()
                self._looked_at = time.monotonic()

    def _find(self) -> None:
        """Find the runs that go on. One that was killed leaves its events, and nobody who would end them."""
        there = [run for run in run_folders(self.folder) if live_events(run).is_file() and has_writer(run)]
        self._followed = {run: self._followed.get(run) or FollowedRun(run) for run in there}
        self._looked_at = float("-inf")
