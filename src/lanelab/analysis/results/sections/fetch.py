"""The objects of fetches: each cell's medians of each."""

from collections.abc import Sequence

from lanelab.analysis.results.fetched_objects import FetchedCell, ObjectLine, fetched_cells
from lanelab.analysis.results.layout.model import Column, Fold, Section, Words, table
from lanelab.analysis.results.numbers import milliseconds
from lanelab.analysis.results.sections.seen import Seen

MEANING = (
    "Medians of the trials that count, in the order of asking. The time is from when an object was asked for, its turn "
    "on a connection included. lanelab export RUN --format csv --requests has each object of each trial."
)
COLUMNS: Sequence[Column[ObjectLine]] = (
    Column("#", lambda line: line.number, number=True),
    Column("object", lambda line: line.url),
    Column("trials", lambda line: line.trials, number=True),
    Column("first byte ms", lambda line: milliseconds(line.first_byte_ms), number=True),
    Column("ms", lambda line: milliseconds(line.ms), number=True),
    Column("bytes", lambda line: f"{line.body_bytes:,}", number=True),
)


def fetch_section(seen: Seen) -> Section | None:
    """Lay out a line for each object of each cell; None of a run of another workload, or where no trial counts."""
    cells = fetched_cells(seen.run)
    if not cells:
        return None
    folds = [
        Fold(Words(str(each.cell)), (Words(_words(each)), table(COLUMNS, each.objects)), is_open=len(cells) == 1)
        for each in cells
    ]
    lines = [Words(f"{each.cell}: {_words(each)}", where="terminal") for each in cells]
    return Section("objects", "Objects", (*lines, Words(MEANING, "muted", "long"), *folds))


def _words(each: FetchedCell) -> str:
    spoken, counts = " and ".join(each.protocols), " or ".join(map(str, each.connections))
    connections = "connection" if each.connections == (1,) else "connections"
    return f"{len(each.objects)} objects by {spoken}, over {counts} {connections}."
