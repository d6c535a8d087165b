"""Two cells of any two runs on one clock. What differs in their set-up is said above the numbers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from lanelab.analysis.results.conditions import differing
from lanelab.analysis.results.layout.markup import Html, el
from lanelab.analysis.results.layout.page import scroll, section_on_page
from lanelab.analysis.results.model import Cell
from lanelab.analysis.results.report.loads import Drawn, drawn_cell, filmstrips, trial_drawing
from lanelab.driver.api.opened_run import Run
from lanelab.driver.page.documents import document
from lanelab.driver.page.explanation import explanation
from lanelab.driver.page.language import in_english, number_words, say, text
from lanelab.driver.page.overlay import overlay

KEYS = text("The keys j and k go through the requests of both, and so do the arrow keys in either drawing.")


@dataclass(frozen=True, slots=True)
class Side:
    """A run by its name, and the cell of it that is shown."""

    name: str
    run: Run
    cell: Cell


def sides(runs: Sequence[tuple[str, Run]], numbers: Sequence[str]) -> tuple[Side, Side] | None:
    """Return the cells of these numbers. Without one: the first of the first run, and of the second what is most like
    it. None where a run has no cells."""
    (name, run), (other_name, other) = runs
    if not run.cells or not other.cells:
        return None
    one, two = (*numbers, "", "")[:2]
    first = _numbered(run, one) or run.cells[0]
    second = _numbered(other, two) or _beside(first, other.cells, is_same=run.folder == other.folder)
    return Side(name, run, first), Side(other_name, other, second)


def _numbered(run: Run, number: str) -> Cell | None:
    return next((cell for cell in run.cells if str(cell.number) == number), None)


def _beside(first: Cell, cells: Sequence[Cell], *, is_same: bool) -> Cell:
    """Return the cell of these names in another run; in the same one, the next arm of this site and link."""
    if is_same:
        return next((cell for cell in cells if cell.group == first.group and cell.arm != first.arm), first)
    return next((cell for cell in cells if cell.names == first.names), cells[0])


def comparison_page(one: Side, other: Side) -> str:
    """Return the page."""
    drawn = [(each, drawn_cell(each.run.data, each.cell)) for each in (one, other)]
    title = say("{one} beside {other}", one=one.name, other=other.name)
    end = max((load.view.end for _, load in drawn if load), default=1.0) * 1.02
    columns = [_column(each, load, end) for each, load in drawn]
    return document(
        title,
        el("header", el("p", say("Two on one clock"), class_="eyebrow"), el("h1", title)),
        _chooser(one, other),
        _differences(one, other),
        *_why(one, other),
        section_on_page(
            "loads", say("Their median trials"), el("p", say(KEYS), id="keys", class_="note", hidden=True), columns
        ),
        el("div", id="request", class_="request", role="status", data_none=say("not asked for")),
        overlay([(each.cell.arm.name, load.film) for each, load in drawn if load and load.film]),
        in_english(filmstrips([load for _, load in drawn if load])),
        up=1,
    )


def _why(one: Side, other: Side) -> list[Html]:
    """Return why the second is faster or slower, where both are of one run, site and link."""
    is_one_run = one.run.folder.resolve() == other.run.folder.resolve()
    if not is_one_run or one.cell.group != other.cell.group or one.cell.number == other.cell.number:
        return []
    return [explanation(one.run, one.cell, other.cell)]


def _chooser(one: Side, other: Side) -> Html:
    """Return the form with which another cell of either is chosen."""
    return el(
        "form",
        [
            el(
                "label",
                say("Cell of {name}", name=each.name),
                el("input", type="hidden", name="run", value=each.name),
                el("select", [_option(cell, each.cell) for cell in each.run.data.cells], name="cell"),
            )
            for each in (one, other)
        ],
        el("button", say("Show"), type="submit"),
        class_="filter",
    )


def _option(cell: Cell, chosen: Cell) -> Html:
    return el("option", str(cell), value=cell.number, selected=cell.number == chosen.number)


def _differences(one: Side, other: Side) -> Html:
    """Return what is not the same: conditions of the runs, settings of link and arm."""
    rows = [("site", one.cell.site, other.cell.site)] if one.cell.site != other.cell.site else []
    rows += _settings("link", one.cell.link.settings, other.cell.link.settings)
    rows += _settings("arm", one.cell.arm.settings, other.cell.arm.settings)
    if one.run.folder.resolve() != other.run.folder.resolve():
        rows += differing(one.run.data, other.run.data)
    if not rows:
        return section_on_page("differences", say("What differs"), el("p", say("Nothing of their set-up.")))
    heads = el("thead", el("tr", [el("th", name, scope="col") for name in (say("what"), one.name, other.name)]))
    body = el("tbody", [el("tr", [el("td", value) for value in row]) for row in rows])
    return section_on_page("differences", say("What differs"), scroll(el("table", heads, body)))


def _settings(of: str, here: Mapping[str, object], there: Mapping[str, object]) -> list[tuple[str, str, str]]:
    keys = dict.fromkeys((*here, *there))
    values = ((f"{of}: {key}", str(here.get(key)), str(there.get(key))) for key in keys)
    return [(key, one, other) for key, one, other in values if one != other]


def _column(each: Side, load: Drawn | None, end: float) -> Html:
    title = el("h3", el("a", each.name, href=f"../runs/{quote(each.name)}/"), f" · {each.cell}")
    if load is None:
        return el("div", title, el("p", say("No trial of it counts."), class_="bad"))
    number = load.trial.number
    link = el(
        "p",
        el("a", say("Trial {n}", n=number), href=f"../runs/{quote(each.name)}/trials/{number}/"),
        f": {number_words(load.outcome)}",
    )
    return el("div", title, link, in_english(trial_drawing(load, end)))
