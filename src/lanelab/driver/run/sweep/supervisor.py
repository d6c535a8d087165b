"""The workers that one machine lends: started, started again when they die, and ended with the one that lends them.

    with Supervisor(where, beds=2, tell=tell) as supervisor:     where: SchedulerAddress
        supervisor.wait()                                        until `stop`, from a signal's handler or another thread

Each worker is a process with processors of its own. Should the process with the supervisor be killed, its workers see
it and end, and their beds with them. Events that it tells: BedProcessStarted, BedLent, BedEnded, SchedulerAway.
"""

import contextlib
import datetime
import fcntl
import os
import platform
import secrets
import shutil
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from lanelab.driver.base.errors import ClusterAway, ClusterError
from lanelab.driver.base.paths import build_folder
from lanelab.driver.run.events import Listener, unheard
from lanelab.driver.run.sweep.address import SchedulerAddress
from lanelab.driver.run.sweep.children import Child
from lanelab.driver.run.sweep.dask_settings import be_quiet
from lanelab.driver.run.sweep.events import BedEnded, BedLent, BedProcessStarted, SchedulerAway
from lanelab.driver.run.sweep.probe import require_scheduler
from lanelab.driver.run.sweep.processors import divided_here
from lanelab.driver.run.sweep.worker.process import JOBS, WorkerSaid, WorkerSettings

PAUSES_S = (0.2, 1.0, 2.0, 5.0, 10.0, 30.0)
LONG_LIFE_S = 60.0  # a worker that lived so long did not die of how it was started
REMINDER_S = 60.0  # between words about a scheduler that stays away


@dataclass(frozen=True, slots=True)
class Lent:
    """The beds that a machine lends."""

    beds: int = 1
    machine: str = ""  # what its owner calls it; "": its host name
    allowed: frozenset[str] = frozenset()  # directives, flags, scripts
    router: str = "auto"
    jobs: str = JOBS


class Supervisor:
    """The workers of this machine. A context manager: leaving it ends them all."""

    def __init__(
        self,
        where: SchedulerAddress,
        lent: Lent,
        *,
        tell: Listener = unheard,
        processors: Sequence[Sequence[int]] | None = None,
    ) -> None:
        """Keep what is lent. `processors` are those of each bed; None: those of this process, divided."""
        self._where, self._lent, self._tell = where, lent, tell
        self._machine = lent.machine or platform.node() or "this machine"
        self._processors = [tuple(each) for each in processors or divided_here(lent.beds)]
        self._ending = threading.Event()
        self._children: dict[int, Child] = {}
        self._guard = threading.Lock()
        self._threads: list[threading.Thread] = []

    @property
    def address(self) -> str:
        """Return where the scheduler is."""
        return self._where.address

    @property
    def pids(self) -> dict[int, int]:
        """The processes of the workers that live now, by their number."""
        with self._guard:
            return {number: child.pid for number, child in self._children.items()}

    def __enter__(self) -> "Supervisor":
        """Start the workers. A scheduler that is not there yet is waited for; raises ClusterError for one that will not
        do."""
        be_quiet()
        with contextlib.suppress(ClusterAway):
            require_scheduler(self._where)
        forget_old(workers_folder())
        for number, processors in enumerate(self._processors, start=1):
            thread = threading.Thread(
                target=self._keep, args=(number, processors), name=f"worker {number}", daemon=True
            )
            self._threads.append(thread)
            thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
        with self._guard:
            children = list(self._children.values())
        ends = [threading.Thread(target=child.end) for child in children]  # at once, each takes a moment
        for end in ends:
            end.start()
        for thread in (*ends, *self._threads):
            thread.join()

    def stop(self) -> None:
        """Let `wait` return. May be called by a signal's handler."""
        self._ending.set()

    def wait(self) -> None:
        """Return once `stop` was called."""
        while not self._ending.wait(3600):
            pass

    def _keep(self, number: int, processors: tuple[int, ...]) -> None:
        """Have worker `number`, over and over, until the end."""
        failures = 0
        while not self._ending.is_set():
            if not self._scheduler_is_there(number):
                return
            begun = time.monotonic()
            why = self._live(number, processors)
            if self._ending.is_set():
                return
            self._tell(BedEnded(self._machine, number, why))
            failures = 0 if time.monotonic() - begun > LONG_LIFE_S else failures + 1
            self._ending.wait(PAUSES_S[min(failures, len(PAUSES_S) - 1)])

    def _scheduler_is_there(self, number: int) -> bool:
        """Wait for it. False: we end. Worker 1 speaks for all of them."""
        tries, last_note = 0, float("-inf")
        while not self._ending.is_set():
            try:
                require_scheduler(self._where)
            except ClusterError as error:
                if number == 1 and time.monotonic() - last_note >= REMINDER_S:
                    last_note = time.monotonic()
                    self._tell(SchedulerAway(self._where.address, str(error)))
                self._ending.wait(PAUSES_S[min(tries, 4)])
                tries += 1
            else:
                return True
        return False

    def _live(self, number: int, processors: tuple[int, ...]) -> str:
        """Live one life of a worker, and return why it ended."""
        try:
            with scratch_folder(f"{number}") as scratch:
                return self._process(number, processors, scratch)
        except OSError as error:
            return f"cannot write to {error.filename or workers_folder()}: {error.strerror}"

    def _process(self, number: int, processors: tuple[int, ...], scratch: Path) -> str:
        settings = WorkerSettings(
            scheduler=self._where,
            name=f"{self._machine}/{number} #{secrets.token_hex(4)}",
            machine=self._machine,
            number=number,
            processors=processors,
            allowed=tuple(sorted(self._lent.allowed)),
            router=self._lent.router,
            scratch=scratch,
            jobs=self._lent.jobs,
        )
        log = workers_folder() / f"{scratch.name}.log"
        with self._guard:
            if self._ending.is_set():
                return ""
            child = self._children[number] = Child("lanelab.driver.run.sweep.worker.process", settings, log)
        self._tell(BedProcessStarted(self._machine, number, processors, str(log), child.pid))
        why = ""
        while (message := child.next_said(WorkerSaid)) is not None:
            if message.joined:
                self._tell(BedLent(self._machine, number, processors, str(log)))
            why = message.left or why
        status = child.wait()
        with self._guard:
            self._children.pop(number, None)
        if why:
            return why
        return (
            f"its process was killed by signal {-status}" if status < 0 else f"its process ended: {child.last_words()}"
        )


def workers_folder() -> Path:
    return build_folder() / "workers"


class scratch_folder:  # noqa: N801 - used like a function
    """A new folder for one life of a worker, and its removal. Its lock says that it is in use."""

    def __init__(self, name: str) -> None:
        stamp = datetime.datetime.now(datetime.UTC).strftime("%Y%m%dT%H%M%S.%fZ")
        self._folder = workers_folder() / f"{stamp}-{os.getpid()}-{name}"
        self._lock = -1

    def __enter__(self) -> Path:
        self._folder.mkdir(mode=0o700, parents=True)
        self._lock = os.open(
            self._folder.with_name(f"{self._folder.name}.in-use"), os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600
        )
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        return self._folder

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)
        self._folder.with_name(f"{self._folder.name}.in-use").unlink(missing_ok=True)
        os.close(self._lock)


LOGS_KEPT = 40


def forget_old(folder: Path) -> None:
    """Remove what workers have left whose supervisor was killed, and old logs."""
    for lock in sorted(folder.glob("*.in-use")):
        with contextlib.suppress(OSError):
            held = os.open(lock, os.O_RDWR | os.O_CLOEXEC)
            try:
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(lock.with_suffix(""), ignore_errors=True)
                lock.unlink()
            finally:
                os.close(held)
    for log in sorted(folder.glob("*.log"))[:-LOGS_KEPT]:
        log.unlink(missing_ok=True)
