"""A study reproduces one published work: what its folder says, and what a run of it leaves. Pure data.

A study is a folder in experiments/ with study.yaml and an experiment file for each figure. A run of it is a folder with
`study.json`, and the run folder of each figure below it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from lanelab.driver.base.coded import Coded
from lanelab.driver.bed.kept_bed import KeptBed

STUDY_RUN_FILE = "study.json"
STUDY_REPORT = "report.html"
STUDY_RUN_FORMAT = 2
REFERENCE = re.compile(r"(?P<study>[^\s#]+)#(?P<number>\S*)")  # of an experiment's claim to one of the published work


@dataclass(frozen=True, slots=True)
class PublishedClaim(Coded):
    """A statement of the published work, in its words. Claims of the figures refer to it as "STUDY#NUMBER"."""

    number: int
    says: str
    note: str  # what of it cannot be checked, or how it is; "" where there is nothing to say


@dataclass(frozen=True, slots=True)
class StudyFigure(Coded):
    """One figure or table of the published work, which one experiment file reproduces."""

    number: int
    title: str
    file: str  # the experiment's, within the study's folder
    caption: str  # what the published figure shows, and what is not known of it


@dataclass(frozen=True, slots=True)
class Difference(Coded):
    """A difference from how it was in the published work."""

    what: str
    then: str
    now: str
    effect: str  # what it is likely to change, or was measured to


@dataclass(frozen=True, slots=True)
class Study(Coded):
    """The content of study.yaml."""

    name: str  # of its folder
    title: str
    source: str  # the published work, as one would cite it
    description: str
    variants: Mapping[str, str]  # those that each of its experiments has, with what they stand for; the first is the
    # one that is run unless another is asked for
    figures: tuple[StudyFigure, ...]
    claims: tuple[PublishedClaim, ...]
    differences: tuple[Difference, ...]


@dataclass(frozen=True, slots=True)
class FigureRun(Coded):
    """One figure's part of a run."""

    figure: int
    folder: str  # the run folder, within that of the study's run
    experiment_sha256: str  # of the file as it was when the run began


@dataclass(frozen=True, slots=True)
class StudyRun(Coded):
    """The content of `study.json`: written when the run begins, and never changed."""

    format: int
    study: Study  # as it was then
    variant: str  # "" where the study has none
    created_utc: str
    lanelab: str
    seed: int  # from which the figures' seeds are made
    trials: int | None  # instead of the experiments'
    beds: int | None
    scale: float | None  # of loads
    bed: KeptBed  # how beds are made, as a figure's run has it under the same name
    figures: tuple[FigureRun, ...]  # all of the study's, also those that have not begun


def published_number(source: str) -> int | None:
    """Return the number of the published claim that a source names; None where it is any text."""
    match = REFERENCE.fullmatch(source.strip())
    return int(match["number"]) if match and match["number"].isdecimal() else None
