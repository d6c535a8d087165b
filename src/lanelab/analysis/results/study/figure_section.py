"""One published figure in a study's report: then and now, and the trials behind every point."""

from collections.abc import Mapping, Sequence

from lanelab.analysis.results.charts import chart
from lanelab.analysis.results.claims.words import MOODS, measured_words, published_words
from lanelab.analysis.results.comparisons import ComparisonRow
from lanelab.analysis.results.courses import drawing_of
from lanelab.analysis.results.drawing import figures_of
from lanelab.analysis.results.layout.markup import Html, el, join
from lanelab.analysis.results.layout.model import Column, Fold, Part, Points, Section, Table, Words, table, words
from lanelab.analysis.results.layout.page import parts_on_page
from lanelab.analysis.results.marks import Mark
from lanelab.analysis.results.model import Figure, Run, Trial
from lanelab.analysis.results.numbers import NONE, change_words, shown
from lanelab.analysis.results.report import loads
from lanelab.analysis.results.report.figures import SEQUENCE, picture
from lanelab.analysis.results.report.part_strip import part_strip
from lanelab.analysis.results.report.waterfall import waterfall
from lanelab.analysis.results.sections.head import STATES
from lanelab.analysis.results.study.claim_verdicts import StudyVerdict
from lanelab.analysis.results.study.numbers import CellNumbers, cell_numbers, drawn_figures
from lanelab.driver.base.amounts import counted
from lanelab.driver.record.metrics import Metric
from lanelab.driver.run.study.study import StudyFigure

WITHIN = (
    "Medians, changes and their 95% intervals are of this run's rounds, as in its charts: what beds differ by is not "
    "in them. Verdicts on claims take one number of each bed, so theirs differ."
)


def figure_section(figure: StudyFigure, run: Run | None, verdicts: Sequence[StudyVerdict]) -> Section:
    """Lay out a figure for a page. `run` is None where it has not begun."""
    name, title = f"figure-{figure.number}", f"Figure {figure.number}. {figure.title}"
    caption = words([figure.caption])
    if run is None:
        return Section(name, title, (*caption, Words("This figure has not been measured yet.", "muted")))
    numbers = cell_numbers(run)
    parts = (
        *caption,
        Words(_state(run), "muted"),
        *([Points(tuple(map(_claim, verdicts)), style="claims")] if verdicts else []),
        *_charts(run, name),
        Fold(Words("Numbers of every cell"), (Words(WITHIN, "muted"), numbers_table(numbers)), is_large=True),
        _cells(run, name, numbers),
    )
    return Section(name, title, parts)


def _state(run: Run) -> str:
    failed = f", {len(run.failed)} failed" if run.failed else ""
    state = f" The run is {STATES[run.state]}." if run.state in STATES else ""
    counts = f"{counted(len(run.cells), 'cell')}, {len(run.ok)} {run.trials_word} that count{failed}"
    return f"Measured now: {counts}. Click a point to see its trials.{state}"


def _claim(each: StudyVerdict) -> Words:
    judged = each.judged
    numbers = f"published {published_words(judged.claim)}; measured {measured_words(judged)}"
    on_page = join(
        el("b", judged.verdict, class_=MOODS[judged.verdict]),
        " ",
        el("a", judged.claim.says, href=f"#{each.address}"),
        f": {numbers}",
        el("span", judged.detail, class_="detail") if judged.detail else None,
    )
    return Words(f"{judged.verdict}: {judged.claim.says} {numbers} {judged.detail}".rstrip(), page=on_page)


def _charts(run: Run, name: str) -> list[Part]:
    """Return those of the experiment, and below what every report has besides."""
    declared = [figure for figure in drawn_figures(run) if figure.kind != SEQUENCE]
    further = [figure for figure in figures_of(run) if figure not in declared and figure.kind != SEQUENCE]
    shown = _pictures(run, declared, f"{name}-c", name)
    more = _pictures(run, further, f"{name}-m", name)
    nothing = words([] if shown else ["No trial counts yet, so there is nothing to draw."], "muted")
    folded = [Fold(Words("Change, and what the time went to"), tuple(more), is_large=True)] if more else []
    return [*shown, *nothing, *folded]


def _pictures(run: Run, figures: Sequence[Figure], prefix: str, name: str) -> list[Html]:
    drawn = []
    for number, figure in enumerate(figures, 1):
        drawing = drawing_of(run, figure)
        specification = chart(drawing)
        if specification:
            picked = el("div", class_="picked trial", hidden=True)
            drawn.append(picture(f"{prefix}{number}", drawing, specification, picked, cells=_address(name, "")))
    return drawn


def _address(name: str, cell: object) -> str:
    return f"{name}-cell-{cell}"


# --- the numbers of cells


def numbers_table(numbers: Sequence[CellNumbers]) -> Table:
    """Lay out a line for each cell in each metric."""
    return table(COLUMNS, numbers)


def _failed(each: CellNumbers) -> str:
    return f" ({each.failed} failed)" if each.failed else ""


def _of_published(each: CellNumbers) -> str | None:
    return None if each.of_published is None else f"{100 * each.of_published:.0f}%"


COLUMNS: Sequence[Column[CellNumbers]] = (
    Column("site", lambda each: each.cell.site),
    Column("link", lambda each: each.cell.link.label),
    Column("arm", lambda each: each.cell.arm.name),
    Column("metric", lambda each: each.metric.words),
    Column("n", lambda each: f"{each.mark.n if each.mark else 0}" + _failed(each), number=True),
    Column("median", lambda each: _least(each.mark, each.mark.middle, each) if each.mark else NONE, number=True),
    Column("interval", lambda each: _interval(each.mark, each), number=True),
    Column("published", lambda each: _number(each.published, each), number=True),
    Column("of published", _of_published, number=True),
    Column("change", lambda each: _change(each.against), number=True),
)


def _number(value: float | None, each: CellNumbers) -> str:
    return NONE if value is None else _with_unit(each.metric, value * each.metric.scale)


def _least(mark: Mark, value: float, each: CellNumbers) -> str:
    """Write what trials that timed out took as more than their limit."""
    return f"{'> ' if mark.is_late(value) else ''}{_number(value, each)}"


def _with_unit(metric: Metric, value: float) -> str:
    """Write a value in the unit of the figures, so that it can be compared with what was published."""
    return f"{shown(metric, value)} {metric.unit}".rstrip()


def _interval(mark: Mark | None, each: CellNumbers) -> str:
    if mark is None:
        return "link refused" if each.refused else NONE
    if mark.low is None or mark.high is None:
        return NONE
    return f"{_least(mark, mark.low, each)} to {_least(mark, mark.high, each)}"


def _change(row: ComparisonRow | None) -> str:
    if row is None or row.comparison is None:
        return NONE
    ratio = row.comparison.ratio
    if ratio.low is None or ratio.high is None:
        return f"{change_words(ratio.value)} against {row.base.name}"
    between = f"{change_words(ratio.low)} to {change_words(ratio.high)}"
    return f"{change_words(ratio.value)} ({between}) against {row.base.name}"


# --- the trials of cells


def _cells(run: Run, name: str, numbers: Sequence[CellNumbers]) -> Html:
    drawn = {each.cell.number: each for each in loads.drawn_loads(run, pictures=False)}
    end = max((each.view.end for each in drawn.values()), default=1.0)
    first = {each.cell.number: each for each in reversed(numbers)}
    trials = run.by_cell()
    folds = [
        el(
            "details",
            el("summary", el("b", str(cell)), f", {_summary(first.get(cell.number))}"),
            el("noscript", _trials(run, trials[cell.number], first), _load(drawn.get(cell.number), end)),
            id=_address(name, cell.number),
            class_="trial",
        )
        for cell in run.cells
    ]
    return el("details", el("summary", "Trials and waterfall of every cell"), folds, class_="cells")


def _summary(each: CellNumbers | None) -> str:
    if each is None or each.mark is None:
        return "no trial counts"
    published = f", published {_number(each.published, each)}" if each.published is not None else ""
    return f"median {_least(each.mark, each.mark.middle, each)}, n = {each.mark.n}{published}"


def _trials(run: Run, trials: Sequence[Trial], numbers: Mapping[int, CellNumbers]) -> list[Html]:
    """Lay out every attempt, also what failed."""
    if not trials:
        return [el("p", "It has no trials yet.", class_="muted")]
    metric = numbers[trials[0].cell.number].metric if trials[0].cell.number in numbers else run.primary
    columns: Sequence[Column[Trial]] = (
        Column("trial", lambda trial: trial.number, number=True),
        Column("round", lambda trial: trial.round, number=True),
        Column("bed", lambda trial: trial.bed, number=True),
        Column("attempt", lambda trial: trial.attempt, number=True),
        Column("value", lambda trial: _value(metric, trial.measures.get(metric.name)), number=True),
        Column("verdict", lambda trial: Words("ok", "good") if trial.ok else Words("failed", "bad")),
        Column("", _reasons),
    )
    return parts_on_page([table(columns, trials, style="trials")])


def _value(metric: Metric, value: float | None) -> str | None:
    return None if value is None else _with_unit(metric, value)


def _reasons(trial: Trial) -> str:
    failures = [f"{each.reason}: {each.detail}" for each in trial.failures]
    return "; ".join([*failures, *(f"{each.name}: {each.detail}" for each in trial.flags)])


def _load(drawn: loads.Drawn | None, end: float) -> Html | None:
    """Return the page load nearest to the median, and what its time went to."""
    if drawn is None:
        return None
    title = el("h4", f"Trial {drawn.trial.number}, the nearest to the median")
    return join(title, waterfall(drawn.view, end, part_strip(drawn.view.stretches, end)))
