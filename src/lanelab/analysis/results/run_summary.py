"""A run in a line, read in half a millisecond: a library shows hundreds of them. Nothing is compared with its digests,
which whoever opens the run does."""

import json
import sqlite3
from dataclasses import dataclass
from pathlib import Path

from lanelab.analysis.results.run_folder import state_of
from lanelab.driver.base.errors import InputError, LanelabError, StoreError
from lanelab.driver.run.folder import format as run_format
from lanelab.driver.run.folder.database import opened_database
from lanelab.driver.run.study.study import STUDY_RUN_FILE

COUNTS = """
SELECT (SELECT count(*) FROM cells), (SELECT count(*) FROM trials WHERE status = 'ok'),
  (SELECT count(DISTINCT trial) FROM failures), (SELECT count(DISTINCT trial) FROM flags)
"""


@dataclass(frozen=True, slots=True)
class RunSummary:
    """`problem`: why it cannot be read; then nothing else is known of it."""

    name: str
    folder: Path
    created_utc: str = ""
    state: str = "unreadable"
    cells: int = 0
    counted: int = 0
    failed: int = 0
    flagged: int = 0
    claims: int = 0
    problem: str = ""


def summary(folder: Path) -> RunSummary:
    """Return what is known of the run in this folder."""
    try:
        return _summary(folder)
    except LanelabError as error:
        return RunSummary(folder.name, folder, problem=str(error))
    except (OSError, sqlite3.Error, KeyError, TypeError, ValueError, RecursionError) as error:
        return RunSummary(folder.name, folder, problem=str(StoreError(f"{folder} cannot be read: {error}")))


def _summary(folder: Path) -> RunSummary:
    with opened_database(folder) as database:
        meta = {str(key): str(value) for key, value in database.execute("SELECT key, value FROM meta")}
        cells, counted, failed, flagged = database.execute(COUNTS).fetchone()
    claims = len(json.loads(meta.get(run_format.CLAIMS, "[]")))
    name, created = meta.get("name") or folder.name, meta.get("created_utc", "")
    return RunSummary(name, folder, created, state_of(folder, meta), cells, counted, failed, flagged, claims)


def require_folder(folder: Path) -> None:
    """Raise InputError where there can be no runs in it."""
    if (folder / run_format.DATABASE).is_file():
        raise InputError(f"{folder} is a run", f"Name the folder that has it: {folder.parent}")
    if not folder.is_dir():
        raise InputError(f"there is no folder {folder}", "Name the folder that has the runs")


def run_folders(folder: Path) -> list[Path]:
    """Return the folders of the runs directly in this one, and of the figures of studies in it."""
    there = _below(folder)
    figures = [below for path in there if _has(path, STUDY_RUN_FILE) for below in _below(path)]
    return [path for path in [*there, *figures] if is_run(path)]


def is_run(folder: Path) -> bool:
    """Return whether a run is in this folder; one that is being merged is none yet."""
    return _has(folder, run_format.DATABASE) and not folder.name.endswith(run_format.MERGING)


def _below(folder: Path) -> list[Path]:
    """Return the folders in this one; none where nobody may look."""
    try:
        return sorted(path for path in folder.iterdir() if path.is_dir())
    except OSError:
        return []


def _has(folder: Path, name: str) -> bool:
    try:
        return (folder / name).is_file()
    except OSError:  # it may not be entered
        return False
