"""What a figure shows, as numbers: panels of series of points. Pure; analysis/charts.py draws it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from analysis import axes
from analysis.axes import Dimension
from analysis.model import Cell, Figure, Run
from analysis.stats import Summary, summarise
from model.metrics import Metric

NUMERIC = ("rtt", "rate", "loss", "delay_down", "rate_down", "initial_window")


@dataclass(frozen=True, slots=True)
class Point:
    """One cell."""

    x: float | None
    text: str  # of x
    summary: Summary
    values: tuple[float, ...]
    label: str  # of the cell

    def words(self, metric: Metric) -> str:
        """The text for a reader who points at it."""
        estimate = self.summary.estimate
        unit = f" {metric.unit}" if metric.unit else ""
        interval = "" if estimate.low is None else f", {estimate.name} {estimate.low:,.1f} to {estimate.high:,.1f}"
        return f"{self.label}: median {estimate.median:,.1f}{unit}{interval}, n = {estimate.n}"


@dataclass(frozen=True, slots=True)
class Series:
    name: str
    colour: int  # the same for an arm in every figure
    points: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class Panel:
    name: str
    series: tuple[Series, ...]


@dataclass(frozen=True, slots=True)
class Drawing:
    title: str
    kind: str
    metric: Metric
    x: Dimension
    panels: tuple[Panel, ...]
    without: int  # cells that have no trial that counts

    @property
    def series_names(self) -> list[str]:
        return list(dict.fromkeys(series.name for panel in self.panels for series in panel.series))

    def points(self) -> Iterable[Point]:
        return (point for panel in self.panels for series in panel.series for point in series.points)


def figures_of(run: Run) -> tuple[Figure, ...]:
    """The figures that the experiment declares. Where it declares none: the primary metric over what varies."""
    if run.figures:
        return run.figures
    differing = axes.varying(run)
    x = next((key for key in NUMERIC if key in differing), "arm")
    title, y = run.primary.heading, run.primary.key
    return (Figure(title, x, y, series="arm" if x != "arm" else "", kind="" if x != "arm" else "bar"),)


def draw(run: Run, figure: Figure) -> Drawing:
    """The numbers of a figure. Cells that it does not tell apart get panels of their own."""
    if figure.series == (figure.x or "arm") and figure.kind != "cdf":
        figure = replace(figure, series="")  # each row has its own colour already
    cells = axes.shown(run.cells, figure.only)
    metric = axes.metric_of(run, figure.y)
    values = run.values(metric.name)
    x = axes.dimension(cells, figure.x or "arm")
    kind = figure.kind or ("line" if x.numeric else "bar")
    kind = "bar" if kind == "line" and not x.numeric else kind
    facets = [figure.facet] if figure.facet else []
    within = [figure.series] if kind == "cdf" else [figure.x or "arm", figure.series]
    facets += _unseparated(run, cells, [*within, *facets])
    panels: dict[str, dict[str, list[Point]]] = {}
    without = 0
    for cell in _in_order(cells, [*facets, figure.series]):
        counted = tuple(value / metric.scale for value in values[cell.number].values())
        summary = summarise(counted)
        if summary is None:
            without += 1
            continue
        panel = ", ".join(_facet_words(cell, name) for name in facets)
        series = axes.place(cell, figure.series).text if figure.series else ""
        where = axes.place(cell, x.name)
        point = Point(where.number, where.text, summary, counted, str(cell))
        panels.setdefault(panel, {}).setdefault(series, []).append(point)
    colours = _colours(run, figure, panels)
    made = tuple(
        Panel(name, tuple(Series(one, colours[one], _sorted(points, x)) for one, points in series.items()))
        for name, series in panels.items()
    )
    return Drawing(figure.title or metric.title, kind, metric, x, made, without)


def _sorted(points: Sequence[Point], x: Dimension) -> tuple[Point, ...]:
    order = {place.text: i for i, place in enumerate(x.places)}
    return tuple(sorted(points, key=lambda point: order[point.text]))


def _in_order(cells: Sequence[Cell], names: Sequence[str]) -> list[Cell]:
    """Cells in the order of the named dimensions."""
    orders = [
        {place.text: i for i, place in enumerate(axes.dimension(cells, name).places)} if name else {} for name in names
    ]
    return sorted(
        cells,
        key=lambda cell: [
            order[axes.place(cell, name).text] if name else 0 for name, order in zip(names, orders, strict=True)
        ],
    )


def _facet_words(cell: Cell, name: str) -> str:
    text = axes.place(cell, name).text
    return text if name in ("arm", "site", "link") else f"{name.replace('_', ' ')} {text}"


def _unseparated(run: Run, cells: Sequence[Cell], used: Sequence[str]) -> list[str]:
    """The further dimensions that need panels of their own, so that no two cells share a place."""
    needed: list[str] = []
    for name in ("site", "arm", *axes.varying(run), "link"):
        places = [tuple(axes.place(cell, one).text for one in [*used, *needed] if one) for cell in cells]
        if len(set(places)) == len(places):
            break
        if name not in used and len(axes.dimension(cells, name).places) > 1:
            needed.append(name)
    return needed


def _colours(run: Run, figure: Figure, panels: dict[str, dict[str, list[Point]]]) -> dict[str, int]:
    names = list(dict.fromkeys(name for series in panels.values() for name in series))
    if figure.series == "arm":
        order = [arm.name for arm in run.arms]
        return {name: order.index(name) for name in names}
    return {name: i for i, name in enumerate(names)}
