"""A load made smaller, for a look: fewer users in less time, so that they come as fast as before. Pure.

What is named after a load, like links and what figures choose, is named after the smaller one. Claims are not: they are
about the load that the file says, and are not tested.
"""

import itertools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from lanelab.driver.base.errors import InputError
from lanelab.driver.base.units import Duration
from lanelab.driver.experiment.figure import Figure
from lanelab.driver.experiment.figures import title_of
from lanelab.driver.experiment.load_keys import label_of
from lanelab.driver.experiment.model import Cell, Experiment, LinkCase, Pairs
from lanelab.driver.trial.load_settings import RATE_UNIT_S, LoadSettings, Stage

LEAST = 0.001
LEAST_S = 1.0  # of a load without its warm-up: series have one value per second
LARGER = "Write a larger one"
Loads = Mapping[LoadSettings, LoadSettings]  # as the file says -> scaled
Cases = Mapping[LinkCase, LinkCase]  # likewise


def over_scale(experiment: Experiment, scale: float, key: str = "--scale") -> Experiment:
    """Return the experiment with each number of users or arrivals, and each time of a load, multiplied by `scale`. How
    many users come per second stays the same."""
    if scale == experiment.scale:
        return experiment
    loads = dict.fromkeys(cell.link.load for cell in experiment.cells)
    if not all(load and load.has_users for load in loads):
        what = "only loads by users or arrivals have a scale"
        raise InputError(what, "Leave it out", key=key)
    if not LEAST <= scale <= 1:
        raise InputError(f"{scale:g} cannot be used", f"Write a number from {LEAST:g} to 1, like 0.2", key=key)
    scaled = {load: _load(load, scale) for load in loads if load}
    _check(scaled, scale, key)
    cases = {case: _case(case, scaled) for case in (*experiment.links, *(cell.link for cell in experiment.cells))}
    saved_s = max(load.duration_s for load in scaled) * (1 - scale)
    return replace(
        experiment,
        scale=scale,
        cells=tuple(_cell(cell, cases) for cell in experiment.cells),
        links=tuple(cases[case] for case in experiment.links),
        pairs=_pairs(experiment.pairs, experiment.cells, cases),
        figures=tuple(_figure(figure, _renamed(cases)) for figure in experiment.figures),
        timeout=Duration(experiment.timeout.ns - round(saved_s * 1e9)),
    )


# --- loads


def _load(load: LoadSettings, scale: float) -> LoadSettings:
    """The warm-up is a part of the load's time, and stays the same part."""
    return replace(
        load,
        users=tuple(Stage(_users(stage.target, scale), stage.over_s * scale) for stage in load.users),
        arrivals=tuple(Stage(_rate(stage.target, scale), stage.over_s * scale) for stage in load.arrivals),
        warm_up_s=load.warm_up_s * scale,
    )


def _users(number: float, scale: float) -> float:
    """Users are whole, and at least one stays of any."""
    return max(round(number * scale), 1 if number else 0)


def _rate(number: float, scale: float) -> float:
    """Return a rate as exactly as generators take it."""
    return round(number * scale * RATE_UNIT_S) / RATE_UNIT_S


def _check(scaled: Loads, scale: float, key: str) -> None:
    """Raises InputError where a smaller load breaks a rule that loads of a file keep."""
    for one, other in itertools.combinations(scaled, 2):
        if label_of(scaled[one]) == label_of(scaled[other]):
            both = f"the loads {label_of(one)!r} and {label_of(other)!r}"
            what = f"with {scale:g} {both} would be the same: {label_of(scaled[one])}"
            raise InputError(what, f"{LARGER}, or leave one of the loads out of the file", key=key)
    for load, less in scaled.items():
        if what := _problem(load, less):
            raise InputError(f"with {scale:g} the load {label_of(load)!r} {what}", LARGER, key=key)


def _problem(load: LoadSettings, less: LoadSettings) -> str:
    """Return what the smaller load cannot be used for; "": nothing."""
    if not load.dimensions() and less.dimensions():
        return f"would be no ramp, but {label_of(less)} all the time"
    if less.duration_s - less.warm_up_s < LEAST_S:
        warm_up = " after its warm-up" if less.warm_up_s else ""
        return f"would take {less.duration_s - less.warm_up_s:g} s{warm_up}, less than {LEAST_S:g} s"
    if less.arrivals and _pages_due(less) < 1:
        return f"would begin no page: {_pages_due(less):g} are due in {less.duration_s:g} s"
    return ""


def _pages_due(load: LoadSettings) -> float:
    """Return how many pages begin in all."""
    return sum((one.target + two.target) / 2 * two.over_s for one, two in itertools.pairwise(load.arrivals))


# --- what has a load, or is named after it


def _case(case: LinkCase, scaled: Loads) -> LinkCase:
    """A link has its load in its label where there are several loads."""
    if case.load is None:
        return case
    load = scaled[case.load]
    if len(scaled) == 1:
        return replace(case, load=load)
    return replace(case, label=case.label.removesuffix(label_of(case.load)) + label_of(load), load=load)


def _cell(cell: Cell, cases: Cases) -> Cell:
    return replace(cell, link=cases[cell.link])


def _pairs(pairs: Pairs, cells: Collection[Cell], cases: Cases) -> Pairs:
    pairs_of_cells = tuple((_cell(base, cases), _cell(arm, cases)) for base, arm in pairs.cells)
    places = {f"{cell.site}, {cell.link.label}: ": f"{cell.site}, {cases[cell.link].label}: " for cell in cells}
    return Pairs(pairs_of_cells, tuple(_with_place(sentence, places) for sentence in pairs.left_out))


def _with_place(sentence: str, places: Mapping[str, str]) -> str:
    place = next((place for place in places if sentence.startswith(place)), "")
    return places.get(place, "") + sentence.removeprefix(place)


def _renamed(cases: Cases) -> Mapping[str, Mapping[str, str]]:
    """Return what cells have of a dimension -> what they have of it now."""
    renamed: dict[str, dict[str, str]] = {"link": {case.label: less.label for case, less in cases.items()}}
    for case, less in cases.items():
        if case.load and less.load:
            for name, value in case.load.dimensions().items():
                renamed.setdefault(name, {})[value] = less.load.dimensions()[name]
    return renamed


def _figure(figure: Figure, renamed: Mapping[str, Mapping[str, str]]) -> Figure:
    """A title that the file does not say is made of what the figure chooses."""
    only = tuple((name, _values(values, renamed.get(name, {}))) for name, values in figure.only)
    scaled = replace(figure, only=only)
    return replace(scaled, title=title_of(scaled)) if figure.title == title_of(figure) else scaled


def _values(values: Sequence[str], renamed: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(renamed.get(value, value) for value in values)
