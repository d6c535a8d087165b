"""The recorder `machine`: whether the machines had time for the trial. docs/reference/machine.md explains its numbers.

It compares what the kernel counts before and after the load, and looks at a few of these counts ten times a second
meanwhile. Where nodes are namespaces, one machine is watched, by a thread of the bed process; where they are machines,
each is, by a program of its own.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from driver.bed.node import Command, Node, Stdio
from driver.bed.remote import sampler
from driver.recorders.machine_use import MachineReport, evidence_of, flags_of, measures_of, series_of
from driver.recorders.recorder import Context, Recorder, Recording, Weight
from driver.timeouts import scaled
from model.coded import Coded
from model.errors import BedError
from model.metrics import LOAD, PAGE_LOAD
from model.settings.kinds import FLAG
from model.settings.setting import Setting

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

    def result(self) -> dict[str, Any]:
        """What was read, as driver/bed/remote/sampler.py writes it."""

    def close(self) -> None: ...


class WatchHere:
    """This machine, from within this process."""

    def __init__(self) -> None:
        self._sampler = sampler.Sampler(sampler.Reader())

    def begin(self) -> None:
        self._sampler.begin()

    def end(self) -> None:
        self._result = self._sampler.end()

    def result(self) -> dict[str, Any]:
        return self._result

    def close(self) -> None:
        self._sampler.close()


class WatchThere:
    """The machine of a node, by a program on it."""

    def __init__(self, node: Node) -> None:
        self._node = node
        ours, theirs = os.pipe(), os.pipe()
        (input_there, self._input), (self._output, output_there) = ours, theirs
        self._received = b""
        try:
            argv = [*node.python, node.program_of_ours(Path(sampler.__file__))]
            self._process = node.spawn(Command(argv), Stdio(stdin=input_there, stdout=output_there))
        except BaseException:
            self._close_pipes()
            raise
        finally:
            os.close(input_there)
            os.close(output_there)
        try:
            self._line()
        except BaseException:
            self.close()
            raise

    def begin(self) -> None:
        os.write(self._input, b"begin\n")

    def end(self) -> None:
        os.write(self._input, b"end\n")

    def result(self) -> dict[str, Any]:
        try:
            answer: dict[str, Any] = json.loads(self._line())
        finally:
            self.close()
        return answer

    def close(self) -> None:
        self._process.signal(9)
        self._close_pipes()

    def _close_pipes(self) -> None:
        for end in (self._input, self._output):
            with contextlib.suppress(OSError):
                os.close(end)
        self._input = self._output = -1

    def _line(self) -> bytes:
        until = time.monotonic() + scaled(ANSWER_TIMEOUT_S)
        while b"\n" not in self._received:
            ready, _, _ = select.select([self._output], [], [], max(until - time.monotonic(), 0))
            data = os.read(self._output, 65536) if ready else b""
            if not data:
                raise BedError(f"on {self._node.name}, the program that watches the machine does not answer")
            self._received += data
        line, _, self._received = self._received.partition(b"\n")
        return line


class Machine(Recorder[MachineOptions]):
    name = "machine"
    options_type = MachineOptions
    workloads = (PAGE_LOAD, LOAD)
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
