"""What a run folder holds of each trial: its series, files and witnesses; its record is in trial_records.py. They are
large, and read a trial at a time. Each is compared with its digest as it is read.
"""

import json
import sqlite3
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

from lanelab.driver.record.load_series import SERIES
from lanelab.driver.record.series import Series
from lanelab.driver.run.folder import format as run_format
from lanelab.driver.run.folder.database import opened_database
from lanelab.driver.run.folder.digests import (
    FILES,
    RECORD,
    changed,
    file_digest,
    require_unchanged,
)
from lanelab.driver.run.folder.digests import SERIES as SERIES_PART

AT_ONCE = 50  # trials that are read in one go


def each_witnesses(folder: Path) -> Iterator[tuple[int, dict[str, list[str]] | None]]:
    """Yield (trial, which witnesses its verdict used, for each question) of all trials; None where that was not
    noted."""
    query = """
        SELECT trial, json_extract(record, '$.evidence.witnesses')
        FROM trials WHERE trial BETWEEN ? AND ? ORDER BY trial
    """
    known: dict[str | None, dict[str, list[str]] | None] = {None: None}  # most trials have the same, which is kept once
    for trial, text in each_row(folder, query, RECORD):
        if text not in known:
            known[text] = json.loads(text)
        yield trial, known[text]


def each_row(folder: Path, query: str, part: str) -> Iterator[tuple[Any, ...]]:
    """Yield what the query finds of this part of all trials, between the two numbers that it takes. It is finished for
    some trials before anything is given out: whoever takes it may pause for as long as they like, and an open query
    would keep the run from storing its trials."""
    with opened_database(folder) as database:
        trials = [trial for (trial,) in database.execute("SELECT trial FROM trials ORDER BY trial")]
        for first in range(0, len(trials), AT_ONCE):
            block = trials[first : first + AT_ONCE]
            database.execute("BEGIN")  # the digests and what they are of, as they are at one moment
            require_unchanged(database, folder, numbers=(block[0], block[-1]), parts=(part,))
            rows = database.execute(query, (block[0], block[-1])).fetchall()
            database.execute("COMMIT")
            yield from rows


def read_series(folder: Path, trial: int, names: Sequence[str]) -> dict[str, Series]:
    """Series of a trial by their names; those that it does not have are not there. Their unit is that of the table."""
    with opened_database(folder) as database:
        require_unchanged(database, folder, numbers=(trial, trial), parts=(SERIES_PART,))
        return series_of(database, trial, names)


def series_of(database: sqlite3.Connection, trial: int, names: Sequence[str]) -> dict[str, Series]:
    by_name: dict[str, Series] = {}
    for name in dict.fromkeys(names):
        query = "SELECT t_ms, value FROM series WHERE trial = ? AND name = ? ORDER BY t_ms"
        points = tuple(database.execute(query, (trial, name)).fetchall())
        if points:
            by_name[name] = Series(SERIES[name].unit, points)
    return by_name


def each_series(folder: Path) -> Iterator[tuple[int, str, float, float]]:
    """Yield (trial, name, ms since the load began, value) of every point of all trials."""
    query = "SELECT trial, name, t_ms, value FROM series WHERE trial BETWEEN ? AND ? ORDER BY trial, name, t_ms"
    yield from each_row(folder, query, SERIES_PART)


def read_artifacts(folder: Path, trial: int) -> list[tuple[str, int, str]]:
    """Return (name, bytes, sha256) of each file of a trial."""
    with opened_database(folder) as database:
        require_unchanged(database, folder, numbers=(trial, trial), parts=(FILES,))
        query = "SELECT name, bytes, sha256 FROM artifacts WHERE trial = ? ORDER BY name"
        return [(str(name), int(size), str(digest)) for name, size, digest in database.execute(query, (trial,))]


def artifact_path(folder: Path, trial: int, name: str) -> Path:
    return folder / run_format.ARTIFACTS / f"{trial:06d}" / name


def unchanged_artifacts(folder: Path, trial: int, names: Collection[str] | None = None) -> Path:
    """Return the folder of a trial's files, for whoever reads those with these names, or all. ChangedError where one is
    not what was stored; one that was removed is not there."""
    for name, _, sha256 in read_artifacts(folder, trial):
        path = artifact_path(folder, trial, name)
        if (names is None or name in names) and path.is_file() and file_digest(path) != sha256:
            raise changed(folder, f"trial {trial}: its file {name} was changed")
    return artifact_path(folder, trial, ".")
