"""What a runner asks, to know which trials it makes next. Pure."""

from typing import Protocol

from lanelab.driver.experiment.schedule.order import PlannedTrial
from lanelab.driver.experiment.schedule.results import Attempt


class Agenda(Protocol):
    """The trials that remain: of a whole experiment (rounds.Schedule) or of one portion of it (portions)."""

    def batch(self) -> list[PlannedTrial]:
        """Return those that come next, in order. Empty: all is made."""
        ...

    def next_round(self) -> PlannedTrial | None:
        """Return what the next batch begins with, if nothing fails and nothing is known before; None where that cannot
        be said. It may be prepared, and may never come."""
        ...

    @property
    def block(self) -> int:
        """The block of rounds that the batch belongs to: each has a bed of its own. 0: any bed will do."""
        ...

    def attempts(self, planned: PlannedTrial) -> int:
        """Return how many attempts were made."""
        ...

    def add(self, planned: PlannedTrial, attempt: Attempt) -> None:
        """Take note of an attempt that was stored."""
        ...

    def give_up(self, planned: PlannedTrial) -> None:
        """Leave out a trial that cannot be made now."""
        ...


class _Nothing:
    def batch(self) -> list[PlannedTrial]:
        return []

    def next_round(self) -> PlannedTrial | None:
        return None

    block = 0

    def attempts(self, _planned: PlannedTrial) -> int:
        return 0

    def add(self, planned: PlannedTrial, attempt: Attempt) -> None: ...

    def give_up(self, planned: PlannedTrial) -> None: ...


NOTHING: Agenda = _Nothing()
