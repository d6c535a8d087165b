"""What was measured and published of each cell of a figure, in one row. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from lanelab.analysis.results import axes, tables
from lanelab.analysis.results.comparisons import ComparisonRow
from lanelab.analysis.results.conditions import trials_out_of_tolerance
from lanelab.analysis.results.courses import COURSE
from lanelab.analysis.results.drawing import figures_of
from lanelab.analysis.results.marks import CHANGE, Mark, marks, refused_cells
from lanelab.analysis.results.model import Cell, Figure, Run
from lanelab.analysis.results.text import visible_everywhere
from lanelab.driver.record.metrics import Metric


@dataclass(frozen=True, slots=True)
class CellNumbers:
    """A cell in one metric."""

    cell: Cell
    metric: Metric
    mark: Mark | None  # in the metric's unit; None where nothing was measured
    failed: int
    timed_out: int  # of these, those that timed out: they are in the numbers
    refused: bool  # the link was not the one that was asked for
    published: float | None  # in the metric's unit
    against: ComparisonRow | None  # the change of the primary metric against its base

    @property
    def of_published(self) -> float | None:
        """Return the median as a share of what was published; None where half of the trials timed out, too."""
        if self.mark is None or not self.published or self.mark.is_late(self.mark.middle):
            return None
        return self.mark.middle / self.published


def drawn_figures(run: Run) -> list[Figure]:
    """Return those that the experiment declares, or the likely one. Without those that every report has besides."""
    return list(run.figures or figures_of(run)[:1])


def metrics_of_figures(run: Run) -> list[Metric]:
    """Return what the figures are about, each once. A change is told beside the primary metric."""
    metrics = [
        run.primary if figure.y == CHANGE else axes.metric_of(run, figure.y)
        for figure in drawn_figures(run)
        if figure.kind != COURSE
    ]
    metrics = metrics or [run.primary]
    return list(dict.fromkeys(metrics))


def cell_numbers(run: Run) -> list[CellNumbers]:
    """Return each cell in each metric of the figures."""
    against: dict[int, ComparisonRow] = {}
    for row in tables.comparisons(run):
        against.setdefault(row.cell.number, row)
    by_cell = run.by_cell()
    numbers = []
    for metric in metrics_of_figures(run):
        marks_of, refused = marks(run, metric.key, "").marks, refused_cells(run, metric.key)
        published = _published(run, metric)
        numbers += [
            CellNumbers(
                cell,
                metric,
                None if cell.number in refused else marks_of.get(cell.number),
                sum(not trial.ok for trial in by_cell[cell.number]),
                sum(trial.timed_out for trial in by_cell[cell.number]),
                cell.number in refused,
                published.get(cell.number),
                against.get(cell.number),
            )
            for cell in run.cells
        ]
    return numbers


def _published(run: Run, metric: Metric) -> dict[int, float]:
    """Return published values by cell, where a figure's series and place on x mean one cell alone."""
    values: dict[int, float] = {}
    for figure in run.figures:
        if figure.kind == COURSE or figure.y == CHANGE or axes.metric_of(run, figure.y) != metric:
            continue
        cells = axes.shown(run.cells, figure.only)
        for series, x, value in figure.published:
            there = [
                cell
                for cell in cells
                if axes.place(cell, figure.x or "arm").text == x
                and (not figure.series or axes.place(cell, figure.series).text == series)
            ]
            if len(there) == 1:
                values[there[0].number] = value
    return values


def figure_rows(number: int, run: Run) -> Iterator[dict[str, Any]]:
    """Yield one row for each cell and metric, for other programs."""
    keys = list(dict.fromkeys(key for link in run.links for key in link.settings))
    out = trials_out_of_tolerance(run)
    for each in cell_numbers(run):
        mark, cell = each.mark, each.cell
        comparison = each.against.comparison if each.against else None
        change, low, high = (
            (comparison.ratio.value, comparison.ratio.low, comparison.ratio.high) if comparison else (None, None, None)
        )
        yield visible_everywhere(
            {
                "figure": number,
                "variant": run.variant,
                "site": cell.site,
                "link": cell.link.label,
                "arm": cell.arm.name,
                "cell": cell.id,
                "metric": each.metric.name,
                "unit": each.metric.unit,
                "n": mark.n if mark else 0,
                "failed": each.failed,
                "timed_out": each.timed_out,
                "refused": each.refused,
                "trials_out_of_tolerance": out[cell.number],
                "median": mark.middle if mark else None,
                "low": mark.low if mark else None,
                "high": mark.high if mark else None,
                "interval": mark.interval if mark else "",
                "published": each.published,
                "of_published": each.of_published,
                "base": each.against.base.name if each.against else "",
                "change_percent": _percent(change),
                "change_low_percent": _percent(low),
                "change_high_percent": _percent(high),
                **axes.link_numbers(dict(cell.link.settings)),
                **{f"link.{key}": str(cell.link.settings.get(key, "")) for key in keys},
            }
        )


def _percent(ratio: float | None) -> float | None:
    return None if ratio is None else 100 * (ratio - 1)
