"""Whether runs agree: two runs of an experiment, or of a study."""

import math
from collections.abc import Callable, Iterator, Sequence

from lanelab.analysis.results.against import TITLES, Against, CellRow, ChangeRow, Verdict, sentences
from lanelab.analysis.results.layout.markdown import markdown, plain
from lanelab.analysis.results.layout.model import (
    NONE,
    Column,
    Fold,
    Group,
    Mood,
    Part,
    Points,
    Section,
    Table,
    Words,
    table,
    text_table,
    words,
)
from lanelab.analysis.results.model import Cell
from lanelab.analysis.results.numbers import change_words, shown
from lanelab.analysis.results.study.compare import NOT_PAIRED, ClaimPair, StudyComparison, names_of, verdict_cells
from lanelab.analysis.results.study.run import ReadStudyRun
from lanelab.analysis.statistics import Change, Estimate, interval_name
from lanelab.analysis.statistics.two_samples import TwoSamples
from lanelab.driver.record.metrics import Metric

MOODS: dict[Verdict, Mood] = {"agree": "good", "differ": "bad", "not told": "muted"}
MOST_CONDITIONS = 12
Names = tuple[str, str]  # what to call the first run and the other one
OF_TRIALS = "Intervals are of these runs: they hold what trials differ by, and not what beds do."


def against_section(against: Against, names: Names) -> Section:
    """Lay out the first run and another one."""
    parts: list[Part] = [cells_table(against, names)] if against.cells else []
    parts += [changes_table(against, names)] if against.changes else []
    parts += [Words(""), *words(sentences(against)), *words([OF_TRIALS] if against.cells else [], "muted")]
    if not against.conditions:
        nothing = "Nothing that was noted of machine, browser, servers and lanelab differs."
        return Section("compared", "Compared", (*parts, *words([nothing])))
    more = len(against.conditions) - MOST_CONDITIONS
    shown_here = text_table(("", *names), against.conditions[:MOST_CONDITIONS])
    rest = words([f"and {more} more: --json has all of them"] if more > 0 else [], "muted")
    return Section("compared", "Compared", (*parts, Words("what differs besides", "strong"), shown_here, *rest))


def _groups(against: Against) -> tuple[tuple[str, ...], Callable[[Cell], Group]]:
    """Return the columns that say where a cell is, and where one is."""
    if len({cell.site for cell in against.first.cells}) > 1:
        return ("site", "link"), lambda cell: Group(cell.group)
    return ("link",), lambda cell: Group((cell.link.label,), note=cell.site)


def cells_table(against: Against, names: Names) -> Table:
    """Lay out the medians of each cell in both runs."""
    groups, place = _groups(against)
    metric = against.first.primary
    columns: Sequence[Column[CellRow]] = (
        Column("arm", lambda row: row.cell.arm.name),
        Column(f"{names[0]} {metric.unit}".rstrip(), lambda row: median_words(metric, row.first), number=True),
        Column(f"{names[1]} {metric.unit}".rstrip(), lambda row: median_words(metric, row.other), number=True),
        Column(f"{names[1]} to {names[0]}", lambda row: change_words(row.ratio.value), number=True),
        Column(interval_name(row.ratio for row in against.cells), lambda row: _shift(row.ratio, _change), number=True),
        Column("", lambda row: _verdict(against, row.verdict, "%")),
    )
    return table(columns, against.cells, groups=groups, group=lambda row: place(row.cell))


def changes_table(against: Against, names: Names) -> Table:
    """Lay out the paired changes in both runs."""
    groups, place = _groups(against)
    interval = interval_name(row.points for row in against.changes)
    columns: Sequence[Column[ChangeRow]] = (
        Column("arm", lambda row: f"{row.cell.arm.name} against {row.base}"),
        Column(names[0], lambda row: _with_interval(row.first), number=True),
        Column(names[1], lambda row: _with_interval(row.other), number=True),
        Column("difference", lambda row: f"{row.points.value:+.1f} points", number=True),
        Column(interval, lambda row: _shift(row.points, _points), number=True),
        Column("", lambda row: _verdict(against, row.verdict, " points")),
    )
    group = lambda row: place(row.cell)  # noqa: E731 - as in the table above
    return table(columns, against.changes, groups=groups, group=group, title="paired changes")


def median_words(metric: Metric, median: Estimate) -> str:
    """Write a median with its interval."""

    def value(number: float) -> str:
        return shown(metric, number) if math.isfinite(number) else "timed out"

    if median.low is None or median.high is None:
        return value(median.median)
    return f"{value(median.median)} ({value(median.low)} to {value(median.high)})"


def _with_interval(change: Change) -> str:
    if change.low is None or change.high is None:
        return change_words(change.value)
    return f"{change_words(change.value)} ({_change(change.low)} to {_change(change.high)})"


def _change(ratio: float) -> str:
    return change_words(ratio) if math.isfinite(ratio) else "no limit"


def _points(value: float) -> str:
    return f"{value:+.1f}" if math.isfinite(value) else "no limit"


def _shift(samples: TwoSamples, show: Callable[[float], str]) -> str:
    return f"{show(samples.low)} to {show(samples.high)}" if samples.n > 1 else NONE


def _verdict(against: Against, verdict: Verdict, unit: str) -> Words:
    margin = "" if verdict == "not told" else f" {100 * against.margin:g}{unit}"
    return Words(f"{TITLES[verdict]}{margin}", MOODS[verdict])


# --- two runs of a study


def study_sections(compared: StudyComparison) -> Iterator[Section]:
    """Lay out verdicts first, then the medians of each figure."""
    names = names_of(compared)
    caveats = words(compared.caveats(), "warn")
    lists = [Points(caveats, "text")] if caveats else []
    claims = table(_claims(names), compared.claims)
    yield Section("verdicts", "Verdicts", (*words([compared.outcome()]), *lists, claims))
    yield Section("figures", "Figures", (*words([NOT_PAIRED]), *_figures(compared, names)))
    if compared.conditions:
        title = "What differs besides"
        yield Section("conditions", title, (text_table(("", *names), compared.conditions),), short=title.lower())


def _figures(compared: StudyComparison, names: Names) -> Iterator[Part]:
    for figure in compared.figures:
        if figure.against is None:
            parts: tuple[Part, ...] = words([f"Not compared: {figure.why_not}."])
        else:
            cells = [cells_table(figure.against, names)] if figure.against.cells else []
            parts = (*words(sentences(figure.against), where="markdown"), *cells)
        yield Fold(Words(f"Figure {figure.number}. {figure.title}"), parts, where="")


def _claims(names: Names) -> Sequence[Column[ClaimPair]]:
    def side(name: str, what: str, place: int, is_first: int) -> Column[ClaimPair]:
        return Column(
            f"{what}, {name}", lambda pair: verdict_cells(pair.first if is_first else pair.other)[place] or NONE
        )

    heads = ("verdict", "effect", "95% interval")
    sides = [
        side(name, what, place, is_first)
        for is_first, name in zip((True, False), names, strict=True)
        for place, what in enumerate(heads)
    ]
    return (
        Column("figure", lambda pair: pair.figure),
        Column("claim", lambda pair: pair.says),
        *sides,
        Column("", lambda pair: pair.words),
    )


def comparison_markdown(compared: StudyComparison, before: Sequence[str] = ()) -> str:
    """Write the page. `before`: paragraphs between the title and the verdicts."""
    study, runs = compared.first.about.study, (compared.first, compared.other)
    head = [
        f"# {plain(study.title)}: two runs compared",
        f"Reproduces: {plain(study.source)}",
        "\n".join(f"- {name}: {_about(read)}" for name, read in zip(names_of(compared), runs, strict=True)),
        *before,
    ]
    return "\n\n".join([*head, markdown(study_sections(compared))])


def _about(read: ReadStudyRun) -> str:
    about = read.about
    variant = f"variant {about.variant}, " if about.variant else ""
    return plain(f"{variant}begun {about.created_utc}, lanelab {about.lanelab}")
