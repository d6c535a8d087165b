"""A study's report for a paper: report.md, with its figures as files beside it."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

from lanelab.analysis.results import render
from lanelab.analysis.results.charts import chart
from lanelab.analysis.results.claims.words import left_out_words, published_words
from lanelab.analysis.results.courses import drawing_of
from lanelab.analysis.results.layout.markdown import plain, section_markdown, table_markdown, written_table
from lanelab.analysis.results.model import Run
from lanelab.analysis.results.published_points import about_published
from lanelab.analysis.results.report.atomic_files import write_whole
from lanelab.analysis.results.report.figures import SEQUENCE
from lanelab.analysis.results.sections.study import verdict_table
from lanelab.analysis.results.study.claim_verdicts import JudgedStudy
from lanelab.analysis.results.study.closing_sections import differences_section, methods_section, self_tests_section
from lanelab.analysis.results.study.figure_section import numbers_table
from lanelab.analysis.results.study.numbers import cell_numbers, drawn_figures
from lanelab.analysis.results.study.run import ReadStudyRun
from lanelab.driver.base.amounts import counted
from lanelab.driver.run.study.study import StudyFigure

REPORT = "report.md"
NO_REASON = "no reason is given"


def write_markdown(read: ReadStudyRun, judged: JudgedStudy, folder: Path, kind: Literal["svg", "png"]) -> list[Path]:
    """Write the text and its pictures; returns where they are, the text first."""
    pictures = {target: content for number, run in read.runs.items() if run for target, content in
                _pictures(number, run, kind)}  # fmt: skip
    for name, content in pictures.items():
        write_whole(folder / name, content)
    text = markdown(read, judged, list(pictures))
    write_whole(folder / REPORT, text.encode())
    return [folder / REPORT, *(folder / name for name in pictures)]


def _pictures(number: int, run: Run, kind: Literal["svg", "png"]) -> Iterator[tuple[str, bytes]]:
    """Yield (name of the file, content) of each figure that the experiment declares."""
    figures = [figure for figure in drawn_figures(run) if figure.kind != SEQUENCE]
    for place, figure in enumerate(figures, 1):
        specification = chart(drawing_of(run, figure))
        if specification:
            name = f"figure-{number}.{kind}" if len(figures) == 1 else f"figure-{number}-{place}.{kind}"
            yield name, render.svg(specification).encode() if kind == "svg" else render.png(specification)


def markdown(read: ReadStudyRun, judged: JudgedStudy, pictures: Sequence[str]) -> str:
    """Write the report. `pictures` are names of files; each belongs to the figure whose number it has."""
    study, about = read.about.study, read.about
    parts = [
        f"# {plain(study.title)}",
        f"Reproduces: {plain(study.source)}",
        f"Variant: {plain(about.variant)}" if about.variant else "",
        f"Begun {plain(about.created_utc)}, with lanelab {plain(about.lanelab)}.",
        plain(judged.outcome()),
        *map(plain, read.caveats()),
        "## Published claims",
        published_list(judged),
        "## Verdicts",
        table_markdown(verdict_table(judged, unchecked=False)),
        plain(judged.expected_false()),
        plain(left_out_words([each.judged for each in judged.all])),
        *_reasons(judged),
        *_margins(read, judged),
    ]
    for figure in study.figures:
        if figure.number in read.runs:
            parts += _figure(figure, read.runs[figure.number], pictures)
    for section in (differences_section(study), methods_section(read), self_tests_section(read)):
        parts += section_markdown(section) if section else []
    return "\n\n".join(part for part in parts if part) + "\n"


def published_list(judged: JudgedStudy) -> str:
    """Return what the work claims, with the numbers that the table of verdicts has."""
    lines = []
    for claim, verdicts in judged.published:
        sentence = claim.says.rstrip(".") + "."
        further = [f"Note: {claim.note}"] * bool(claim.note) + [f"({judged.unchecked})"] * (not verdicts)
        lines.append(f"{claim.number}. {' '.join(map(plain, (sentence, *further)))}")
    return "\n".join(lines)


def _margins(read: ReadStudyRun, judged: JudgedStudy) -> Iterator[str]:
    """Yield what counts as reproduced, why, and since when that is fixed."""
    rows = [
        (str(each.figure), each.judged.claim.says, published_words(each.judged.claim),
         each.judged.claim.because or (NO_REASON if each.judged.claim.published else ""))
        for each in judged.all
    ]  # fmt: skip
    if not rows:
        return
    yield "### What counts as reproduced"
    yield written_table(("figure", "claim", "reproduced if", "because"), rows)
    kept = [(number, run.claims_digest) for number, run in read.runs.items() if run and run.claims_digest]
    if kept:
        digests = ", ".join(f"figure {number} {digest}" for number, digest in kept)
        yield f"Claims and margins are those from before the first trial (SHA-256: {digests})."


def _reasons(judged: JudgedStudy) -> list[str]:
    """Return why, of each verdict of which that is known."""
    lines = [
        f"- {plain(each.judged.claim.says)} (figure {each.figure}): {plain(each.judged.why)}"
        for each in judged.all
        if each.judged.why
    ]
    return ["### Why", "\n".join(lines)] if lines else []


def _figure(figure: StudyFigure, run: Run | None, pictures: Sequence[str]) -> list[str]:
    parts = [f"## Figure {figure.number}. {plain(figure.title)}", plain(figure.caption)]
    if run is None:
        return [*parts, "This figure has not been measured yet."]
    name_of = re.compile(rf"figure-{figure.number}(-\d+)?\.\w+")
    parts += [f"![Figure {figure.number}]({name})" for name in pictures if name_of.fullmatch(name)]
    first = drawn_figures(run)[0]
    failed = f", {len(run.failed)} failed" if run.failed else ""
    published = about_published(drawing_of(run, first).published)
    counts = f"{counted(len(run.cells), 'cell')}, {len(run.ok)} {run.trials_word} that count{failed}."
    return [
        *parts,
        f"{counts} {plain(published)}".rstrip(),
        table_markdown(numbers_table(cell_numbers(run))),
    ]
