"""Which cells are compared with which: as the file says, or every arm with the first. Pure.

Cells are compared within a site and a link. Nothing is left out silently: what could not be compared is named.
"""

from collections.abc import Mapping, Sequence

from lanelab.driver.base.settings.kinds import near_miss
from lanelab.driver.base.settings.source import Written, read_known
from lanelab.driver.experiment.keys import COMPARE
from lanelab.driver.experiment.model import Cell, Pairs

Group = dict[str, Cell]  # cells of one site and link, by their arm


def default_pairs(cells: Sequence[Cell]) -> Pairs:
    """Return every arm with the first of the experiment, where that is there, and else with the first that is."""
    pairs: list[tuple[Cell, Cell]] = []
    left_out: list[str] = []
    for where, group in _groups(cells).items():
        base, *others = group.values()
        pairs += [(base, other) for other in others]
        if not others:
            left_out.append(f"{where}: {base.arm.name} is the only arm there")
    return Pairs(tuple(pairs), tuple(left_out) if pairs else ())


def read_pairs(written: Written, cells: Sequence[Cell]) -> Pairs:
    """Return the pairs that the file names, on every site and link that has both arms."""
    wanted = _wanted(written, list(dict.fromkeys(cell.arm.name for cell in cells)))
    pairs: list[tuple[Cell, Cell]] = []
    left_out: list[str] = []
    groups = _groups(cells)
    for (of, to), where in wanted.items():
        both = [(group[to], group[of]) for group in groups.values() if of in group and to in group]
        if not both:
            what = f"no site and link has both {of!r} and {to!r}, so they cannot be compared"
            raise where.error(what, "Compare others, or add cells")
        pairs += both
        left_out += [
            f"{place}: {of} is not compared with {to}, for there is no {to if of in group else of}"
            for place, group in groups.items()
            if (of in group) != (to in group)
        ]
    order = {cell.id: number for number, cell in enumerate(cells)}
    pairs.sort(key=lambda pair: (order[pair[1].id], order[pair[0].id]))
    return Pairs(tuple(pairs), tuple(left_out))


def _wanted(written: Written, arms: Sequence[str]) -> Mapping[tuple[str, str], Written]:
    """Return for each (arm, base) where it is written, each once."""
    wanted: dict[tuple[str, str], Written] = {}
    for where, ofs, tos in _written_pairs(written, arms):
        for of in ofs:
            for to in tos:
                if of == to:
                    raise where.error(f"the arm {of!r} would be compared with itself", "Name two arms")
                earlier = wanted.get((of, to)) or wanted.get((to, of))
                if earlier:
                    what = f"{of} and {to} are compared on line {earlier.line} already"
                    raise where.error(what, "Remove one of the two")
                wanted[of, to] = where
    return wanted


def _written_pairs(written: Written, arms: Sequence[str]) -> list[tuple[Written, list[str], list[str]]]:
    if written.is_mapping and set(written.entries()) != set(COMPARE):
        return [
            (entry, [_arm(entry, of, arms)], read_known(entry, arms, "arm")) for of, entry in written.entries().items()
        ]
    pairs = []
    for one in written.elements():
        keys = COMPARE.entries(one)
        pairs.append((one, read_known(keys["of"], arms, "arm"), read_known(keys["to"], arms, "arm")))
    return pairs


def _groups(cells: Sequence[Cell]) -> dict[str, Group]:
    """Return cells that differ in their arm only, by the words for what they share."""
    groups: dict[str, Group] = {}
    for cell in cells:
        groups.setdefault(f"{cell.site}, {cell.link.label}", {})[cell.arm.name] = cell
    return groups


def _arm(entry: Written, name: str, arms: Sequence[str]) -> str:
    if name not in arms:
        raise entry.error(f"there is no arm {name!r}", f"{near_miss(name, arms)}There are {', '.join(arms)}")
    return name
