"""What a figure shows of each cell: the median of a metric, the change against another arm, the parts of its time."""

import math
import statistics
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from lanelab.analysis.results import axes, tables
from lanelab.analysis.results.model import Cell, Run
from lanelab.analysis.results.palette import PART_WORDS
from lanelab.analysis.results.refusals import refusals
from lanelab.analysis.results.tables import ComparisonRow
from lanelab.analysis.statistics import Summary, summarise
from lanelab.analysis.statistics.looks import look_after
from lanelab.driver.record.evidence.parts import Part
from lanelab.driver.record.metrics import Metric

CHANGE = "change"  # what experiment files call the paired change of the primary metric


@dataclass(frozen=True, slots=True)
class Mark:
    """One cell's number with its interval."""

    middle: float
    low: float | None  # None: there is no interval
    high: float | None
    n: int
    words: str  # for a reader who points at it
    interval: str  # what the interval is
    summary: Summary | None = None  # of the trials, where it is of those
    values: tuple[float, ...] = ()
    is_shown: bool = True  # a change: whether the verdict of its comparison is that there is one
    parts: Mapping[Part, float] | None = None
    limit: float = math.inf  # what is here or beyond timed out: its value is at least this

    def is_late(self, value: float | None) -> bool:
        """Return whether a value of it is that of trials that timed out."""
        return value is not None and value >= self.limit

    @property
    def short(self) -> str:
        """Return its middle in few digits."""
        text = f"{self.middle:,.0f}" if abs(self.middle) >= 100 else f"{self.middle:,.3g}"
        return f"> {text}" if self.is_late(self.middle) else text

    def least(self, value: float) -> str:
        """Write a value, of trials that timed out as more than their limit."""
        return f"{'> ' if self.is_late(value) else ''}{value:,.1f}"


@dataclass(frozen=True, slots=True)
class Measured:
    """The values that are drawn, of all cells that have them."""

    title: str  # of the axis
    unit: str
    marks: Mapping[int, Mark]  # by cell
    bases: Mapping[str, str] = field(default_factory=dict)  # of a change: what each arm is compared with
    compared: frozenset[int] | None = None  # of a change: the cells that are compared with another; None: every cell
    further: int = 0  # comparisons of cells that have one already: a place holds one mark

    def is_for(self, cell: Cell) -> bool:
        """A base is not compared with itself, nor is what the experiment does not compare."""
        return self.compared is None or cell.number in self.compared

    @property
    def base(self) -> str:
        """Return the one arm that all others are compared with; "" where there is none, or are several."""
        bases = set(self.bases.values())
        return bases.pop() if len(bases) == 1 else ""

    @property
    def pairs(self) -> str:
        """Return which arm is compared with which."""
        return (
            "; ".join(map(self.named, self.bases)) if not self.base else f"{', '.join(self.bases)} against {self.base}"
        )

    def named(self, arm: str) -> str:
        """Return the name of an arm, with its base where arms have different ones."""
        return arm if self.base or arm not in self.bases else f"{arm} against {self.bases[arm]}"

    @property
    def is_change(self) -> bool:
        return self.unit == "%±"


def marks(run: Run, y: str, kind: str) -> Measured:
    if kind == "parts":
        return _parts(run)
    if y == CHANGE:
        return _changes(run)
    metric = axes.metric_of(run, y)
    by_cell: dict[int, Mark] = {}
    limit = run.limit_of(metric.name) / metric.scale
    for cell, values in (run.outcomes() if metric.name == run.primary.name else run.values(metric.name)).items():
        look, looks = look_after(run.plan.looks, max(values, default=0)), len(run.plan.looks)
        scaled = tuple(value / metric.scale for value in values.values())
        mark = _median(str(_cell(run, cell)), metric, scaled, summarise(scaled, look.alpha, looks), limit)
        if mark:
            by_cell[cell] = mark
    return Measured(metric.title, metric.unit, by_cell)


def refused_cells(run: Run, y: str) -> set[int]:
    """Return cells of which nothing can be said, since their link was another; of a change also those whose base is
    one."""
    refused = set(refusals(run))
    if y != CHANGE or not refused:
        return refused
    return refused | {row.cell.number for row in tables.comparisons(run) if row.base_cell.number in refused}


def _cell(run: Run, number: int) -> Cell:
    return next(cell for cell in run.cells if cell.number == number)


def _median(
    label: str, metric: Metric, values: tuple[float, ...], summary: Summary | None, limit: float
) -> Mark | None:
    if summary is None or not math.isfinite(min(summary.median, limit)):
        return None
    drawn = _within(summary, limit)
    estimate = drawn.estimate
    unit = f" {metric.unit}" if metric.unit else ""
    low, high = estimate.low, estimate.high
    shown = tuple(min(value, limit) for value in values)
    mark = Mark(estimate.median, low, high, estimate.n, "", estimate.name, drawn, shown, limit=limit)
    interval = "" if low is None or high is None else f", {estimate.name} {mark.least(low)} to {mark.least(high)}"
    return replace(mark, words=f"{label}: median {mark.least(mark.middle)}{unit}{interval}, n = {mark.n}")


def _within(summary: Summary, limit: float) -> Summary:
    """Return it as it is drawn: what trials that timed out took is at their limit. The middle of two trials of which
    one timed out took longer than that, too: half of what both took is known of neither."""
    of = summary.estimate
    low, high = (None if end is None else min(end, limit) for end in (of.low, of.high))
    return replace(
        summary,
        estimate=replace(of, median=min(of.median, limit), low=low, high=high),
        quartile_1=min(summary.quartile_1, limit),
        quartile_3=min(summary.quartile_3, limit),
        low=min(summary.low, limit),
        high=min(summary.high, limit),
    )


def _changes(run: Run) -> Measured:
    compared = tables.comparisons(run)
    drawn: dict[int, None] = {}
    bases: dict[str, dict[str, None]] = {}
    by_cell: dict[int, Mark] = {}
    further = 0
    for row in compared:
        mark = _change(row)
        further += mark is not None and row.cell.number in by_cell
        if mark:
            by_cell.setdefault(row.cell.number, mark)
        if row.cell.number not in drawn:
            bases.setdefault(row.cell.arm.name, {})[row.base.name] = None
        drawn[row.cell.number] = None
    words = {arm: " or ".join(names) for arm, names in bases.items()}
    return Measured(f"change of {run.primary.words} (%)", "%±", by_cell, words, frozenset(drawn), further)


def _change(row: ComparisonRow) -> Mark | None:
    comparison = row.comparison
    if comparison is None or not math.isfinite(comparison.ratio.value):
        return None
    ratio = comparison.ratio
    middle, low, high = (None if end is None else 100 * (end - 1) for end in (ratio.value, ratio.low, ratio.high))
    between = "" if low is None or high is None else f", {ratio.name} {low:+.1f}% to {high:+.1f}%"
    words = f"{row.cell}: {middle:+.1f}% against {row.base.name}{between}, n = {ratio.n}; {comparison.verdict}"
    return Mark(middle or 0.0, low, high, ratio.n, words, ratio.name, is_shown=comparison.is_shown)


def _parts(run: Run) -> Measured:
    """Return medians of the parts, of the trials that have them."""
    by_cell: dict[int, Mark] = {}
    for cell, trials in run.by_cell().items():
        having = [parts for trial in trials if trial.ok and (parts := trial.parts_ms)]
        medians = {part: statistics.median(parts[part] for parts in having) for part in (Part if having else ())}
        if medians:
            total = sum(medians.values())
            each = ", ".join(f"{PART_WORDS[part]} {took:,.0f}" for part, took in medians.items() if took >= 0.05)
            words = f"{_cell(run, cell)}: {each} ms, n = {len(having)}"
            by_cell[cell] = Mark(total, None, None, len(having), words, "", parts=medians)
    return Measured("page load time (ms)", "ms", by_cell)
