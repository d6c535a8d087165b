"""The pages as plain files, for any web server."""

from pathlib import Path

from lanelab.analysis.results.report.atomic_files import write_whole
from lanelab.analysis.results.run_summary import require_folder
from lanelab.driver.base.errors import InputError, LanelabError
from lanelab.driver.page import run_view
from lanelab.driver.page.documents import SCRIPT, static_files
from lanelab.driver.page.library import Wanted, library
from lanelab.driver.page.shelf import Shelf

STATIC = "static"  # what an earlier export has left, by which it is known


def export_pages(folder: Path, target: Path) -> tuple[int, list[str]]:
    """Write the library, and each run's page and report, below `target`. Returns how many runs there are, and what
    could not be read."""
    require_folder(folder)
    _require_apart(folder, target)
    shelf = Shelf(folder)
    lines, problems = shelf.lines(), list[str]()
    for name in lines:
        try:
            run = shelf.run(name)
            if run is not None:
                _write(target / "runs" / name / "index.html", run_view.run_page(run.data, plain=True))
                _write(target / "runs" / name / "report" / "index.html", run_view.report_page(run.data))
        except LanelabError as error:
            problems.append(str(error))
    for name, (_, text) in static_files().items():
        _write(target / STATIC / name, text)
    _write(target / "index.html", library(lines, Wanted(), plain=True))
    return len(lines) - len(problems), problems


def _require_apart(folder: Path, target: Path) -> None:
    """Nothing is written into runs, nor over what somebody else has put there."""
    here, there = folder.resolve(), target.resolve()
    if here == there or here in there.parents or there in here.parents:
        raise InputError(f"{target} has the runs in it, or is among them", "Name a folder apart", key="--export")
    if there.is_dir() and any(there.iterdir()) and not (there / STATIC / SCRIPT).is_file():
        raise InputError(f"{target} is not empty, and has no pages of lanelab", "Name another one", key="--export")


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, text.encode())
