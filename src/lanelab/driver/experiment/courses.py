"""Series of loads in an experiment file: figures of them, and claims about one place of them. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lanelab.driver.base.coded import Coded
from lanelab.driver.base.settings.kinds import near_miss
from lanelab.driver.base.settings.setting import Values
from lanelab.driver.base.settings.source import Written
from lanelab.driver.base.units import Duration
from lanelab.driver.experiment.keys import COURSE, OF_COURSE
from lanelab.driver.experiment.load_tables import read_long_duration
from lanelab.driver.experiment.model import Cell
from lanelab.driver.record.load_places import TIME, USERS, LoadPlace
from lanelab.driver.record.load_series import OF_GENERATOR, SERIES
from lanelab.driver.record.metrics import LOAD
from lanelab.driver.trial.load_settings import LoadSettings
from lanelab.driver.trial.recorders.registry import RECORDERS

RECORDER = "server_series"  # has the series that the generator has not
PAGE_TIMES = ("page_all_ms", "page_ms")
ZERO = Duration.parse("0s")


@dataclass(frozen=True, slots=True)
class Course:
    """The settings that a figure of a series has besides those that all figures have."""

    x: str
    every_s: float | None
    limit_ms: float | None


def read_course(
    where: Written, entries: Mapping[str, Written], plain: Values, workload: str, cells: Sequence[Cell]
) -> Course | None:
    """Return the course of a figure, or None for a figure of another kind, which may not have the keys of a course."""
    if plain["kind"] != COURSE:
        _refuse_of_courses(entries, plain)
        return None
    if workload != LOAD:
        raise entries["kind"].error(f"trials of a {workload} have no series", "Write kind: line or bar")
    if "y" not in entries:
        raise where.error("it does not say which series it draws", "Write y, like page_ms")
    _known_series(entries["y"])
    if "scale" in entries and plain["scale"] == "fit":
        raise entries["scale"].error("a series is drawn from 0, or logarithmic", "Write zero or log")
    x = entries["x"].text().strip() if "x" in entries else TIME
    if x not in OF_COURSE:
        remedy = f"{near_miss(x, OF_COURSE)}Write {' or '.join(OF_COURSE)}"
        raise entries["x"].error(f"a series is not drawn over {x[:60]!r}", remedy)
    if x == plain["y"]:
        raise entries["x"].error("users over users say nothing", "Write x: time")
    every = plain["every"]
    if every is not None and every <= ZERO:
        raise entries["every"].error("a span of no time holds no point", "Write one like 30s")
    return Course(x, every.seconds if every is not None else None, _limit(entries, plain, cells))


def _refuse_of_courses(entries: Mapping[str, Written], plain: Values) -> None:
    for key in ("every", "limit"):
        if key in entries:
            raise entries[key].error(f"{key} is of a series", f"Write kind: {COURSE}, or leave it out")
    if plain["y"] in SERIES and "x" in entries and entries["x"].text().strip() in OF_COURSE[1:]:
        raise entries["x"].error("only a series is drawn over time", f"Write kind: {COURSE} too")


def _limit(entries: Mapping[str, Written], plain: Values, cells: Sequence[Cell]) -> float | None:
    if not plain["limit"]:
        return None
    if plain["y"] not in PAGE_TIMES:
        remedy = f"Write y: {' or '.join(PAGE_TIMES)}, or leave it out"
        raise entries["limit"].error("the limit is of page times", remedy)
    limits = {load.limit_ms for load in _loads(cells)}
    if len(limits) != 1 or not all(limits):
        raise entries["limit"].error("these loads have no limit", "Write limit in workload too, like 3s")
    return limits.pop()


def read_load_place(
    where: Written, parts: Mapping[str, Written], workload: str, cells: Sequence[Cell], recorders: Mapping[str, Coded]
) -> LoadPlace:
    """Read the place at which a claim about a series looks."""
    if workload != LOAD:
        raise parts["series"].error(f"trials of a {workload} have no series", "Write metric")
    series = _known_series(parts["series"])
    if series not in OF_GENERATOR and RECORDER in RECORDERS and RECORDER not in recorders:
        raise parts["series"].error(f"no trial of this experiment will have {series}", f"Write {RECORDER}: true too")
    if "at" not in parts:
        raise where.error("it does not say where it looks at the series", "Write at, like {users: 200} or {time: 2min}")
    along, at = _place(parts["at"], cells)
    if "since" not in parts:
        return LoadPlace(series, along, at)
    along_since, since = _place(parts["since"], cells)
    if along_since != along:
        raise parts["since"].error(f"at says {along}, and this {along_since}", "Write both as users, or both as time")
    if since >= at:
        raise parts["since"].error("this is not before at, so nothing grows between them", "Write an earlier place")
    return LoadPlace(series, along, at, since)


def _place(written: Written, cells: Sequence[Cell]) -> tuple[str, float]:
    """Return what a place of a load is told by, users or time, and how many of them."""
    entries = written.entries()
    if len(entries) != 1 or next(iter(entries)) not in OF_COURSE:
        unknown = next((name for name in entries if name not in OF_COURSE), "")
        raise written.error(
            "this is not one place of a load", f"{near_miss(unknown, OF_COURSE)}Write {{users: 200}} or {{time: 2min}}"
        )
    ((along, amount),) = entries.items()
    return along, _users(amount, cells) if along == USERS else _time(amount, cells)


def _users(written: Written, cells: Sequence[Cell]) -> float:
    text = written.text().strip()
    if not text.isdecimal() or not int(text):
        raise written.error(f"{text[:40]!r} is no number of users", "Write one like 200")
    most = max((load.most_users for load in _loads(cells)), default=0)
    if int(text) > most:
        raise written.error(f"no load here has so many users: {most:g} at most", "Write fewer")
    return float(text)


def _time(written: Written, cells: Sequence[Cell]) -> float:
    with written.placed({}):
        seconds = read_long_duration(written.text().strip(), "").seconds
    longest = max((load.duration_s for load in _loads(cells)), default=0)
    if seconds > longest:
        raise written.error(f"no load here lasts that long: {longest:g} s at most", "Write an earlier time")
    return seconds


def _known_series(written: Written) -> str:
    name = written.text().strip()
    if name not in SERIES:
        raise written.error(f"there is no series {name[:60]!r}", f"{near_miss(name, SERIES)}Write one of the reference")
    return name


def _loads(cells: Sequence[Cell]) -> list[LoadSettings]:
    return [cell.link.load for cell in cells if cell.link.load]


def read_x(where: Written, text: str, x: str) -> str:
    """Of a published point: users, or seconds after the load began."""
    if x == TIME and not text.replace(".", "", 1).isdecimal():
        with where.placed({}):
            return f"{read_long_duration(text, '').seconds:g}"
    try:
        return f"{float(text):g}"
    except ValueError as error:
        raise where.error(f"{text[:40]!r} is no number", "Write users, or a time like 3min") from error
