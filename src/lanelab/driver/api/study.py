"""A study in experiments/: what it claims, which experiment checks it, and what its figures take."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from lanelab.driver.experiment.model import Experiment
from lanelab.driver.experiment.schedule.estimate import Estimate
from lanelab.driver.experiment.shipped import STUDY_FILE, studies
from lanelab.driver.run.study.figures import chosen_variant
from lanelab.driver.run.study.placeholders import unwritten
from lanelab.driver.run.study.read import StudyFolder, is_here, read_study_folder
from lanelab.driver.run.study.study_progress import costs

if TYPE_CHECKING:
    from lanelab.driver.api.result import Result
    from lanelab.driver.api.study_data import StudyJson

__all__ = ["Study", "StudyLine", "UnreadableStudy", "is_study", "studies", "study"]


class Seconds(TypedDict):
    least: float
    most: float


class UnreadableStudy(TypedDict):
    """A study in the list that cannot be read."""

    name: str
    problem: str


class StudyLine(TypedDict):
    """A study in the list."""

    name: str
    title: str
    figures: int
    published_claims: int
    claims: int  # of its experiments
    variants: dict[str, str]
    seconds: Seconds
    problem: str


@dataclass(frozen=True, slots=True)
class Study:
    """A study with one of its variants."""

    data: StudyFolder
    variant: str
    experiments: Mapping[int, Experiment]
    estimates: Mapping[int, Estimate]

    @property
    def place(self) -> str:
        """Return what `lanelab study run` calls it: its name, or its folder."""
        name = self.data.study.name
        return name if name in studies() else str(self.data.folder)

    @property
    def unwritten(self) -> str:
        """Return what of it still is as the skeleton has it; empty where nothing is."""
        return unwritten(self.data.folder, self.data.study)

    @property
    def seconds(self) -> tuple[float, float]:
        """Return how long its figures take: the least and the most."""
        every = self.estimates.values()
        return sum(one.seconds for one in every), sum(one.most_seconds for one in every)

    def line(self) -> StudyLine:
        """Return what `lanelab study list --json` prints of it."""
        whole, (least, most) = self.data.study, self.seconds
        return {
            "name": whole.name,
            "title": whole.title,
            "figures": len(whole.figures),
            "published_claims": len(whole.claims),
            "claims": sum(len(one.claims) for one in self.experiments.values()),
            "variants": dict(whole.variants),
            "seconds": {"least": round(least, 1), "most": round(most, 1)},
            "problem": "",
        }

    def result(self) -> "Result":
        """Return what it claims, what checks that, and what its figures take, as `lanelab study show` prints it."""
        from lanelab.driver.api.result import Result
        from lanelab.driver.api.study_data import study_sections

        return Result(tuple(study_sections(self.data.study, self.variant, self.experiments, self.estimates)))

    def to_json(self) -> "StudyJson":
        """Return what `lanelab study show --json` prints."""
        from lanelab.driver.api.study_data import study_json

        return study_json(self.data, self.variant, self.experiments, self.estimates)


def study(name: str, variant: str | None = None) -> Study:
    """Return the study of a name, or in a folder, with that variant, else the first. Raises InputError."""
    read = read_study_folder(name)
    chosen = chosen_variant(read.study, variant)
    experiments = read.experiments(chosen)
    return Study(read, chosen, experiments, costs(experiments))


def is_study(name: str) -> bool:
    """Return whether a name means a study, and not a run of one."""
    return is_here(name) or Path(name).name == STUDY_FILE
