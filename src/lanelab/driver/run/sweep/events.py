"""The events of a run on several beds, besides those of every run (driver/run/events.py), and of a machine that lends
beds. `worker` tells workers apart, `name` is for people: machine and number."""

import textwrap
from dataclasses import dataclass
from typing import ClassVar

from lanelab.driver.run.events import BedAwaited, BedReplaced, Event, LinksNotTestedAgain, LinkTested, TrialEnded

REASON = 250  # characters of why a portion was undone


@dataclass(frozen=True, slots=True)
class WorkerJoined(Event):
    """A worker is there; it gets the sites that it lacks, and qualifies."""

    kind: ClassVar[str] = "worker-joined"
    worker: str
    name: str

    @property
    def words(self) -> str:
        return f"{self.name} has joined"


@dataclass(frozen=True, slots=True)
class WorkerQualified(Event):
    """A worker may have work. `links_refused`: sentences about links that its bed does not have."""

    kind: ClassVar[str] = "worker-qualified"
    worker: str
    name: str
    machine: str
    links_refused: tuple[str, ...]

    @property
    def words(self) -> str:
        refused = self.links_refused
        without = f", but for {len(refused)} of its links: {'; '.join(refused)}" if refused else ""
        return f"{self.name} has qualified{without}"


@dataclass(frozen=True, slots=True)
class WorkerRefused(Event):
    """A worker gets no work."""

    kind: ClassVar[str] = "worker-refused"
    is_trouble: ClassVar[bool] = True
    worker: str
    name: str
    why: str
    remedy: str

    @property
    def words(self) -> str:
        return f"{self.name} is not used: {self.why}" + (f". {self.remedy}" if self.remedy else "")


@dataclass(frozen=True, slots=True)
class WorkerLeft(Event):
    """A worker is gone; a portion that it had is begun anew elsewhere."""

    kind: ClassVar[str] = "worker-left"
    is_trouble: ClassVar[bool] = True
    worker: str
    name: str
    why: str
    portion_lost: bool

    @property
    def words(self) -> str:
        lost = "; its portion is begun anew on another bed" if self.portion_lost else ""
        return f"{self.name} is gone: {self.why}{lost}"


@dataclass(frozen=True, slots=True)
class MachineDiffers(Event):
    """What the trials of a machine are made with is not what those of the first machine are. `name`: the machine's."""

    kind: ClassVar[str] = "machine-differs"
    is_trouble: ClassVar[bool] = True
    name: str
    what: str

    @property
    def words(self) -> str:
        return f"{self.name} differs from the first machine: {self.what}"


@dataclass(frozen=True, slots=True)
class PortionBegun(Event):
    """A bed gets a portion."""

    kind: ClassVar[str] = "portion-started"
    worker: str
    name: str
    round: int
    cells: int  # how many


@dataclass(frozen=True, slots=True)
class OnWorker(Event):
    """The bed of a worker does something: one of the events of a run on one bed."""

    kind: ClassVar[str] = "on-worker"
    is_trouble: ClassVar[bool] = True
    worker: str
    name: str
    told: Event

    @property
    def words(self) -> str:
        """Only what went wrong: trials that count are too many to tell."""
        match self.told:
            case LinkTested(passed=True):
                words = ""
            case TrialEnded() | LinkTested() | BedReplaced() | BedAwaited() | LinksNotTestedAgain():
                words = self.told.words
            case _:
                words = ""
        return f"{self.name}: {words}" if words else ""


@dataclass(frozen=True, slots=True)
class Fetching(Event):
    """Artifacts of a portion travel."""

    kind: ClassVar[str] = "fetching"
    name: str
    bytes: int


@dataclass(frozen=True, slots=True)
class PortionStored(Event):
    """The trials of a portion are in the run folder, all of them. `seconds`: since it was given."""

    kind: ClassVar[str] = "portion-stored"
    worker: str
    name: str
    trials: int
    failed: int
    seconds: float


@dataclass(frozen=True, slots=True)
class PortionUndone(Event):
    """Nothing of a portion is stored; it is begun anew."""

    kind: ClassVar[str] = "portion-undone"
    is_trouble: ClassVar[bool] = True
    worker: str
    name: str
    why: str

    @property
    def words(self) -> str:
        return f"{self.name} could not make its portion, which is begun anew: {textwrap.shorten(self.why, REASON)}"


@dataclass(frozen=True, slots=True)
class LinkRefused(Event):
    """A bed gets no trials on that link."""

    kind: ClassVar[str] = "link-refused"
    is_trouble: ClassVar[bool] = True
    worker: str
    name: str
    link: str
    why: str

    @property
    def words(self) -> str:
        return f"{self.name} gets no work on link {self.link}: {self.why}"


@dataclass(frozen=True, slots=True)
class ClusterAway(Event):
    """The scheduler cannot be reached."""

    kind: ClassVar[str] = "cluster-away"
    is_trouble: ClassVar[bool] = True
    why: str

    @property
    def words(self) -> str:
        return f"the scheduler cannot be reached ({self.why}); waiting for it"


@dataclass(frozen=True, slots=True)
class SchedulerRestarted(Event):
    """The run's own scheduler had ended, and was started again."""

    kind: ClassVar[str] = "scheduler-restarted"
    is_trouble: ClassVar[bool] = True
    why: str

    @property
    def words(self) -> str:
        return f"the scheduler was started again: {self.why}"


# --- of a machine that lends beds


@dataclass(frozen=True, slots=True)
class BedProcessStarted(Event):
    """The process of a worker was started, and tries to join."""

    kind: ClassVar[str] = "bed-process-started"
    machine: str
    number: int
    processors: tuple[int, ...]
    log: str
    pid: int


@dataclass(frozen=True, slots=True)
class BedLent(Event):
    """A worker has joined."""

    kind: ClassVar[str] = "bed-lent"
    machine: str
    number: int
    processors: tuple[int, ...]
    log: str

    @property
    def words(self) -> str:
        return f"bed {self.number} of {self.machine} is lent (log: {self.log})"


@dataclass(frozen=True, slots=True)
class BedEnded(Event):
    """The process of a worker ended; another one is started."""

    kind: ClassVar[str] = "bed-ended"
    machine: str
    number: int
    why: str

    @property
    def words(self) -> str:
        return f"bed {self.number} of {self.machine} ended: {self.why}"


@dataclass(frozen=True, slots=True)
class SchedulerAway(Event):
    """The scheduler that workers are lent to does not answer."""

    kind: ClassVar[str] = "scheduler-away"
    scheduler: str
    why: str

    @property
    def words(self) -> str:
        return f"waiting for the scheduler: {self.why}"


EVENTS: tuple[type[Event], ...] = (
    WorkerJoined, WorkerQualified, WorkerRefused, WorkerLeft, MachineDiffers, PortionBegun, OnWorker, Fetching,
    PortionStored, PortionUndone, LinkRefused, ClusterAway, SchedulerRestarted, BedProcessStarted, BedLent, BedEnded,
    SchedulerAway,
)  # fmt: skip
