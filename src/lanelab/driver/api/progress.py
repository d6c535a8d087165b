"""How far a run on one bed is, worked out from its events."""

import statistics

from lanelab.driver.record.metrics import Metric, primary_of
from lanelab.driver.run.events import Event, LinkTested, Reused, RunBegun, TrialEnded, TrialRefused

SEEN = 20  # trials whose median length the rest are expected to have


class Progress:
    """The state of a run: what has happened so far, and how long the rest may take."""

    def __init__(self, trials: int, done: int, primary: Metric) -> None:
        self.trials, self.done, self.failed = trials, done, 0
        self.refused = 0  # trials that did not begin, because their link was out of tolerance
        self.primary = primary
        self.last = ""  # value of the primary metric
        self.now = "making the bed"
        self._walls: list[float] = []
        self._refused_links: set[str] = set()  # that were told

    @classmethod
    def of(cls, begun: RunBegun) -> "Progress":
        return cls(begun.trials, begun.done, primary_of(begun.workload))

    def see(self, event: Event) -> None:
        match event:
            case TrialRefused():
                self.refused += 1  # in no time, which says nothing of those that begin
            case TrialEnded():
                self._walls = [*self._walls[1 - SEEN :], event.wall_s]
                if event.ok:
                    self.done += 1
                    self.last = self.value(event)
                else:
                    self.failed += 1
            case Reused():
                self.done += event.trials
            case _:
                self.now = event.activity or self.now

    def value(self, trial: TrialEnded) -> str:
        """Write a value of the primary metric, with its unit."""
        value = "?" if trial.value is None else f"{trial.value / self.primary.scale:.0f}"
        return f"{value} {self.primary.unit}"

    @property
    def eta(self) -> str:
        if not self._walls:
            return "?"
        return in_words(max(self.trials - self.done, 0) * statistics.median(self._walls))

    def words(self, event: Event) -> str:
        """Return a line for a person, or nothing."""
        match event:
            case TrialEnded(failures=()):
                return f"{self.done}/{self.trials} {event.place}: {self.value(event)} (ETA {self.eta})"
            case LinkTested() if self._is_told(event):
                return ""
        return event.words

    def _is_told(self, test: LinkTested) -> bool:
        """Return whether it is known that this link is refused. Each round measures it again."""
        if test.passed or test.moment == "after":
            self._refused_links.discard(test.link)
            return False
        known = test.link in self._refused_links
        self._refused_links.add(test.link)
        return known


def in_words(length_s: float | None) -> str:
    """A length of time, as one would say it; None: nobody knows."""
    if length_s is None:
        return "?"
    seconds = round(length_s)
    minutes, hours = seconds // 60, seconds // 3600
    if hours:
        return f"{hours} h {minutes % 60:02d} min"
    return f"{minutes} min {seconds % 60:02d} s" if minutes else f"{seconds} s"
