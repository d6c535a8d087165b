"""What a worker process knows about itself, for the jobs that it does. Made once per process, by process.py.

Jobs run one after the other in a thread of their own. `halt` and `is_halted` may be called from any thread.
"""

import contextlib
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from lanelab.driver.run.events import Listener


@dataclass(slots=True)
class WorkerContext:
    """One worker: one bed of one machine."""

    machine: str  # what its owner calls it, else its host name
    number: int  # of this worker at its machine, from 1
    processors: tuple[int, ...]  # its own. The process and all its children are kept on them already
    allowed: frozenset[str]  # what of a run's file may run code of its author here: directives, flags, scripts
    router: str  # what its owner wants beds made with: auto, uml or kernel
    scratch: Path  # a folder for this process alone, empty at its beginning. Its supervisor removes it
    tell: Listener  # sends an event to the controller that gave the job; returns at once, and never fails
    kept: object = None  # what jobs keep for the next job: a run, its bed. See `closing`
    closing: list[Callable[[], None]] = field(default_factory=list)  # called when the process ends in order, last first
    session: str = ""  # of the controller whose job is under way
    _halted: threading.Event = field(default_factory=threading.Event)
    _guard: threading.Lock = field(default_factory=threading.Lock)
    _when_halted: Callable[[], None] | None = None

    @property
    def name(self) -> str:
        """Machine and number, for people."""
        return f"{self.machine}/{self.number}"

    def is_halted(self) -> bool:
        """Return whether the job under way shall end its trial: the controller asked, or nobody waits for the job any
        more because its controller is gone."""
        return self._halted.is_set()

    @contextlib.contextmanager
    def when_halted(self, action: Callable[[], None]) -> Iterator[None]:
        """Call this once, from another thread, should the job be halted while the block runs. At once where it was
        halted before."""
        with self._guard:
            self._when_halted = action
        try:
            if self.is_halted():
                self._act()
            yield
        finally:
            with self._guard:
                self._when_halted = None

    def halt(self) -> None:
        """Halt the job that is under way."""
        self._halted.set()
        self._act()

    def begin_job(self, session: str = "") -> None:
        """Another job begins, of that controller: what was said to the last one does not concern it."""
        self.session = session
        self._halted.clear()

    def close(self) -> None:
        """End what jobs have kept."""
        while self.closing:
            self.closing.pop()()

    def _act(self) -> None:
        with self._guard:
            action, self._when_halted = self._when_halted, None
        if action:
            threading.Thread(target=action, name="halted", daemon=True).start()
