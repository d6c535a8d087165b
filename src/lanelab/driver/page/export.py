"""The pages as plain files, for any web server."""

from pathlib import Path

from lanelab.analysis.results.report.atomic_files import write_whole
from lanelab.driver.base.errors import LanelabError
from lanelab.driver.page import run_view
from lanelab.driver.page.documents import static_files
from lanelab.driver.page.library import Wanted, library
from lanelab.driver.page.shelf import Shelf


def export_pages(folder: Path, target: Path) -> tuple[int, list[str]]:
    """Write the library, and each run's page and report, below `target`. Returns how many runs there are, and what
    could not be read."""
    shelf = Shelf(folder)
    lines, problems = shelf.lines(), list[str]()
    for name in lines:
        try:
            run = shelf.run(name)
            if run is not None:
                _write(target / "runs" / name / "index.html", run_view.run_page(name, run.data, plain=True))
                _write(target / "runs" / name / "report" / "index.html", run_view.report_page(run.data))
        except LanelabError as error:
            problems.append(str(error))
    for name, (_, text) in static_files().items():
        _write(target / "static" / name, text)
    _write(target / "index.html", library(lines, Wanted(), plain=True))
    return len(lines) - len(problems), problems


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, text.encode())
