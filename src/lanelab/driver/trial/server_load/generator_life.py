"""The life of a load generator on its node: its files are put there, it is started, and ended."""

import contextlib
import os
import signal
from typing import BinaryIO

from lanelab.driver.base.errors import NodeError
from lanelab.driver.base.timeouts import scaled
from lanelab.driver.bed.node import Command, Node, Stdio
from lanelab.driver.bed.open_files import with_open_files
from lanelab.driver.trial.server_load.generator import Generator, Output, Target

STOP_WITHIN_S = 10  # after SIGINT, at which wrk and ab write what they have, too
MOST_OUTPUT_BYTES = 1_000_000  # of stdout and stderr, each


class RunningGenerator:
    """One generator that runs. Whoever started it stops it."""

    def __init__(self, node: Node, generator: Generator, target: Target) -> None:
        """Start it. Raises BedError."""
        self._node, self._generator, self._folder = node, generator, target.folder
        invocation = generator.invocation(target)
        for name, data in invocation.files.items():
            node.write(f"{self._folder}/{name}", data)
        self._output, self._errors = _memory("stdout"), _memory("stderr")
        command = Command(with_open_files(invocation.argv), invocation.environment, self._folder)
        self._process = node.spawn(command, Stdio(None, self._output.fileno(), self._errors.fileno()))
        self._status: int | None = None
        self._left: Output | None = None

    def ended(self, within_s: float) -> bool:
        """Return whether it has ended by itself; it is given that long."""
        try:
            self._status = self._process.wait(within_s)
        except TimeoutError:
            return False
        return True

    def stop(self) -> Output:
        """End it where it still runs, and what it left."""
        if self._left is None:
            for number in () if self._status is not None else (signal.SIGINT, signal.SIGKILL):
                self._process.signal(number)
                with contextlib.suppress(TimeoutError):
                    self._process.wait(scaled(STOP_WITHIN_S))
                    break
            self._left = Output(self._status, _text(self._output), _text(self._errors), self._files())
        return self._left

    def _files(self) -> dict[str, bytes]:
        """Return what it wrote, also where it came to no end."""
        files = {}
        for name in self._generator.results:
            with contextlib.suppress(NodeError):
                files[name] = self._node.read(f"{self._folder}/{name}")
        return files


def _memory(name: str) -> BinaryIO:
    return os.fdopen(os.memfd_create(name), "wb+")


def _text(file: BinaryIO) -> str:
    with file:
        file.seek(0)
        return file.read(MOST_OUTPUT_BYTES).decode(errors="replace")
