"""What was published in a figure's place: the end of its axis and its points, by series and x. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from driver.experiment.keys import PUBLISHED
from driver.experiment.model import Cell, Figure, Published, dimension_of
from model.settings.kinds import near_miss
from model.settings.source import Written

_NUMBER = re.compile(r"[0-9]+([.][0-9]+)?")
ONE_SERIES = ""  # of a figure without series


def read_published(written: Written, figure: Figure, cells: Sequence[Cell]) -> Published:
    """`cells`: those that the figure shows. Values are in the unit of the figure's axis."""
    entries = PUBLISHED.entries(written)
    plain = PUBLISHED.values_of(entries)
    points: list[tuple[str, str, float]] = []
    if "points" in entries:
        if figure.x is None or figure.kind not in ("line", "bar"):
            raise entries["points"].error(f"a {figure.kind} has no place for points", "Write kind: line or bar")
        by_series = entries["points"].entries() if figure.series else {ONE_SERIES: entries["points"]}
        for series, entry in by_series.items():
            if figure.series:
                _require(entry, series, figure.series, cells)
            for x, value in entry.entries().items():
                _require(value, x, figure.x, cells)
                points.append((series, x, _number(value)))
    return Published(plain["source"] or "", _number(entries["axis"]) if "axis" in entries else None, tuple(points))


def _require(where: Written, text: str, dimension: str, cells: Sequence[Cell]) -> None:
    known = list(dict.fromkeys(value for cell in cells if (value := dimension_of(cell, dimension)) is not None))
    if text not in known:
        remedy = f"{near_miss(text, known)}There are {', '.join(known)}"
        raise where.error(f"the figure has no {dimension} {text[:60]!r}", remedy)


def _number(written: Written) -> float:
    text = written.text().strip()
    if not _NUMBER.fullmatch(text):
        raise written.error(f"{text[:40]!r} is no number", "Write it without a unit: it is that of the axis")
    return float(text)
