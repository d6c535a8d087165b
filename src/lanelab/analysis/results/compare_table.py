"""Whether runs agree, on a terminal."""

import math
from collections.abc import Iterator

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from lanelab.analysis.results.compare_runs import TITLES, Against, Verdict, sentences
from lanelab.analysis.results.numbers import NONE, change_words, shown
from lanelab.analysis.statistics import Estimate, interval_name
from lanelab.analysis.statistics.two_samples import TwoSamples
from lanelab.driver.record.metrics import Metric

_STYLES: dict[Verdict, str] = {"agree": "green", "differ": "red", "not told": "dim"}
MOST_CONDITIONS = 12


def compared(made: Against, names: tuple[str, str]) -> RenderableType:
    """Return the first run and another one. `names`: what to call them."""
    parts: list[RenderableType] = []
    if made.cells:
        parts += [_cells(made, names), Text()]
    if made.changes:
        parts += [Text("paired changes", style="bold"), _changes(made, names), Text()]
    parts += [Text(sentence) for sentence in sentences(made)]
    if made.cells:
        parts.append(Text("Intervals are of these runs: they hold what trials differ by, and not what beds do.", "dim"))
    return Group(*parts, *_conditions(made, names))


def _cells(made: Against, names: tuple[str, str]) -> Table:
    interval = interval_name(row.ratio for row in made.cells)
    unit, metric = made.first.primary.unit, made.first.primary
    numbers = [f"{name} {unit}" for name in names]
    table = _table(made, [*numbers, f"{names[1]} to {names[0]}", interval])
    for row in made.cells:
        ends = [median_words(metric, each) for each in (row.first, row.other)]
        ratio = [change_words(row.ratio.value), shift_words(row.ratio)]
        table.add_row(*_where(made, row.cell.site, row.cell.link.label, row.cell.arm.name), *map(Text, ends + ratio),
                      _told(made, row.verdict, "%"))  # fmt: skip
    return table


def _changes(made: Against, names: tuple[str, str]) -> Table:
    interval = interval_name(row.points for row in made.changes)
    table = _table(made, [*names, "difference", interval])
    for row in made.changes:
        ends = [_interval(change_words(each.value), each.low, each.high) for each in (row.first, row.other)]
        points = [
            f"{row.points.value:+.1f} points",
            _ends(row.points, *map(_points, (row.points.low, row.points.high))),
        ]
        where = _where(made, row.cell.site, row.cell.link.label, f"{row.cell.arm.name} against {row.base}")
        table.add_row(*where, *map(Text, ends + points), _told(made, row.verdict, " points"))
    return table


def _table(made: Against, numbers: list[str]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for column in (*(["site"] if _has_sites(made) else []), "link", "arm"):
        table.add_column(column)
    for column in numbers:
        table.add_column(column, justify="right")
    table.add_column("")
    return table


def _has_sites(made: Against) -> bool:
    return len({cell.site for cell in made.first.cells}) > 1


def _where(made: Against, site: str, link: str, arm: str) -> list[Text]:
    return [Text(word) for word in (*([site] if _has_sites(made) else []), link, arm)]


def median_words(metric: Metric, each: Estimate) -> str:
    """Return a median with its interval."""
    if each.low is None or each.high is None:
        return _value(metric, each.median)
    return f"{_value(metric, each.median)} ({_value(metric, each.low)} to {_value(metric, each.high)})"


def shift_words(ratio: TwoSamples) -> str:
    """Return the interval of a ratio between two runs, as changes."""
    return _ends(ratio, _change(ratio.low), _change(ratio.high))


def _value(metric: Metric, value: float) -> str:
    return shown(metric, value) if math.isfinite(value) else "timed out"


def _interval(value: str, low: float | None, high: float | None) -> str:
    return value if low is None or high is None else f"{value} ({_change(low)} to {_change(high)})"


def _change(ratio: float) -> str:
    return change_words(ratio) if math.isfinite(ratio) else "no limit"


def _points(value: float) -> str:
    return f"{value:+.1f}" if math.isfinite(value) else "no limit"


def _ends(made: TwoSamples, low: str, high: str) -> str:
    return f"{low} to {high}" if made.n > 1 else NONE


def _told(made: Against, verdict: Verdict, unit: str) -> Text:
    margin = "" if verdict == "not told" else f" {100 * made.margin:g}{unit}"
    return Text(f"{TITLES[verdict]}{margin}", style=_STYLES[verdict])


def _conditions(made: Against, names: tuple[str, str]) -> Iterator[RenderableType]:
    if not made.conditions:
        yield from (Text(), Text("Nothing that was noted of machine, browser, servers and lanelab differs."))
        return
    yield from (Text(), Text("what differs besides", style="bold"))
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for column in ("", *names):
        table.add_column(column, overflow="fold")
    for name, one, other in made.conditions[:MOST_CONDITIONS]:
        table.add_row(Text(name), Text(one), Text(other))
    yield table
    if len(made.conditions) > MOST_CONDITIONS:
        yield Text(f"and {len(made.conditions) - MOST_CONDITIONS} more: --json has all of them", style="dim")
