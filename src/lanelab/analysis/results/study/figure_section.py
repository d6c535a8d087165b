"""One published figure in a study's report: then and now, and the trials behind every point."""

from collections.abc import Mapping, Sequence

from lanelab.analysis.results.charts import chart
from lanelab.analysis.results.claims.words import MOODS, measured_words, published_words
from lanelab.analysis.results.comparisons import ComparisonRow
from lanelab.analysis.results.courses import drawing_of
from lanelab.analysis.results.drawing import figures_of
from lanelab.analysis.results.layout.markup import Html, el, join
from lanelab.analysis.results.layout.page import scroll
from lanelab.analysis.results.marks import Mark
from lanelab.analysis.results.model import Figure, Run, Trial
from lanelab.analysis.results.numbers import NONE, change_words, shown
from lanelab.analysis.results.report import loads
from lanelab.analysis.results.report.figures import SEQUENCE, picture
from lanelab.analysis.results.report.part_strip import part_strip
from lanelab.analysis.results.report.sections import STATES, section
from lanelab.analysis.results.report.waterfall import waterfall
from lanelab.analysis.results.study.judged import StudyVerdict
from lanelab.analysis.results.study.numbers import CellNumbers, cell_numbers, drawn_figures
from lanelab.driver.base.amounts import counted
from lanelab.driver.record.metrics import Metric
from lanelab.driver.run.study.study import StudyFigure

HEADS = ("site", "link", "arm", "metric", "n", "median", "interval", "published", "of published", "change")
LAST_WORD = 3  # of these; what follows are numbers
TRIAL_HEADS = ("trial", "round", "bed", "attempt", "value", "verdict", "")

WITHIN = (
    "Medians, changes and their 95% intervals are of this run's rounds, as in its charts: what beds differ by is not "
    "in them. Verdicts on claims take one number of each bed, so theirs differ."
)


def figure_section(figure: StudyFigure, run: Run | None, verdicts: Sequence[StudyVerdict]) -> Html:
    """Write the section of a figure. `run` is None where it has not begun."""
    name, title = f"figure-{figure.number}", f"Figure {figure.number}. {figure.title}"
    caption = el("p", figure.caption) if figure.caption else None
    if run is None:
        return section(name, title, caption, el("p", "This figure has not been measured yet.", class_="muted"))
    numbers = cell_numbers(run)
    return section(
        name,
        title,
        caption,
        el("p", _state(run), class_="note"),
        _claims(verdicts),
        _charts(run, name),
        _folded("Numbers of every cell", join(el("p", WITHIN, class_="note"), _table(numbers))),
        _cells(run, name, numbers),
    )


def _state(run: Run) -> str:
    failed = f", {len(run.failed)} failed" if run.failed else ""
    state = f" The run is {STATES[run.state]}." if run.state in STATES else ""
    counts = f"{counted(len(run.cells), 'cell')}, {len(run.ok)} {run.trials_word} that count{failed}"
    return f"Measured now: {counts}. Click a point to see its trials.{state}"


def _claims(verdicts: Sequence[StudyVerdict]) -> Html | None:
    if not verdicts:
        return None
    items = [
        el(
            "li",
            el("b", each.judged.verdict, class_=MOODS[each.judged.verdict]),
            " ",
            el("a", each.judged.claim.says, href=f"#{each.address}"),
            f": published {published_words(each.judged.claim)}; measured {measured_words(each.judged)}",
            el("span", each.judged.detail, class_="detail") if each.judged.detail else None,
        )
        for each in verdicts
    ]
    return el("ul", items, class_="claims")


def _charts(run: Run, name: str) -> list[Html]:
    """Return those of the experiment, and below what every report has besides."""
    own = [figure for figure in drawn_figures(run) if figure.kind != SEQUENCE]
    further = [figure for figure in figures_of(run) if figure not in own and figure.kind != SEQUENCE]
    shown = _pictures(run, own, f"{name}-c", name)
    more = _pictures(run, further, f"{name}-m", name)
    if not shown:
        shown = [el("p", "No trial counts yet, so there is nothing to draw.", class_="muted")]
    return shown + ([_folded("Change, and what the time went to", join(*more))] if more else [])


def _pictures(run: Run, figures: Sequence[Figure], prefix: str, name: str) -> list[Html]:
    made = []
    for number, figure in enumerate(figures, 1):
        drawing = drawing_of(run, figure)
        specification = chart(drawing)
        if specification:
            picked = el("div", class_="picked trial", hidden=True)
            made.append(picture(f"{prefix}{number}", drawing, specification, picked, cells=_address(name, "")))
    return made


def _address(name: str, cell: object) -> str:
    return f"{name}-cell-{cell}"


def _folded(words: str, content: Html) -> Html:
    """Content that the page's script parses when it is opened, and a browser without script at once: it is most of
    the page, and seldom looked at."""
    return el("details", el("summary", words), el("noscript", content))


# --- the numbers of cells


def _table(numbers: Sequence[CellNumbers]) -> Html:
    head = el(
        "tr", [el("th", word, scope="col", class_="num" if at > LAST_WORD else None) for at, word in enumerate(HEADS)]
    )
    return scroll(el("table", el("thead", head), el("tbody", [_row(each) for each in numbers])))


def _row(each: CellNumbers) -> Html:
    return el(
        "tr", [el("td", word, class_="num" if at > LAST_WORD else None) for at, word in enumerate(row_words(each))]
    )


def row_words(each: CellNumbers) -> list[str]:
    """Return what the table says of a cell, column by column."""
    cell, mark = each.cell, each.mark
    return [
        cell.site,
        cell.link.label,
        cell.arm.name,
        each.metric.words,
        f"{mark.n if mark else 0}" + (f" ({each.failed} failed)" if each.failed else ""),
        _number(mark.middle if mark else None, each),
        _interval(mark, each),
        _number(each.published, each),
        f"{100 * mark.middle / each.published:.0f}%" if mark and each.published else NONE,
        _change(each.against),
    ]


def _number(value: float | None, each: CellNumbers) -> str:
    return NONE if value is None else _with_unit(each.metric, value * each.metric.scale)


def _with_unit(metric: Metric, value: float) -> str:
    """Write a value in the unit of the figures, so that it can be compared with what was published."""
    return f"{shown(metric, value)} {metric.unit}".rstrip()


def _interval(mark: Mark | None, each: CellNumbers) -> str:
    if mark is None:
        return "link refused" if each.refused else NONE
    if mark.low is None or mark.high is None:
        return NONE
    return f"{_number(mark.low, each)} to {_number(mark.high, each)}"


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
    made = [
        el(
            "details",
            el("summary", el("b", str(cell)), f", {_summary(first.get(cell.number))}"),
            el("noscript", _trials(run, trials[cell.number], first), _load(drawn.get(cell.number), end)),
            id=_address(name, cell.number),
            class_="trial",
        )
        for cell in run.cells
    ]
    return el("details", el("summary", "Trials and waterfall of every cell"), made, class_="cells")


def _summary(each: CellNumbers | None) -> str:
    if each is None or each.mark is None:
        return "no trial counts"
    published = f", published {_number(each.published, each)}" if each.published is not None else ""
    return f"median {_number(each.mark.middle, each)}, n = {each.mark.n}{published}"


def _trials(run: Run, trials: Sequence[Trial], numbers: Mapping[int, CellNumbers]) -> Html:
    """Return every attempt, also what failed."""
    head = el("tr", [el("th", word, scope="col", class_="num" if at < 5 else None) for at, word in
                     enumerate(TRIAL_HEADS)])  # fmt: skip
    rows = []
    for trial in trials:
        metric = numbers[trial.cell.number].metric if trial.cell.number in numbers else run.primary
        value = trial.measures.get(metric.name)
        reasons = [f"{each.reason}: {each.detail}" for each in trial.failures]
        reasons += [f"{each.name}: {each.detail}" for each in trial.flags]
        cells = [trial.number, trial.round, trial.bed, trial.attempt, NONE if value is None else
                 _with_unit(metric, value)]  # fmt: skip
        rows.append(
            el(
                "tr",
                [el("td", each, class_="num") for each in cells],
                el("td", "ok" if trial.ok else "failed", class_="good" if trial.ok else "bad"),
                el("td", "; ".join(reasons)),
            )
        )
    if not rows:
        return el("p", "It has no trials yet.", class_="muted")
    return scroll(el("table", el("thead", el("tr", head)), el("tbody", rows), class_="trials"))


def _load(drawn: loads.Drawn | None, end: float) -> Html | None:
    """Return the page load nearest to the median, and what its time went to."""
    if drawn is None:
        return None
    title = el("h4", f"Trial {drawn.trial.number}, the nearest to the median")
    return join(title, waterfall(drawn.view, end, part_strip(drawn.view.stretches, end)))
