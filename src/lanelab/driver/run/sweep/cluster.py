"""The workers of a sweep as its controller sees them. dask_cluster.py is the one that is made of Dask.

Nothing here knows what a job means. A worker does its jobs one after the other.
"""

from dataclasses import dataclass
from typing import Literal, Protocol, TypedDict

from lanelab.driver.base.coded import Coded
from lanelab.driver.run.events import Event

JobName = Literal["assign", "site_piece", "site_done", "qualify", "play", "piece", "end_run"]


class JobOrder(TypedDict):
    """A job on its way to its worker."""

    name: JobName
    payload: str  # JSON
    session: str  # of the controller
    worker: str  # its name; no other one does the job


@dataclass(frozen=True, slots=True)
class Joined:
    """A worker is there."""

    worker: str  # the same as long as this process of it lives
    name: str  # for people: machine and number


@dataclass(frozen=True, slots=True)
class Left:
    """A worker is gone, and with it all its jobs."""

    worker: str
    why: str


@dataclass(frozen=True, slots=True)
class Finished:
    """A job is done. `value` is the JSON (or bytes) that it gave; or it raised, and `error` says what."""

    job: int
    worker: str
    value: object = None
    error: BaseException | None = None  # a LanelabError as it was raised there


@dataclass(frozen=True, slots=True)
class WorkerEvent:
    """An event of a worker, for whoever watches."""

    worker: str
    event: Event


@dataclass(frozen=True, slots=True)
class Away:
    """The scheduler cannot be reached: nothing is known of any worker until they join again."""

    why: str


Happening = Joined | Left | Finished | WorkerEvent | Away


class Cluster(Protocol):
    """Workers that come and go."""

    @property
    def dashboard(self) -> str:
        """Return where the engine's own pages are; "": nowhere."""
        ...

    def wait(self, timeout_s: float) -> list[Happening]:
        """Return what happened since the last call, in order; waits for the first as long as that. Workers that there
        are at the beginning join in the first calls."""
        ...

    def start(self, worker: str, name: JobName, payload: Coded) -> int:
        """Give a worker a job. Its number: one Finished comes for it, or Left of its worker."""
        ...

    def halt(self) -> None:
        """Ask all workers to end the trials that they have under way: those fail, as after Ctrl-C on one bed."""
        ...

    def close(self) -> None:
        """End what this controller has started: its own scheduler and workers, with all beds."""
        ...
