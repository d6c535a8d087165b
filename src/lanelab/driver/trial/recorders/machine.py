"""The recorder `machine`: whether the machines had time for the trial. docs/reference/machine.md explains its numbers.

It compares what the kernel counts before and after the load, and looks at a few of these counts ten times a second
meanwhile. Where nodes are namespaces, one machine is watched, by a thread of the bed process; where they are machines,
each is, by a program of its own.
"""

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from lanelab.driver.base.coded import Coded
from lanelab.driver.base.errors import BedError
from lanelab.driver.base.settings.kinds import FLAG
from lanelab.driver.base.settings.setting import Setting
from lanelab.driver.base.timeouts import scaled
from lanelab.driver.bed.line_program import LineProgram, Program
from lanelab.driver.bed.node import Node
from lanelab.driver.bed.remote import sampler
from lanelab.driver.record.metrics import ANY
from lanelab.driver.trial.recorders.machine_use import MachineReport, evidence_of, flags_of, measures_of, series_of
from lanelab.driver.trial.recorders.recorder import Context, Recorder, Recording, Weight

PROGRAM = Program(sampler)
ANSWER_TIMEOUT_S = 20.0
BYTES, SAMPLE_BYTES = 4000, 60  # in the run's database


@dataclass(frozen=True, slots=True)
class MachineOptions(Coded):
    """It has none."""


class Watch(Protocol):
    """One machine that is watched during one load."""

    def begin(self) -> None: ...
    def end(self) -> None:
        """The load is over."""

    def result(self) -> object:
        """Return what was read, as driver/bed/remote/sampler.py writes it."""

    def close(self) -> None: ...


class WatchHere:
    """This machine, from within this process."""

    def __init__(self) -> None:
        self._sampler = sampler.Sampler(sampler.Reader())

    def begin(self) -> None:
        self._sampler.begin()

    def end(self) -> None:
        self._result = self._sampler.end()

    def result(self) -> object:
        return self._result

    def close(self) -> None:
        self._sampler.close()


class WatchThere:
    """The machine of a node, by a program on it."""

    def __init__(self, node: Node) -> None:
        title = f"the program that watches the machine of {node.name}"
        self._program = LineProgram(node, PROGRAM, title, BedError, answers_within_s=scaled(ANSWER_TIMEOUT_S))
        try:
            self._program.answer()
        except BaseException:
            self.close()
            raise

    def begin(self) -> None:
        self._program.tell("begin")

    def end(self) -> None:
        self._program.tell("end")

    def result(self) -> object:
        try:
            return self._program.answer()
        finally:
            self.close()

    def close(self) -> None:
        self._program.close()


class Machine(Recorder[MachineOptions]):
    name = "machine"
    options_type = MachineOptions
    workloads = ANY
    setting = Setting(
        "machine",
        FLAG,
        "true",
        "watch the processors and memory of the machine during each load: [how](machine.md)",
        "off",
    )

    def __init__(self, options: MachineOptions) -> None:
        super().__init__(options)
        self._watches: list[tuple[tuple[str, ...], Watch]] = []
        self._loaded = False

    @classmethod
    def disk_bytes(cls, options: MachineOptions, weight: Weight) -> float:  # noqa: ARG003 - a load takes seconds
        return BYTES + SAMPLE_BYTES / sampler.EVERY_S

    def start(self, context: Context) -> None:
        for machine in context.machines:
            watch = WatchThere(machine.node) if machine.node else WatchHere()
            self._watches.append((machine.nodes, watch))

    def load_begins(self) -> None:
        self._each(lambda watch: watch.begin())

    def load_ended(self) -> None:
        self._each(lambda watch: watch.end())
        self._loaded = True

    def _each(self, do: Callable[[Watch], None]) -> None:
        for nodes, watch in self._watches:
            try:
                do(watch)
            except OSError as error:
                raise BedError(f"the machine of {', '.join(nodes)} cannot be watched: {error}") from error

    def stop(self) -> Recording:
        if not self._loaded:  # then there is nothing to compare, and the trial has failed already
            self.close()
            return Recording()
        reports = [MachineReport.of(nodes, watch.result()) for nodes, watch in self._watches]
        self._watches.clear()
        evidence = evidence_of(reports)
        return Recording(
            measures=measures_of(evidence), series=series_of(reports), flags=flags_of(evidence), evidence=evidence
        )

    def close(self) -> None:
        for _, watch in self._watches:
            with contextlib.suppress(BedError, OSError):
                watch.close()
        self._watches.clear()
