"""This checkout and another one, measured in turns, so that what else the machine does hits both alike."""

import statistics
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from lanelab.driver.base.configuration import SOURCES
from lanelab.driver.base.errors import InputError
from tools.bench.figures import Figure

T = TypeVar("T")

ROUNDS, QUICK_ROUNDS = 7, 3
HERE, THERE = "this checkout", "the other one"


def sources_with(against: Path | None) -> Mapping[str, Path]:
    """Return where lanelab is in this checkout, and in another one where there is one. Raises InputError."""
    sources = {HERE: SOURCES} | ({THERE: against / "src"} if against else {})
    for where in sources.values():
        if not (where / "lanelab").is_dir():
            raise InputError(f"{where} has no lanelab", "Name a checkout of lanelab", key="--against")
    return sources


def in_turns(sources: Mapping[str, Path], measure: Callable[[Path], T], *, quick: bool) -> dict[str, list[T]]:
    """Return what each measured in each round, but for the first: it compiles, and puts files into memory."""
    taken: dict[str, list[T]] = {checkout: [] for checkout in sources}
    for _ in range(1 + (QUICK_ROUNDS if quick else ROUNDS)):
        for checkout, where in sources.items():
            taken[checkout].append(measure(where))
    return {checkout: values[1:] for checkout, values in taken.items()}


def ratio(what: str, here: Sequence[float], there: Sequence[float]) -> Figure:
    """Return what this checkout takes, over what the other one does in the same round."""
    ratios = tuple(one / other for one, other in zip(here, there, strict=True))
    words = f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
    return Figure(f"{what} over {THERE}", words, "", None, ratios)
