"""Opens the database of a run folder for reading, also while the run goes on."""

import contextlib
import json
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path

from lanelab.driver.base.errors import InputError, StoreError
from lanelab.driver.run.folder import format as run_format

JOURNAL = "-journal"


@contextlib.contextmanager
def opened_database(folder: Path) -> Iterator[sqlite3.Connection]:
    """Open the database for reading. Whatever is wrong with it becomes an error with a remedy."""
    path = folder / run_format.DATABASE
    if not path.is_file():
        what = f"{folder} is not the folder of a run" if folder.is_dir() else f"there is no folder {folder}"
        raise InputError(what, "Name a run (lanelab runs lists them), or the folder of one")
    with contextlib.ExitStack() as stack:
        try:
            database = _opened(path, stack)
            _check_version(folder, database)
            yield database
        except sqlite3.Error as error:
            raise _damaged(folder, error) from error
        except (KeyError, json.JSONDecodeError, TypeError, AttributeError) as error:
            raise _damaged(folder, f"unexpected content, {error!r}") from error


def _damaged(folder: Path, why: object) -> StoreError:
    return StoreError(
        f"the run in {folder} cannot be read: {why}",
        f"{run_format.DATABASE} may be damaged or cut short: copy the folder again from where it was made",
    )


def _opened(path: Path, stack: contextlib.ExitStack) -> sqlite3.Connection:
    try:
        return _connected(path, stack)
    except sqlite3.OperationalError as error:
        if "readonly" not in str(error) and "unable to open" not in str(error):
            raise
    # A killed run leaves a half-made transaction, which only a writer may undo: undo it in a copy.
    scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="lanelab-read-")))
    for name in (path.name, path.name + JOURNAL):
        with contextlib.suppress(FileNotFoundError):
            shutil.copyfile(path.with_name(name), scratch / name)
    return _connected(scratch / path.name, stack, mode="rw")


def _connected(path: Path, stack: contextlib.ExitStack, mode: str = "ro") -> sqlite3.Connection:
    database = sqlite3.connect(
        f"{path.resolve().as_uri()}?mode={mode}", uri=True, isolation_level=None, timeout=10, check_same_thread=False
    )
    stack.callback(database.close)
    database.execute("SELECT count(*) FROM sqlite_master").fetchone()
    return database


def _check_version(folder: Path, database: sqlite3.Connection) -> None:
    if not database.execute("SELECT 1 FROM sqlite_master WHERE name = 'meta'").fetchone():
        raise StoreError(f"{folder / run_format.DATABASE} is not lanelab's", "Name the folder of a run")
    row = database.execute("SELECT value FROM meta WHERE key = 'format'").fetchone()
    run_format.check_version(folder, str(row[0]) if row else "none")
