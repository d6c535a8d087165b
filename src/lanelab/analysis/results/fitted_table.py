"""A table for terminals of any width: it leaves out columns before it breaks names into several lines."""

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderableType
from rich.table import Table
from rich.text import Text

WIDE = 10_000


@dataclass(frozen=True, slots=True)
class FittedTable:
    """`spare`: headings of the columns that may be left out, the first one first."""

    table: Table
    spare: Sequence[str]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        left_out: list[str] = []
        table = self.table
        while _width(table, console, options) > options.max_width and len(left_out) < len(self.spare):
            left_out.append(self.spare[len(left_out)])
            table = copy.copy(self.table)
            table.columns = [column for column in self.table.columns if column.header not in left_out]
        yield table
        if left_out:
            yield Text(f"left out, for the terminal is narrow: {', '.join(left_out)}", style="dim")


def _width(table: Table, console: Console, options: ConsoleOptions) -> int:
    return console.measure(table, options=options.update(max_width=WIDE)).maximum
