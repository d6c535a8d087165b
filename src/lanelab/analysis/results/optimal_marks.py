"""The computed optimal load time in figures: a line or a row of its own beside those of the arms. Pure."""

import statistics
from collections.abc import Mapping, Sequence

from lanelab.analysis.results.marks import Mark, Measured
from lanelab.analysis.results.model import Cell, Figure, Run
from lanelab.driver.record.metrics import OPTIMAL, PAGE_LOAD, PRIMARY, metric_named

OPTIMUM = "optimal (computed)"
KINDS = ("line", "bar")


def is_for_optimum(figure: Figure, kind: str) -> bool:
    """Return whether the optimum belongs into a figure: it shows load times, and tells arms apart."""
    metric = metric_named(figure.y) if figure.y else None
    is_load_time = not figure.y or (metric is not None and metric.name == PRIMARY[PAGE_LOAD])
    return is_load_time and kind in KINDS and "arm" in (figure.series, figure.x or "arm")


def optimal_marks(run: Run, cells: Sequence[Cell], measured: Measured) -> tuple[str, Mapping[int, Mark]]:
    """Return the first arm that has optima in these cells, and a mark for each of its cells that is drawn."""
    optima = {number: list(values.values()) for number, values in run.values(OPTIMAL).items() if values}
    having = [cell for cell in cells if cell.number in optima and cell.number in measured.marks]
    if not having:
        return "", {}
    arm = min((cell.arm for cell in having), key=lambda arm: arm.number)
    marks = {cell.number: _mark(cell, optima[cell.number]) for cell in having if cell.arm.number == arm.number}
    return arm.name, marks


def _mark(cell: Cell, values: Sequence[float]) -> Mark:
    middle = statistics.median(values)
    words = f"{cell}: optimal load time, computed from {len(values)} rounds: {middle:,.0f} ms"
    return Mark(middle, None, None, len(values), words, "")


def about_optimum(arm: str) -> str:
    """Return a sentence for the caption; "" where no optimum is drawn."""
    if not arm:
        return ""
    return (
        f" The optimal load time is computed for {arm}: a round trip, its bytes at the link's rate, and its load time "
        "over the link that adds nothing."
    )
