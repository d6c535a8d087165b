"""The events of a run, one class each: what a live line shows, what `--json` prints, what a program is called with.

VERSION counts up when a field changes its meaning or goes away; new events and new fields leave it as it is.
docs/reference/commands.md lists them as JSON.
"""

import textwrap
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal, Self

from lanelab.driver.base.amounts import counted
from lanelab.driver.base.coded import Coded, Json
from lanelab.driver.base.errors import RecordError
from lanelab.driver.record.reasons import Failure, Reason

VERSION = 1
MOST_OF_A_LINK = 160  # characters of what is wrong with a link; the run folder has all


@dataclass(frozen=True, slots=True)
class Event(Coded):
    """An event of a run. `kind` is its name in JSON."""

    kind: ClassVar[str]
    is_trouble: ClassVar[bool] = False  # something went wrong that a person should see

    @property
    def words(self) -> str:
        """A sentence for a person; "": none."""
        return ""

    @property
    def activity(self) -> str:
        """Return what the bed does from this event on; "": the same as before."""
        return ""

    def to_json(self) -> dict[str, Json]:
        return {"event": self.kind, **Coded.to_json(self)}


Listener = Callable[[Event], None]


def unheard(_event: Event) -> None:
    """Listen for somebody who wants to know nothing."""


# --- the run

Ending = Literal["finished", "stopped", "failed"]


@dataclass(frozen=True, slots=True)
class Notice(Event):
    """A notice that a person should read before it is too late to change something."""

    kind: ClassVar[str] = "notice"
    what: str

    @property
    def words(self) -> str:
        return self.what


@dataclass(frozen=True, slots=True)
class RunBegun(Event):
    """A session of a run begins. `trials`: the most that there can be; `done`: those that count already; `rounds`: the
    most."""

    kind: ClassVar[str] = "run"
    folder: str
    seed: int
    trials: int
    done: int
    rounds: int
    workload: str
    version: int = VERSION

    @property
    def words(self) -> str:
        return f"run folder {self.folder}, seed {self.seed}"


@dataclass(frozen=True, slots=True)
class BedUp(Event):
    """A bed is there."""

    kind: ClassVar[str] = "bed"
    bed: int  # its number within the run
    router: str
    kernel: str  # the router's
    bring_up_s: float

    @property
    def words(self) -> str:
        return f"bed {self.bed} up in {self.bring_up_s:.1f} s, router {self.router} {self.kernel}"


@dataclass(frozen=True, slots=True)
class BedReplaced(Event):
    """A bed failed; another one is made."""

    kind: ClassVar[str] = "bed-lost"
    what: str

    @property
    def words(self) -> str:
        return f"the bed was lost ({self.what}); making another"


@dataclass(frozen=True, slots=True)
class BedAwaited(Event):
    """The machines of a bed are away, and are asked again after a pause."""

    kind: ClassVar[str] = "bed-awaited"
    what: str
    pause_s: int

    @property
    def words(self) -> str:
        return f"no bed can be made now ({self.what}); again in {self.pause_s} s"


@dataclass(frozen=True, slots=True)
class RoundEnded(Event):
    """Every trial of a round was made, or given up for now."""

    kind: ClassVar[str] = "round-ended"
    round: int


@dataclass(frozen=True, slots=True)
class Stopping(Event):
    """The run was asked to stop, and finishes what is under way."""

    kind: ClassVar[str] = "stopping"
    what: str = "after this trial"

    @property
    def words(self) -> str:
        return f"stopping {self.what}; Ctrl-C once more stops at once"


@dataclass(frozen=True, slots=True)
class SessionEnded(Event):
    """A session of a run is over. `why`: what it failed of."""

    kind: ClassVar[str] = "session-ended"
    ending: Ending
    why: str


# --- links

Moment = Literal["before", "after"]


@dataclass(frozen=True, slots=True)
class LinkTestBegun(Event):
    """A link is about to be measured: before its trials on this bed, or after them."""

    kind: ClassVar[str] = "self-test-started"
    link: str
    moment: Moment

    @property
    def activity(self) -> str:
        return f"measuring the link {self.link}{' again' if self.moment == 'after' else ''}"


@dataclass(frozen=True, slots=True)
class LinkTested(Event):
    """A link was measured. `load` and `processors` are of the machine that did."""

    kind: ClassVar[str] = "self-test"
    link: str
    moment: Moment
    passed: bool
    failures: str  # sentences; "" where it passed
    not_measured: tuple[str, ...]  # names of properties
    accepted: bool  # it failed, and its trials are made all the same
    load: float
    processors: int

    @property
    def words(self) -> str:
        again = " after its trials" if self.moment == "after" else ""
        if not self.passed:
            why = textwrap.shorten(self.failures, MOST_OF_A_LINK, placeholder=" …")
            return f"link {self.link} is NOT what was asked for{again}: {why}{'' if again else self._remedy()}"
        untold = f" (not measured: {', '.join(self.not_measured)})" if self.not_measured and not again else ""
        return f"link {self.link} is what was asked for{again}{untold}"

    def _remedy(self) -> str:
        """Return why a refusal may be, and what to do."""
        many = counted(self.processors, "processor")
        busy = f"this machine is busy: load {self.load:.0f} on {many}" if self.load > self.processors else ""
        if self.accepted:
            return ". Its trials are made all the same (--accept-links)" + (f"; {busy}" if busy else "")
        waits = "its trials wait until it passes. `--accept-links` shows the effect all the same"
        return f". {busy}; {waits}" if busy else f". {waits}"


@dataclass(frozen=True, slots=True)
class LinksNotTestedAgain(Event):
    """The bed failed when its links were to be measured again after their trials."""

    kind: ClassVar[str] = "links-not-measured-again"
    what: str

    @property
    def words(self) -> str:
        return f"links were not measured again: {self.what}"


# --- trials


@dataclass(frozen=True, slots=True)
class TrialBegun(Event):
    """The measured part of a trial begins."""

    kind: ClassVar[str] = "trial-started"
    site: str
    link: str
    arm: str
    round: int

    @property
    def activity(self) -> str:
        return f"{self.site} · {self.link} · {self.arm}"


@dataclass(frozen=True, slots=True)
class TrialStored(Event):
    """The facts of a trial once it is stored: TrialEnded or TrialRefused."""

    kind: ClassVar[str] = "trial"
    site: str
    link: str
    arm: str
    round: int
    trial: int
    attempt: int
    metric: str  # the primary one of the workload
    value: float | None  # of that metric; in JSON it has the metric's name
    wall_s: float
    failures: tuple[Failure, ...]

    @property
    def ok(self) -> bool:
        """Return whether it counts."""
        return not self.failures

    @property
    def place(self) -> str:
        return f"{self.site}, {self.link}, {self.arm}, round {self.round}"

    def to_json(self) -> dict[str, Json]:
        data_with_metric = Event.to_json(self)
        value, failures = data_with_metric.pop("value"), data_with_metric.pop("failures")
        return {**data_with_metric, "status": "ok" if self.ok else "failed", self.metric: value, "failures": failures}

    @classmethod
    def from_json(cls, data: object, where: str = "") -> Self:
        fields = dict(data) if isinstance(data, Mapping) else {}
        fields.pop("status", None)
        fields["value"] = fields.pop(str(fields.get("metric")), None)
        return super(TrialStored, cls).from_json(fields, where)


@dataclass(frozen=True, slots=True)
class TrialEnded(TrialStored):
    """A trial ran to its end, whether or not it counts."""

    @property
    def words(self) -> str:
        """Say which trial does not count. Those that do are too many to tell."""
        if self.ok:
            return ""
        why = "; ".join(f"{failure.reason}: {failure.detail}" for failure in self.failures)
        return f"{self.place}, attempt {self.attempt} failed: {why}"


@dataclass(frozen=True, slots=True)
class TrialRefused(TrialStored):
    """A trial was not begun, since its link is out of tolerance: LinkTested says so once for all of them."""


def class_of_trial(reasons: Collection[str]) -> type[TrialEnded | TrialRefused]:
    """The event of a trial that failed for these reasons; none: it counts."""
    refused = bool(reasons) and set(reasons) == {Reason.LINK_OUT_OF_TOLERANCE}
    return TrialRefused if refused else TrialEnded


# --- trials of other runs, with --reuse


@dataclass(frozen=True, slots=True)
class ReuseBegun(Event):
    """Trials of other runs are looked for."""

    kind: ClassVar[str] = "reuse"
    store: str

    @property
    def activity(self) -> str:
        return f"looking for trials in {self.store}"


@dataclass(frozen=True, slots=True)
class Reusing(Event):
    """Trials of other runs were taken: `trials` of them in this step, `done` so far."""

    kind: ClassVar[str] = "reusing"
    round: int
    trials: int
    done: int
    of: int

    @property
    def activity(self) -> str:
        return f"taking trials that were made before, {self.done} of {self.of}"


@dataclass(frozen=True, slots=True)
class NotReused(Event):
    """A run, or trials of a run, that cannot be reused."""

    kind: ClassVar[str] = "not-reused"
    what: str

    @property
    def words(self) -> str:
        return f"not reused: {self.what}"


@dataclass(frozen=True, slots=True)
class Reused(Event):
    """Says how much of the run was made before."""

    kind: ClassVar[str] = "reused"
    trials: int
    wanted: int
    runs: int
    sentence: str

    @property
    def words(self) -> str:
        return self.sentence


EVENTS: tuple[type[Event], ...] = (
    Notice, RunBegun, BedUp, LinkTestBegun, LinkTested, LinksNotTestedAgain, TrialBegun, TrialEnded, TrialRefused,
    RoundEnded, ReuseBegun, Reusing, NotReused, Reused, BedReplaced, BedAwaited, Stopping, SessionEnded,
)  # fmt: skip
_BY_KIND = {each.kind: each for each in EVENTS}


def read_event(data: object) -> Event:
    """Return the event that this JSON stands for. Raises RecordError for one that this lanelab does not know."""
    fields = dict(data) if isinstance(data, Mapping) else {}
    kind = fields.pop("event", None)
    if kind == TrialStored.kind:
        failures = fields.get("failures")
        listed = failures if isinstance(failures, list | tuple) else ()
        return class_of_trial([str(each.get("reason")) for each in listed]).from_json(fields)
    if kind not in _BY_KIND:
        raise RecordError(f"there is no event {kind!r}", key="event")
    return _BY_KIND[kind].from_json(fields)
