"""The result of a run on a terminal: what `lanelab run` prints at its end, and `lanelab show`."""

from collections.abc import Sequence

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from lanelab.analysis.results import (
    beds_table,
    comparison_words,
    comparisons,
    conditions,
    gateway_cost,
    links,
    load_reports,
    machine,
    machines_table,
    over_places,
    sites,
    tables,
    witnesses,
)
from lanelab.analysis.results.claims.judge import judge
from lanelab.analysis.results.claims.terminal import summary, verdict_table
from lanelab.analysis.results.fitted_table import FittedTable
from lanelab.analysis.results.model import Run
from lanelab.analysis.results.numbers import change_words, counted, difference, percent, ratio, shown
from lanelab.analysis.results.tables import ComparisonRow, Row
from lanelab.analysis.statistics import ENOUGH, interval_name
from lanelab.driver.record.metrics import Metric

_STYLES = {"faster": "green", "slower": "red"}


def results(run: Run) -> RenderableType:
    """Everything worth a look: the table, comparisons, what the gateway costs, failures, drift."""
    rows = tables.rows(run)
    if tables.are_empty(rows):
        return Group(Text(tables.nothing_counts(run)), *_doubts(run))
    parts: list[RenderableType] = [result_table(run, rows)]
    parts += [Text(f"Medians, intervals and quartiles are {over}: see below for each.") for over in [run.over] if over]
    if judged := judge(run):
        parts += [Text(), Text("claims", style="bold"), verdict_table(judged), Text(summary(judged))]
    compared = tables.comparisons(run)
    if compared:
        names = ", ".join(comparisons.bases(compared))
        parts += [Text(), Text(f"against {names}, by round", style="bold"), comparison_table(compared)]
        parts += [Text(row.words()) for row in over_places.pooled(run)]
        said = [comparison_words.across_machines(compared), comparison_words.together(compared)]
        said += [comparison_words.ESTIMATE]
        parts += [Text(words, style="dim") for words in said if words]
    parts += [Text(words, style="yellow") for words in comparisons.not_compared(run)]
    parts += _meaning(rows)
    parts += _levels(run, compared)
    gateway = gateway_cost.cost(run).sentences()
    if gateway and run.ok:
        parts += [Text(), Text("what the gateway costs", style="bold"), *map(Text, gateway)]
    parts += [Text(sentence, style="yellow") for sentence in witnesses.silences(run)]
    if levels := load_reports.service_levels(run):
        parts += [Text(), Text("service level", style="bold"), *map(Text, levels)]
    loads = load_reports.reported(run)
    if thresholds := load_reports.threshold_sentences(loads):
        parts += [Text(), Text("thresholds", style="bold"), *map(Text, thresholds)]
    if hidden := load_reports.sentences(loads):
        parts += [Text(), Text("what no percentile has", style="bold"), *map(Text, hidden)]
    parts += [Text(sentence, style="yellow") for sentence in load_reports.left_out_sentences(loads)]
    return Group(*parts, *_doubts(run))


def _doubts(run: Run) -> list[RenderableType]:
    """What failed, and what makes numbers mean less."""
    parts: list[RenderableType] = []
    failures = tables.failure_counts(run)
    if failures:
        words = ", ".join(f"{reason} {number}" for reason, number in failures.most_common())
        fail = "1 trial failed and does" if len(run.failed) == 1 else f"{len(run.failed)} trials failed and do"
        parts += [Text(), Text(f"{fail} not count: {words}", style="yellow")]
    parts += [Text(sentence, style="yellow") for sentence in links.sentences(run)]
    if flagged := machine.sentence(run):
        parts.append(Text(flagged, style="yellow"))
    run_drift = tables.run_drift(run)
    if run_drift.is_shown:
        parts.append(Text(run_drift.words(), style="yellow"))
    parts += [Text(sentence, style="dim") for sentence in sites.sentences(run)]
    return [*parts, *(Text(sentence, style="yellow") for sentence in conditions.sentences(run))]


def _levels(run: Run, compared: Sequence[ComparisonRow]) -> list[RenderableType]:
    """What beds say of a run on one machine, and what machines say of a run on several."""
    made_on = tables.machines(run, compared)
    beds = beds_table.parts(tables.beds(run, compared), run.primary) if made_on.used < 2 else []
    return [*beds, *machines_table.parts(made_on, run.primary)]


def _meaning(rows: Sequence[Row]) -> list[RenderableType]:
    """What the weakest interval of the tables above means, where it is a weak one."""
    least = min((row.summary.estimate for row in rows if row.summary), key=lambda estimate: estimate.n, default=None)
    said = [f"{each.detail}" for row in rows for each in row.refused]
    refused: list[RenderableType] = [Text(f"refused: {detail}", style="red") for detail in dict.fromkeys(said)]
    timed_out = sum(row.timed_out for row in rows)
    if timed_out:
        what = f"{counted(timed_out, 'trial')} timed out: in medians and comparisons they took longer than every other"
        refused.append(Text(what, style="yellow"))
    return [*refused, *([Text(least.meaning(), style="dim")] if least and least.n < ENOUGH else [])]


def result_table(run: Run, rows: Sequence[Row]) -> FittedTable:
    sites = len({cell.site for cell in run.cells}) > 1
    names = [*(["site"] if sites else []), "link", "arm"]
    interval = interval_name(row.summary.estimate for row in rows if row.summary)
    columns, bound = tables.columns(run), tables.has_bound(run)
    numbers = [
        "ok",
        "failed",
        " ".join(filter(None, ["median", run.primary.unit, run.over])),
        interval,
        "quartiles",
        "sd",
    ]
    numbers += [*(metric.column for metric in columns), *(["of bound"] if bound else [])]
    made = _table([*names, *numbers], right=numbers)
    last = ("", "")
    for row in rows:
        same = row.cell.group == last
        last = row.cell.group
        where = [*([row.cell.site] if sites else []), row.cell.link.label]
        made.add_row(
            *(Text("" if same else word) for word in where),
            Text(row.cell.arm.name),
            *_numbers(row, columns, bound=bound),
        )
    spare = ["quartiles", *(metric.column for metric in reversed(columns)), "sd", *(["of bound"] if bound else [])]
    return FittedTable(made, spare)


def _numbers(row: Row, columns: Sequence[Metric], *, bound: bool) -> list[Text]:
    failed = Text(str(row.failed), style="yellow" if row.failed else "dim")
    if row.refused:
        reasons = Text(f"refused: {', '.join(each.reason for each in row.refused)}", style="bold red")
        return [Text(str(row.ok)), failed, reasons, *(Text("-") for _ in range(3 + len(columns) + bound))]
    if row.summary is None:
        return [Text("0", style="bold red"), failed, *(Text("-") for _ in range(4 + len(columns) + bound))]
    estimate = row.summary.estimate
    interval = "-" if estimate.low is None else f"{row.shown(estimate.low)} to {row.shown(estimate.high)}"
    return [
        Text(str(row.ok)),
        failed,
        Text(row.shown(estimate.median), style="bold"),
        Text(interval),
        Text(f"{row.shown(row.summary.quartile_1)} to {row.shown(row.summary.quartile_3)}"),
        Text(percent(row.summary.stdev_percent)),
        *(Text(shown(metric, row.medians[metric.name])) for metric in columns),
        *([Text(ratio(row.ratio))] if bound else []),
    ]


def comparison_table(rows: Sequence[ComparisonRow]) -> Table:
    sites, several = len({row.cell.site for row in rows}) > 1, len(comparisons.bases(rows)) > 1
    names = [*(["site"] if sites else []), "link", "arm", *(["against"] if several else [])]
    interval = interval_name(row.comparison.ratio for row in rows if row.comparison)
    unit = rows[0].primary.unit if rows else ""
    has_p = comparison_words.has_p(rows)
    numbers = ["change", interval, f"difference {unit}", "faster in", *(["p"] if has_p else [])]
    made = _table([*names, *numbers, ""], right=["change", "faster in", "p"])
    for row in rows:
        where = [*([row.cell.site] if sites else []), row.cell.link.label, row.cell.arm.name]
        made.add_row(*map(Text, [*where, *([row.base.name] if several else [])]), *_compared(row, has_p=has_p))
    return made


def _compared(row: ComparisonRow, *, has_p: bool) -> list[Text]:
    comparison = row.comparison
    if comparison is None:
        return [*(Text("-") for _ in range(4 + has_p)), Text(row.why, style="dim")]
    low, high = comparison.ratio.low, comparison.ratio.high
    return [
        Text(change_words(comparison.ratio.value), style="bold"),
        Text("-" if low is None or high is None else f"{change_words(low)} to {change_words(high)}"),
        Text(difference(comparison.difference.value / row.primary.scale)),
        Text(f"{comparison.faster} of {comparison.n}"),
        *([Text(comparison_words.p_words(comparison))] if has_p else []),
        Text(comparison.verdict, style=_STYLES.get(comparison.verdict, "")),
    ]


def _table(columns: Sequence[str], right: Sequence[str]) -> Table:
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for column in columns:
        made.add_column(column, justify="right" if column in right else "left", no_wrap=column in right)
    return made
