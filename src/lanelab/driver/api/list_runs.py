"""The runs in a folder: lanelab.runs."""

from pathlib import Path

from lanelab.analysis.results.runs import RunLine
from lanelab.analysis.results.study.runs import list_all_runs
from lanelab.driver.run.folder.format import RUNS


def runs(folder: str | Path = RUNS) -> list[RunLine]:
    """Return a line for each run of an experiment or a study directly in this folder, the newest last. One that cannot
    be read is listed too, with the `problem`."""
    return list_all_runs(Path(folder))
