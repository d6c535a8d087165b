"""Where a claim is checked: `where` and `for` become cells. Pure."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from lanelab.driver.base.amounts import counted
from lanelab.driver.base.settings.kinds import near_miss
from lanelab.driver.base.settings.source import Written
from lanelab.driver.base.units import Duration, Rate, Ratio, Size
from lanelab.driver.experiment.claim import LINES, ClaimKind, Place, Point, Quantifier, is_absolute
from lanelab.driver.experiment.claim_contrasts import CellPair, Contrast, paired
from lanelab.driver.experiment.dimensions import DIMENSIONS, comparable, lies_on_axis
from lanelab.driver.experiment.links import canonical, settings_without, stated
from lanelab.driver.experiment.model import Cell, dimension_of
from lanelab.driver.link.impairments.loss import RandomLoss
from lanelab.driver.record.metrics import Metric

ALL_PLACES = "place"
SHOWN = ("rate", "rate_down", "rate_up", "rtt")  # settings whose value alone names a place
_FOR = re.compile(r"(every|any|mean|all but ([0-9]+))(?: ([a-z_]+))?")
_KINDS: dict[str, Quantifier] = {"every": "every", "any": "any", "mean": "mean"}


@dataclass(frozen=True, slots=True)
class Subject:
    """The subject of a claim, as the file has it."""

    kind: ClaimKind
    of: str | None  # arms
    to: str | None
    metric: Metric  # of a trend and a contrast: that of the claim that they follow, once that is looked up
    over: str | None  # of a trend, a spike and a straight line
    at: Written | None  # of a spike
    claim: Written | None  # of a trend and a contrast: the claim that they follow
    claim_kind: str
    contrast: Contrast | None = None

    @property
    def is_absolute(self) -> bool:
        return is_absolute(self.kind, compares=self.to is not None)

    @property
    def is_line(self) -> bool:
        return self.kind in LINES

    @property
    def words(self) -> str:
        """Return what is compared with what."""
        of = str(self.of)
        return self.contrast.words(of, self.to) if self.contrast else f"{of} against {self.to}" if self.to else of


@dataclass(frozen=True, slots=True)
class Quantified:
    """Says in how many of its places a claim has to hold, and what these may differ in."""

    kind: Quantifier
    exceptions: int = 0
    dimension: str = ""


@dataclass(frozen=True, slots=True)
class Where:
    """What the file says about places, for errors and for the choice."""

    entry: Written
    where: Written | None
    quantifier: Written | None
    chosen: tuple[tuple[str, tuple[str, ...]], ...]

    @property
    def says_for(self) -> Written:
        """Say where the quantifier is written, if it is."""
        return self.quantifier or self.entry

    def takes(self, cell: Cell) -> bool:
        return all(dimension_of(cell, name) in values for name, values in self.chosen)


def read_quantifier(written: Written | None) -> Quantified:
    if written is None:
        return Quantified("one")
    text = " ".join(written.text().split())
    match = _FOR.fullmatch(text)
    dimension = (match[3] or ALL_PLACES) if match else ""
    if not match:
        remedy = "Write every rtt, any site, all but 1 rtt, mean rtt, or every place"
        raise written.error(f"{text[:40]!r} says nothing about places", remedy)
    if dimension not in (known := (ALL_PLACES, "site", "link", *DIMENSIONS)):
        remedy = f"{near_miss(dimension, known)}Write place, site, link or a setting of the link"
        raise written.error(f"places do not differ in {dimension[:40]!r}", remedy)
    if match[2]:
        if not int(match[2]):
            raise written.error("all but 0 are all", "Write every")
        return Quantified("all but", int(match[2]), dimension)
    return Quantified(_KINDS[match[1]], 0, dimension)


def places_of(subject: Subject, quantifier: Quantified, where: Where, cells: Sequence[Cell]) -> tuple[Place, ...]:
    """Return every place that the claim has to be checked at, in the experiment's order."""
    _refuse_one_value(subject, quantifier, where)
    places = _places(subject, where, cells)
    _refuse_several(quantifier, where, [place[0][0] for place in places])
    if quantifier.exceptions >= len(places) > 0:
        what = f"there are {len(places)} places, so all but {quantifier.exceptions} are none"
        raise where.says_for.error(what, "Write fewer exceptions")
    each = tuple(
        Place(words, tuple(_point(subject, *point) for point in place))
        for words, place in zip(_words_of_all(subject, places), places, strict=True)
    )
    return (_together(each),) if quantifier.kind == "mean" else each


def _together(places: Sequence[Place]) -> Place:
    """Return the one place of a claim about a mean. What begins highest comes first: so the points of trends and lines
    rise within each place and fall from one to the next, by which these are told apart."""
    words = f"on average over {counted(len(places), 'place')}"
    falling = sorted(places, key=lambda place: -(place.points[0].x or 0.0))
    return Place(words, tuple(point for place in falling for point in place.points))


def _places(subject: Subject, where: Where, cells: Sequence[Cell]) -> list[list[CellPair]]:
    points = _points(subject, where, cells)
    if contrast := subject.contrast:
        others = _points(replace(subject, of=contrast.of, to=contrast.to, contrast=None), where, cells)
        return paired(contrast, points, others)
    if not subject.over:
        return [[point] for point in points]
    places = _gathered(subject, where, points)
    return [_around(subject.at, subject.over, place) for place in places] if subject.at else places


def _refuse_one_value(subject: Subject, quantifier: Quantified, where: Where) -> None:
    """What `for` names cannot differ from place to place."""
    name = quantifier.dimension
    if name and name == subject.over:
        what = f"one place of a {subject.kind} over {name} has all values of {name}"
        raise where.says_for.error(what, "Write what else its places differ in, or leave it out")
    if name in (one for one, values in where.chosen if len(values) == 1):
        what = f"where chooses one {name}, and this is about several"
        raise where.says_for.error(what, "Leave one of the two out")
    if subject.contrast and name in subject.contrast.names:
        what = f"at chooses one {name}, and this is about several"
        raise where.says_for.error(what, "Write what else its places differ in, or leave it out")


def _points(subject: Subject, where: Where, cells: Sequence[Cell]) -> list[CellPair]:
    """Return every cell of the arm there, with that of the other arm."""
    bases = {(cell.site, cell.link.label): cell for cell in cells if cell.arm.name == subject.to}
    subjects = [cell for cell in cells if cell.arm.name == subject.of and where.takes(cell)]
    if subject.contrast:
        subjects = [cell for cell in subjects if subject.contrast.takes(cell)]
    if not subjects:
        problem = where.where or (subject.contrast.written if subject.contrast else where.entry)
        raise problem.error(f"no cell of the arm {subject.of!r} has all of this", "Write values that go together")
    if subject.to is None:
        return [(cell, None) for cell in subjects]
    lacking = next((cell for cell in subjects if (cell.site, cell.link.label) not in bases), None)
    if lacking:
        what = f"at {lacking.site}, {lacking.link.label} there is no {subject.to} to compare {subject.of} with"
        raise where.entry.error(what, "Leave that place out with where, or add the cell")
    return [(cell, bases[cell.site, cell.link.label]) for cell in subjects]


def _gathered(subject: Subject, where: Where, points: Sequence[CellPair]) -> list[list[CellPair]]:
    """Return points that differ in the setting alone that the claim is over, in its order."""
    over = subject.over or ""
    groups: dict[tuple[object, ...], list[CellPair]] = {}
    for cell, base in points:
        if dimension_of(cell, over) is None:
            raise where.entry.error(f"the link {cell.link.label} has no {over}", "Leave it out with where")
        if dimension_of(cell, over) == "unlimited":
            raise where.entry.error(f"{over} is unlimited at {cell.link.label}", "Leave that out with where")
        if not lies_on_axis(over, dimension_of(cell, over) or ""):
            what = f"{over} has no single number at {cell.link.label}"
            raise where.entry.error(what, "Leave that link out with where")
        groups.setdefault((cell.site, settings_without(cell.link, [over])), []).append((cell, base))
    for place in groups.values():
        if subject.is_line and len(place) < 3:
            what = f"a straight line has three {over} or more, and {place[0][0].site} has {len(place)}"
            raise where.entry.error(what, f"Add links with another {over}: two points lie on a line whatever they are")
        if len(place) < 2:
            what = f"there is one {over} only at {place[0][0].site}, {place[0][0].link.label}"
            raise where.entry.error(what, f"Leave it out with where, or add links with another {over}")
    return [sorted(place, key=lambda pair: number_of(pair[0], over)) for place in groups.values()]


def _around(written: Written, over: str, place: Sequence[CellPair]) -> list[CellPair]:
    """Return the point itself between its neighbours."""
    with written.placed({}):
        wanted = canonical(over, written.text().strip())
    values = [dimension_of(cell, over) for cell, _ in place]
    if wanted not in values:
        raise written.error(f"no link has {over} {wanted}", f"There are {', '.join(map(str, values))}")
    at = values.index(wanted)
    if not 0 < at < len(place) - 1:
        raise written.error(f"{wanted} has no neighbour on both sides", "Write one between the first and the last")
    return list(place[at - 1 : at + 2])


def _refuse_several(quantifier: Quantified, where: Where, cells: Sequence[Cell]) -> None:
    """Refuse places that differ in anything but what `for` names."""
    if quantifier.kind == "one":
        if len(cells) > 1:
            what = f"this is {len(cells)} places: {_place_words(cells[0])}; {_place_words(cells[1])}; …"
            raise where.entry.error(what, "Name one with where, or write for: every place, any, all but 1, or mean")
        return
    if quantifier.dimension in (ALL_PLACES, "link"):
        rest = {cell.site for cell in cells} if quantifier.dimension == "link" else set()
        varies = "site" if len(rest) > 1 else ""
    else:
        varies = _also_varies(cells, quantifier.dimension)
    if varies:
        number = f" {quantifier.exceptions}" if quantifier.exceptions else ""
        remedy = f"Name one {varies} with where, or write {quantifier.kind}{number} place"
        raise where.says_for.error(f"{varies} is not the same in all these places", remedy)


def _also_varies(cells: Sequence[Cell], dimension: str) -> str:
    if dimension != "site" and len({cell.site for cell in cells}) > 1:
        return "site"
    return next((name for name in _varying(_settings(cells)) if name != dimension), "")


def _settings(cells: Sequence[Cell]) -> list[Mapping[str, str]]:
    """Return what the links of these cells state, and their loads or fetches, in one form."""
    return comparable([{**stated(cell.link.link), **cell.link.dimensions()} for cell in cells])


def _varying(settings: Sequence[Mapping[str, str]]) -> list[str]:
    names = dict.fromkeys(name for each in settings for name in each)
    return [name for name in names if len({each.get(name) for each in settings}) > 1]


def _place_words(cell: Cell, without: str | None = None) -> str:
    if without is None:
        return f"{cell.site}, {cell.link.label}"
    rest = [text for name, text in stated(cell.link.link).items() if name in SHOWN and name != without]
    return ", ".join([cell.site, *rest])


def _words_of_all(subject: Subject, places: Sequence[Sequence[CellPair]]) -> list[str]:
    """Name each place. Where the usual words do not tell them apart, with all settings that do."""
    words = [_words_of(subject, place) for place in places]
    if len(set(words)) == len(words):
        return words
    settings = _settings([place[0][0] for place in places])
    names = [name for name in _varying(settings) if name not in (*SHOWN, subject.over)]
    more = [[f"{name} {each[name]}" for name in names if name in each] for each in settings]
    return [", ".join([text, *rest]) for text, rest in zip(words, more, strict=True)]


def _words_of(subject: Subject, place: Sequence[CellPair]) -> str:
    """Name a place; of a contrast in two places both, without what they have in common."""
    first, last = place[0][0], place[-1][0]
    words = _place_words(first, without=subject.over)
    if not subject.contrast or (first.site, first.link.label) == (last.site, last.link.label):
        return words
    return f"{words} against {last.link.label if first.site == last.site else _place_words(last)}"


def _point(subject: Subject, cell: Cell, base: Cell | None) -> Point:
    words = f"{cell.site}, {cell.link.label}"
    return Point(words, cell.id, base.id if base else None, number_of(cell, subject.over) if subject.over else None)


def number_of(cell: Cell, name: str) -> float:
    """Return what the cell's link has of a setting, in the setting's smallest unit."""
    value = DIMENSIONS.read(name, dimension_of(cell, name))
    if isinstance(value, Duration):
        return float(value.ns)
    if isinstance(value, Rate):
        return float(value.bps)
    if isinstance(value, Size):
        return float(value.bytes)
    if isinstance(value, RandomLoss):
        return float(value.ratio.ppb)
    return float(value.ppb) if isinstance(value, Ratio) else float(value)
