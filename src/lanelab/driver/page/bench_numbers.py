"""What the bench draws: what a link asks at least, what a plan would expect, and what was measured. The first two are
the functions by which trials are judged and plans are made; nothing is worked out here a second time."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache

from lanelab.analysis.results.axes import place
from lanelab.analysis.results.model import Cell
from lanelab.analysis.results.model import Run as RunData
from lanelab.analysis.statistics import Summary, summarise
from lanelab.driver.api.links import link_of
from lanelab.driver.arm.arm import Arm
from lanelab.driver.base.errors import InputError
from lanelab.driver.experiment.model import Experiment
from lanelab.driver.experiment.schedule.estimate import SiteLoad, expected_plt
from lanelab.driver.page.language import say, text
from lanelab.driver.page.shelf import Shelf
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.run.folder.trial_records import read_record
from lanelab.driver.run.start import load_target
from lanelab.driver.trial.page_load.bound import physical_bound

NAME = "bench"  # of the experiments that the bench makes
POINTS = 51


@dataclass(frozen=True, slots=True)
class Dial:
    """A setting of the link with a slider: its title, its unit, from where to where and how finely it goes."""

    title: str
    unit: str  # for a reader
    suffix: str  # in a file
    least: float
    most: float
    step: float
    usual: str

    @property
    def unit_words(self) -> str:
        return say(self.unit)

    def text(self, value: str) -> str:
        """Return the value as a file has it; what is no number, as it was typed."""
        value = value.strip()
        return f"{value}{self.suffix}" if value.replace(".", "", 1).isdecimal() and value.isascii() else value


DIALS = {
    "rtt": Dial(text("Round trip"), "ms", "ms", 0, 500, 1, "100"),
    "rate_down": Dial(text("Rate down"), "Mbit/s", "mbit", 0.5, 50, 0.5, "10"),
    "rate_up": Dial(text("Rate up"), "Mbit/s", "mbit", 0.5, 50, 0.5, "10"),
    "loss": Dial(text("Loss"), "%", "%", 0, 5, 0.1, "0"),
    "queue": Dial(text("Queue"), text("packets"), "p", 10, 1000, 10, "100"),
}


@dataclass(frozen=True, slots=True)
class Measured:
    """These are the results of one run of the bench for one arm."""

    run: str  # its name
    cell: Cell
    values: tuple[float, ...]
    latest: int | None  # a trial that counts
    self_test_s: float | None  # how long the link measured itself; None: it did not pass


@dataclass(frozen=True, slots=True)
class Dot:
    """A dot is the summary of what was measured at a place of the curve."""

    x: float
    summary: Summary
    runs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Curve:
    """An arm along a dial, in ms: (place, what the link asks at least, what a plan expects)."""

    arm: Arm
    points: tuple[tuple[float, float, float], ...]
    here: tuple[float, float]
    dots: tuple[Dot, ...]
    bytes_of: int | None  # the trial whose bytes are counted; None: of none, a load as such

    def dot_at(self, x: float) -> Dot | None:
        return next((dot for dot in self.dots if abs(dot.x - x) < 1e-9), None)


@dataclass(slots=True)
class Results:
    """It has what the runs of the bench have measured. A run that has changed is read again, the others are not."""

    shelf: Shelf
    _known: dict[str, tuple[str, tuple[Measured, ...]]] = field(default_factory=dict)

    def all(self) -> list[Measured]:
        """Return them, the latest run first."""
        whole = list[Measured]()
        for name, line in self.shelf.lines().items():
            if line.name != NAME or line.problem:
                continue
            state = f"{line.state} {line.counted} {line.failed}"
            known = self._known.get(name)
            if known is None or known[0] != state:
                run = self.shelf.run(name)
                known = self._known[name] = (state, measured(name, run.data) if run else ())
            whole += known[1]
        return whole


def measured(name: str, run: RunData) -> tuple[Measured, ...]:
    """Return what a run has of each of its cells."""
    tests = {each.link.number: each for each in run.self_tests if each.moment == "before"}
    outcomes = run.outcomes()
    latest = {trial.cell.number: trial.number for trial in run.ok}
    return tuple(
        Measured(
            name, cell, tuple(outcomes[cell.number].values()), latest.get(cell.number),
            test.data["took_s"] if (test := tests.get(cell.link.number)) and test.passed else None,
        )
        for cell in run.cells
    )  # fmt: skip


def curves(
    experiment: Experiment, link: Mapping[str, str], along: str, shelf: Shelf, results: Sequence[Measured]
) -> list[Curve]:
    """Return a curve for each arm. link: its settings as text; along: the dial that varies."""
    (site,) = experiment.sites
    return [_curve(site, arm, link, along, shelf, results) for arm in experiment.arms]


def _curve(
    site: str, arm: Arm, link: Mapping[str, str], along: str, shelf: Shelf, results: Sequence[Measured]
) -> Curve:
    of_arm = [each for each in results if each.cell.site == site and _is_of(arm, each.cell)]
    on_it = [each for each in of_arm if _is_along(link, along, each.cell)]
    record, number = _latest_record(shelf, [*on_it, *of_arm])
    load = _site_load(site)

    def at(settings: Mapping[str, str]) -> tuple[float, float]:
        one = link_of(None, settings)
        return physical_bound(one, arm, record), 1000 * expected_plt(load, one, arm)

    dial = DIALS[along]
    points = list[tuple[float, float, float]]()
    for step in range(POINTS):
        x = dial.least + (dial.most - dial.least) * step / (POINTS - 1)
        with suppress(InputError):  # not every value goes with the others
            points.append((x, *at({**link, along: f"{x:.6g}{dial.suffix}"})))
    return Curve(arm, tuple(points), at(link), tuple(_dots(on_it, along)), number)


def _is_of(arm: Arm, cell: Cell) -> bool:
    """Return whether a cell is of an arm, whatever it is called there. A run of before has fewer settings."""
    kept = {key: value for key, value in cell.arm.settings.items() if key != "name"}
    with suppress(InputError):
        return Arm.parse(arm.name, kept) == arm
    return False


def _is_along(link: Mapping[str, str], along: str, cell: Cell) -> bool:
    """Return whether a link that was measured differs from this one in nothing but the dial."""
    with suppress(InputError):
        return link_of(None, {**link, along: place(cell, along).text}) == link_of(None, cell.link.settings)
    return False


def _dots(measured: Sequence[Measured], along: str) -> list[Dot]:
    by_place: dict[float, list[Measured]] = {}
    for each in measured:
        number = place(each.cell, along).number
        if number is not None:
            by_place.setdefault(number, []).append(each)
    dots = list[Dot]()
    for x, those in sorted(by_place.items()):
        summary = summarise([value for each in those for value in each.values])
        if summary:
            dots.append(Dot(x, summary, tuple(each.run for each in those)))
    return dots


def _latest_record(shelf: Shelf, measured: Sequence[Measured]) -> tuple[TrialRecord | None, int | None]:
    """Return the record of the latest load that counts: the bound asks for the bytes that such a load has."""
    for each in measured:
        run = shelf.run(each.run) if each.latest is not None else None
        if run is not None and each.latest is not None:
            return read_record(run.folder, each.latest), each.latest
    return None, None


@cache
def _site_load(site: str) -> SiteLoad:
    target = load_target(site)
    return SiteLoad.of(target.objects, target.entry_host)
