"""The runs in a folder, and which one a name means."""

import difflib
from dataclasses import dataclass
from pathlib import Path

from lanelab.analysis.results.run_folder import read_run
from lanelab.analysis.results.run_summary import is_run, summary
from lanelab.driver.base.coded import Coded
from lanelab.driver.base.errors import InputError, LanelabError
from lanelab.driver.run.folder import format as run_format
from lanelab.driver.run.folder.format import LATEST, RUNS
from lanelab.driver.run.study.study import STUDY_RUN_FILE


@dataclass(frozen=True, slots=True)
class RunLine(Coded):
    """One line of the list. A run that cannot be read is listed too, with the reason."""

    name: str
    folder: Path
    created_utc: str
    state: str
    trials: int
    failures: int
    problem: str = ""
    kind: str = "experiment"  # or study: what it is a run of


def list_runs(folder: Path = RUNS) -> list[RunLine]:
    """Return the runs directly in this folder, the newest last."""
    folders = _run_folders(folder)
    return sorted((_line(path) for path in folders), key=lambda line: (line.created_utc, line.folder.name))


def _run_folders(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if is_run(path))
    except FileNotFoundError:
        return []
    except NotADirectoryError:
        raise InputError(f"{folder} is not a folder", "Name the folder that has the runs") from None


def _line(path: Path) -> RunLine:
    try:
        run = read_run(path)
    except LanelabError as error:
        return RunLine(path.name, path, "", "unreadable", 0, 0, str(error))
    return RunLine(run.name, path, run.created_utc, run.state, len(run.ok), len(run.failed))


def find_run(name: str, folder: Path = RUNS) -> Path:
    """Return the folder that is meant by a path, the name of a folder in ./runs, the name of an experiment, or
    `latest`."""
    for path in (Path(name), folder / name):  # the latter also of a study's run and a figure: RUN/figure-1
        if (path / run_format.DATABASE).is_file():
            return path
    path = Path(name)
    if path.name == run_format.DATABASE and path.is_file():
        return path.parent
    lines = sorted(map(summary, _run_folders(folder)), key=lambda line: (line.created_utc, line.folder.name))
    if name == LATEST:
        readable = [line for line in lines if not line.problem]
        if lines and not readable:
            raise InputError(f"no run in {folder} can be read", "lanelab runs says why")
        if not readable:
            raise InputError(f"there is no run in {folder} yet", "Make one: lanelab run EXPERIMENT")
        return readable[-1].folder
    exact = [line.folder for line in lines if line.folder.name == name]
    named = exact or [line.folder for line in lines if line.name == name]
    if named:
        return named[-1]  # the newest
    if (path / STUDY_RUN_FILE).is_file() or (folder / name / STUDY_RUN_FILE).is_file():
        what = f"{name} is a study's run, which has a run for each figure"
        raise InputError(what, f"Name one, like {name}/figure-1, or use lanelab study show {name}")
    if path.is_dir():
        raise InputError(f"{path} is not the folder of a run", "Name a run: lanelab runs lists them")
    near = difflib.get_close_matches(name, [n for line in lines for n in (line.folder.name, line.name)], n=1)
    meant = f"Did you mean {near[0]}? " if near else ""
    raise InputError(f"there is no run {name!r} in {folder}", f"{meant}lanelab runs lists them, `latest` is the newest")
