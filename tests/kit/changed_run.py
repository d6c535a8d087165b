"""Changes the database of a run that was made up, and digests it anew: to readers it was stored like that."""

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from lanelab.driver.run.folder import format as run_format
from lanelab.driver.run.folder.digests import THE_RUN, note_digests


@contextlib.contextmanager
def changing(folder: Path) -> Iterator[sqlite3.Connection]:
    with contextlib.closing(sqlite3.connect(folder / run_format.DATABASE)) as database, database:
        yield database
        digest_all(database)


def change(folder: Path, statement: str, *values: object) -> None:
    with changing(folder) as database:
        database.execute(statement, values)


def digest_all(database: sqlite3.Connection) -> None:
    database.execute("DELETE FROM digests")
    note_digests(database, "run", THE_RUN)
    for (trial,) in database.execute("SELECT trial FROM trials").fetchall():
        note_digests(database, "trial", trial)
    for (test,) in database.execute("SELECT self_test FROM self_tests").fetchall():
        note_digests(database, "self-test", test)
