"""Where a contrast is checked: each place of a claim, with the place that it is compared with. Pure.

The other place differs from the one in what `at` and `to_at` say, in the arms where another claim is named, and in
nothing else.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lanelab.driver.base.errors import InputError
from lanelab.driver.base.settings.source import Written
from lanelab.driver.experiment.figures import read_only
from lanelab.driver.experiment.links import settings_without
from lanelab.driver.experiment.model import Cell, dimension_of

Chosen = tuple[tuple[str, str], ...]  # settings of the link, or its site, each with a value
CellPair = tuple[Cell, Cell | None]  # a cell, and the one that it is compared with
Rest = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Contrast:
    """The other side with which the change or the value of a claim is compared."""

    written: Written
    other: Written | None  # the claim; None: the same
    at: Chosen = ()  # where the one is
    to_at: Chosen = ()  # and where the other
    of: str = ""  # the arms of the other, once its claim is looked up
    to: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Return what its two places differ in."""
        return tuple(name for name, _ in self.at)

    def takes(self, cell: Cell) -> bool:
        """Return whether the one may be there."""
        return all(dimension_of(cell, name) == value for name, value in self.at)

    def words(self, of: str, to: str | None) -> str:
        """Say what is compared with what, of the arms of the one."""
        return f"{_side(of, to, self.at)}, compared with {_side(self.of, self.to, self.to_at)}"


def read_contrast(written: Written, parts: dict[str, Written], cells: Sequence[Cell]) -> Contrast:
    for key, lacking in (("at", "to_at"), ("to_at", "at")):
        if key in parts and lacking not in parts:
            raise parts[key].error(f"there is no {lacking}", f"Write where the other of the two is: {lacking}")
    at, to_at = (_chosen(parts[key], cells) if key in parts else () for key in ("at", "to_at"))
    if dict(at).keys() != dict(to_at).keys():
        raise parts["to_at"].error("it has other keys than at", f"Write {', '.join(dict(at))} in both")
    if "to" not in parts and dict(at) == dict(to_at):
        what = "it would be compared with itself"
        raise (parts["to_at"] if at else written).error(what, "Name another claim (to), or two places (at and to_at)")
    return Contrast(written, parts.get("to"), at, to_at)


def _chosen(written: Written, cells: Sequence[Cell]) -> Chosen:
    entries = written.entries()
    if "arm" in entries:
        raise entries["arm"].error("arms are those of the claims", "Name another claim with to, or leave it out")
    chosen = read_only(written, cells)
    for name, values in chosen:
        if len(values) > 1:
            raise entries[name].error("each of the two is in one place", "Write one value")
    if not chosen:
        raise written.error("it says nothing", "Write what the two places differ in, like {rtt: 200ms}")
    return tuple((name, values[0]) for name, values in chosen)


def paired(contrast: Contrast, points: Sequence[CellPair], others: Sequence[CellPair]) -> list[list[CellPair]]:
    """Return each point with the other that it is compared with."""
    there: dict[Rest, list[CellPair]] = {}
    for pair in others:
        if all(dimension_of(pair[0], name) == value for name, value in contrast.to_at):
            there.setdefault(_rest(pair[0], contrast.names), []).append(pair)
    return [[point, _counterpart(contrast, point, there)] for point in points]


def _counterpart(contrast: Contrast, point: CellPair, there: Mapping[Rest, Sequence[CellPair]]) -> CellPair:
    candidates = there.get(_rest(point[0], contrast.names), ())
    here = f"{point[0].site}, {point[0].link.label}"
    if len(candidates) != 1:
        number = f"{len(candidates)} cells" if candidates else "no cell"
        where = f" with {_words(contrast.to_at)}" if contrast.to_at else ""
        what = f"{number} of {contrast.of}{where} can be compared with {point[0].arm.name} at {here}"
        raise contrast.written.error(what, "Leave that place out with where, or name it better with at and to_at")
    _refuse_what_cancels(contrast, point, candidates[0], here)
    return candidates[0]


def _refuse_what_cancels(contrast: Contrast, one: CellPair, other: CellPair, here: str) -> None:
    """Raises InputError where trials are on both sides: they cancel, and leave a plain change or nothing."""
    if {cell.id for cell in one if cell} == {cell.id for cell in other if cell}:
        raise contrast.written.error(f"at {here} it would be compared with itself", "Name another claim, or place")
    for left, right in zip(one, other, strict=True):
        if left and right and left.id == right.id:
            changed, base = (other[1], one[1]) if left is one[0] else (one[0], other[0])
            raise _plain(contrast.written, left, changed, base, here)


def _plain(written: Written, left: Cell, subject: Cell | None, base: Cell | None, here: str) -> InputError:
    what = f"both have the trials of {left.arm.name} at {here}, which cancel out"
    arms = f"of: {subject.arm.name}, to: {base.arm.name}" if subject and base else "of: …, to: …"
    return written.error(what, f"Write change: {{{arms}}}")


def _rest(cell: Cell, names: Sequence[str]) -> Rest:
    """Return everything of a place but these."""
    link = () if "link" in names else settings_without(cell.link, [name for name in names if name != "site"])
    return (None if "site" in names else cell.site, link)


def _side(of: str, to: str | None, at: Chosen) -> str:
    return " ".join(filter(None, [f"{of} against {to}" if to else of, f"at {_words(at)}" if at else ""]))


def _words(chosen: Chosen) -> str:
    return ", ".join(f"{name} {value}" for name, value in chosen)
