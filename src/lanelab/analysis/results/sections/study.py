"""How far a study's run is, and the verdicts on its claims."""

from collections.abc import Iterator, Sequence

from lanelab.analysis.results.claims.words import left_out_words
from lanelab.analysis.results.layout.model import Column, Group, Part, Row, Section, Table, Words, table, words
from lanelab.analysis.results.model import Run
from lanelab.analysis.results.sections.claims import NOTE, below, columns
from lanelab.analysis.results.study.claim_verdicts import JudgedStudy, StudyVerdict
from lanelab.analysis.results.study.run import ReadStudyRun

FIGURES: Sequence[Column[tuple[int, str, Run | None]]] = (
    Column("figure", lambda each: each[0], number=True),
    Column("title", lambda each: each[1]),
    Column("state", lambda each: each[2].state if each[2] else "not begun"),
    Column("trials", lambda each: len(each[2].ok) if each[2] else 0, number=True),
    Column("failed", lambda each: len(each[2].failed) if each[2] else 0, number=True),
)


def figures_section(read: ReadStudyRun) -> Section:
    """Lay out how far each figure is."""
    figures = [(number, read.figure(number).title, run) for number, run in read.runs.items()]
    return Section("figures", "Figures", (table(FIGURES, figures),))


def verdicts_section(judged: JudgedStudy, caveats: Sequence[str] = ()) -> Section:
    """Lay out each published claim with its verdicts, and how many of these may be wrong."""
    edited = [each.judged.claim.name for each in judged.changed]
    changed = f"Changed after the run began, and so no test of what was foretold: {', '.join(edited)}."
    parts: tuple[Part, ...] = (
        *words([changed] if edited else [], "bad"),
        verdict_table(judged),
        *words([judged.outcome()], where="terminal"),
        *words([judged.expected_false(), left_out_words([each.judged for each in judged.all])]),
        *words([NOTE], "muted", "page"),
        *words(caveats, "warn", "terminal"),
    )
    return Section("verdicts", "Verdicts", parts, short="verdicts")


def verdict_table(judged: JudgedStudy, *, unchecked: bool = True) -> Table:
    """Lay out the verdicts by published claim. `unchecked`: claims without a verdict are there, too."""
    heads = columns(of_study=True)
    return Table(heads, list(_rows(judged, heads, unchecked=unchecked)), style="verdicts")


def _rows(judged: JudgedStudy, heads: Sequence[Column[StudyVerdict]], *, unchecked: bool) -> Iterator[Row]:
    for claim, verdicts in judged.published:
        group = Group((f"{claim.number}. {claim.says}",), claim.note, f"published-{claim.number}")
        yield from (_row(verdict, heads, group) for verdict in verdicts)
        if unchecked and not verdicts:
            nothing = Words(judged.unchecked, "muted", wide=True)
            cells = tuple(nothing if column.title == "claim" else None for column in heads)
            yield Row(cells, group)
    further = Group(("Further claims of the experiments",))
    yield from (_row(verdict, heads, further) for verdict in judged.further)


def _row(verdict: StudyVerdict, heads: Sequence[Column[StudyVerdict]], group: Group) -> Row:
    return Row(tuple(column.of(verdict) for column in heads), group, verdict.address, below(verdict))
