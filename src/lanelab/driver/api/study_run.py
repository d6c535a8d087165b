"""A run of a study that was opened: its verdicts, its report, and how it agrees with another run of the study."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from lanelab.analysis.results.layout.data import data_of
from lanelab.analysis.results.report.atomic_files import write_whole
from lanelab.analysis.results.sections.compare import comparison_markdown
from lanelab.analysis.results.sections.compare import study_sections as comparison_sections
from lanelab.analysis.results.sections.study import figures_section, verdicts_section
from lanelab.analysis.results.study.claim_verdicts import JudgedStudy
from lanelab.analysis.results.study.compare import StudyComparison, compare_studies, names_of
from lanelab.analysis.results.study.page import judge_study, write_page
from lanelab.analysis.results.study.run import ReadStudyRun, read_study_run
from lanelab.analysis.results.study.runs import find_study_run
from lanelab.driver.api.result import Result
from lanelab.driver.base.coded import Json
from lanelab.driver.base.errors import LanelabError
from lanelab.driver.experiment.claim import Claim
from lanelab.driver.run.folder.format import LATEST
from lanelab.driver.run.study.study import StudyRun as AboutStudyRun

if TYPE_CHECKING:
    from lanelab.driver.api.study_data import StandingJson

DATA = "data"  # the folder of tables, in that of the run


@dataclass(frozen=True, slots=True)
class StudyRun:
    """A run of a study as its folder had it when it was opened."""

    data: ReadStudyRun

    @property
    def folder(self) -> Path:
        return self.data.folder

    @property
    def title(self) -> str:
        """Return the study, its variant, and when the run began."""
        about = self.data.about
        variant = f", variant {about.variant}" if about.variant else ""
        return f"{about.study.name}{variant}, begun {about.created_utc[:16].replace('T', ' ')} UTC"

    @property
    def unwritten(self) -> str:
        """Return what of the study still is as the skeleton has it; empty where nothing is."""
        from lanelab.driver.run.study.placeholders import unwritten
        from lanelab.driver.run.study.run_folder import COPIES

        study = self.data.about.study
        return unwritten(self.folder / COPIES / study.name, study)

    def judge(self) -> "StudyVerdicts":
        """Return the verdicts on the claims that it began with. One that the study has otherwise now says so."""
        claims, caution = _claims_now(self.data.about)
        judged = judge_study(self.data, claims)
        return StudyVerdicts((verdicts_section(judged, self.data.caveats()),), self.data, judged, caution)

    def against(self, other: "StudyRun", figures: Sequence[int] = ()) -> "StudyAgreement":
        """Return how another run agrees with this one: verdicts, effects and medians. figures: of these alone."""
        one, two = ((run.data, judge_study(run.data)) for run in (self, other))
        comparison = compare_studies(one, two, figures=figures)
        return StudyAgreement(tuple(comparison_sections(comparison)), comparison)


def open_study_run(name: str | Path = LATEST) -> StudyRun:
    """Return the run of a study in a folder, of a name in ./runs, or the latest there. Raises InputError."""
    return StudyRun(read_study_run(find_study_run(str(name))))


def _claims_now(about: AboutStudyRun) -> tuple[dict[int, Sequence[Claim]] | None, str]:
    """Return the claims of each figure as the study has them now; None, and why, where it cannot be read."""
    from lanelab.driver.run.study.read import read_study_folder

    try:
        experiments = read_study_folder(about.study.name).experiments(about.variant)
    except LanelabError as error:
        what = "cannot check whether claims were changed since: the study as it is now cannot be read"
        return None, f"{what} ({error})"
    return {number: experiment.claims for number, experiment in experiments.items()}, ""


@dataclass(frozen=True, slots=True, repr=False)
class StudyVerdicts(Result):
    """The verdicts of a run of a study. caution: what could not be checked; empty where nothing is."""

    data: ReadStudyRun
    judged: JudgedStudy
    caution: str

    def to_json(self) -> "StandingJson":
        """Return what `lanelab study show RUN --json` prints."""
        from lanelab.driver.api.study_data import standing_json

        return standing_json(self.data, self.judged)

    def standing(self) -> Result:
        """Return how far each figure is, and the verdicts so far."""
        return Result((figures_section(self.data), *self.sections))

    def report(self, path: Path | None = None) -> Path:
        """Write the report: one page, in the folder of the run unless `path` says otherwise."""
        return write_page(self.data, self.judged, path)

    def write_markdown(self, folder: Path, kind: Literal["svg", "png"] = "svg") -> list[Path]:
        """Write report.md, with its figures beside it. Returns the files."""
        from lanelab.analysis.results.study.markdown import write_markdown

        return write_markdown(self.data, self.judged, folder, kind)

    def write_data(self, folder: Path | None = None, kind: Literal["csv", "parquet"] = "csv") -> list[Path]:
        """Write tables of figures and claims, in the folder `data` of the run unless `folder` says otherwise."""
        from lanelab.analysis.results.study.data import write_data

        return write_data(self.data, self.judged, folder or self.data.folder / DATA, kind)


@dataclass(frozen=True, slots=True, repr=False)
class StudyAgreement(Result):
    """Two runs of one study side by side."""

    comparison: StudyComparison

    @property
    def all_agree(self) -> bool:
        """Return whether there are verdicts, and each is the same in both."""
        return self.comparison.all_agree

    def runs(self) -> list[str]:
        """Return what each run is called, with its folder, its variant and when it began."""
        lines = []
        for name, read in zip(names_of(self.comparison), (self.comparison.first, self.comparison.other), strict=True):
            variant = f", variant {read.about.variant}" if read.about.variant else ""
            lines.append(f"{name}: {read.folder}{variant}, begun {read.about.created_utc}")
        return lines

    def to_json(self) -> dict[str, Json]:
        """Return what `lanelab study compare --json` prints."""
        return dict(data_of(self.comparison))

    def write_markdown(self, path: Path, before: Sequence[str] = ()) -> None:
        """Write the same as Markdown. before: paragraphs at its beginning."""
        write_whole(path, comparison_markdown(self.comparison, before).encode())
