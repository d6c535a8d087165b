"""What cells may differ in besides site and arm, by name: settings of the link, how much load there is, and how many
objects are fetched at once."""

import re
from collections.abc import Mapping, Sequence
from typing import TypeVar

from lanelab.driver.base.errors import InputError
from lanelab.driver.base.settings.kinds import NUMBER, Kind, count
from lanelab.driver.base.settings.setting import Setting, Table
from lanelab.driver.link import SETTINGS
from lanelab.driver.link.impairments.loss import GilbertElliott

MOST_ARRIVALS = 100_000


def _rate(value: object, key: str) -> float:
    """Read a rate: in a file a whole number, of a load that is scaled perhaps a fraction."""
    text = str(value).strip()
    if not re.fullmatch(NUMBER, text) or not 0 < float(text) <= MOST_ARRIVALS:
        remedy = f"Write a number of arrivals per second, {MOST_ARRIVALS} at most"
        raise InputError(f"{value!r} cannot be used", remedy, key=key)
    return float(text) if "." in text else int(text)


ARRIVALS = Kind("ARRIVALS", f"arrivals, up to {MOST_ARRIVALS}", _rate, {"type": "number"}, numeric=True)
# fmt: off
_OF_LOADS = (
    Setting("connections", count("CONNECTIONS", "connections", 1, 20_000), "", "connections of a load", "10"),
    Setting("users", count("USERS", "users", 1, 100_000), "", "users of a load", "100"),
    Setting("arrivals", ARRIVALS, "", "pages that begin per second", "50"),
    Setting("at_once", count("OBJECTS", "objects", 1, 1000), "", "objects of a fetch that are under way at once", "6"),
)
# fmt: on
T = TypeVar("T")
DIMENSIONS = Table((*SETTINGS.settings, *_OF_LOADS), noun="dimension", all_are="Dimensions are")


def lies_on_axis(name: str, text: str) -> bool:
    """Return whether this value of a dimension is a number: losses in bursts have several."""
    try:
        return DIMENSIONS[name].setting.numeric and not isinstance(DIMENSIONS.read(name, text), GilbertElliott)
    except InputError:  # from a later lanelab
        return False


def value_of(settings: Mapping[str, T], name: str) -> T | None:
    """Return what settings have of a dimension. One value for both directions is that of each."""
    key = DIMENSIONS.get(name)
    plain = settings.get(key.setting.name) if key and key.side else None
    return settings.get(name, plain)


def without(settings: Mapping[str, T], name: str) -> Mapping[str, T]:
    """Return the other settings. Without one direction's, the other direction's is left."""
    key = DIMENSIONS[name]
    by_side = _by_side(settings, {key.setting.name} if key.side else set())
    return {one: value for one, value in by_side.items() if one != name}


def comparable(several: Sequence[Mapping[str, T]]) -> list[Mapping[str, T]]:
    """Return settings of links in one form: what one of them has by direction, all have by direction."""
    names = {name for settings in several for name in settings if name in DIMENSIONS and DIMENSIONS[name].side}
    return [_by_side(settings, {DIMENSIONS[name].setting.name for name in names}) for settings in several]


def _by_side(settings: Mapping[str, T], names: set[str]) -> dict[str, T]:
    by_side: dict[str, T] = {}
    for name, value in settings.items():
        sides = [key.name for key in DIMENSIONS[name].setting.keys if key.side] if name in names else [name]
        by_side |= dict.fromkeys(sides, value)
    return by_side


def words_of_scale(scale: float) -> str:
    """Return what a reader of numbers must know of the scale."""
    share = f"{scale:g} of"
    words = f"{share} the users or arrivals that its experiment says, in {share} the time"
    return f"The load is scaled (--scale {scale:g}): {words}."
