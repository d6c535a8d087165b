"""What a study is and what its figures take, and how far a run of it is: laid out, and as JSON."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import TypedDict, cast

from lanelab.analysis.results.layout.model import Column, Section, Words, table, words
from lanelab.analysis.results.study.claim_verdicts import JudgedStudy
from lanelab.analysis.results.study.run import ReadStudyRun
from lanelab.driver.api.plan_words import build_words
from lanelab.driver.api.plans import FirstBuildJson, TimeRange, WholeRange
from lanelab.driver.base.amounts import from_to, size
from lanelab.driver.bed.kept_bed import KeptBed
from lanelab.driver.experiment.claim import Claim
from lanelab.driver.experiment.model import Experiment
from lanelab.driver.experiment.schedule.estimate import Estimate
from lanelab.driver.run.built_programs import still_to_build
from lanelab.driver.run.study.read import StudyFolder
from lanelab.driver.run.study.study import Difference, PublishedClaim, Study, StudyFigure, published_number


def checked_by(experiments: Mapping[int, Experiment]) -> dict[int, list[str]]:
    """Return for each published claim the claims of the experiments."""
    checks: dict[int, list[str]] = {}
    for number, experiment in experiments.items():
        for claim in experiment.claims:
            published = published_number(claim.source)
            if published is not None:
                checks.setdefault(published, []).append(f"{number}: {claim.name}")
    return checks


@dataclass(frozen=True, slots=True)
class _Figure:
    figure: StudyFigure
    cells: int
    cost: Estimate


FIGURES = (
    Column[_Figure]("figure", lambda each: each.figure.number, number=True),
    Column[_Figure]("title", lambda each: each.figure.title),
    Column[_Figure]("experiment", lambda each: each.figure.file),
    Column[_Figure]("cells", lambda each: each.cells, number=True),
    Column[_Figure]("trials", lambda each: each.cost.trials, number=True),
    Column[_Figure]("beds", lambda each: each.cost.beds, number=True),
    Column[_Figure]("time", lambda each: from_to(each.cost.seconds, each.cost.most_seconds), number=True),
    Column[_Figure]("disk", lambda each: size(each.cost.most_disk_bytes), number=True),
)
DIFFERENCES = (
    Column[Difference]("difference", lambda each: each.what),
    Column[Difference]("then", lambda each: each.then),
    Column[Difference]("now", lambda each: each.now),
    Column[Difference]("effect", lambda each: each.effect),
)


def study_sections(
    study: Study, variant: str, experiments: Mapping[int, Experiment], estimates: Mapping[int, Estimate]
) -> Iterator[Section]:
    """Lay out what a study claims, which experiment checks it, and what its figures take."""
    variants = (
        f"variant {name}{' (shown here)' if name == variant else ''}: {meaning}"
        for name, meaning in study.variants.items()
    )
    about = (Words(study.title, "strong"), *words([study.source, study.description and f"\n{study.description}"]))
    yield Section("study", study.title, (*about, *words(variants), Words("")))
    figures = [
        _Figure(figure, len(experiments[figure.number].cells), estimates[figure.number]) for figure in study.figures
    ]
    yield Section("figures", "Figures", (table(FIGURES, figures), Words("")))
    checked = {number: "\n".join(names) for number, names in checked_by(experiments).items()}
    claims = (
        Column[PublishedClaim]("claim", lambda claim: claim.number, number=True),
        Column[PublishedClaim]("published", lambda claim: claim.says),
        Column[PublishedClaim]("checked by (figure: claim)", lambda claim: checked.get(claim.number)),
        Column[PublishedClaim]("note", lambda claim: claim.note),
    )
    yield Section("claims", "Claims", (table(claims, study.claims), Words("")))
    if study.differences:
        yield Section("differences", "Differences", (table(DIFFERENCES, study.differences), Words("")))
    yield Section("total", "Total", (Words(f"in all: {_total(experiments, estimates)}"),))


def _total(experiments: Mapping[int, Experiment], estimates: Mapping[int, Estimate]) -> str:
    every = estimates.values()
    build = still_to_build(experiments.values())
    seconds = sum(one.seconds for one in every) + build.seconds
    most_s = sum(one.most_seconds for one in every) + build.seconds
    included = f" ({build_words(build)} included)" if build.seconds else ""
    disk = size(sum(one.most_disk_bytes for one in every))
    return f"{sum(one.trials for one in every)} trials, about {from_to(seconds, most_s)}{included}, {disk}"


class FigureJson(TypedDict):
    """A figure of a study, and what it takes."""

    number: int
    title: str
    file: str
    caption: str
    cells: int
    trials: WholeRange
    beds: WholeRange
    seconds: TimeRange
    disk_bytes: WholeRange
    claims: list[Claim]


class StudyJson(TypedDict):
    """A study with one of its variants."""

    name: str
    title: str
    source: str
    description: str
    variants: dict[str, str]
    figures: list[FigureJson]
    claims: list[PublishedClaim]
    differences: list[Difference]
    variant: str
    first_build: FirstBuildJson


def study_json(
    read: StudyFolder, variant: str, experiments: Mapping[int, Experiment], estimates: Mapping[int, Estimate]
) -> StudyJson:
    data = read.study.to_json()
    figures = []
    for figure in read.study.figures:
        cost = estimates[figure.number]
        figures.append(
            {
                **figure.to_json(),
                "cells": len(experiments[figure.number].cells),
                "trials": {"least": cost.trials, "most": cost.most_trials},
                "beds": {"least": cost.beds, "most": cost.most_beds},
                "seconds": {"least": round(cost.seconds, 1), "most": round(cost.most_seconds, 1)},
                "disk_bytes": {"least": cost.disk_bytes, "most": cost.most_disk_bytes},
                "claims": [claim.to_json() for claim in experiments[figure.number].claims],
            }
        )
    first = asdict(still_to_build(experiments.values()))
    return cast("StudyJson", {**data, "variant": variant, "first_build": first, "figures": figures})


class FigureStanding(TypedDict):
    """The state of a figure of a run."""

    figure: int
    folder: str
    state: str
    trials: int
    failures: int


class VerdictJson(TypedDict):
    """The verdict on a claim so far."""

    figure: int
    claim: str
    source: str
    verdict: str
    detail: str
    p: float | None
    adjusted_p: float | None
    changed: bool
    why: str


class StandingJson(TypedDict):
    """The state of a run of a study: what it began with, its figures, and the verdicts so far."""

    format: int
    study: Study
    variant: str
    created_utc: str
    lanelab: str
    seed: int
    trials: int | None
    beds: int | None
    scale: float | None
    bed: KeptBed
    folder: str
    figures: list[FigureStanding]
    verdicts: list[VerdictJson]


def standing_json(read: ReadStudyRun, judged: JudgedStudy) -> StandingJson:
    """Return how far each figure is, and the verdicts so far."""
    figures = [
        {
            "figure": number,
            "folder": str(read.folder / f"figure-{number}"),
            "state": run.state if run else "not begun",
            "trials": len(run.ok) if run else 0,
            "failures": len(run.failed) if run else 0,
        }
        for number, run in read.runs.items()
    ]
    given = [
        {
            "figure": one.figure,
            "claim": one.judged.claim.name,
            "source": one.judged.claim.source,
            "verdict": str(one.judged.verdict),
            "detail": one.judged.detail,
            "p": one.judged.p,
            "adjusted_p": one.adjusted_p,
            "changed": one.judged.changed,
            "why": one.judged.why,
        }
        for one in judged.all
    ]
    whole = {**read.about.to_json(), "folder": str(read.folder), "figures": figures, "verdicts": given}
    return cast("StandingJson", whole)
