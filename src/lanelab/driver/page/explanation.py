"""Why one cell is faster or slower than another of its site and link, in the words of `lanelab explain`."""

from dataclasses import replace

from lanelab.analysis.results.explain.run import Explained
from lanelab.analysis.results.layout.markup import Html, el
from lanelab.analysis.results.layout.page import parts_on_page, section_on_page
from lanelab.analysis.results.model import Cell
from lanelab.analysis.results.sections.explained import explained_sections
from lanelab.driver.api.opened_run import Run
from lanelab.driver.base.errors import InputError, LanelabError
from lanelab.driver.page.errors import error_words, note
from lanelab.driver.page.language import in_english, say


def others_of(run: Run, cell: Cell) -> list[Cell]:
    """Return the cells that differ from this one in their arm alone, first those that the run compares with it."""
    compared = [set(pair) for pair in ({one.number, other.number} for one, other in run.data.plan.compared)]
    others = [each for each in run.cells if each.group == cell.group and each.number != cell.number]
    return sorted(others, key=lambda other: {cell.number, other.number} not in compared)


def explanation(run: Run, one: Cell, other: Cell) -> Html:
    """Return why `other` is faster or slower than `one`."""
    title = say("Why {arm} differs from {base}", arm=other.arm.name, base=one.arm.name)
    try:
        explained = run.explain(other.arm.name, one.arm.name).explained
    except InputError as error:  # about the arms and trials of the run
        return section_on_page("why", title, in_english(el("p", str(error))))
    except LanelabError as error:
        note(error)
        return section_on_page("why", title, el("p", error_words(error, may_run=False)))
    parts = [
        in_english(el("div", el("h3", each.title), parts_on_page(each.parts)))
        for each in explained_sections(_of_pair(explained, one, other))
    ]
    return section_on_page("why", title, parts or el("p", say("That cannot be explained yet.")))


def _of_pair(explained: Explained, one: Cell, other: Cell) -> Explained:
    """Leave out other sites and links."""
    numbers = (one.number, other.number)
    kept = [each for each in explained.differences if (each.base.cell.number, each.other.cell.number) == numbers]
    words = [each for each in explained.not_told if any(str(cell) in each for cell in (one, other))]
    return replace(explained, differences=tuple(kept), outliers=(), not_told=tuple(words))
