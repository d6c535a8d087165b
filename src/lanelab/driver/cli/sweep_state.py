"""What the beds of a sweep do, and how far it is: worked out from its events, for whoever shows them."""

from __future__ import annotations

import textwrap
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from lanelab.driver.cli.progress import Counter, doing_words
from lanelab.driver.experiment.schedule.remaining import Pace, remaining_s
from lanelab.driver.record.metrics import Metric
from lanelab.driver.run.events import Event

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
    made: int = 0  # trials of its portion that count, not stored yet
    is_fit: bool = False
    began: float = 0.0  # its portion
    paces: deque[tuple[int, float]] = field(default_factory=lambda: deque(maxlen=PORTIONS_SEEN))

    def pace(self, now: float) -> Pace:
        """Of portions that are stored, with what it takes to get them here; before the first, of this one's trials."""
        trials, seconds = (sum(values) for values in zip(*self.paces, strict=True)) if self.paces else (0, 0.0)
        if not trials and self.made:
            trials, seconds = self.made, now - self.began
        per_s = trials / seconds if trials and seconds > 0 else None
        return Pace(max(self.cells - self.made, 0) if self.round else 0, per_s)


class SweepState:
    """All beds, and the whole."""

    def __init__(self, trials: int, done: int, primary: Metric, rounds: int = 0, clock: Clock = time.monotonic) -> None:
        """`rounds`: the most that there can be; 0: not known."""
        self.trials, self.done, self.failed, self.rounds = trials, done, 0, rounds
        self.primary = primary
        self.beds: dict[str, BedLine] = {}  # by worker
        self.fetched_bytes = 0
        self._clock = clock
        self._usual: float | None = None

    # --- what happens

    def see(self, event: Event) -> None:
        data, seen = event.data, _SEEN.get(event.kind)
        if event.kind == "worker-joined":
            machine = str(data["name"]).rpartition("/")[0] or data["name"]
            self.beds[data["worker"]] = BedLine(data["name"], machine, "joining", self._clock())
        elif event.kind == "worker-left":
            self.beds.pop(data.get("worker", ""), None)
        elif event.kind == "fetching":
            self.fetched_bytes += data["bytes"]
        elif event.kind == "reused":
            self.done += data["trials"]
        if seen and (bed := self._bed(data)):
            seen(self, bed, data)

    def _bed(self, data: Mapping[str, Any]) -> BedLine | None:
        """By its worker, or where the event does not say that, by its name."""
        if "worker" in data:
            return self.beds.get(data["worker"])
        return next((bed for bed in self.beds.values() if bed.name == data.get("name")), None)

    def _does(self, bed: BedLine, what: str) -> None:
        if what != bed.now:
            bed.now, bed.since = what, self._clock()

    def _ends_portion(self, bed: BedLine, what: str) -> None:
        bed.round = bed.cells = bed.made = 0
        self._does(bed, what)

    def _qualified(self, bed: BedLine, data: Mapping[str, Any]) -> None:
        bed.machine, bed.is_fit = data["machine"], True
        self._does(bed, "waiting for work")

    def _refused(self, bed: BedLine, data: Mapping[str, Any]) -> None:
        bed.is_fit = False
        self._ends_portion(bed, f"refused: {in_short(data['why'])}")

    def _started(self, bed: BedLine, data: Mapping[str, Any]) -> None:
        bed.round, bed.cells, bed.made, bed.began = data["round"], data["cells"], 0, self._clock()
        self._does(bed, "beginning a portion")

    def _stored(self, bed: BedLine, data: Mapping[str, Any]) -> None:
        counted = data["trials"] - data["failed"]
        self.done += counted
        self.failed += data["failed"]
        bed.trials += counted
        bed.failed += data["failed"]
        if counted:
            bed.paces.append((counted, data["seconds"]))
            self._usual = bed.pace(self._clock()).per_s
        self._ends_portion(bed, "waiting for work")

    def _undone(self, bed: BedLine, data: Mapping[str, Any]) -> None:
        self._ends_portion(bed, f"could not do it: {in_short(data['why'])}")

    def _fetching(self, bed: BedLine, _data: Mapping[str, Any]) -> None:
        self._does(bed, "sending its trials")

    def _on_worker(self, bed: BedLine, data: Mapping[str, Any]) -> None:
        told = data["told"]
        if not bed.is_fit and told["event"] in ("bed", "self-test-started"):
            self._does(bed, _QUALIFYING + (doing_words(told["event"], told) or "a bed is up"))
        elif words := doing_words(told["event"], told):
            self._does(bed, words)
        elif told["event"] == "trial" and told["status"] == "ok":
            bed.made += 1

    # --- how far it is

    @property
    def rounds_under_way(self) -> str:
        """As one would say it; "": none."""
        numbers = [bed.round for bed in self.beds.values() if bed.round]
        if not numbers:
            return ""
        first, last = min(numbers), max(numbers)
        words = f"round {first}" if first == last else f"rounds {first} to {last}"
        return f"{words} of {self.rounds}" if self.rounds else words

    @property
    def eta(self) -> str:
        now = self._clock()
        made = sum(bed.made for bed in self.beds.values())
        paces = [bed.pace(now) for bed in self.beds.values() if bed.is_fit]
        seconds = remaining_s(self.trials - self.done - made, paces, self._usual)
        return Counter.in_words(seconds)

    def whole(self) -> str:
        """The sweep in one line."""
        fit = sum(bed.is_fit for bed in self.beds.values())
        beds = f"{fit} bed{'' if fit == 1 else 's'}"
        if fit < len(self.beds):
            beds += f" of {len(self.beds)}"
        words = [f"{self.done}/{self.trials} trials", f"{self.failed} failed", self.rounds_under_way, beds]
        return ", ".join([*filter(None, words), f"ETA {self.eta}"])

    def lines(self, most: int) -> list[tuple[str, str, str]]:
        """Of each bed its name, what it does, and what it did; where there are more than `most`, of each machine."""
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
        portion = f"round {bed.round}, {bed.made} of {bed.cells} made, " if bed.round else ""
        return f"{portion}{bed.now}, {Counter.in_words(self._clock() - bed.since)}"


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


_SEEN: dict[str, Callable[[SweepState, BedLine, Mapping[str, Any]], None]] = {
    "worker-qualified": SweepState._qualified,
    "worker-refused": SweepState._refused,
    "portion-started": SweepState._started,
    "portion-stored": SweepState._stored,
    "portion-undone": SweepState._undone,
    "fetching": SweepState._fetching,
    "on-worker": SweepState._on_worker,
}
