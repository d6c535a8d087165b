"""Runs as processes of their own, which go on whatever becomes of who began them.

One at a time is begun on a machine, since two at once disturb each other. A lock says so: the process that was begun
has it from its first moment to its last, also when who began it is gone.
"""

import contextlib
import fcntl
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from lanelab.driver.api.beds import BedOptions
from lanelab.driver.base.errors import DiskFull, InputError, MachineBusy
from lanelab.driver.base.paths import build_folder
from lanelab.driver.base.writing import writing
from lanelab.driver.experiment.model import Experiment
from lanelab.driver.experiment.read import read_experiment
from lanelab.driver.run.folder import format as run_format
from lanelab.driver.run.folder.writer import interrupt_writer
from lanelab.driver.run.start import free_folder, read_back
from lanelab.driver.run.sweep.permissions import require_allowed
from lanelab.driver.run.sweep.processors import other_beds_here
from lanelab.driver.site.load import site_names

__all__ = ["Apart", "begin_apart", "interrupt_writer", "require_free", "require_room", "resume_apart"]

PROGRAM = (sys.executable, "-P", "-m", "lanelab.driver.cli", "run")
LOCK, LOGS = "begun.lock", "begun"
ROOM_MIB = 64  # on the disk, for a run: with less it would break off, and could not say why
MOST_OF_A_LOG = 8000  # characters: the last ones
BUSY_REMEDY = "Begin when it has ended: two at once disturb each other"


@dataclass(frozen=True, slots=True)
class Apart:
    """A run that was begun apart. `folder`: where it is, or will be."""

    folder: Path
    log: Path
    process: subprocess.Popen[bytes]

    @property
    def status(self) -> int | None:
        """Return how it has ended, as a shell has it; None while it goes on."""
        return self.process.poll()

    def words(self) -> str:
        """Return what it has said so far, as its terminal would show it."""
        with contextlib.suppress(OSError):
            return self.log.read_text(errors="replace")[-MOST_OF_A_LOG:]
        return ""


def begin_apart(
    file: Path,
    runs: Path,
    allowed: Collection[str],
    *,
    trials: int | None = None,
    seed: int | None = None,
    accept_links: bool = False,
) -> Apart:
    """Begin a run of the experiment in this file, in a new folder among the runs. Raises InputError for what is wrong
    in the file and for code in it that is not allowed, MachineBusy while something is measured on this machine."""
    experiment = read_experiment(file)
    _require_allowed(experiment, allowed)
    given = {"--trials": trials, "--seed": seed}
    options = [f"{name}={value}" for name, value in given.items() if value is not None]
    options += ["--accept-links"] if accept_links else []
    folder = free_folder(runs, experiment.name)
    require_room(runs)
    return _start([*options, f"--out={folder}", "--", str(file)], folder)


def resume_apart(folder: Path, meta: Mapping[str, str], allowed: Collection[str]) -> Apart:
    """Go on with a run. `meta`: what its folder says of it as a whole. Its beds have to be of this machine: others may
    be reached by programs that the run names."""
    terminal = f"Go on with it in a terminal: lanelab run --resume {folder}"
    bed = BedOptions.from_json(json.loads(meta["bed"]))
    if bed.given or bed.substrate != BedOptions().substrate:
        raise InputError("the beds of this run are not of this machine alone", terminal)
    _require_allowed(read_back(folder / run_format.EXPERIMENT, meta, site_names()), allowed)
    require_room(folder)
    return _start([f"--resume={folder}"], folder)


def require_free() -> None:
    """Raise MachineBusy while something is measured on this machine: it is not disturbed by preparing what would be
    refused."""
    with _machine():
        pass


def require_room(runs: Path) -> None:
    """Raise DiskFull where the disk has no room for a run, or for its words."""
    for folder in (runs, build_folder()):
        with writing(f"look at the disk of {folder}"):
            folder.mkdir(parents=True, exist_ok=True)
            free_mib = shutil.disk_usage(folder).free >> 20
        if free_mib < ROOM_MIB:
            what = f"the disk is full: a run takes {ROOM_MIB} MiB or more, and {folder} has room for {free_mib} MiB"
            raise DiskFull(what, "Free some space, then begin")


def _require_allowed(experiment: Experiment, allowed: Collection[str]) -> None:
    require_allowed(experiment, allowed, "this machine", "lanelab serve")


def _start(words: list[str], folder: Path) -> Apart:
    """Start the program in a session of its own, so that no end of a terminal or of its parent reaches it."""
    log = build_folder() / LOGS / f"{folder.name}.log"
    with _machine() as lock, writing(f"begin a run apart, with its words in {log}"):
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("wb") as output:
            process = subprocess.Popen(
                [*PROGRAM, *words],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                pass_fds=(lock,),
            )
    return Apart(folder, log, process)


@contextlib.contextmanager
def _machine() -> Iterator[int]:
    """Yield the lock of what is measured on this machine. Whoever inherits it has it until his own end."""
    build = build_folder()
    with writing(f"take the lock in {build}"):
        build.mkdir(parents=True, exist_ok=True)
        lock = os.open(build / LOCK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise MachineBusy("a run that was begun here goes on, or is about to", BUSY_REMEDY) from None
        if other_beds_here():
            raise MachineBusy("a bed is in use on this machine", BUSY_REMEDY)
        yield lock
    finally:
        os.close(lock)
