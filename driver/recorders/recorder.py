"""What a recorder is: it adds files, measures, series and evidence to each trial. One file of this folder holds one.

A recorder is a class in `registry.RECORDERS`. Its name is its key in the experiment file. For each trial the workload
makes one from its options and calls, in this order:

    start(context)   before the load. It may take its time: packets flow only later
    load_begins()    immediately before the load. It must be quick: the trial waits
    load_ended()     immediately after the load. It must be quick: what else is read of the trial waits
    stop()           gives the Recording. Its files are then in the trial's folder
    close()          whatever happened before: ends what still runs. Without a stop nothing is recorded

Recorders start in the registry's order and stop in the opposite order.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from model.coded import Coded
from model.reasons import Flag, Reason
from model.record import Series

if TYPE_CHECKING:
    from driver.bed.node import Node


class LoadedPage(Protocol):
    """What a recorder may ask of the browser's page. driver/browser/browser.py has the whole of it."""

    def screenshot(self, target: Path) -> None:
        """Write a picture of the page, as PNG. Raises BrowserError."""

    def netlog(self, target: Path) -> None:
        """Write the browser's own log of its network. This ends the browser. Raises BrowserError."""


@dataclass(frozen=True, slots=True)
class Context:
    """The trial that is about to run, as far as recorders need it."""

    nodes: Mapping[str, Node]  # client, server and router
    apart: bool  # each node is a machine of its own; else all are this machine
    scratch: str  # a folder in memory on client and server; it lives as long as the bed
    folder: Path  # of the trial, on this machine: files go here
    page: LoadedPage | None = None  # of workloads that have a browser


@dataclass(frozen=True, slots=True)
class Recording:
    """What a recorder has of one trial."""

    files: tuple[str, ...] = ()  # names in the trial's folder
    measures: Mapping[str, float] = field(default_factory=dict)  # by their names in model/metrics.py
    series: Mapping[str, Series] = field(default_factory=dict)
    flags: tuple[Flag, ...] = ()  # what a reader must know of a trial that counts nevertheless
    evidence: Coded | None = None  # its type is in model.record.RECORDINGS


@dataclass(frozen=True, slots=True)
class Weight:
    """What a trial moves, for estimates of disk space."""

    objects: int
    bytes: int  # of bodies and headers, over the link


class Options(Protocol):
    """The settings of one recorder: a frozen dataclass."""

    def to_json(self) -> Mapping[str, Any]: ...


class Recorder(ABC):
    """Records one trial."""

    name: ClassVar[str]
    reason: ClassVar[Reason]  # why a trial fails in which this recorder fails
    browser_wishes: ClassVar[frozenset[str]] = frozenset()  # what the browser must do from its start: "netlog"

    @classmethod
    @abstractmethod
    def from_json(cls, options: Mapping[str, Any]) -> Recorder:
        """The recorder with these options, as `Options.to_json` wrote them."""

    @classmethod
    @abstractmethod
    def disk_bytes(cls, options: Mapping[str, Any], weight: Weight) -> float:
        """What one trial costs on disk, roughly."""

    @abstractmethod
    def start(self, context: Context) -> None:
        """Begin to record. Raises BedError."""

    def load_begins(self) -> None:  # noqa: B027 - most record all the time
        """The load starts now."""

    def load_ended(self) -> None:  # noqa: B027
        """The load is over, and the page still stands."""

    @abstractmethod
    def stop(self) -> Recording:
        """End, and hand over. Raises BedError."""

    def close(self) -> None:  # noqa: B027
        """End what still runs. Never raises."""
