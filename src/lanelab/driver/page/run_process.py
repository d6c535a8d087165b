"""Begins a run as a terminal would: in a process that outlives the server."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Protocol

from lanelab.driver.base import configuration
from lanelab.driver.base.child_start import start_of
from lanelab.driver.base.paths import SOURCES

LOGS = ".logs"  # beside the runs
LAST = 400  # characters of what a run that did not begin has written last


class Process(Protocol):
    """A process that makes a run."""

    def poll(self) -> int | None: ...


def begin_run(experiment: Path, folder: Path, accepts_links: bool) -> Process:
    """Run an experiment in a process of its own. No thread that yields to all others may call it: children inherit
    that."""
    log = _log_of(folder)
    log.parent.mkdir(exist_ok=True)
    with log.open("wb") as output:
        return subprocess.Popen(
            [sys.executable, "-I", "-c", start_of("lanelab.driver.cli.main"), str(SOURCES), "run", str(experiment),
             "--out", str(folder), "--allow-missing", *(["--accept-links"] if accepts_links else [])],
            stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
            env={**os.environ, **configuration.current().environment()}, start_new_session=True,
        )  # fmt: skip


def last_words(folder: Path) -> str:
    """Return what the process of a run has written last."""
    try:
        return _log_of(folder).read_text(errors="replace")[-LAST:].strip()
    except OSError:
        return ""


def _log_of(folder: Path) -> Path:
    return folder.parent / LOGS / f"{folder.name}.log"
