"""The runs of studies in a folder, and which one a name means."""

import difflib
from pathlib import Path

from lanelab.analysis.results.runs import RunLine, find_run, list_runs
from lanelab.analysis.results.study.run import is_study_run, read_about, read_study_run
from lanelab.driver.base.errors import InputError, LanelabError
from lanelab.driver.run.folder import format as run_format
from lanelab.driver.run.folder.format import LATEST, RUNS
from lanelab.driver.run.study.study import STUDY_RUN_FILE


def list_all_runs(folder: Path = RUNS) -> list[RunLine]:
    """Return runs of experiments and of studies directly in this folder, the newest last. A study's run is one line."""
    lines = list_runs(folder)
    there = sorted(folder.iterdir()) if folder.is_dir() else []
    lines += [_line(path) for path in there if is_study_run(path)]
    return sorted(lines, key=lambda line: (line.created_utc, line.folder.name))


def _line(path: Path) -> RunLine:
    try:
        read = read_study_run(path)
    except LanelabError as error:
        return RunLine(path.name, path, "", "unreadable", 0, 0, str(error), "study")
    begun = [run for run in read.runs.values() if run]
    finished = sum(run.state == "finished" for run in begun)
    done = f"{finished} of {len(read.runs)} figures"
    state = done if finished < len(read.runs) else "finished"
    return RunLine(
        name=" ".join(filter(None, ["study", read.about.study.name, read.about.variant])),
        folder=path,
        created_utc=read.about.created_utc,
        state=f"running, {done}" if any(run.state == "running" for run in begun) else state,
        trials=sum(len(run.ok) for run in begun),
        failures=sum(len(run.failed) for run in begun),
        kind="study",
    )


def find_study_run(name: str, folder: Path = RUNS) -> Path:
    """Return the folder that is meant by a path, the name of a folder in ./runs, the name of a study, or `latest`."""
    path = Path(name)
    if is_study_run(path):
        return path
    if path.name == STUDY_RUN_FILE and path.is_file():
        return path.parent
    if (path / run_format.DATABASE).is_file():
        raise InputError(f"{path} is the run of an experiment, and not of a study", "Use lanelab show and run for it")
    known = _known(folder)
    if name == LATEST:
        if not known:
            raise InputError(f"there is no run of a study in {folder} yet", "Make one: lanelab study run NAME")
        return known[-1][1]
    named = [place for _, place in known if place.name == name] or [place for study, place in known if study == name]
    if named:
        return named[-1]  # the newest
    if path.is_dir():
        what = f"{path} is not the folder of a study's run"
        raise InputError(what, "If its beginning was interrupted, begin again: lanelab study run NAME")
    near = difflib.get_close_matches(name, [word for study, place in known for word in (study, place.name)], n=1)
    meant = f"Did you mean {near[0]}? " if near else ""
    remedy = f"{meant}lanelab runs lists them, `latest` is the newest"
    raise InputError(f"there is no run of a study {name!r} in {folder}", remedy)


def _known(folder: Path) -> list[tuple[str, Path]]:
    """Return the name of the study and the folder of each run that can be read, the newest last."""
    known = []
    for path in folder.iterdir() if folder.is_dir() else []:
        if is_study_run(path):
            try:
                about = read_about(path)
            except LanelabError:
                continue
            known.append((about.created_utc, about.study.name, path))
    return [(name, path) for _, name, path in sorted(known)]


def run_folders(name: str) -> list[Path]:
    """Return the folder of the run, or those of the figures of a study's run."""
    try:
        return [find_run(name)]
    except InputError as no_run:
        try:
            folder = find_study_run(name)
        except InputError:
            raise no_run from None
        figures = [folder / each.folder for each in read_about(folder).figures]
        return [figure for figure in figures if (figure / run_format.DATABASE).is_file()]
