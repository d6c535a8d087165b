"""A study's run on a terminal: how far its figures are, and the verdicts on its claims."""

from collections.abc import Sequence

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from lanelab.analysis.results.claims.words import (
    MOODS,
    effects_of,
    measured_words,
    n_words,
    published_words,
    verdict_words,
)
from lanelab.analysis.results.numbers import NONE, probability
from lanelab.analysis.results.study.judged import JudgedStudy, StudyVerdict
from lanelab.analysis.results.study.run import ReadStudyRun

_STYLES = {"good": "green", "warn": "yellow", "bad": "bold red", "muted": "dim"}


def figures_table(read: ReadStudyRun) -> Table:
    """Return how far each figure is."""
    made = _table(("figure", "title", "state", "trials", "failed"), right=("figure", "trials", "failed"))
    for number, run in read.runs.items():
        title = read.figure(number).title
        if run is None:
            made.add_row(str(number), title, "not begun", "0", "0")
        else:
            made.add_row(str(number), title, run.state, str(len(run.ok)), str(len(run.failed)))
    return made


def verdicts(read: ReadStudyRun, judged: JudgedStudy) -> RenderableType:
    """Return each published claim with the verdicts on it; at the end what they mean together, and caveats."""
    made = _table(("claim", "figure", "verdict", "measured", "published", "n", "Holm"), right=("figure", "Holm"))
    for claim, several in judged.published:
        made.add_row(Text(f"{claim.number}. {claim.says}", style="bold"))
        if not several:
            made.add_row(Text(f"  {claim.note or 'no figure with a claim about it has begun'}", style="dim"))
        for verdict in several:
            made.add_row(*_cells(verdict))
    if judged.further:
        made.add_row(Text("about no published claim", style="bold"))
        for verdict in judged.further:
            made.add_row(*_cells(verdict))
    said = [words for words in (judged.outcome(), judged.expected_false()) if words]
    return Group(made, Text(), *map(Text, said), *(Text(each, style="yellow") for each in read.caveats()))


def _cells(verdict: StudyVerdict) -> Sequence[Text]:
    judged = verdict.judged
    style = _STYLES[MOODS[judged.verdict]]
    changed = " (changed after the run)" if judged.changed else ""
    texts = (
        measured_words(judged),
        published_words(judged.claim),
        n_words(effects_of(judged.places)),
        NONE if verdict.adjusted_p is None else probability(verdict.adjusted_p),
    )
    name = Text(f"  {judged.claim.name}{changed}")
    return (
        name,
        Text(str(verdict.figure)),
        Text(verdict_words(judged.verdict, judged.detail), style=style),
        *map(Text, texts),
    )


def _table(columns: Sequence[str], right: Sequence[str]) -> Table:
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for column in columns:
        made.add_column(column, justify="right" if column in right else "left", overflow="fold")
    return made
