"""What the load times of a cell are made of: medians of the parts, and what bounds them. Pure."""

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from lanelab.analysis.results.explain import third_parties
from lanelab.analysis.results.layout.data import key, spread
from lanelab.analysis.results.model import Cell, Run, Trial, identity_of
from lanelab.analysis.results.numbers import kilobytes, listed, seconds
from lanelab.analysis.results.tables import median_trial
from lanelab.driver.base.amounts import counted
from lanelab.driver.link import Link
from lanelab.driver.record.evidence.parts import Part
from lanelab.driver.record.metrics import metric_named

PLT = "plt_ms"
FACTS = ("requests", "connections", "connections_used", "bytes_down", "retransmissions")
WORDS = {part: (metric.words if (metric := metric_named(part.measure)) else part.value) for part in Part}
H3 = "h3"
LEAST_MS, LEAST_SHARE = 1.0, 0.005  # of a load time: parts below both are left out
# What a load time hangs on, and the parts that are due to it.
BOUNDS: Mapping[str, tuple[Part, ...]] = {
    "rate": (Part.TRANSMISSION,),
    "round trips": (Part.DNS, Part.CONNECT, Part.TLS, Part.WAIT, Part.SLOW_START),
    "loss": (Part.RECOVERY, Part.REDUCED_WINDOW),
    "browser": (Part.MAIN_THREAD, Part.IDLE),
}


@dataclass(frozen=True, slots=True)
class MadeOf:
    """A cell with its parts in ms and other facts. All of them are medians of the trials that have parts."""

    cell: Cell = field(metadata=spread(identity_of))
    trials: int
    nearest: int = field(metadata=key("nearest_trial"))  # the number of the trial that is nearest to the median
    plt_ms: float
    parts: Mapping[Part, float] = field(metadata=key("parts_ms"))
    facts: Mapping[str, float]

    ALSO: ClassVar = ("bound", "sentences")

    @property
    def link(self) -> Link:
        return Link.parse(self.cell.link.settings)

    @property
    def round_trip_words(self) -> str:
        """Return how long a round trip takes: of hosts at distances of their own it is that to each."""
        distances = self.link.distances
        if not distances:
            return f"a round trip of {self.rtt_ms:g} ms"
        span = f" ({distances.all[0]} to {distances.all[-1]})" if len(distances.all) > 1 else ""
        return f"a round trip to its host{span}"

    @property
    def rtt_ms(self) -> float:
        """Return the round trip; 0 where there is none, or where hosts are not equally far."""
        return 0.0 if self.link.distances else float(self.link.rtt.milliseconds)

    @property
    def over_quic(self) -> bool:
        """Return whether it has QUIC's windows and handshakes, which the link says nothing of."""
        return self.cell.arm.settings.get("protocol") == H3

    @property
    def initial_window(self) -> int:
        return self.link.server.initial_window

    @property
    def first_flight(self) -> int:
        """Return how many packets the server sends at first at most: its window, or what the client takes."""
        return self.link.server.first_flight(self.link.client)

    def due_to(self, what: str) -> float:
        return sum(self.parts[part] for part in BOUNDS[what])

    @property
    def bound(self) -> str:
        """Name what takes the largest share of the load time."""
        return max(BOUNDS, key=self.due_to)

    def sentences(self) -> list[str]:
        of = f"median of {counted(self.trials, 'page load')}; nearest is trial {self.nearest}"
        return [
            f"{self.cell}: {seconds(self.plt_ms)} ({of}).",
            f"The time went to {self._parts()}.",
            *third_parties.sentences(self.cell.arm.settings),
            self._bound(),
        ]

    def _parts(self) -> str:
        large = [part for part in Part if self.parts[part] >= max(LEAST_MS, LEAST_SHARE * self.plt_ms)]
        large.sort(key=lambda part: -self.parts[part])
        share = 100 / self.plt_ms
        return listed(f"{WORDS[part]} {seconds(self.parts[part])} ({self.parts[part] * share:.0f}%)" for part in large)

    def _bound(self) -> str:
        due = seconds(self.due_to(self.bound))
        if self.bound == "rate":
            carried = f"{kilobytes(self.facts['bytes_down'])} kB" if "bytes_down" in self.facts else "answers"
            rate = f" of {self.link.down.rate}" if self.link.down.rate else ""
            return f"The link's rate limits it most: the bottleneck{rate} was busy for {due}, with {carried}."
        if self.bound == "round trips":
            settings, due_ms = self.cell.arm.settings, self.due_to("round trips")
            held_up = third_parties.limit(settings, self.parts[Part.CONNECT], self.parts[Part.WAIT], due_ms)
            if held_up:
                return held_up
            trips = f" ({self.due_to('round trips') / self.rtt_ms:.1f} round trips)" if self.rtt_ms else ""
            return f"Round trips limit it most: for {due}{trips} no answer arrived, because packets were on their way."
        if self.bound == "loss":
            why = "because a lost packet was missing, or the window was small after one"
            return f"Loss limits it most: for {due} nothing new arrived, {why}."
        return f"The browser limits it most: for {due} nothing was in flight on the link."


def made_of(run: Run) -> dict[int, MadeOf]:
    """Return by number each cell that has a trial with parts that counts."""
    trials = run.by_cell()
    usable = {cell.number: with_parts(trials[cell.number]) for cell in run.cells}
    return {cell.number: _made_of(cell, usable[cell.number]) for cell in run.cells if usable[cell.number]}


def with_parts(trials: Iterable[Trial]) -> list[Trial]:
    """Return the trials that count and have parts."""
    return [trial for trial in trials if trial.ok and PLT in trial.measures and Part.IDLE.measure in trial.measures]


def took_ms(trial: Trial, part: Part | None) -> float:
    """Return how long a part of its load took; None: all of it."""
    return trial.measures[PLT] if part is None else trial.parts_ms[part]


def _made_of(cell: Cell, trials: Sequence[Trial]) -> MadeOf:
    def middle(name: str) -> float:
        return statistics.median(trial.measures[name] for trial in trials)

    parts = [trial.parts_ms for trial in trials]
    known = [name for name in FACTS if all(name in trial.measures for trial in trials)]
    return MadeOf(
        cell=cell,
        trials=len(trials),
        nearest=median.number if (median := median_trial(trials)) else trials[0].number,
        plt_ms=middle(PLT),
        parts={part: statistics.median(each[part] for each in parts) for part in Part},
        facts={name: middle(name) for name in known},
    )
