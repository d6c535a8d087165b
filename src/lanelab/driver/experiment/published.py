"""What was published in a figure's place: the end of its axis and its points, by series and x. Pure."""

import contextlib
import math
import re
from collections.abc import Sequence

from lanelab.driver.base.errors import InputError
from lanelab.driver.base.settings.kinds import near_miss
from lanelab.driver.base.settings.source import Written
from lanelab.driver.experiment.courses import read_x
from lanelab.driver.experiment.dimensions import DIMENSIONS
from lanelab.driver.experiment.figure import Figure, Published
from lanelab.driver.experiment.keys import CHANGE, COURSE, PUBLISHED
from lanelab.driver.experiment.links import canonical
from lanelab.driver.experiment.model import Cell, dimension_of

_NUMBER = re.compile(r"[0-9]+([.][0-9]+)?")
ONE_SERIES = ""  # of a figure without series


def read_published(written: Written, figure: Figure, cells: Sequence[Cell]) -> Published:
    """Read published values. `cells` are those that the figure shows. Values are in the unit of the figure's axis."""
    entries = PUBLISHED.entries(written)
    plain = PUBLISHED.values_of(entries)
    if "points" not in entries and "axis" not in entries:
        raise written.error("it has neither points nor axis", "Write what was published, or leave it out")
    axis = _number(entries["axis"], signed=False) if "axis" in entries else None
    if axis == 0:
        raise entries["axis"].error("an axis of no length shows nothing", "Write its last value")
    points = _points(entries["points"], figure, cells) if "points" in entries else ()
    return Published(plain["source"] or "", axis, points)


def _points(written: Written, figure: Figure, cells: Sequence[Cell]) -> tuple[tuple[str, str, float], ...]:
    if figure.x is None or figure.kind not in ("line", "bar", COURSE):
        raise written.error(f"a {figure.kind} has no place for points", "Write kind: line or bar")
    by_series = written.entries() if figure.series else {ONE_SERIES: written}
    points: dict[tuple[str, str], float] = {}
    for name, entry in by_series.items():
        series = _known(entry, name, figure.series, cells) if figure.series else ONE_SERIES
        for text, value in entry.entries().items():
            x = read_x(value, text, figure.x) if figure.kind == COURSE else _known(value, text, figure.x, cells)
            if (series, x) in points:
                raise value.error(f"there are two points at {x}", "Remove one of them")
            points[series, x] = _number(value, signed=figure.y == CHANGE)
        if not entry.entries():
            raise entry.error("there are no points", "Write at least one, like {20ms: 581}")
    if not points:
        raise written.error("there are no points", "Write at least one, or leave points out")
    return tuple((series, x, value) for (series, x), value in points.items())


def _known(where: Written, text: str, dimension: str, cells: Sequence[Cell]) -> str:
    """Return a value of the figure's, as links print it."""
    known = list(dict.fromkeys(value for cell in cells if (value := dimension_of(cell, dimension)) is not None))
    if dimension in DIMENSIONS and text not in known:
        with contextlib.suppress(InputError):
            text = canonical(dimension, text)
    if text not in known:
        remedy = f"{near_miss(text, known)}There are {', '.join(known)}"
        raise where.error(f"the figure has no {dimension} {text[:60]!r}", remedy)
    return text


def _number(written: Written, *, signed: bool) -> float:
    text = written.text().strip()
    if not _NUMBER.fullmatch(text.removeprefix("-") if signed else text):
        raise written.error(f"{text[:40]!r} is no number", "Write it without a unit: it is that of the axis")
    if not math.isfinite(float(text)):
        raise written.error("this is larger than any number here can be", "Write what was published")
    return float(text)
