"""The names that a user may type of runs and of what is in one, read without reading the runs: for completion."""

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path

from lanelab.driver.base.errors import LanelabError
from lanelab.driver.run.folder import format as run_format
from lanelab.driver.run.folder.database import opened_database
from lanelab.driver.run.folder.format import LATEST, RUNS
from lanelab.driver.run.study.study import STUDY_RUN_FILE

Names = dict[str, str]  # each with a few words about it
MOST_TRIALS = 1000  # that are worth a list
_TRIALS = """
SELECT CAST(trial AS TEXT), trials.status || ': ' || site || ', ' || label || ', ' || arms.name FROM trials
JOIN cells USING (cell) JOIN links USING (link) JOIN arms USING (arm)
WHERE CAST(trial AS TEXT) LIKE ? || '%' ORDER BY trial LIMIT ?
"""
_CELLS = "SELECT site || ', ' || label || ', ' || name, '' FROM cells JOIN links USING (link) JOIN arms USING (arm)"
_ARMS = "SELECT name, 'arm' FROM arms ORDER BY arm"
_STEPS = "SELECT value, '' FROM meta WHERE key = 'journey'"  # run_format.JOURNEY
_ABOUT = "SELECT value, (SELECT value FROM meta WHERE key = 'name') FROM meta WHERE key = 'created_utc'"


def runs_here() -> Names:
    """Return the runs in ./runs, those of a study's figures too, and `latest` where there is one."""
    return _with_latest({str(run.relative_to(RUNS)): "" for run in _folders()})


def studies_run_here() -> Names:
    """Return the runs of studies in ./runs, and `latest` where there is one."""
    return _with_latest({path.parent.name: "" for path in sorted(RUNS.glob(f"*/{STUDY_RUN_FILE}"))})


def trials_of(run: str, begin: str = "") -> Names:
    """Return the numbers of a run's trials that begin so, each with its cell."""
    return _rows(run, _TRIALS, begin, MOST_TRIALS)


def arms_of(run: str) -> Names:
    return _rows(run, _ARMS)


def steps_of(run: str) -> Names:
    """Return the steps of the journey that trials of a run make."""
    return {step: "" for listed in _rows(run, _STEPS) for step in json.loads(listed)}


def cells_of(run: str) -> Names:
    """Return the cells of a run as `lanelab explain` names them."""
    return _rows(run, _CELLS)


def _with_latest(runs: Names) -> Names:
    return {LATEST: "the newest", **runs} if runs else {}


def _folders() -> Iterator[Path]:
    for depth in ("*", "*/figure-*"):
        for database in sorted(RUNS.glob(f"{depth}/{run_format.DATABASE}")):
            if not database.parent.name.endswith(run_format.MERGING):
                yield database.parent


def _rows(run: str, query: str, *values: object) -> Names:
    folder = _folder_of(run)
    return dict(_read(folder, query, *values)) if folder else {}


def _read(folder: Path, query: str, *values: object) -> list[tuple[str, str]]:
    with opened_database(folder) as database:
        return [(str(name), str(words)) for name, words in database.execute(query, values)]


def _folder_of(run: str) -> Path | None:
    """Return the run of a folder, of a name in ./runs or of an experiment's name, or the latest."""
    for path in (Path(run), RUNS / run):
        if (path / run_format.DATABASE).is_file():
            return path
    dated: list[tuple[str, Path]] = []
    for path in RUNS.iterdir():
        with contextlib.suppress(LanelabError):
            dated += [(created, path) for created, name in _read(path, _ABOUT) if run in (LATEST, name)]
    return max(dated)[1] if dated else None
