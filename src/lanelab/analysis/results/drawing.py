"""What a figure shows, as numbers: panels of series of points. Pure; analysis/results/charts.py draws it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from lanelab.analysis.results import axes
from lanelab.analysis.results.axes import Dimension, Place
from lanelab.analysis.results.marks import CHANGE, Mark, Measured, marks, refused_cells
from lanelab.analysis.results.model import Cell, Figure, Run
from lanelab.analysis.results.optimal_marks import OPTIMUM, is_for_optimum, optimal_marks
from lanelab.analysis.results.published_points import PublishedFigure, published_figure
from lanelab.driver.link import SETTINGS

LEAST_OF_GRID = 3  # values of each of two settings, from which numbers are easier to read in a table
NUMERIC = ("rtt", "rate", "loss", "delay_down", "rate_down", "loss_down", "initial_window")


@dataclass(frozen=True, slots=True)
class Point:
    """One cell."""

    x: float | None
    text: str  # of x
    mark: Mark
    label: str  # of the cell
    cell: int  # its number
    segment: int = 0  # of a series: grows with each gap, over which no line leads


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
    measured: Measured
    x: Dimension
    rows: Dimension | None  # of a heatmap
    panels: tuple[Panel, ...]
    without: int  # cells that have nothing to show
    refused: int  # cells whose link was not the one that was asked for
    scale: str  # of the values: zero, fit or log; "": as the kind has it
    arms: tuple[str, ...]  # of the run, in the order of their colours
    published: PublishedFigure
    limit: float | None = None  # of a series: a level that is drawn into it
    over: str = ""  # so many machines, where absolute values are of several
    optimal: str = ""  # the arm whose computed optimum is drawn; "": none is

    @property
    def series_names(self) -> list[str]:
        return list(dict.fromkeys(series.name for panel in self.panels for series in panel.series))

    def points(self) -> Iterable[Point]:
        return (point for panel in self.panels for series in panel.series for point in series.points)


def figures_of(run: Run) -> tuple[Figure, ...]:
    """Return the figures that the experiment declares. Where it declares none: the primary metric over what varies."""
    return (*(run.figures or (_likely(run),)), *_further(run))


def _likely(run: Run) -> Figure:
    x = _likely_x(run)
    title, y = run.primary.heading, run.primary.key
    return Figure(title, x, y, series="arm" if x != "arm" else "", kind="" if x != "arm" else "bar")


def _likely_x(run: Run) -> str:
    differing = axes.varying(run)
    return next((key for key in NUMERIC if key in differing), "arm")


def _further(run: Run) -> Iterable[Figure]:
    """Return what every report has besides, unless the experiment declares one: the change by each arm, numbers of a
    grid, and what the time went to."""
    several = [key for key in NUMERIC if len(axes.dimension(run.cells, key).places) >= LEAST_OF_GRID]
    declared = {(figure.y, figure.kind) for figure in run.figures}
    is_grid, metric = len(several) > 1, run.primary
    if is_grid and not any(kind == "heatmap" for _, kind in declared):
        yield Figure(f"{metric.heading}, all links", several[0], metric.key, several[1], "arm", "heatmap")
    if len(run.arms) > 1 and not any(y == CHANGE for y, _ in declared):
        title = f"Change of {metric.words}"
        if is_grid:
            yield Figure(f"{title}, all links", several[0], CHANGE, several[1], "arm", "heatmap")
        else:
            x = _likely_x(run)
            yield Figure(title, x, CHANGE, series="arm" if x != "arm" else "", kind="" if x != "arm" else "bar")
    if not any(kind == "parts" for _, kind in declared):
        yield Figure("What the time went to", "arm", metric.key, series="", kind="parts")


def draw(run: Run, figure: Figure) -> Drawing:
    """Return the numbers of a figure. Cells that it does not tell apart get panels of their own."""
    if figure.series == (figure.x or "arm") and figure.kind != "cdf":
        figure = replace(figure, series="")  # each row has its own colour already
    cells = axes.shown(run.cells, figure.only)
    measured = marks(run, figure.y, figure.kind)
    cells = [cell for cell in cells if measured.is_for(cell)]
    x = axes.dimension(cells, figure.x or "arm")
    kind = figure.kind or ("line" if x.numeric else "bar")
    kind = "bar" if kind == "line" and not x.numeric else kind
    facets = [figure.facet] if figure.facet else []
    within = [figure.series] if kind == "cdf" else [figure.x or "arm", figure.series]
    facets += unseparated(run, cells, [*within, *facets])
    refused = refused_cells(run, figure.y)
    used = [cell for cell in in_order(cells, [*facets, figure.series]) if cell.number not in refused]
    panels = _panels(used, measured, figure, facets, x)
    optimal, of_optimum = optimal_marks(run, used, measured) if is_for_optimum(figure, kind) else ("", {})
    if of_optimum:
        x = _with_optimum(panels, _panels(used, replace(measured, marks=of_optimum), figure, facets, x), x)
    colours = colours_of(run, figure, panels)
    named = measured.named if figure.series == "arm" and kind != "heatmap" else str
    drawn = tuple(
        Panel(name, tuple(Series(named(one), colours[one], _sorted(points, x)) for one, points in series.items()))
        for name, series in panels.items()
    )
    rows = axes.dimension(cells, figure.series) if kind == "heatmap" and figure.series else None
    return Drawing(
        figure.title or measured.title,
        kind,
        measured,
        x,
        rows,
        drawn,
        sum(cell.number not in measured.marks for cell in used),
        len(cells) - len(used),
        figure.scale,
        tuple(arm.name for arm in run.arms),
        published_figure(figure, x, colours, panels=len(drawn), unit=measured.unit, named=named),
        optimal=optimal,
    )


def _with_optimum(
    panels: dict[str, dict[str, list[Point]]], of_optimum: Mapping[str, Mapping[str, Sequence[Point]]], x: Dimension
) -> Dimension:
    """Add the points of an arm's optima to the panels, as a series or as a row of their own. Return x with its row."""
    for panel, by_series in of_optimum.items():
        for series, points in by_series.items():
            if x.name == "arm":
                panels[panel].setdefault(series, []).extend(replace(point, text=OPTIMUM) for point in points)
            else:
                panels[panel].setdefault(OPTIMUM, []).extend(points)
    return replace(x, places=(*x.places, Place(OPTIMUM))) if x.name == "arm" else x


def _panels(
    cells: Iterable[Cell], measured: Measured, figure: Figure, facets: Sequence[str], x: Dimension
) -> dict[str, dict[str, list[Point]]]:
    """Return points by the words of their panel and the name of their series."""
    panels: dict[str, dict[str, list[Point]]] = {}
    for cell in cells:
        if mark := measured.marks.get(cell.number):
            panel = ", ".join(
                measured.named(cell.arm.name) if name == "arm" else facet_words(cell, name) for name in facets
            )
            series = axes.place(cell, figure.series).text if figure.series else ""
            where = axes.place(cell, x.name)
            point = Point(where.number, where.text, mark, str(cell), cell.number)
            panels.setdefault(panel, {}).setdefault(series, []).append(point)
    return panels


def _sorted(points: Sequence[Point], x: Dimension) -> tuple[Point, ...]:
    order = {place.text: i for i, place in enumerate(x.places)}
    return tuple(sorted(points, key=lambda point: order[point.text]))


def in_order(cells: Sequence[Cell], names: Sequence[str]) -> list[Cell]:
    """Return cells in the order of the named dimensions."""
    orders = [
        {place.text: i for i, place in enumerate(axes.dimension(cells, name).places)} if name else {} for name in names
    ]
    return sorted(
        cells,
        key=lambda cell: [
            order[axes.place(cell, name).text] if name else 0 for name, order in zip(names, orders, strict=True)
        ],
    )


def facet_words(cell: Cell, name: str) -> str:
    text = axes.place(cell, name).text
    return text if name in ("arm", "site", "link") else f"{name.replace('_', ' ')} {text}"


def unseparated(run: Run, cells: Sequence[Cell], used: Sequence[str]) -> list[str]:
    """Return the further dimensions that need panels of their own, so that no two cells share a place."""
    needed: list[str] = []
    for name in ("site", "arm", *axes.varying(run), "link"):
        places = [tuple(axes.place(cell, one).text for one in [*used, *needed] if one) for cell in cells]
        if len(set(places)) == len(places):
            break
        if name not in used and len(axes.dimension(cells, name).places) > 1:
            needed.append(name)
    of_links = [name for name in needed if name not in ("site", "arm")]
    if len(of_links) > 1 and not any(name in SETTINGS for name in used):
        return [name for name in needed if name not in of_links] + ["link"]  # its label says it in fewer words
    return needed


def colours_of(run: Run, figure: Figure, panels: dict[str, dict[str, list[Point]]]) -> dict[str, int]:
    names = list(dict.fromkeys(name for series in panels.values() for name in series))
    if figure.series == "arm":
        order = [*(arm.name for arm in run.arms), OPTIMUM]
        return {name: order.index(name) for name in names}
    return {name: i for i, name in enumerate(names)}
