"""Cells of an experiment: all combinations, or exactly those that the file lists."""

import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from lanelab.driver.arm.arm import Arm
from lanelab.driver.base.settings.source import Written, read_known
from lanelab.driver.experiment.keys import CELL
from lanelab.driver.experiment.links import RequestedLink, find_link, name_links, read_links, refuse_repeated
from lanelab.driver.experiment.model import Cell, LinkCase
from lanelab.driver.link import Link
from lanelab.driver.site.site import PAGE_MARK

MOST_CELLS = 10_000


@dataclass(frozen=True, slots=True)
class Combined:
    """The cells, links and arms that a file combines."""

    sites: tuple[str, ...]
    links: tuple[LinkCase, ...]
    cells: tuple[Cell, ...]

    def with_cells(self, cells: tuple[Cell, ...]) -> "Combined":
        """Return the same with these cells, and the links that they have."""
        return Combined(self.sites, tuple({cell.link.label: cell.link for cell in cells}.values()), cells)


class ObjectsOf(Collection[str]):
    """The objects that a server may be asked for: those of the sites' first hosts, as site/path. Whether a site has the
    object is known when its manifest is read."""

    def __init__(self, sites: Collection[str], *, pages: bool = False) -> None:
        """`pages`: a site alone is one too; what is asked for then is its page."""
        self._sites, self._pages = sites, pages

    def __contains__(self, name: object) -> bool:
        site, slash, path = str(name).partition("/")
        return site in self._sites and (bool(path) or (self._pages and not slash))

    def __iter__(self) -> Iterator[str]:
        return (f"{site}/PATH" for site in self._sites)

    def __len__(self) -> int:
        return len(self._sites)


class SitesWithPages(Collection[str]):
    """The sites that can be loaded: their names alone, and SITE@PAGE. Whether a site has the page is known when its
    manifest is read."""

    def __init__(self, sites: Collection[str]) -> None:
        self._sites = sites

    def __contains__(self, name: object) -> bool:
        site, mark, page = str(name).partition(PAGE_MARK)
        return site in self._sites and (bool(page) or not mark)

    def __iter__(self) -> Iterator[str]:
        return iter(self._sites)

    def __len__(self) -> int:
        return len(self._sites)


def combine(entries: Mapping[str, Written], root: Written, arms: Sequence[Arm], known: Collection[str]) -> Combined:
    """Return every site x link x arm, or the listed cells."""
    sites = read_known(entries["sites"], known, "site") if "sites" in entries else []
    near = entries.get("distances")
    requested = read_links(entries["links"], near) if "links" in entries else []
    refuse_repeated(requested)
    if "cells" in entries:
        return _listed(entries, sites, requested, arms, known)
    for key, example in (("sites", "sites: [dummy]"), ("links", "links: {rtt: 100ms}")):
        if key not in entries:
            raise root.error(f"there are no {key}", f"Write them, like {example}")
    links = name_links(requested)
    _refuse_too_many(root, len(sites) * len(links) * len(arms))
    cells = tuple(Cell(*one) for one in itertools.product(sites, links, arms))
    return Combined(tuple(sites), links, cells)


def _listed(
    entries: Mapping[str, Written],
    sites: list[str],
    requested: list[RequestedLink],
    arms: Sequence[Arm],
    known: Collection[str],
) -> Combined:
    listed = [(one, CELL.entries(one)) for one in entries["cells"].elements()]
    parts = {
        id(element.node): read_links(element, entries.get("distances"))
        for _, keys in listed
        if "link" in keys
        for element in keys["link"].elements()
        if element.is_mapping
    }
    links = name_links([*requested, *itertools.chain.from_iterable(parts.values())])
    case_of = {case.link: case for case in links}
    shared = [case_of[one.link] for one in requested]
    by_name = {arm.name: arm for arm in arms}
    cells: list[Cell] = []
    lines: dict[str, int] = {}
    for where, keys in listed:
        in_sites = read_known(keys["site"], sites or known, "site") if "site" in keys else sites
        on_links = shared
        if "link" in keys:
            on_links = _links_of(keys["link"], parts, links, case_of)
        for key, places in (("site", in_sites), ("link", on_links)):
            if not places:
                raise where.error(f"this cell names no {key}", f"Write {key}, or {key}s for all cells")
        with_arms = [by_name[name] for name in read_known(keys["arm"], by_name, "arm")] if "arm" in keys else arms
        _refuse_too_many(where, len(cells) + len(in_sites) * len(on_links) * len(with_arms))
        for one in itertools.product(in_sites, on_links, with_arms):
            cell = Cell(*one)
            if cell.id in lines:
                raise where.error(f"the cell {cell.label} is on line {lines[cell.id]} already", "Remove one of them")
            lines[cell.id] = where.line
            cells.append(cell)
    _refuse_unused(entries, sites, shared, arms, cells)
    used = tuple(dict.fromkeys(cell.site for cell in cells))
    return Combined(tuple(sites) or used, links, tuple(cells))


def _links_of(
    written: Written,
    requested: Mapping[int, list[RequestedLink]],
    links: Sequence[LinkCase],
    case_of: Mapping[Link, LinkCase],
) -> list[LinkCase]:
    cases: list[LinkCase] = []
    for element in written.elements():
        if element.is_mapping:
            cases += [case_of[one.link] for one in requested[id(element.node)]]
        else:
            cases.append(find_link(element, links))
    return cases


def _refuse_unused(
    entries: Mapping[str, Written],
    sites: Sequence[str],
    links: Sequence[LinkCase],
    arms: Sequence[Arm],
    cells: Sequence[Cell],
) -> None:
    """Raises InputError for a name that no cell has: a cell was forgotten, or the name is left over."""
    remedy = "Add a cell with it, or remove it"
    for site in sites:
        if site not in {cell.site for cell in cells}:
            raise entries["sites"].error(f"the site {site!r} is in no cell", remedy)
    for link in links:
        if link not in {cell.link for cell in cells}:
            raise entries["links"].error(f"the link {link.label!r} is in no cell", remedy)
    for arm in arms:
        if arm not in {cell.arm for cell in cells}:
            raise entries["arms"].entries()[arm.name].error("this arm is in no cell", remedy)


def _refuse_too_many(where: Written, cells: int) -> None:
    if cells > MOST_CELLS:
        raise where.error(f"these are {cells} cells, more than {MOST_CELLS}", "Write several experiments")
