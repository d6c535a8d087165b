"""Results as Markdown. Pure."""

import re
from collections.abc import Iterable, Iterator, Sequence

from lanelab.analysis.results.layout.model import (
    NONE,
    OUTPUTS,
    Fold,
    Head,
    Part,
    Points,
    Section,
    Table,
    Tree,
    Verbatim,
    Words,
    cell_words,
    shown,
    tree_lines,
)
from lanelab.analysis.results.text import visible

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~])")


def markdown(sections: Iterable[Section | None], level: int = 2) -> str:
    """Return one below the other, each with its title at this level."""
    return "\n\n".join(text for section in sections if section for text in section_markdown(section, level)) + "\n"


def head_markdown(head: Head) -> str:
    paragraphs = (head.kind, head.lead, " ".join(filter(None, [head.date, head.state and f"({head.state})"])))
    return "\n\n".join([f"# {plain(head.title)}", *map(plain, filter(None, paragraphs)), *parts_markdown(head.parts)])


def section_markdown(section: Section, level: int = 2) -> Iterator[str]:
    """Yield its paragraphs."""
    parts = list(parts_markdown(section.parts, level + 1))
    if parts:
        yield f"{'#' * level} {plain(section.title)}"
        yield from parts


def parts_markdown(parts: Iterable[Part], level: int = 3) -> Iterator[str]:
    for part in parts:
        if not shown(part, "markdown"):
            continue
        if isinstance(part, Words):
            yield plain(part.text)
        elif isinstance(part, Table):
            if part.title:
                yield f"{'#' * level} {plain(part.title)}"
            yield table_markdown(part)
        elif isinstance(part, Points):
            yield "\n".join(f"- {plain(item.text)}" for item in part.items)
        elif isinstance(part, Tree):
            yield "\n".join(f"{'  ' * depth}- {plain(line)}" for depth, line in tree_lines(part.value))
        elif isinstance(part, Verbatim):
            fence = max(["```", *(f"{ticks}`" for ticks in re.findall("`{3,}", part.text))], key=len)
            yield f"{fence}\n{visible(part.text.rstrip())}\n{fence}"
        elif isinstance(part, Fold):
            yield f"{'#' * level} {plain(part.title.text)}"
            yield from parts_markdown(part.parts, level + 1)


def table_markdown(table: Table) -> str:
    """Every row says what it belongs to."""
    kept = [place for place, column in enumerate(table.columns) if "markdown" in OUTPUTS[column.where]]
    lines = []
    for row in table.rows:
        words = row.group.words if row.group and table.groups else ()
        cells = (cell_words(row.cells[place]) for place in kept)
        lines.append([*words, *(NONE if cell is None else cell.text for cell in cells)])
    return written_table([*table.groups, *(table.columns[place].title for place in kept)], lines)


def written_table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Rows as Markdown; what stands in them is shown as it is."""
    written = [f"| {' | '.join(map(plain, heads))} |", f"| {' | '.join(['---'] * len(heads))} |"]
    written += [f"| {' | '.join(plain(cell) for cell in row)} |" for row in rows]
    return "\n".join(written)


def plain(text: str) -> str:
    """Return text that Markdown shows as it is, in one line."""
    return _SPECIAL.sub(r"\\\1", " ".join(visible(text).split()))
