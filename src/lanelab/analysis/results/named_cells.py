"""Cells by the words that a user names them with. Pure."""

from lanelab.analysis.results.model import Cell, Run
from lanelab.driver.base.errors import InputError
from lanelab.driver.base.settings.kinds import near_miss


def cells_named(run: Run, name: str, key: str) -> list[Cell]:
    """Return a cell by its id or words, or all cells of an arm."""
    cells = [cell for cell in run.cells if name in (cell.id, cell.arm.name) or _squeezed(name) == _squeezed(str(cell))]
    if not cells:
        known = [*(arm.name for arm in run.arms), *map(str, run.cells)]
        remedy = f"{near_miss(name, known)}Its arms are {', '.join(arm.name for arm in run.arms)}"
        raise InputError(f"the run has no cell and no arm {name!r}", remedy, key=key)
    return cells


def cell_named(run: Run, name: str, key: str) -> Cell:
    """Return the only one of that name."""
    cells = cells_named(run, name, key)
    if len(cells) > 1:
        named = " or ".join(f"'{cell}'" for cell in cells[:4])
        more = f", or another of its {len(cells)}" if len(cells) > 4 else ""
        raise InputError(f"{name!r} is {len(cells)} cells", f"Write {named}{more}", key=key)
    return cells[0]


def _squeezed(name: str) -> str:
    """However its commas are spaced."""
    return ",".join(part.strip() for part in name.split(","))
