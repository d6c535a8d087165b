"""A result as it is laid out: a title, sentences, tables, drawings. It is made once; the renderers beside this write it
for terminals, pages and Markdown, and its data as JSON.

    COLUMNS = (Column("arm", lambda row: row.cell.arm.name), Column("trials", lambda row: row.ok, number=True))
    Section("results", "Results", (table(COLUMNS, rows), Words("All of this run.", "muted")))
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar, cast

from lanelab.analysis.results.layout.markup import Html

R = TypeVar("R")
Mood = Literal["", "good", "bad", "warn", "muted", "strong"]
Where = Literal[
    "", "page", "long", "text", "terminal", "markdown"
]  # "": everywhere. long: all but terminals; text: all but pages
NONE = "-"


@dataclass(frozen=True, slots=True)
class Words:
    """A sentence, or what a cell of a table says. A page may show something else in its place: a drawing, a link,
    or text in its own colours."""

    text: str
    mood: Mood = ""
    where: Where = ""
    tip: str = ""  # what a page says where one points at it
    page: Html | Callable[[], Html] | None = None  # what is large is drawn only for a page
    wide: bool = False  # takes the place of the cells beside it that have nothing


Cell = str | int | Words | None  # None: there is nothing, a dash


@dataclass(frozen=True)  # without slots, which Column[R](...) does not go with
class Column(Generic[R]):
    """A column of a table, for all outputs: its title, and what it says of a row."""

    title: str
    of: Callable[[R], Cell]
    number: bool = False  # to the right, and never broken into lines
    spare: int = 0  # columns that a narrow terminal may leave out, from 1 on; 0: this one has to be there
    where: Where = ""
    page_title: Html | None = None


@dataclass(frozen=True, slots=True)
class Group:
    """Words that rows of a table share. Text has them in columns, where the table names these; else in a line above."""

    words: tuple[str, ...]
    note: str = ""
    address: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    cells: tuple[Cell, ...]
    group: Group | None = None
    address: str = ""
    below: tuple["Part", ...] = ()  # what a page has below it


@dataclass(frozen=True, slots=True)
class Table:
    columns: Sequence[Column[Any]]
    rows: Sequence[Row]
    groups: tuple[str, ...] = ()  # titles of the columns that text has for words of groups
    title: str = ""
    where: Where = ""
    style: str = ""  # its class on a page


@dataclass(frozen=True, slots=True)
class Points:
    """A list."""

    items: tuple[Words, ...]
    where: Where = ""
    style: str = ""  # its class on a page


@dataclass(frozen=True, slots=True)
class Tree:
    """JSON of any depth: names with what they stand for."""

    value: Mapping[str, object]
    where: Where = "long"
    style: str = "tree"  # its class on a page


@dataclass(frozen=True, slots=True)
class Verbatim:
    """A file as it is, line by line."""

    text: str
    where: Where = "long"


@dataclass(frozen=True, slots=True)
class Fold:
    """Parts that a page shows when they are asked for."""

    title: Words
    parts: tuple["Part", ...]
    where: Where = "long"
    is_open: bool = False
    is_large: bool = False  # a page takes it apart when it is opened, or without a script at once


@dataclass(frozen=True, slots=True)
class Drawing:
    """A picture, for pages alone. It is not drawn where nobody looks."""

    draw: Callable[[], Html | None]


Part = Words | Table | Points | Tree | Verbatim | Fold | Drawing | Html  # Html: markup, for pages alone


@dataclass(frozen=True, slots=True)
class Section:
    """`short`: its title on a terminal, where it has one."""

    name: str
    title: str
    parts: tuple[Part, ...]
    short: str = ""


@dataclass(frozen=True, slots=True)
class Head:
    """The beginning of a report, before all sections."""

    kind: str  # of report
    title: str
    lead: str
    date: str
    parts: tuple[Part, ...]
    state: str = ""  # that readers have to know; "": it is finished


def table(  # noqa: PLR0913 - most tables have a title and groups at most
    columns: Sequence[Column[R]],
    records: Iterable[R],
    *,
    groups: tuple[str, ...] = (),
    group: Callable[[R], Group] | None = None,
    address: Callable[[R], str] = lambda _: "",
    below: Callable[[R], tuple[Part, ...]] = lambda _: (),
    title: str = "",
    where: Where = "",
    style: str = "",
) -> Table:
    """Lay out a row for each record."""
    rows = [
        Row(tuple(column.of(one) for column in columns), group(one) if group else None, address(one), below(one))
        for one in records
    ]
    return Table(columns, rows, groups, title, where, style)


def text_table(
    heads: Sequence[str], rows: Iterable[Sequence[str]], right: Iterable[str] = (), *, title: str = "", style: str = ""
) -> Table:
    """Lay out rows of texts. `right`: titles of the columns with numbers."""
    numbers = set(right)

    def column(place: int, head: str) -> Column[Sequence[str]]:
        return Column(head, lambda row: row[place], number=head in numbers)

    return table([column(place, head) for place, head in enumerate(heads)], rows, title=title, style=style)


def words(texts: Iterable[str], mood: Mood = "", where: Where = "") -> tuple[Words, ...]:
    """Make a sentence of each text that is not empty."""
    return tuple(Words(text, mood, where) for text in texts if text)


def cell_words(cell: Cell) -> Words | None:
    """Return the long form of a cell."""
    return cell if cell is None or isinstance(cell, Words) else Words(str(cell))


def shown(part: Part, output: Literal["page", "terminal", "markdown"]) -> bool:
    """Say whether an output has this part of a result."""
    if isinstance(part, Html | Drawing):
        return output == "page"
    return output in OUTPUTS[part.where]


MOST_IN_LINE = 12  # entries of a list without names


def in_line(value: object) -> str | None:
    """Return JSON that fits into a line, as text; None where it has to be taken apart."""
    if isinstance(value, Mapping):
        return None if value else "none"
    if isinstance(value, list | tuple):
        is_short = len(value) <= MOST_IN_LINE and not any(isinstance(one, Mapping | list | tuple) for one in value)
        return (", ".join(map(_plain, value)) or "none") if is_short else None
    return _plain(value)


def _plain(value: object) -> str:
    if value in (None, ""):
        return NONE
    return str(value).lower() if isinstance(value, bool) else str(value)


def tree_lines(value: object, depth: int = 0) -> Iterator[tuple[int, str]]:
    """Yield the lines of a tree, each with how deep it is."""
    named = value.items() if isinstance(value, Mapping) else ((None, one) for one in cast(Iterable[object], value))
    for name, below in named:
        words = in_line(below)
        yield depth, ": ".join(filter(None, [name, words])) if words is not None else f"{name or NONE}:"
        if words is None:
            yield from tree_lines(below, depth + 1)


OUTPUTS: dict[Where, tuple[str, ...]] = {
    "": ("page", "terminal", "markdown"),
    "page": ("page",),
    "long": ("page", "markdown"),
    "text": ("terminal", "markdown"),
    "terminal": ("terminal",),
    "markdown": ("markdown",),
}
