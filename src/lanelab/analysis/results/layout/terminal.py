"""Results on terminals of any width: a table leaves out columns before it breaks names into several lines."""

import copy
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rich import box
from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.table import Table as RichTable
from rich.text import Text

from lanelab.analysis.results.layout.model import (
    NONE,
    OUTPUTS,
    Cell,
    Fold,
    Part,
    Points,
    Row,
    Section,
    Table,
    Tree,
    Verbatim,
    Words,
    cell_words,
    shown,
    tree_lines,
)

STYLES = {"": "", "good": "green", "bad": "red", "warn": "yellow", "muted": "dim", "strong": "bold"}
WIDE = 10_000


def on_terminal(sections: Iterable[Section | None]) -> Group:
    """Print one below the other; a section without a title goes on with the one before."""
    lines: list[RenderableType] = []
    for section in sections:
        parts = parts_on_terminal(section.parts) if section else []
        if section and section.short and parts:
            lines += [Text(), Text(section.short, style="bold")]
        lines += parts
    return Group(*lines)


def parts_on_terminal(parts: Iterable[Part]) -> list[RenderableType]:
    lines: list[RenderableType] = []
    for part in parts:
        if not shown(part, "terminal"):
            continue
        if isinstance(part, Words):
            lines.append(Text(part.text, style=STYLES[part.mood]))
        elif isinstance(part, Table):
            between = [Text()] if lines and isinstance(lines[-1], FittedTable) else []
            lines += [*between, *([Text(part.title, style="bold")] if part.title else []), fitted(part)]
        elif isinstance(part, Points):
            lines += [Text(item.text, style=STYLES[item.mood]) for item in part.items]
        elif isinstance(part, Tree):
            lines += [Text(f"{'  ' * depth}{line}") for depth, line in tree_lines(part.value)]
        elif isinstance(part, Verbatim):
            lines.append(Text(part.text))
        elif isinstance(part, Fold):
            lines += [Text(part.title.text, style="bold"), *parts_on_terminal(part.parts)]
    return lines


@dataclass(frozen=True, slots=True)
class FittedTable:
    """`spare`: headings of the columns that may be left out, the first one first."""

    table: RichTable
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


def _width(table: RichTable, console: Console, options: ConsoleOptions) -> int:
    return console.measure(table, options=options.update(max_width=WIDE)).maximum


def fitted(table: Table) -> FittedTable:
    """Groups are columns, whose words are not repeated; or lines, where these columns have no titles."""
    grid = RichTable(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for title in table.groups:
        grid.add_column(title)
    kept = [place for place, column in enumerate(table.columns) if "terminal" in OUTPUTS[column.where]]
    for column in (table.columns[place] for place in kept):
        side, overflow = ("right", "ellipsis") if column.number else ("left", "fold")
        grid.add_column(column.title, justify=side, no_wrap=column.number, overflow=overflow)  # type: ignore[arg-type]
    last: tuple[str, ...] = ()
    for row in table.rows:
        _add_row(grid, table, row, kept, last)
        last = row.group.words if row.group else ()
    spare = sorted((column for column in table.columns if column.spare), key=lambda column: column.spare)
    return FittedTable(grid, [column.title for column in spare])


def _add_row(grid: RichTable, table: Table, row: Row, kept: Sequence[int], last: tuple[str, ...]) -> None:
    words = row.group.words if row.group else ()
    if words != last and not table.groups:
        grid.add_row(Text(" ".join(words), style="bold"))
        if row.group and row.group.note:
            grid.add_row(Text(row.group.note, style="dim"))
    same = words == last
    leading = [Text("" if same else word) for word in words] if table.groups else []
    grid.add_row(*leading, *(_cell(row.cells[place]) for place in kept))


def _cell(cell: Cell) -> Text:
    words = cell_words(cell)
    return Text(NONE) if words is None else Text(words.text, style=STYLES[words.mood])
