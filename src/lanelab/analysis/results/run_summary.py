"""A run in a line, read in half a millisecond: a library shows hundreds of them. Nothing is compared with its digests,
which whoever opens the run does."""

import json
import sqlite3
from dataclasses import dataclass
from pathlib import Path

from lanelab.analysis.results.run_folder import state_of
from lanelab.driver.base.errors import LanelabError, StoreError
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
    except (sqlite3.Error, KeyError, ValueError) as error:
        return RunSummary(folder.name, folder, problem=str(StoreError(f"{folder} cannot be read: {error}")))


def _summary(folder: Path) -> RunSummary:
    with opened_database(folder) as database:
        meta = {str(key): str(value) for key, value in database.execute("SELECT key, value FROM meta")}
        cells, counted, failed, flagged = database.execute(COUNTS).fetchone()
    claims = len(json.loads(meta.get(run_format.CLAIMS, "[]")))
    name, created = meta.get("name") or folder.name, meta.get("created_utc", "")
    return RunSummary(name, folder, created, state_of(folder, meta), cells, counted, failed, flagged, claims)


def run_folders(folder: Path) -> list[Path]:
    """Return the folders of the runs directly in this one, and of the figures of studies in it."""
    there = sorted(path for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []
    figures = [below for path in there if (path / STUDY_RUN_FILE).is_file() for below in sorted(path.iterdir())]
    runs = (path for path in [*there, *figures] if (path / run_format.DATABASE).is_file())
    return [path for path in runs if not path.name.endswith(run_format.MERGING)]
