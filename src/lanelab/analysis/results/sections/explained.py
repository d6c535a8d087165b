"""Why load times are what they are: one section for each cell, difference and trial, whose title is the verdict."""

from collections.abc import Iterator, Sequence

from lanelab.analysis.results.explain.run import Explained
from lanelab.analysis.results.explain.steps import StepDifference
from lanelab.analysis.results.layout.model import Points, Section, words

NOTHING = "No part of it differs much from what is usual in its cell."  # of a trial that has but one sentence


def explained_sections(explained: Explained) -> Iterator[Section]:
    """Lay out the explanations; what keeps them from being believed comes first."""
    if explained.cautions:
        yield _list("cautions", "Cautions", explained.cautions)
    yield from (_section(f"cell-{each.cell.id}", each.sentences()) for each in explained.cells)
    if explained.links:
        yield _list("links", "From link to link", explained.links)
    for each in explained.differences:
        yield _section(f"difference-{each.other.cell.id}-{each.base.cell.id}", each.sentences())
    for step in explained.steps:
        yield _step(step)
    yield from (_section(f"trial-{each.trial.number}", each.sentences()) for each in explained.outliers)
    if explained.not_told:
        yield _list("not-explained", "Not explained", explained.not_told)


def _step(step: StepDifference) -> Section:
    title, *others = step.sentences()
    name = f"step-{step.other.cell.id}-{step.base.cell.id}-{step.step}"
    return Section(name, title.removesuffix("."), (*words(others), step.table()), short=title)


def _section(name: str, sentences: Sequence[str]) -> Section:
    title, *others = sentences
    return Section(name, title.removesuffix("."), words(others or [NOTHING]), short=title)


def _list(name: str, title: str, sentences: Sequence[str]) -> Section:
    return Section(name, title, (Points(words(sentences)),), short=f"{title}:")
