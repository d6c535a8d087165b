"""Runs the study of an artifact here, and compares it with the run in the artifact."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lanelab.analysis.results.study.page import write_study_report
from lanelab.analysis.results.study.run import ReadStudyRun, is_study_run, read_about, read_study_run
from lanelab.analysis.results.verification import verify
from lanelab.driver.api.beds import BedOptions
from lanelab.driver.api.session import Means
from lanelab.driver.api.studies import AskedStudy, begin_study, play_study
from lanelab.driver.api.study_run import StudyAgreement, StudyRun, open_study_run
from lanelab.driver.base.errors import ArtifactError, InputError
from lanelab.driver.run.events import Notice
from lanelab.driver.run.folder.format import RUNS
from lanelab.driver.run.study.archive import ROOT
from lanelab.driver.run.study.check import PAGE, Unpacked, its_sites, opened
from lanelab.driver.run.study.figures import Wishes, chosen
from lanelab.driver.run.study.read import StudyFolder, read_study_folder
from lanelab.driver.run.study.run_folder import COPIES, sha256

NAME_ENDS = (".gz", ".tar")
DISTRUST = "Do not trust this archive"


@dataclass(frozen=True, slots=True)
class StudyCheck:
    """An artifact that was unpacked and verified. `there`: the run that it has."""

    unpacked: Unpacked
    there: ReadStudyRun

    def figures(self, numbers: Sequence[int]) -> Sequence[int]:
        """Return the numbers of these figures; without any, of all. Raises InputError where the study has not one."""
        return chosen(self.there.about.study, numbers)

    def run(
        self,
        figures: Sequence[int],
        bed: BedOptions,
        means: Means,
        *,
        trials: int | None = None,
        beds: int | None = None,
        run_programs: bool = False,
    ) -> bool:
        """Run those of the figures that are not finished. Return whether one could not be run."""
        about, here = self.there.about, self.unpacked.here
        instead = Wishes(trials or about.trials, beds or about.beds, about.scale)
        request = AskedStudy(instead, about.variant or None, figures, about.seed, here, bed)
        with its_sites(self.unpacked, run_programs=run_programs) as sites:
            for site in sites:
                means.tell(Notice(f"site {site}"))
            study = read_study_folder(str(self.unpacked.run / COPIES / about.study.name))
            self._require_its_experiments(study)
            if is_study_run(here):
                begun = read_about(here)
                if (begun.trials, begun.beds) != (instead.trials, instead.beds):
                    what = f"the run in {here} has begun with other trials or beds"
                    raise InputError(what, "Go on with the same, or name another folder", key="--out")
            else:
                _, begun = begin_study(study, request, means.tell)
            remedy = f"Go on with the same command and --out {self.unpacked.folder}"
            played = play_study(here, begun, figures, bed, means, remedy)
            write_study_report(here)
        return bool(played.failed)

    def _require_its_experiments(self, study: StudyFolder) -> None:
        for each in self.there.about.figures:
            if sha256(study.texts[each.figure]) != each.experiment_sha256:
                what = f"the experiment of figure {each.figure} in the archive is not the one that was run there"
                raise ArtifactError(what, DISTRUST)

    def compare(self, figures: Sequence[int], here: str | Path | None = None) -> StudyAgreement:
        """Compare the run in the artifact with the one that was made here, or with another one of this name."""
        return StudyRun(self.there).against(open_study_run(here or self.unpacked.here), figures)

    def write(self, agreement: StudyAgreement) -> Path:
        """Write a comparison beside what was unpacked. Return its file."""
        same = "" if agreement.all_agree else " Not every verdict is the same in both."
        introduction = f"The first run is that of the archive, the other one was made here.{same}"
        page = self.unpacked.folder / PAGE
        agreement.write_markdown(page, [introduction])
        return page


def open_check(archive: Path, folder: Path | None = None) -> StudyCheck:
    """Unpack an artifact, by default below `runs`. Raises ChangedError where it has other results or captures than it
    says itself."""
    unpacked = opened(archive, folder or RUNS / f"check-{_stem(archive)}")
    there = read_study_run(unpacked.run)
    for run in filter(None, there.runs.values()):
        verify(run.folder, files=unpacked.about.captures).require(DISTRUST)
    return StudyCheck(unpacked, there)


def _stem(archive: Path) -> str:
    name = archive.name
    for end in NAME_ENDS:
        name = name.removesuffix(end)
    return name or ROOT
