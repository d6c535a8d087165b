"""What the beds of a run say, on a terminal."""

import math
from collections.abc import Callable, Sequence

from rich import box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from lanelab.analysis.results import between_beds
from lanelab.analysis.results.between_beds import BedsOfRun, Between, OfBed, percent
from lanelab.analysis.results.model import Cell
from lanelab.analysis.results.numbers import NONE, change_words, shown
from lanelab.driver.record.metrics import Metric

NUMBERS = ("their middle", "interval between beds", "beds' sd", "trials' sd")
Words = Callable[[float], str]


def parts(made: BedsOfRun, primary: Metric) -> list[RenderableType]:
    """Return a table of medians and one of changes, where there were several beds, and what they mean."""
    words = [Text(sentence, style="dim" if made.beds == 1 else "") for sentence in between_beds.sentences(made)]
    if made.beds < 2:
        return list(words)
    shows: list[RenderableType] = [Text(), Text(f"by bed, {made.beds} of them", style="bold")]
    cells = [(row.cell, "", row.made) for row in made.cells]
    changes = [(row.cell, f" against {row.base.name}", row.made) for row in made.changes]
    shows.append(_table(cells, f"median {primary.unit}", lambda value: shown(primary, value)))
    if changes:
        shows += [Text(), _table(changes, "change", change_words)]
    return [*shows, *words]


def _table(rows: Sequence[tuple[Cell, str, Between]], what: str, words: Words) -> Table:
    sites = len({cell.site for cell, _, _ in rows}) > 1
    names = [*(["site"] if sites else []), "link", "arm"]
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for column in (*names, f"{what} of each bed", *NUMBERS):
        made.add_column(column, justify="left" if column in names else "right", no_wrap=column in NUMBERS)
    for cell, base, one in rows:
        where = [*([cell.site] if sites else []), cell.link.label, f"{cell.arm.name}{base}"]
        each = ", ".join(of_bed(bed, words) for bed in one.beds)
        made.add_row(*map(Text, (*where, each, *numbers(one, words))))
    return made


def of_bed(bed: OfBed, words: Words) -> str:
    """Return its number; in brackets where it does not count."""
    shows = words(bed.value) if bed.value < math.inf else "timed out"
    return shows if bed.counts else f"({shows})"


def numbers(one: Between, words: Words) -> tuple[str, str, str, str]:
    """Return the middle of the beds, its interval, and the two standard deviations."""
    middle = NONE if one.value is None else words(one.value)
    ends = NONE if one.low is None or one.high is None else f"{words(one.low)} to {words(one.high)}"
    own, trials = (NONE if share is None else percent(share) for share in (one.between, one.within))
    return middle, ends, own, trials
