"""What a run shows, in sentences. Nothing is claimed that the intervals do not carry."""

import math
from collections.abc import Sequence

from lanelab.analysis.results import conditions, machine, tables
from lanelab.analysis.results.comparisons import not_compared
from lanelab.analysis.results.model import Run
from lanelab.analysis.results.numbers import change_words, shown, with_unit
from lanelab.analysis.results.pooled_places import PooledRow
from lanelab.analysis.results.sections.comparisons import provisional
from lanelab.analysis.results.tables import ComparisonRow, Row
from lanelab.analysis.statistics import ENOUGH, Verdict
from lanelab.analysis.statistics.paired import OPEN
from lanelab.driver.base.amounts import counted, form_for

FASTER, SLOWER = ("faster", "faster so far"), ("slower", "slower so far")
TOO_FEW: Verdict = "too few rounds"
BROKE = "since loads broke and were tried again"
MOST_CELLS = 4
MORE_THAN_TOLD = "more than can be told, since loads timed out"


def findings(
    run: Run, rows: Sequence[Row], compared: Sequence[ComparisonRow], over_all: Sequence[PooledRow]
) -> list[str]:
    """Return what was found, the most important first."""
    if nothing := tables.nothing_counts(run):
        return [nothing]
    pairs = dict.fromkeys((row.cell.arm.name, row.base.name) for row in compared)
    against = [_against(arm, base, compared) for arm, base in pairs]
    result = [sentence for sentence in against if sentence] or _single(rows)
    return [*result, *(row.words() for row in over_all)]


def warnings(run: Run, rows: Sequence[Row], compared: Sequence[ComparisonRow]) -> list[str]:
    """Return what keeps the findings from being believed, the most important first."""
    if not run.ok:
        return conditions.caveats(run)
    left = [] if run.plan.is_interleaved else not_compared(run)
    few = _few(run, rows, compared)
    return [
        *conditions.caveats(run), *_refused(rows), *left, *([few] if few else []), *_timed_out(rows),
        *([broken] if (broken := tables.broken_words(rows)) else []), *_flagged(run), *conditions.changes(run),
    ]  # fmt: skip


def _flagged(run: Run) -> list[str]:
    """A machine that had other work to do is nothing to look for below."""
    sentence = machine.sentence(run)
    return [f"{sentence}."] if sentence else []


def _refused(rows: Sequence[Row]) -> list[str]:
    return [f"Refused: {row.cell}: {'; '.join(each.detail for each in row.refused)}." for row in rows if row.refused]


def _timed_out(rows: Sequence[Row]) -> list[str]:
    number = sum(row.timed_out for row in rows)
    if not number:
        return []
    trials = counted(number, "trial")
    return [
        f"{trials} timed out: in medians and comparisons {form_for(number, 'it', 'they')} took longer than every other."
    ]


def _so_far(rows: Sequence[ComparisonRow]) -> str:
    """Return the words behind a claim that rests on too little, or on a run that may go on."""
    return " so far" if any(row.comparison and not row.comparison.is_final for row in rows) else ""


def _against(arm: str, base: str, compared: Sequence[ComparisonRow]) -> str:
    """Return an arm against another, over all sites and links."""
    rows = [row for row in compared if (row.cell.arm.name, row.base.name) == (arm, base) and row.comparison]
    if not rows:
        return ""
    faster = [row for row in rows if row.comparison and row.comparison.verdict in FASTER]
    slower = [row for row in rows if row.comparison and row.comparison.verdict in SLOWER]
    if len(rows) == 1:
        return _one_against(rows[0], base)
    left = [row for row in rows if row not in (*faster, *slower)]
    so_far = _so_far(rows)
    if faster and not slower:
        return f"{arm} was faster than {base}{so_far} in {_of(faster, rows)}, by {_between(faster)}.{_rest(left)}"
    if slower and not faster:
        return f"{arm} was slower than {base}{so_far} in {_of(slower, rows)}, by {_between(slower)}.{_rest(left)}"
    if faster and slower:
        return (
            f"{arm} against {base} depends on site and link{so_far}: faster in {_of(faster, rows)} "
            f"(by {_between(faster)}), slower in {len(slower)} (by {_between(slower)}).{_rest(left)}"
        )
    return _neither(arm, base, rows)


def _neither(arm: str, base: str, rows: Sequence[ComparisonRow]) -> str:
    """Say that an arm is neither faster nor slower in any comparison."""
    few, unsure = _with(rows, TOO_FEW), _with(rows, OPEN)
    if len(few) == len(rows):
        return f"Too few rounds to compare {arm} with {base}, in any of {len(rows)} comparisons."
    if len(unsure) == len(rows):
        return f"Whether {arm} was faster than {base} is open in all {len(rows)} comparisons, {BROKE}."
    left = len(rows) - len(few) - len(unsure)
    where = f"{left} of {len(rows)}" if left < len(rows) else f"any of {len(rows)}"
    shown = f"no difference is shown{_so_far(rows)} in {where} comparisons"
    return f"Between {arm} and {base} {shown}.{_rest([*unsure, *few])}"


def _one_against(row: ComparisonRow, base: str) -> str:
    comparison = row.comparison
    n = comparison.n if comparison else 0
    if comparison is None or comparison.verdict == TOO_FEW:
        return f"Too few rounds to compare {row.cell.arm.name} with {base}: {counted(n, 'round')}."
    if comparison.verdict == OPEN:
        return f"Whether {row.cell.arm.name} was faster than {base} is open, {BROKE} ({counted(n, 'round')})."
    if comparison.verdict not in (*FASTER, *SLOWER):
        return f"Between {row.cell.arm.name} and {base} no difference is shown{_so_far([row])} ({counted(n, 'round')})."
    way = "faster" if comparison.verdict in FASTER else "slower"
    difference = abs(comparison.difference.value)
    by = f"{_change(row)}: {shown(row.primary, difference)} {row.primary.unit}"
    if not math.isfinite(difference):
        by = MORE_THAN_TOLD
    return (
        f"{row.cell.arm.name} was {way} than {base}{_so_far([row])} by {by}, in "
        f"{comparison.faster if way == 'faster' else comparison.slower} of {comparison.n} rounds."
    )


def _of(some: Sequence[ComparisonRow], rows: Sequence[ComparisonRow]) -> str:
    every = "both" if len(rows) == 2 else f"all {len(rows)}"
    return f"{every} comparisons" if len(some) == len(rows) else f"{len(some)} of {len(rows)} comparisons"


def _rest(left: Sequence[ComparisonRow]) -> str:
    """Return the comparisons that say neither faster nor slower."""
    few, unsure = len(_with(left, TOO_FEW)), len(_with(left, OPEN))
    shown = f" In {len(left) - few - unsure} no difference is shown." if len(left) > few + unsure else ""
    shown += f" In {unsure} it is open, {BROKE}." if unsure else ""
    return shown + (f" In {few} there are too few rounds." if few else "")


def _with(some: Sequence[ComparisonRow], verdict: Verdict) -> list[ComparisonRow]:
    return [row for row in some if row.comparison and row.comparison.verdict == verdict]


def _ratio(row: ComparisonRow) -> float:
    return row.comparison.ratio.value if row.comparison else 1.0


def _change(row: ComparisonRow) -> str:
    return change_words(_ratio(row)).lstrip("+-") if 0 < _ratio(row) < math.inf else MORE_THAN_TOLD


def _between(rows: Sequence[ComparisonRow]) -> str:
    """Return the smallest and the largest change, and where the largest is."""
    ordered = sorted(rows, key=lambda row: abs(_ratio(row) - 1))
    least, most = ordered[0], ordered[-1]
    sites = len({row.cell.site for row in rows}) > 1
    where = f"{most.cell.site}, {most.cell.link.label}" if sites else most.cell.link.label
    return _change(most) if len(rows) == 1 else f"{_change(least)} to {_change(most)} (most at {where})"


def _single(rows: Sequence[Row]) -> list[str]:
    """Say without a comparison what the cells themselves show, if they are few."""
    sentences: list[str] = []
    for row in rows:
        if row.summary is None or len(sentences) == MOST_CELLS:
            continue
        estimate, metric = row.summary.estimate, row.primary
        ends = (estimate.low, estimate.high)
        interval = "" if None in ends else f" ({' to '.join(_with_unit(row, end or 0.0) for end in ends)})"
        median = f"{_with_unit(row, estimate.median)}{interval}"
        took = f"took {median}" if metric.unit == "ms" else f"had {median}"
        sentences.append(f"{row.cell.site} {took} over {row.cell.link.label} by {row.cell.arm.name}.")
    return sentences


def _with_unit(row: Row, value: float) -> str:
    return with_unit(row.primary, value) if math.isfinite(value) else f"more than {with_unit(row.primary, row.limit)}"


def _few(run: Run, rows: Sequence[Row], compared: Sequence[ComparisonRow]) -> str:
    """A warning where intervals cannot hold what they usually hold, or a run may go on."""
    short = [row for row in rows if row.ok + row.timed_out < ENOUGH]
    if not short:
        return "" if run.is_finished else f"The run is not finished ({run.state}): all of this is provisional."
    cells = "Every cell has" if len(short) == len(rows) else f"{len(short)} of {len(rows)} cells have"
    few = f"{cells} fewer than {ENOUGH} trials that count: intervals there are ranges."
    return f"{few} {provisional(compared)}".strip()
