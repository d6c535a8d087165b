"""One worker, as the controller knows it."""

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from typing import Protocol

from lanelab.driver.base.clock import shifted
from lanelab.driver.base.coded import Coded
from lanelab.driver.experiment.model import Cell
from lanelab.driver.experiment.schedule.portions import PlannedPortion
from lanelab.driver.link import Link
from lanelab.driver.run.folder.copies import SelfTestCopy, TrialCopy
from lanelab.driver.run.sweep.cluster import Finished, JobName

LONGEST_S = 7200.0  # for anything but trials: to build programs, to measure slow links, to fetch a large pack
REST_S = 30.0  # of a worker that could not do its work
REFUSALS = 3  # of a link, after which a worker is not asked for it again


class Doing(Enum):
    JOINING = auto()  # gets the run, its sites, and qualifies
    IDLE = auto()
    PLAYING = auto()
    DELIVERING = auto()  # its artifacts are fetched
    RESTING = auto()  # it could not do its work, and qualifies again in a while
    UNFIT = auto()  # it can do nothing for this run


@dataclass
class Member:
    """What it is doing, and what it can do."""

    worker: str
    name: str
    doing: Doing = Doing.JOINING
    machine: str = ""
    block: int = 0  # of rounds, that its bed was used for
    refusals: Counter[Link] = field(default_factory=Counter)
    beds: dict[int, int] = field(default_factory=dict)  # their numbers there -> within the run
    lacks: list[str] = field(default_factory=list)  # sites that it still has to get
    portion: PlannedPortion | None = None
    number: int = 0  # of its portion
    began: float = 0.0  # monotonic, of its portion
    rests_until: float = 0.0
    due: float = math.inf  # monotonic: when it is taken for gone, if it still does the same
    failures: int = 0  # of what it does before it has work, one after the other
    asked_utc: str = ""  # when it was asked to qualify
    clock_ahead_s: float = 0.0

    def can(self, cell: Cell) -> bool:
        """Return whether its bed can have the cell's link, as far as is known."""
        return not self.refusals or not self.refusals[cell.link.link]

    def may(self, cell: Cell) -> bool:
        """Return whether it is worth asking it: a link that was refused on a busy machine may pass later."""
        return not self.refusals or self.refusals[cell.link.link] < REFUSALS

    def trial_at_our_clock(self, trial: TrialCopy) -> TrialCopy:
        """With the stamp that the controller's clock would have given it."""
        if not self.clock_ahead_s:
            return trial
        started = shifted(trial.record.started_utc, -self.clock_ahead_s)
        return replace(trial, record=replace(trial.record, started_utc=started))

    def test_at_our_clock(self, test: SelfTestCopy) -> SelfTestCopy:
        return replace(test, at_utc=shifted(test.at_utc, -self.clock_ahead_s)) if self.clock_ahead_s else test

    @property
    def is_at_work(self) -> bool:
        """Return whether an answer is awaited."""
        return self.doing in (Doing.JOINING, Doing.PLAYING, Doing.DELIVERING)

    @property
    def is_fit(self) -> bool:
        return self.doing in (Doing.IDLE, Doing.PLAYING, Doing.DELIVERING)


Then = Callable[[Member, Finished], None]


class Start(Protocol):
    """Gives a member a job; `then` is called when it is finished, and not where the member is gone before."""

    def __call__(self, member: Member, name: JobName, payload: Coded, then: Then) -> None: ...
