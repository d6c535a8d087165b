"""What charts and tables are drawn over: metrics with their units, and dimensions of cells with their values."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lanelab.analysis.results.model import Cell, Run
from lanelab.driver.base.errors import InputError
from lanelab.driver.base.units import Duration, Rate, Ratio
from lanelab.driver.experiment.dimensions import DIMENSIONS, comparable, value_of
from lanelab.driver.link import SETTINGS, Link
from lanelab.driver.link.impairments.loss import RandomLoss
from lanelab.driver.record.metrics import Metric, metric_named


def metric_of(run: Run, name: str) -> Metric:
    """Return the metric of this name or key. The primary metric where none is named, or where this one is unknown."""
    return metric_named(name) or run.primary


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a cell on a dimension."""

    text: str
    number: float | None = None
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Dimension:
    """One thing that cells differ in, with the places that there are, in order."""

    name: str
    words: str
    unit: str
    places: tuple[Place, ...]

    @property
    def numeric(self) -> bool:
        return all(place.number is not None for place in self.places)

    @property
    def title(self) -> str:
        return f"{self.words} ({self.unit})" if self.unit else self.words


_WORDS = {"rtt": "round-trip time", "rate": "rate", "arm": "", "site": "", "link": "link"}


def place(cell: Cell, name: str) -> Place:
    """A cell's value of arm, site, link, or a setting of its link or arm."""
    plain = {"arm": cell.arm.name, "site": cell.site, "link": cell.link.label}
    if name in plain:
        return Place(plain[name])
    of_link = value_of(cell.link.settings, name)
    value = cell.arm.settings.get(name) if of_link is None else of_link
    return Place("-") if value is None else _read(name, value)


def _read(name: str, value: Any) -> Place:  # noqa: ANN401 - JSON
    text = str(value).lower() if isinstance(value, bool) else str(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return Place(text, float(value))
    return _quantity(name, text) if name in DIMENSIONS else Place(text)


def _quantity(name: str, text: str) -> Place:
    """Return a setting of the link."""
    try:
        read = DIMENSIONS.read(name, text)
    except InputError:  # from a later lanelab
        return Place(text)
    match read:
        case Duration():
            return Place(text, read.milliseconds, "ms")
        case Rate():
            return Place(text, read.mbit, "Mbit/s")
        case Ratio() | RandomLoss():
            return Place(text, (read.ratio if isinstance(read, RandomLoss) else read).percent, "%")
        case int() | float() if not isinstance(read, bool):
            return Place(text, float(read))
    return Place(text)


def dimension(cells: Iterable[Cell], name: str) -> Dimension:
    """Return the places of a dimension: numbers in order of size, names in the experiment's order."""
    places = tuple(dict.fromkeys(place(cell, name) for cell in cells))
    if places and all(one.number is not None for one in places):
        places = tuple(sorted(places, key=lambda one: one.number or 0.0))
    units = {one.unit for one in places}
    words = _WORDS.get(name, name.replace("_", " "))
    return Dimension(name, words or name, units.pop() if len(units) == 1 else "", places)


def varying(run: Run) -> list[str]:
    """Return settings of the links that differ within the run."""
    links = comparable([link.settings for link in run.links])
    keys = dict.fromkeys(key for settings in links for key in settings)
    return [key for key in keys if len({str(settings.get(key)) for settings in links}) > 1]


def shown(cells: Sequence[Cell], only: Iterable[tuple[str, tuple[str, ...]]]) -> list[Cell]:
    """Return the cells that a figure is about."""
    wanted = list(only)
    return [cell for cell in cells if all(place(cell, name).text in values for name, values in wanted)]


def link_of(settings: Mapping[str, str]) -> Link:
    """Return the link alone, without what loads differ in."""
    return Link.parse({name: value for name, value in settings.items() if name in SETTINGS})


def link_numbers(settings: Mapping[str, str]) -> dict[str, float | None]:
    """Return a link's round trip and rates as numbers, for tables; None where it has no such limit."""
    try:
        link = link_of(settings)
    except InputError:  # from a later lanelab
        return {"rtt_ms": None, "rate_down_mbit": None, "rate_up_mbit": None}
    return {
        "rtt_ms": link.rtt.milliseconds,
        "rate_down_mbit": link.down.rate.mbit if link.down.rate else None,
        "rate_up_mbit": link.up.rate.mbit if link.up.rate else None,
    }
