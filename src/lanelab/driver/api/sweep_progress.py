"""What the beds of a sweep do, and how far it is, worked out from its events."""

import textwrap
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from lanelab.driver.api.progress import in_words
from lanelab.driver.base.amounts import counted
from lanelab.driver.experiment.schedule.time_left import Pace, remaining_s
from lanelab.driver.run.events import BedUp, Event, LinkTestBegun, Reused, RunBegun, TrialEnded
from lanelab.driver.run.sweep.events import (
    Fetching,
    OnWorker,
    PortionBegun,
    PortionStored,
    PortionUndone,
    WorkerJoined,
    WorkerLeft,
    WorkerQualified,
    WorkerRefused,
)

PORTIONS_SEEN = 10  # of a bed, whose mean is its pace: it forgets what a machine did hours ago

Clock = Callable[[], float]


@dataclass
class BedLine:
    """One bed, as long as its worker is there."""

    name: str
    machine: str
    now: str
    since: float  # when it began to do that
    trials: int = 0  # stored
    failed: int = 0
    round: int = 0  # of its portion; 0: it has none
    cells: int = 0
    counted: int = 0  # trials of its portion that count, not stored yet
    is_fit: bool = False
    began: float = 0.0  # its portion
    paces: deque[tuple[int, float]] = field(default_factory=lambda: deque(maxlen=PORTIONS_SEEN))

    def pace(self, now: float) -> Pace:
        """Return the pace of portions that are stored, with the time that it takes to get them here; before the first,
        that of this one's trials."""
        trials, seconds = (sum(values) for values in zip(*self.paces, strict=True)) if self.paces else (0, 0.0)
        if not trials and self.counted:
            trials, seconds = self.counted, now - self.began
        per_s = trials / seconds if trials and seconds > 0 else None
        return Pace(max(self.cells - self.counted, 0) if self.round else 0, per_s)


class SweepProgress:
    """All beds, and the whole."""

    def __init__(self, trials: int, done: int, rounds: int = 0, clock: Clock = time.monotonic) -> None:
        """Begin a sweep of which nothing is known yet. `rounds` is the most that there can be; 0: not known."""
        self.trials, self.done, self.failed, self.rounds = trials, done, 0, rounds
        self.beds: dict[str, BedLine] = {}  # by worker
        self.fetched_bytes = 0
        self._clock = clock
        self._usual: float | None = None

    @classmethod
    def of(cls, begun: RunBegun) -> "SweepProgress":
        return cls(begun.trials, begun.done, begun.rounds)

    # --- what happens

    def see(self, event: Event) -> None:
        match event:
            case WorkerJoined(worker, name):
                machine = name.rpartition("/")[0] or name
                self.beds[worker] = BedLine(name, machine, "joining", self._clock())
            case WorkerLeft():
                self.beds.pop(event.worker, None)
            case Fetching():
                self.fetched_bytes += event.bytes
                for bed in [bed for bed in self.beds.values() if bed.name == event.name]:
                    self._does(bed, "sending its trials")
            case Reused():
                self.done += event.trials
            case WorkerQualified() | WorkerRefused() | PortionBegun() | PortionStored() | PortionUndone() | OnWorker():
                if event.worker in self.beds:
                    self._see_of(self.beds[event.worker], event)

    def _see_of(self, bed: BedLine, event: Event) -> None:
        match event:
            case WorkerQualified():
                bed.machine, bed.is_fit = event.machine, True
                self._does(bed, "waiting for work")
            case WorkerRefused():
                bed.is_fit = False
                self._ends_portion(bed, f"refused: {in_short(event.why)}")
            case PortionBegun():
                bed.round, bed.cells, bed.counted, bed.began = event.round, event.cells, 0, self._clock()
                self._does(bed, "beginning a portion")
            case PortionStored():
                self._stored(bed, event)
            case PortionUndone():
                self._ends_portion(bed, f"could not do it: {in_short(event.why)}")
            case OnWorker(told=inner):
                self._on_worker(bed, inner)

    def _does(self, bed: BedLine, what: str) -> None:
        if what != bed.now:
            bed.now, bed.since = what, self._clock()

    def _ends_portion(self, bed: BedLine, what: str) -> None:
        bed.round = bed.cells = bed.counted = 0
        self._does(bed, what)

    def _stored(self, bed: BedLine, event: PortionStored) -> None:
        counted = event.trials - event.failed
        self.done += counted
        self.failed += event.failed
        bed.trials += counted
        bed.failed += event.failed
        if counted:
            bed.paces.append((counted, event.seconds))
            self._usual = bed.pace(self._clock()).per_s
        self._ends_portion(bed, "waiting for work")

    def _on_worker(self, bed: BedLine, event: Event) -> None:
        match event:
            case BedUp() | LinkTestBegun() if not bed.is_fit:
                self._does(bed, _QUALIFYING + (event.activity or "a bed is up"))
            case TrialEnded(failures=()):
                bed.counted += 1
            case _ if event.activity:
                self._does(bed, event.activity)

    # --- how far it is

    @property
    def rounds_under_way(self) -> str:
        """Name the rounds that are under way, as one would say it; "": none."""
        numbers = [bed.round for bed in self.beds.values() if bed.round]
        if not numbers:
            return ""
        first, last = min(numbers), max(numbers)
        words = f"round {first}" if first == last else f"rounds {first} to {last}"
        return f"{words} of {self.rounds}" if self.rounds else words

    @property
    def eta(self) -> str:
        now = self._clock()
        done = sum(bed.counted for bed in self.beds.values())
        paces = [bed.pace(now) for bed in self.beds.values() if bed.is_fit]
        seconds = remaining_s(self.trials - self.done - done, paces, self._usual)
        return in_words(seconds)

    def whole(self) -> str:
        """Return the sweep in one line."""
        fit = sum(bed.is_fit for bed in self.beds.values())
        beds = counted(fit, "bed")
        if fit < len(self.beds):
            beds += f" of {len(self.beds)}"
        words = [f"{self.done}/{self.trials} trials", f"{self.failed} failed", self.rounds_under_way, beds]
        return ", ".join([*filter(None, words), f"ETA {self.eta}"])

    def lines(self, most: int) -> list[tuple[str, str, str]]:
        """Return for each bed its name, what it does, and what it did; where there are more than `most`, for each
        machine."""
        beds = sorted(self.beds.values(), key=lambda bed: (bed.machine, bed.name))
        if len(beds) <= most:
            return [(bed.name, self._now(bed), _did(bed.trials, bed.failed)) for bed in beds]
        machines: dict[str, list[BedLine]] = {}
        for bed in beds:
            machines.setdefault(bed.machine, []).append(bed)
        shown = [
            (machine, _at_work(of), _did(sum(bed.trials for bed in of), sum(bed.failed for bed in of)))
            for machine, of in machines.items()
        ]
        if len(shown) <= most:
            return shown
        return [*shown[: max(most - 1, 0)], (f"… {len(shown) - max(most - 1, 0)} more machines", "", "")]

    def _now(self, bed: BedLine) -> str:
        portion = f"round {bed.round}, {bed.counted} of {bed.cells} made, " if bed.round else ""
        return f"{portion}{bed.now}, {in_words(self._clock() - bed.since)}"


_QUALIFYING = "qualifying: "
SHORT = 60  # characters of a reason in a bed's line; all of it was told when it came


def in_short(why: str) -> str:
    return textwrap.shorten(why, SHORT, placeholder=" …")


def _did(trials: int, failed: int) -> str:
    return f"{trials} stored" + (f", {failed} failed" if failed else "")


def _at_work(beds: list[BedLine]) -> str:
    working, fit = sum(bool(bed.round) for bed in beds), sum(bed.is_fit for bed in beds)
    unfit = f", {len(beds) - fit} not qualified" if fit < len(beds) else ""
    return f"{working} of {len(beds)} beds at work{unfit}"
