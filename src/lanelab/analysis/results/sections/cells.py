"""Each cell in numbers."""

import functools
import math
from collections.abc import Sequence

from lanelab.analysis.results import tables
from lanelab.analysis.results.layout import plots
from lanelab.analysis.results.layout.markup import Html, el, join
from lanelab.analysis.results.layout.model import Cell as Shown
from lanelab.analysis.results.layout.model import Column, Group, Part, Section, Words, table, words
from lanelab.analysis.results.model import Cell
from lanelab.analysis.results.numbers import in_unit, percent, ratio, shown
from lanelab.analysis.results.sections.seen import Seen
from lanelab.analysis.results.tables import Row
from lanelab.analysis.statistics import ENOUGH, Summary, interval_name
from lanelab.driver.base.amounts import counted
from lanelab.driver.record.metrics import Metric


def cells_section(seen: Seen) -> Section:
    """Lay out a line for each cell. All bars share one scale, so that links can be compared."""
    run = seen.run
    if seen.nothing:
        return Section("results", "Results", words([seen.nothing]))
    lines = table(
        columns(seen), seen.rows, groups=groups(seen), group=lambda row: place(row.cell, seen), style="results"
    )
    of_bound = " Of bound: how many times as long as the link needs at best." if tables.has_bound(run) else ""
    machines = f" All numbers are {run.over}: the section Machines has those of each." if run.over else ""
    bars = (
        f"{in_unit(run.primary)}. Bars show the interval of the median, dots single trials; all rows share one scale, "
        f"from 0.{of_bound} Failed trials are in brackets.{machines}"
    )
    over = f"Medians, intervals and quartiles are {run.over}: see below for each." if run.over else ""
    parts: tuple[Part, ...] = (
        lines,
        *words([bars], "muted", "page"),
        *words([over], where="text"),
    )
    return Section("results", "Results", parts + _meaning(seen.rows))


def groups(seen: Seen) -> tuple[str, ...]:
    """Return the titles of the columns that say where a cell is."""
    return ("site", "link") if seen.has_sites else ("link",)


def place(cell: Cell, seen: Seen) -> Group:
    """Say where a cell is, in the columns of `groups`."""
    return Group(cell.group, address="") if seen.has_sites else Group((cell.link.label,), note=cell.site)


def columns(seen: Seen) -> Sequence[Column[Row]]:
    run, others = seen.run, tables.columns(seen.run)
    interval = interval_name(row.summary.estimate for row in seen.rows if row.summary)
    median = " ".join(filter(None, ["median", run.primary.unit, run.over]))
    bound = [Column[Row]("of bound", _of_bound, number=True, spare=len(others) + 3)] if tables.has_bound(run) else []
    return (
        Column("arm", lambda row: row.cell.arm.name, where="text"),
        Column("arm", _Bars(seen).arm, where="page"),
        Column("ok", lambda row: Words(str(row.ok), "" if row.ok else "bad"), number=True, where="text"),
        Column("failed", lambda row: Words(str(row.failed), "warn" if row.failed else "muted"), number=True,
               where="text"),
        Column("trials", _trials, number=True, where="page"),
        Column(median, _median, number=True),
        Column(interval, _interval, number=True),
        Column("", _Bars(seen).bar, where="page"),
        Column("quartiles", _quartiles, number=True, spare=1),
        Column("sd", lambda row: percent(row.summary.stdev_percent) if row.summary else None, number=True,
               spare=len(others) + 2),
        *(_metric(metric, len(others) + 1 - number) for number, metric in enumerate(others)),
        *bound,
    )  # fmt: skip


def _metric(metric: Metric, spare: int) -> Column[Row]:
    return Column(
        metric.column,
        lambda row: shown(metric, row.medians[metric.name]) if row.summary else None,
        number=True,
        spare=spare,
    )


def _of_bound(row: Row) -> Shown:
    return ratio(row.ratio) if row.summary else None


def _trials(row: Row) -> Words:
    failed = el("span", f" ({row.failed} failed)", class_="warn") if row.failed else None
    reasons = ", ".join(f"{reason} {number}" for reason, number in row.failures.items())
    return Words(str(row.ok), tip=reasons, page=join(row.ok, failed))


def _median(row: Row) -> Words:
    if row.refused:
        why = "; ".join(f"{each.reason}: {each.detail}" for each in row.refused)
        reasons = f"refused: {', '.join(each.reason for each in row.refused)}"
        return Words(reasons, "bad", page=el("span", f"refused: {why}", class_="bad"), wide=True)
    if row.summary is None:
        return Words("-", "muted", page=el("span", "no trial counts", class_="muted"), wide=True)
    return Words(row.shown(row.summary.estimate.median), "strong")


def _interval(row: Row) -> Shown:
    if row.summary is None:
        return None
    estimate = row.summary.estimate
    if estimate.low is None or estimate.high is None:
        return Words("-", tip=estimate.meaning())
    return Words(f"{row.shown(estimate.low)} to {row.shown(estimate.high)}", tip=estimate.meaning())


def _quartiles(row: Row) -> Shown:
    return f"{row.shown(row.summary.quartile_1)} to {row.shown(row.summary.quartile_3)}" if row.summary else None


class _Bars:
    """Drawings of a page: each arm in its colour, on the scale of all cells."""

    def __init__(self, seen: Seen) -> None:
        ends = [value for row in seen.rows if row.summary for value in (row.summary.low, row.summary.high)]
        self.top = max(filter(math.isfinite, ends), default=0.0) * 1.03 or 1.0
        self.values = seen.run.values()
        self.arms = [arm.name for arm in seen.run.arms]

    def arm(self, row: Row) -> Words:
        dot = el("i", class_=f"dot s{self._colour(row) % 8}")
        return Words(row.cell.arm.name, page=join(dot, row.cell.arm.name))

    def bar(self, row: Row) -> Shown:
        if row.summary is None:
            return None
        return Words("", page=functools.partial(self._drawn, row, row.summary))

    def _drawn(self, row: Row, summary: Summary) -> Html:
        label, values = f"{row.cell}: {summary.estimate.meaning()}", list(self.values[row.cell.number].values())
        return plots.interval(summary, self.top, self._colour(row), values, label)

    def _colour(self, row: Row) -> int:
        return self.arms.index(row.cell.arm.name)


def _meaning(rows: Sequence[Row]) -> tuple[Words, ...]:
    """Say what is refused, what timed out, what broke, and what the weakest interval of the table means."""
    details = dict.fromkeys(f"refused: {each.detail}" for row in rows for each in row.refused)
    late = sum(row.timed_out for row in rows)
    timed_out = f"{counted(late, 'trial')} timed out: in medians and comparisons they took longer than every other"
    least = min((row.summary.estimate for row in rows if row.summary), key=lambda estimate: estimate.n, default=None)
    return (
        *words(details, "bad", "text"),
        *words([timed_out] if late else [], "warn", "text"),
        *words([tables.broken_words(rows)], "warn", "text"),
        *words([least.meaning()] if least and least.n < ENOUGH else [], "muted", "text"),
    )
