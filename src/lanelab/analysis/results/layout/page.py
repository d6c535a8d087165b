"""Results on a page."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import cast

from lanelab.analysis.results.layout.markup import Html, el, join
from lanelab.analysis.results.layout.model import (
    NONE,
    OUTPUTS,
    Cell,
    Column,
    Drawing,
    Fold,
    Group,
    Head,
    Part,
    Points,
    Row,
    Section,
    Table,
    Tree,
    Verbatim,
    Words,
    cell_words,
    in_line,
    shown,
)

CLASSES = {"": None, "good": "good", "bad": "bad", "warn": "warn", "muted": "note", "strong": None}
VERDICTS = "verdicts"  # a table whose cells a narrow page puts below each other, each with its title


def head_on_page(head: Head) -> Html:
    badge = [" ", el("span", head.state, class_="badge")] if head.state else None
    return el(
        "header",
        el("p", head.kind, class_="eyebrow"),
        el("h1", head.title),
        el("p", head.lead, class_="lead") if head.lead else None,
        el("p", head.date, badge, class_="date"),
        parts_on_page(head.parts),
    )


def on_page(section: Section | None) -> Html | None:
    """Lay out a section; None where there is nothing to show."""
    if section is None or not any(shown(part, "page") for part in section.parts):
        return None
    return section_on_page(section.name, section.title, *parts_on_page(section.parts))


def section_on_page(name: str, title: str, *children: object) -> Html:
    """Lay out what pages alone have, and is drawn for them."""
    return el("section", el("h2", title), *children, id=name)


def parts_on_page(parts: Iterable[Part]) -> list[Html]:
    return [_part(part) for part in parts if shown(part, "page")]


def _part(part: Part) -> Html:
    if isinstance(part, Html):
        return part
    if isinstance(part, Drawing):
        return part.draw() or Html()
    if isinstance(part, Fold):
        inside = parts_on_page(part.parts)
        content = el("noscript", inside) if part.is_large else inside
        return el("details", el("summary", _inside(part.title)), content, open=part.is_open)
    if isinstance(part, Table):
        return join(el("h3", part.title) if part.title else None, scroll(table_on_page(part)))
    return _text(part)


def _text(part: Words | Points | Tree | Verbatim) -> Html:
    if isinstance(part, Words):
        return el("p", _inside(part), class_=CLASSES[part.mood])
    if isinstance(part, Points):
        items = [el("li", _inside(item), class_=CLASSES[item.mood]) for item in part.items]
        return el("ul", items, class_=part.style or None)
    return _tree(part.value, part.style) if isinstance(part, Tree) else el("pre", el("code", part.text))


def scroll(table: Html) -> Html:
    """Wide content scrolls within itself, not the page."""
    return el("div", table, class_="scroll", tabindex=0)


def _tree(value: object, style: str) -> Html:
    if (words := in_line(value)) is not None:
        return el("span", words)
    if isinstance(value, Mapping):
        pairs = [el("div", el("dt", str(key)), el("dd", _tree(below, style))) for key, below in value.items()]
        return el("dl", pairs, class_=style)
    return el("ul", [el("li", _tree(one, style)) for one in cast(Iterable[object], value)])


def _inside(words: Words) -> Html | str:
    drawn = words.page() if callable(words.page) else words.page
    content: Html | str = words.text if drawn is None else drawn
    return el("b", content) if words.mood == "strong" else content


def table_on_page(table: Table) -> Html:
    kept = [place for place, column in enumerate(table.columns) if "page" in OUTPUTS[column.where]]
    columns = [table.columns[place] for place in kept]
    heads = [_column_head(column) for column in columns]
    bodies = []
    for group, rows in groupby(table.rows, key=lambda row: row.group):
        lines = [line for row in rows for line in _lines(table, row, [row.cells[place] for place in kept], columns)]
        head = _group(group, len(columns)) if group else None
        bodies.append(el("tbody", head, lines, id=(group.address if group else "") or None))
    return el("table", el("thead", el("tr", heads)), bodies or el("tbody"), class_=table.style or None)


def _column_head(column: Column[object]) -> Html:
    """A column of drawings has no title: its cells have words."""
    title = column.page_title or column.title
    if not title:
        return el("td")
    return el("th", title, scope="col", class_="num" if column.number else None)


def _group(group: Group, columns: int) -> Html:
    """Its last words are the first to be looked for: the link, of a site and a link."""
    *others, lead = group.words
    note = group.note or ", ".join(others)
    words = join(el("b", lead), " ", el("span", note) if note else None)
    return el("tr", el("th", words, colspan=columns, scope="rowgroup"), class_="group")


def _lines(table: Table, row: Row, cells: Sequence[Cell], columns: Sequence[Column[object]]) -> Iterator[Html]:
    labelled = table.style == VERDICTS
    cells_of_row: list[Html] = []
    place = 0
    for alike in _spans([cell_words(cell) for cell in cells]):
        column, span = columns[place], len(alike)
        words = next((cell for cell in alike if cell), None)
        cells_of_row.append(_cell(words, column, span, label=column.title if labelled else None))
        place += span
    yield el("tr", cells_of_row, id=row.address or None)
    if row.below:
        yield el("tr", el("td", parts_on_page(row.below), colspan=len(columns)), class_="below")


def _spans(cells: Sequence[Words | None]) -> Iterator[list[Words | None]]:
    """Yield each cell by itself, but a wide one with the cells beside it that have nothing."""
    wide = next((place for place, cell in enumerate(cells) if cell and cell.wide), None)
    first = last = -1
    if wide is not None:
        first = last = wide
        while first > 0 and cells[first - 1] is None:
            first -= 1
        while last + 1 < len(cells) and cells[last + 1] is None:
            last += 1
    for place, cell in enumerate(cells):
        if place == first:
            yield list(cells[first : last + 1])
        elif not first < place <= last:
            yield [cell]


def _cell(words: Words | None, column: Column[object], span: int, label: str | None) -> Html:
    if words is None:
        return el("td", NONE, class_="num" if column.number else None, data_label=label)
    mood = "" if words.mood == "strong" or words.page is not None else words.mood
    classes = " ".join(filter(None, ["num" if column.number and span == 1 else "", mood]))
    if label is not None and words.text == NONE:
        classes = f"{classes} none".strip()
    colspan = span if span > 1 else None
    return el("td", _inside(words), class_=classes or None, title=words.tip or None, colspan=colspan, data_label=label)
