"""What a trial does is a workload: a page load, a server under load, a fetch. Each is one row in registry.py.

The controller plans and judges; the bed process does. `prepare` does everything that may take its time, `run` is the
part that is measured and what must be read right after it, `end` ends whatever was started for the trial.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from lanelab.driver.arm.arm import Arm
from lanelab.driver.base.coded import Coded
from lanelab.driver.bed.substrate import Substrate
from lanelab.driver.link import Link
from lanelab.driver.record.evidence.moving import Played
from lanelab.driver.record.metrics import PRIMARY
from lanelab.driver.record.reasons import Failure
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.site.site import Site
from lanelab.driver.trial.fetch.settings import FetchSettings
from lanelab.driver.trial.journey import Journey
from lanelab.driver.trial.load_settings import LoadSettings
from lanelab.driver.trial.serving import Serving
from lanelab.driver.trial.spec import TrialSpec
from lanelab.driver.trial.tolerances import Tolerances


class TrialRules(Protocol):
    """The rules that an experiment sets for each of its trials."""

    @property
    def tolerances(self) -> Tolerances: ...

    @property
    def recorders(self) -> Mapping[str, Coded]:
        """Options of each recorder that is on, by its name."""
        ...


@dataclass(frozen=True, slots=True)
class TrialContext:
    """The facts that the controller knows of a trial that is to be judged."""

    arm: Arm
    site: Site
    link: Link
    experiment: TrialRules
    folder: Path  # of its artifacts
    load: LoadSettings | None = None  # where a server is put under load
    journey: Journey = ()  # where several pages are loaded
    fetch: FetchSettings | None = None  # where objects are loaded without a browser


class Mover(Protocol):
    """Begins and ends what moves on a link. Both raise LinkError."""

    def begin(self) -> None: ...

    def end(self) -> Played | None: ...


@dataclass(frozen=True, slots=True)
class BedPlace:
    """The place at which a workload does its work."""

    substrate: Substrate
    drain: Callable[[], None]  # waits until the link is empty
    compensation_us: int  # what is taken off each direction's delay
    serving: Serving
    folder: Path  # in memory, here and on client and server; it lives as long as the bed
    placement: Mapping[str, str] = field(default_factory=dict)  # processors of each node's programs
    # What hosts had of their own before a link changed it, by node and setting.
    kept: Mapping[tuple[str, str], str] = field(default_factory=dict)
    player: Callable[[], Mover | None] = lambda: None  # of the link, where it moves
    link: Callable[[], Link] = lambda: Link.parse({})  # that the bed has now


class BedSide(Protocol):
    """A workload in the bed process: one trial at a time."""

    def check(self, spec: TrialSpec) -> None:
        """Raises InputError, before the first trial, for what only a program of the bed can judge."""
        ...

    def check_workload(self, spec: TrialSpec) -> None:  # noqa: ARG002 - for those that ask
        """Check likewise what the workload does in any arm. Most have nothing to ask."""
        return

    def prepare(self, spec: TrialSpec) -> tuple[Failure, ...]:
        """Do everything up to the measured part. What goes wrong with the trial is in the result."""
        ...

    def expect(self, spec: TrialSpec) -> None:  # noqa: ARG002 - for those that can
        """Take note of the trial after the one that is prepared. Its link needs no self-test: a part of it may begin
        right after the measured part of this one. Most begin nothing."""
        return

    def run(self) -> TrialRecord:
        """Do the measured part; everything that the bed knows of the trial. Its files are in the trial's folder."""
        ...

    def halt(self) -> None:
        """Somebody asks, from another thread, for the end of the run: a trial that takes long ends now, and fails."""
        ...

    def end(self) -> None:
        """End what the trial still has. Does nothing where there is no trial."""
        ...


@dataclass(frozen=True, slots=True)
class Workload:
    """One kind of trial. `on_bed` returns its part in the bed process, and imports what only that part needs.

    `finish` makes a judged record of the JSON of what the bed recorded. It leaves in the folder just what is to be
    kept. Evidence that is absent or cannot be read is a failure of the trial, never an error."""

    name: str
    on_bed: Callable[[BedPlace], BedSide]
    finish: Callable[[object, TrialContext], TrialRecord]

    @property
    def primary(self) -> str:
        """The metric that a trial is for: intervals, comparisons and `until` go by it."""
        return PRIMARY[self.name]
