"""What load generators reported of the trials of a run, for its report and its terminal."""

import itertools
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lanelab.analysis.results import tables
from lanelab.analysis.results.axes import Dimension
from lanelab.analysis.results.drawing import Drawing, Panel, Point
from lanelab.analysis.results.drawing import Series as Drawn
from lanelab.analysis.results.marks import Mark, Measured
from lanelab.analysis.results.model import Cell, Run, Trial
from lanelab.analysis.results.published_points import PublishedFigure
from lanelab.driver.base.amounts import counted
from lanelab.driver.record.evidence.load import MOST_SCRIPT_METRICS, Latency, LoadEvidence, LoadReport, Tally
from lanelab.driver.record.metrics import LOAD

CDF = "times"  # of a drawing: how many requests or pages took no longer
MOST_POINTS = 120
LEVEL = "users_at_limit"
MOST_KINDS = 3  # of failed requests that a sentence names


@dataclass(frozen=True, slots=True)
class Reported:
    """A cell with the trial nearest to its median, and all that its trials left."""

    cell: Cell
    trial: Trial
    evidence: LoadEvidence
    report: LoadReport  # of that trial
    evidences: tuple[LoadEvidence, ...]  # of all trials that count
    reports: tuple[LoadReport, ...]  # likewise


def reported(run: Run) -> list[Reported]:
    """Return cells of a run of loads that have a trial which counts. None of a run of another workload."""
    if run.workload != LOAD:
        return []
    evidence = dict(_each_evidence(run))
    rows = []
    for cell, trials in zip(run.cells, run.by_cell().values(), strict=True):
        middle = tables.median_trial(trials)
        if middle is None:
            continue
        report = evidence.get(middle.number)
        evidences = tuple(
            each for trial in trials if trial.ok and (each := evidence.get(trial.number)) and each.generator
        )
        reports = tuple(each.generator for each in evidences if each.generator)
        if report and report.generator:
            rows.append(Reported(cell, middle, report, report.generator, evidences, reports))
    return rows


def _each_evidence(run: Run) -> Iterator[tuple[int, LoadEvidence]]:
    from lanelab.driver.run.folder.trial_records import each_record  # noqa: PLC0415 - only loads need records

    for number, record in each_record(run.folder):
        if record.load:
            yield number, record.load


def sentences(reports: Sequence[Reported]) -> list[str]:
    """Return what an average hides, of each cell."""
    texts = []
    for each in reports:
        hidden = _hidden(each.report)
        if hidden:
            texts.append(f"{each.cell}: {hidden} (trial {each.trial.number})")
    return texts


def service_levels(run: Run) -> list[str]:
    """Say where pages first take as long as the limit, of each cell that tells; or that they never did."""
    texts = []
    for cell, trials in zip(run.cells, run.by_cell().values(), strict=True):
        measured = [trial.measures for trial in trials if trial.ok and LEVEL in trial.measures]
        broke = [measures[LEVEL] for measures in measured if not measures.get(f"{LEVEL}_censored")]
        if broke:
            ends = "" if len(broke) == 1 else f" ({min(broke):,.0f} to {max(broke):,.0f})"
            many = f"{len(broke)} of {counted(len(measured), 'trial')}"
            texts.append(
                f"{cell}: pages first took as long as the limit at {statistics.median(broke):,.0f} users{ends}, {many}"
            )
        elif measured:
            most = min(measures[LEVEL] for measures in measured)
            texts.append(f"{cell}: pages never took as long as the limit, with up to {most:,.0f} users")
    return texts


def threshold_sentences(reports: Sequence[Reported]) -> list[str]:
    """Return whether each cell stayed below the thresholds of the experiment file, and of its script."""
    texts = []
    for each in reports:
        for number, first in enumerate(each.evidence.thresholds):
            all_trials = [one.thresholds[number] for one in each.evidences]
            values = [one.value for one in all_trials if one.value is not None]
            had = f"it was {min(values):,.4g} to {max(values):,.4g}" if values else "no trial has it"
            met = f"met in {sum(one.is_met for one in all_trials)} of {counted(len(all_trials), 'trial')}"
            texts.append(f"{each.cell}: {first.key} at most {first.highest:,.4g}: {met}, {had}")
        crossed = sorted({one.crossed for one in each.reports if one.crossed})
        texts += [f"{each.cell}: of the script's own, {words}" for words in crossed]
    return texts


def left_out_sentences(reports: Sequence[Reported]) -> list[str]:
    """Return a sentence for each cell whose script measured under more names than are kept."""
    texts = []
    for each in reports:
        many = sum(one.script_left_out for one in each.reports)
        if many:
            trials = f"in {many} of {counted(len(each.reports), 'trial')}"
            texts.append(
                f"{each.cell}: the script measures under more than {MOST_SCRIPT_METRICS} names: those that came later "
                f"are left out, {trials}"
            )
    return texts


def left_out_of_scripts(run: Run) -> dict[int, bool]:
    """Return whether the script of each trial had more metrics than are kept. Trials without a report are not there."""
    if run.workload != LOAD:
        return {}
    return {
        number: evidence.generator.script_left_out for number, evidence in _each_evidence(run) if evidence.generator
    }


def script_rows(each: Reported) -> list[tuple[str, str]]:
    """Return what the script measured by itself: the medians over all trials of the cell."""
    values: dict[str, dict[str, list[float]]] = {}
    times: set[str] = set()
    for report in each.reports:
        for metric in report.script:
            times |= {metric.name} if metric.is_time else set()
            for word, value in metric.values.items():
                values.setdefault(metric.name, {}).setdefault(word, []).append(value)
    rows = []
    for name, words in values.items():
        unit = " ms" if name in times else ""
        medians = [f"{word} {statistics.median(numbers):,.4g}{unit}" for word, numbers in words.items()]
        rows.append((name, ", ".join(medians)))
    return rows


def _hidden(report: LoadReport) -> str:
    words = []
    for tally, name in ((report.pages, "page"), (report.requests, "request")):
        if tally is None:
            continue
        if tally.failed:
            late = f", {tally.timed_out} of them timed out" if tally.timed_out else ""
            kinds = f" ({_kinds(report)})" if name == "request" and report.errors else ""
            words.append(f"{counted(tally.failed, name)} failed{late}{kinds}")
        if tally.unfinished:
            longest = f"the longest after {tally.unfinished_longest_ms / 1000:,.3g} s"
            words.append(f"{counted(tally.unfinished, name)} had not ended, {longest}")
    words += [f"{counted(report.dropped, 'arrival')} found no user free"] if report.dropped else []
    return "; ".join(words)


def _kinds(report: LoadReport) -> str:
    """Return the ways in which requests failed, the most frequent first."""
    frequent = sorted(report.errors.items(), key=lambda error: -error[1].count)
    others = len(frequent) - MOST_KINDS
    more = f", {counted(others, 'other kind')}" if others > 0 else ""
    return ", ".join(f"{name}: {error.count:,}" for name, error in frequent[:MOST_KINDS]) + more


def tallies(report: LoadReport) -> list[tuple[str, Tally]]:
    pages = [("pages", report.pages)] if report.pages else []
    return [*pages, ("requests", report.requests)]


def times(report: LoadReport) -> list[tuple[str, Latency]]:
    """Return the times of what ended well, and of the parts of requests."""
    whole = [(name, tally.ms) for name, tally in tallies(report) if tally.ms]
    return [*whole, *report.parts_ms.items()]


def health(report: LoadReport) -> list[tuple[str, str]]:
    """Return what the generator had of its machine: whether it was what limited the load."""
    use = report.use
    if use is None:
        return []
    share = use.cpu_s / use.seconds / use.processors if use.seconds and use.processors else 0.0
    return [
        ("processors", f"{100 * share:.0f}% of {use.processors}"),
        ("lateness of its timers, median and 99 of 100", f"{use.lag_50_ms:,.3g} ms, {use.lag_99_ms:,.3g} ms"),
        ("files open at once", f"{use.files_most:,} of {use.files_allowed:,}"),
        ("connections opened, ports", f"{report.connections:,}, {use.ports_allowed:,} at once"),
        ("memory", f"{use.memory_bytes_most / 1e6:,.0f} MB"),
    ]


def times_drawing(run: Run, reports: Sequence[Reported], *, pages: bool) -> Drawing | None:
    """Return which share of pages or requests took no longer: over all trials of each cell, from their histograms."""
    arms = [arm.name for arm in run.arms]
    same = len({each.cell.group for each in reports}) == 1
    series: list[Drawn] = []
    for each in reports:
        points = _shares(each, pages=pages)
        name = each.cell.arm.name if same else str(each.cell)
        if points:
            series.append(Drawn(name, arms.index(each.cell.arm.name) if same else len(series), tuple(points)))
    if not series:
        return None
    what = "pages" if pages else "requests"
    return Drawing(
        f"How long {what} took", CDF, Measured(f"share of {what} that ended well (%)", "%", {}),
        Dimension("ms", "at most", "ms", ()), None, (Panel("", tuple(series)),), 0, 0, "", tuple(arms),
        PublishedFigure(),
    )  # fmt: skip


def _shares(each: Reported, *, pages: bool) -> list[Point]:
    counts: dict[float, int] = {}
    for report in each.reports:
        tally = report.pages if pages else report.requests
        for end, many in tally.ms.histogram if tally and tally.ms else ():
            counts[end] = counts.get(end, 0) + many
    ends = sorted(end for end in counts if end > 0)
    total, step = sum(counts.values()), max(1, len(ends) // MOST_POINTS)
    below = list(itertools.accumulate(counts[end] for end in ends))
    zero = total - (below[-1] if below else 0)
    chosen = [at for at in range(len(ends)) if at % step == 0 or at == len(ends) - 1]
    return [_share(each.cell, ends[at], 100 * (zero + below[at]) / total) for at in chosen]


def _share(cell: Cell, ms: float, share: float) -> Point:
    words = f"{cell}: {share:.4g}% within {ms:,.4g} ms"
    return Point(ms, f"{ms:,.4g} ms", Mark(share, None, None, 1, words, ""), str(cell), cell.number)
