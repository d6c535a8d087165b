"""All studies that were run on one page: what each work said, and which of it holds."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lanelab.analysis.results.report.atomic_files import write_whole
from lanelab.analysis.results.study.matrix import Matrix, MatrixJson, MatrixRun
from lanelab.analysis.results.study.page import judge_study, study_page
from lanelab.analysis.results.study.run import ReadStudyRun, is_study_run, read_study_run
from lanelab.analysis.results.study.runs import find_study_run
from lanelab.driver.api.result import Result
from lanelab.driver.base.errors import InputError, LanelabError
from lanelab.driver.run.folder.format import RUNS

INDEX = "index.html"


@dataclass(frozen=True, slots=True, repr=False)
class StudyMatrix(Result):
    """The newest run of each variant of each study. `unreadable`: folders that cannot be read, and why."""

    matrix: Matrix
    unreadable: tuple[str, ...] = ()

    def to_json(self) -> MatrixJson:
        """Return what `lanelab study matrix --json` prints."""
        return self.matrix.to_json()

    def write(self, folder: Path) -> Path:
        """Write the page and the report of each run beside it. Returns the page."""
        for run in self.matrix.runs:
            write_whole(folder / run.report, study_page(run.read, run.judged).encode())
        write_whole(folder / INDEX, self.matrix.page().encode())
        return folder / INDEX


def study_matrix(names: Sequence[str | Path] = (), runs: Path = RUNS) -> StudyMatrix:
    """Return the matrix of these runs of studies; without any, of all in the folder `runs`. Of several runs of a study
    and variant the newest counts. Raises InputError where there is none."""
    unreadable = []
    newest: dict[tuple[str, str], ReadStudyRun] = {}
    for folder in [find_study_run(str(name)) for name in names] or _folders(runs):
        try:
            read = read_study_run(folder)
        except LanelabError as error:
            unreadable.append(str(error))
            continue
        key = (read.about.study.name, read.about.variant)
        if key not in newest or read.about.created_utc > newest[key].about.created_utc:
            newest[key] = read
    if not newest:
        remedy = "Make one: lanelab study run NAME, or name the folders of runs"
        raise InputError(f"there is no run of a study in {runs} that can be read", remedy)
    matrix = Matrix(tuple(MatrixRun(read, judge_study(read), _report(*key)) for key, read in sorted(newest.items())))
    return StudyMatrix((matrix.section(),), matrix, tuple(unreadable))


def _folders(runs: Path) -> list[Path]:
    return sorted(path for path in runs.iterdir() if is_study_run(path)) if runs.is_dir() else []


def _report(study: str, variant: str) -> str:
    return "-".join(filter(None, [study, variant])) + ".html"
