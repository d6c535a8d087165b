"""Figures: what a chart shows, checked against the cells, so that no two of them land on the same spot."""

import dataclasses
from collections.abc import Collection, Iterator, Mapping, Sequence

from lanelab.driver.base.errors import InputError
from lanelab.driver.base.settings.kinds import near_miss
from lanelab.driver.base.settings.source import Written
from lanelab.driver.experiment.courses import read_course
from lanelab.driver.experiment.dimensions import DIMENSIONS, lies_on_axis
from lanelab.driver.experiment.figure import Figure
from lanelab.driver.experiment.keys import CHANGE, COURSE, FIGURE
from lanelab.driver.experiment.links import canonical, varying_cases
from lanelab.driver.experiment.model import Cell, dimension_of, shows, step_metrics
from lanelab.driver.experiment.published import read_published
from lanelab.driver.record.load_series import SERIES
from lanelab.driver.record.metrics import (
    OPTIMAL,
    PAGE_LOAD,
    TIMES_OPTIMAL,
    metric_named,
    metrics_of,
    primary_of,
)

PLAIN = ("arm", "site", "link")
OF_ONE_METRIC = {
    "parts": "it shows what load times went to",
    "sequence": "it shows the packets of one trial of each cell",
}


def read_figures(
    written: Written, cells: Sequence[Cell], workload: str, compared: Collection[Cell]
) -> tuple[Figure, ...]:
    """Read the figures. `compared` are the cells that have a change, since they are held against another arm."""
    figures: dict[Figure, Written] = {}
    for one in written.elements():
        figure = _read(one, FIGURE.entries(one), cells, workload, compared)
        if figure in figures:
            raise one.error(f"this figure is on line {figures[figure].line} already", "Remove one of them")
        figures[figure] = one
    return tuple(figures)


def _read(
    where: Written, entries: Mapping[str, Written], cells: Sequence[Cell], workload: str, compared: Collection[Cell]
) -> Figure:
    plain = FIGURE.values_of(entries)
    y = plain["y"] or primary_of(workload).key
    course = read_course(where, entries, plain, workload, cells)
    keys = [*(metric.key for metric in metrics_of(workload)), CHANGE, *(each.key for each in step_metrics(cells))]
    if y in SERIES and y not in keys and not course:
        raise entries["y"].error(f"{y} is a series", f"Write kind: {COURSE} too")
    if y not in keys and not course:
        raise entries["y"].error(
            f"trials of a {workload} have no {y}", f"{near_miss(y, keys)}Write one of {', '.join(keys)}"
        )
    require_optimum(entries.get("y", where), y, cells)
    kind = plain["kind"] or ""
    _refuse_what_does_not_go_together(entries, kind, y, workload)
    only = read_only(entries["only"], cells) if "only" in entries else ()
    figure = Figure("", None, y, None, kind, None, only, plain["scale"] or "")
    if course:
        figure = dataclasses.replace(figure, x=course.x, every_s=course.every_s, limit_ms=course.limit_ms)
        entries = {key: entry for key, entry in entries.items() if key != "x"}
    shown = [cell for cell in cells if shows(figure, cell)]
    if not shown:
        raise entries["only"].error("no cell has all of this", "Write values that go together")
    drawn = [cell for cell in shown if cell in compared] if y == CHANGE else shown
    if not drawn:
        what = "a change is one between arms, and no arm here is compared with another"
        raise entries["y"].error(what, "Show an arm that has a base")
    named = {
        key: _read_dimension(entries[key], shown, none=key != "x") for key in ("x", "series", "facet") if key in entries
    }
    used = [name for name in named.values() if name]
    for key, name in named.items():
        if name and used.count(name) > 1:
            raise entries[key].error(f"{name} is used twice in this figure", "Use each once")
    with where.placed(entries):
        figure = _complete(figure, shown, named, drawn)
    if "published" in entries:
        figure = dataclasses.replace(figure, published=read_published(entries["published"], figure, shown))
    return dataclasses.replace(figure, title=plain["title"] or title_of(figure))


def require_optimum(written: Written, y: str, cells: Sequence[Cell]) -> None:
    """Refuse what is worked out from the computed optimum where no trial will have one."""
    metric = metric_named(y)
    if metric is None or metric.name not in (OPTIMAL, TIMES_OPTIMAL):
        return
    if any(cell.journey for cell in cells):
        raise written.error("a journey has no computed optimum: that is of one page", "Leave it out")
    links = {cell.link.link for cell in cells}
    alone = [link.beyond_router for link in links if link.adds_nothing]
    if not any(link.beyond_router in alone for link in links if not link.adds_nothing):
        what = f"{y} needs a link and another one that adds nothing, between hosts that are set alike"
        raise written.error(what, "Add one to links: {rtt: 0ms}, and what the other says of mtu and hosts' TCP")


OF_TRIALS = ("box", "cdf")  # kinds that draw single trials
WITH_SCALE = ("line", "box", "cdf", COURSE, "")  # "": what it is stands only after it is completed


def _refuse_what_does_not_go_together(entries: Mapping[str, Written], kind: str, y: str, workload: str) -> None:
    if kind == "cdf" and "x" in entries:
        raise entries["x"].error("a cdf has y along its x axis", "Leave x out, or write kind: line")
    if y == CHANGE and kind in OF_TRIALS:
        what = f"a {kind} draws single trials, and a change is one number with its interval"
        raise entries["kind"].error(what, "Write kind: line, bar or heatmap")
    if kind in OF_ONE_METRIC:
        for key in ("y", "series") if kind == "parts" else ("x", "y", "series", "facet"):
            if key in entries:
                raise entries[key].error(f"{OF_ONE_METRIC[kind]}, so it has no {key}", "Leave it out")
        if workload != PAGE_LOAD:
            raise entries["kind"].error(f"trials of a {workload} have none", "Write kind: bar or line")
    if "scale" in entries and kind not in WITH_SCALE:
        what = f"a {kind} has no scale to choose"
        raise entries["scale"].error(what, "Leave it out, or write kind: line, box or cdf")


def _complete(figure: Figure, cells: Sequence[Cell], named: Mapping[str, str | None], drawn: Sequence[Cell]) -> Figure:
    """Return what the user left open: the likeliest x, series, facet and kind. `drawn`: without the bases of a
    change."""
    taken = {name for name in named.values() if name}
    if figure.kind == "sequence":
        return figure
    if figure.kind == "heatmap":
        named = _of_grid(cells, named)
        taken = {name for name in named.values() if name}
    cdf = figure.kind == "cdf"
    if figure.kind == COURSE:
        named = {**named, "x": figure.x}
    x = None if cdf else named["x"] if "x" in named else _likely_x(cells, taken)
    x = "arm" if figure.kind == "parts" and "x" not in named else x
    kind = figure.kind or ("line" if is_axis(x, cells) else "bar")
    if kind == "line" and not is_axis(x, cells):
        what = f"{x} has names, not numbers: a line between them would mean nothing"
        raise InputError(what, "Write kind: bar, or an x like rtt", key="kind")
    if kind == "line" and len(_values(cells, str(x))) < 2:
        raise InputError(f"{x} is the same everywhere here, so there is no line", "Write kind: bar", key="x")
    if kind in ("bar", "heatmap") and figure.scale:
        what = f"a {kind} has no scale to choose: lengths begin at 0"
        raise InputError(what, "Leave it out, or write kind: line, box or cdf", key="scale")
    one_row = kind == "parts"
    likely = None if one_row else _likely_series(cells, taken | {x or ""})
    series = named.get("series", likely)
    figure = dataclasses.replace(figure, x=x, kind=kind, series=series, facet=named.get("facet"))
    rivals = _rivals(figure, drawn)
    slots = ("facet",) if one_row else ("series", "facet")
    for tried in _with_more(figure, cells, [key for key in slots if key not in named]) if rivals else ():
        if not _rivals(tried, drawn):
            figure, rivals = tried, None
            break
    if rivals:
        what = f"the cells {rivals[0].label} and {rivals[1].label} would be drawn at the same place"
        remedy = "Tell them apart with x, series or facet, or leave some out with only"
        raise InputError(what, remedy, key="facet" if "facet" in named else "")
    return figure


def _of_grid(cells: Sequence[Cell], named: Mapping[str, str | None]) -> dict[str, str | None]:
    """A heatmap's two dimensions: what is left open are the numbers of the links that take most values."""
    chosen, taken = dict(named), {name for name in named.values() if name}
    for key in ("x", "series"):
        if key not in chosen:
            chosen[key] = _likely_x(cells, taken)
            taken.add(str(chosen[key]))
    lacking = next((key for key in ("x", "series") if not chosen[key]), None)
    if lacking:
        raise InputError("a heatmap has columns and rows", "Write x and series, or leave both out", key=lacking)
    return chosen


def _with_more(figure: Figure, cells: Sequence[Cell], slots: Sequence[str]) -> Iterator[Figure]:
    """Yield the figure with one more thing told apart, in the first slot that is free."""
    free = next((slot for slot in slots if getattr(figure, slot) is None), None)
    taken = (figure.x, figure.series, figure.facet)
    for name in ("site", "arm", *varying_cases(cell.link for cell in cells), "link") if free else ():
        if name not in taken and all(dimension_of(cell, name) for cell in cells):
            more = dataclasses.replace(figure, series=name), dataclasses.replace(figure, facet=name)
            yield more[0] if free == "series" else more[1]


def _likely_x(cells: Sequence[Cell], taken: set[str]) -> str | None:
    """Return the number of the links that takes most values; of equals the first of the reference."""
    candidates = [
        key
        for key in varying_cases(cell.link for cell in cells)
        if key not in taken and is_axis(key, cells) and all(dimension_of(cell, key) for cell in cells)
    ]
    if candidates:
        return max(candidates, key=lambda key: len(_values(cells, key)))
    several = [name for name in PLAIN if name not in taken and len(_values(cells, name)) > 1]
    return next(iter(several), next(name for name in PLAIN if name not in taken))


def _likely_series(cells: Sequence[Cell], taken: set[str]) -> str | None:
    several = [name for name in PLAIN if name not in taken and len(_values(cells, name)) > 1]
    return next((name for name in several if name != "link" or not any(map(is_number, taken))), None)


def _rivals(figure: Figure, cells: Sequence[Cell]) -> tuple[Cell, Cell] | None:
    """Return two cells that nothing in the figure tells apart."""
    places: dict[tuple[str | None, ...], Cell] = {}
    for cell in cells:
        place = tuple(dimension_of(cell, name) for name in (figure.x, figure.series, figure.facet) if name)
        if place in places:
            return places[place], cell
        places[place] = cell
    return None


def _values(cells: Sequence[Cell], name: str) -> list[str]:
    return list(dict.fromkeys(value for cell in cells if (value := dimension_of(cell, name)) is not None))


def is_number(name: str | None) -> bool:
    """Return whether values of it may lie on an axis."""
    return name is not None and name in DIMENSIONS and DIMENSIONS[name].setting.numeric


def is_axis(name: str | None, cells: Sequence[Cell]) -> bool:
    """Return whether all values that these cells have of it do."""
    return is_number(name) and all(lies_on_axis(str(name), text) for text in _values(cells, str(name)))


def _read_dimension(written: Written, cells: Sequence[Cell], *, none: bool) -> str | None:
    name = written.text().strip()
    if none and name == "none":
        return None
    _require_dimension(written, name)
    lacking = next((cell for cell in cells if dimension_of(cell, name) is None), None)
    if lacking:
        what = f"not every link has one {name}: {lacking.link.label} has none, or one for each direction"
        raise written.error(what, "Write link, or a setting that all of them have")
    return name


def _require_dimension(written: Written, name: str) -> None:
    known = (*PLAIN, *DIMENSIONS)
    if name not in known:
        remedy = f"{near_miss(name, known)}Write {', '.join(PLAIN)} or a setting of the link"
        raise written.error(f"cells do not differ in {name[:60]!r}", remedy)


def read_only(written: Written, cells: Sequence[Cell]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    chosen = []
    for name, entry in written.entries().items():
        _require_dimension(entry, name)
        known = _values(cells, name)
        values = []
        for element in entry.elements():
            value = element.text().strip()
            if name in DIMENSIONS:
                with element.placed({}):
                    value = canonical(name, value)
            if value not in known:
                remedy = f"{near_miss(value, known)}There are {', '.join(known)}"
                raise element.error(f"no cell has {name} {value!r}", remedy)
            values.append(value)
        chosen.append((name, tuple(dict.fromkeys(values))))
    return tuple(chosen)


def title_of(figure: Figure) -> str:
    words = SERIES[figure.y].words if figure.kind == COURSE else ""
    over = f" over {figure.x.replace('_', ' ').replace('rtt', 'RTT')}" if figure.x else ""
    only = "; ".join(" or ".join(values) for _, values in figure.only)
    if figure.kind == "sequence":
        return f"Packets over time{', ' if only else ''}{only}"
    metric = metric_named(figure.y)
    words = words or ("change of the load time" if figure.y == CHANGE else metric.words if metric else figure.y)
    words = "what the time went to" if figure.kind == "parts" else words
    return f"{words[0].upper()}{words[1:]}{over}{', ' if only else ''}{only}"


def default_figures(cells: Sequence[Cell], workload: str) -> tuple[Figure, ...]:
    """Draw the metric that trials are for over what varies most; where more varies than a chart can show, in several
    charts."""
    plain = Figure("", None, primary_of(workload).key, None, "", None, ())
    try:
        figures = [_complete(plain, cells, {}, cells)]
    except InputError:
        figures = _split(plain, cells)
    return tuple(dataclasses.replace(figure, title=title_of(figure)) for figure in figures)


def _split(plain: Figure, cells: Sequence[Cell]) -> list[Figure]:
    """Return a chart for each combination of the link settings that are neither x nor facet."""
    x = _likely_x(cells, set())
    others = [key for key in varying_cases(cell.link for cell in cells) if key != x]
    combinations = dict.fromkeys(tuple(dimension_of(cell, key) for key in others) for cell in cells)
    figures = []
    for values in combinations:  # those that are there: all that could be are far too many
        only = tuple((key, (value,)) for key, value in zip(others, values, strict=True) if value is not None)
        figure = dataclasses.replace(plain, only=only)
        shown = [cell for cell in cells if shows(figure, cell)]
        if shown:
            try:
                figures.append(_complete(figure, shown, {}, shown))
            except InputError:
                return [_everything(plain, cells)]
    shown_in_all = sum(shows(figure, cell) for figure in figures for cell in cells)
    return figures if shown_in_all == len(cells) else [_everything(plain, cells)]


def _everything(plain: Figure, cells: Sequence[Cell]) -> Figure:
    """Bars for each link: site, link and arm always tell cells apart."""
    facet = "site" if len(_values(cells, "site")) > 1 else None
    return dataclasses.replace(plain, x="link", series="arm", facet=facet, kind="bar")
