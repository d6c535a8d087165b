"""What a recorder is: it adds files, measures, series, flags and evidence to each trial. Each is one file here.

A recorder is a class with an entry in registry.py. Its name is its key in the experiment file. For each trial there is
one object of it, which is called in this order:

    start(context)   before the load. It may take its time. Those with `starts_ahead` start while the page is opened
    load_begins()    immediately before the load. It must be quick: the trial waits for it
    load_ended()     immediately after the load. It must be quick: whatever else is read of the trial waits for it
    stop()           gives the Recording; its files are then in the trial's folder
    close()          instead of stop, where a trial ends before it was recorded

Recorders start in the registry's order and stop in the opposite order.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Generic, Protocol, TypeVar

from lanelab.driver.arm.browsers.browser import Page
from lanelab.driver.base.coded import Coded, JsonObject
from lanelab.driver.base.settings.setting import Setting, Table
from lanelab.driver.base.settings.source import Written
from lanelab.driver.bed.node import Node
from lanelab.driver.bed.substrate import Machine
from lanelab.driver.record.metrics import PAGE_LOAD
from lanelab.driver.record.reasons import Failure, Flag, Reason
from lanelab.driver.record.series import Series

Options = TypeVar("Options", bound=Coded)


@dataclass(frozen=True, slots=True)
class Role:
    """A role that serves on the server node."""

    folder: str  # in which its processes work, and nobody else's
    ports: tuple[int, ...]  # at which it meets the clients; () behind a proxy


@dataclass(frozen=True, slots=True)
class Context:
    """The trial that is about to load, as far as recorders need it."""

    nodes: Mapping[str, Node]  # client, server and router
    machines: Sequence[Machine]  # on which the nodes are
    scratch: Path  # a folder in memory on client and server, for as long as the bed lives
    folder: Path  # of the trial, on this machine: files go here
    page: Page | None = None  # of workloads with a browser
    not_captured: int | None = None  # port of packets that captures leave out
    makes_journey: bool = False  # the page loads several pages, or a script leads it
    roles: Mapping[str, Role] = field(default_factory=dict)  # by their names in driver/record/load_series.py, of loads


@dataclass(frozen=True, slots=True)
class Recording:
    """The recording that a recorder has of one trial."""

    files: tuple[str, ...] = ()  # names in the trial's folder
    measures: Mapping[str, float] = field(default_factory=dict)  # by their names in driver/record/metrics.py
    series: Mapping[str, Series] = field(default_factory=dict)
    flags: tuple[Flag, ...] = ()
    failures: tuple[Failure, ...] = ()  # why the trial does not count, though there is something of it
    evidence: Coded | None = (
        None  # its type has a row in lanelab.driver.record.record.RECORDINGS, or in the workload's own evidence
    )
    kept_as: str = ""  # that row, where its name is not the recorder's


class Weight(Protocol):
    """The weight that a trial loads, for estimates of disk space."""

    @property
    def objects(self) -> int: ...
    @property
    def bytes(self) -> int: ...


class Recorder(ABC, Generic[Options]):
    """Records one trial."""

    name: ClassVar[str]
    options_type: ClassVar[type[Coded]]
    setting: ClassVar[Setting]  # the key of the experiment file, whose name is this recorder's
    keys: ClassVar[Table | None] = None  # below the key, where it may be a mapping
    shape: ClassVar[JsonObject] = {}  # JSON schema of the key, where its setting has no kind
    key_shapes: ClassVar[Mapping[str, JsonObject]] = {}  # the same of `keys`
    workloads: ClassVar[tuple[str, ...]] = (PAGE_LOAD,)  # of which it can record trials
    reason: ClassVar[Reason] = Reason.RECORDER_FAILED  # why a trial fails in which this recorder fails
    packed: ClassVar[tuple[str, ...]] = ()  # files of it that are text, and stored compressed
    second_bytes: ClassVar[int] = 0  # what it costs on disk for each second of a load
    wishes: ClassVar[frozenset[str]] = frozenset()  # what the browser must do from its start
    starts_ahead: ClassVar[bool] = False  # it needs no page, and a page that opens leaves nothing in it
    asks: ClassVar[frozenset[str]] = frozenset()  # what it asks of pages, which not every browser gives

    def __init__(self, options: Options) -> None:
        self.options = options

    @classmethod
    def read(cls, written: Written | None) -> Coded | None:
        """The options that an experiment file asks for; None: it is off. `written`: the value of the key."""
        if written is None:
            return cls.options_type() if cls.setting.default_value() else None
        with written.placed({}):
            return cls.options_type() if cls.setting.read(written.text()) else None

    @classmethod
    def has(cls, options: Options, wanted: Coded | None) -> bool:  # noqa: ARG003 - most are on or off
        """Return whether it records all that it would record with the options that are wanted."""
        return True

    @classmethod
    @abstractmethod
    def disk_bytes(cls, options: Options, weight: Weight) -> float:
        """Return what one trial costs on disk, roughly."""

    @abstractmethod
    def start(self, context: Context) -> None:
        """Begin to record. Raises BedError."""

    def load_begins(self) -> None:
        """The load starts now."""

    def load_ended(self) -> None:
        """The load is over, and the page still stands."""

    @abstractmethod
    def stop(self) -> Recording:
        """End, and hand over what was recorded. Raises BedError."""

    def close(self) -> None:
        """End what still runs. Never raises."""
