"""All studies that were run on one page: what each work said, and which of it holds."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lanelab.analysis.results.report.atomic_files import write_whole
from lanelab.analysis.results.study.matrix import Matrix, MatrixJson
from lanelab.analysis.results.study.matrix_runs import FoundRun, newest_runs
from lanelab.analysis.results.study.page import study_page
from lanelab.analysis.results.study.run import is_study_run, read_study_run
from lanelab.analysis.results.study.runs import find_study_run
from lanelab.driver.api.check_study import open_check
from lanelab.driver.api.result import Result
from lanelab.driver.base.errors import InputError, LanelabError
from lanelab.driver.base.paths import build_folder
from lanelab.driver.run.folder.format import RUNS
from lanelab.driver.run.study.archive import file_digest
from lanelab.driver.run.study.study import STUDY_RUN_FILE

INDEX = "index.html"
UNPACKED = "artifacts"  # in the build folder: each archive that was read, by its digest
DIGITS = 16


@dataclass(frozen=True, slots=True, repr=False)
class StudyMatrix(Result):
    """The newest runs of each variant of each study. `unreadable`: what cannot be read, and why."""

    matrix: Matrix
    unreadable: tuple[str, ...] = ()

    def to_json(self) -> MatrixJson:
        """Return what `lanelab study matrix --json` prints."""
        return self.matrix.to_json()

    def write(self, folder: Path) -> Path:
        """Write the page and the report of each run beside it. Returns the page."""
        for share in (share for run in self.matrix.runs for share in run.shares):
            write_whole(folder / share.report, study_page(share.read, share.judged).encode())
        write_whole(folder / INDEX, self.matrix.page().encode())
        return folder / INDEX


def study_matrix(names: Sequence[str | Path] = (), runs: Path = RUNS) -> StudyMatrix:
    """Return the matrix of these runs of studies, each a folder or the artifact that one was packed as; without any, of
    all in the folder `runs`. Of several runs of a study and variant the newest that has a figure counts for it. Raises
    InputError where there is none."""
    readable: list[FoundRun] = []
    unreadable: list[str] = []
    for place in [_place(str(name)) for name in names] or _folders(runs):
        try:
            readable.append(_read(place))
        except LanelabError as error:
            unreadable.append(str(error))
    if not readable:
        where = "among what was named" if names else f"in {runs}"
        remedy = unreadable[0] if unreadable else "Make one: lanelab study run NAME, or name the folders of runs"
        raise InputError(f"there is no run of a study {where} that can be read", remedy)
    matrix = Matrix(newest_runs(readable))
    return StudyMatrix(matrix.sections(), matrix, tuple(unreadable))


def _place(name: str) -> Path:
    """Return the artifact or the folder that is meant. Raises InputError where there is neither."""
    path = Path(name)
    return path if path.is_file() and path.name != STUDY_RUN_FILE else find_study_run(name)


def _read(place: Path) -> FoundRun:
    if not place.is_file():
        return FoundRun(read_study_run(place), str(place))
    digest = file_digest(place)
    check = open_check(place, build_folder() / UNPACKED / digest[:DIGITS])
    return FoundRun(check.there, str(place), digest)


def _folders(runs: Path) -> list[Path]:
    return sorted(path for path in runs.iterdir() if is_study_run(path)) if runs.is_dir() else []
