"""A program of ours that runs on a node for long: it reads lines, and answers with lines of JSON."""

import contextlib
import json
import os
import select
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TypeVar

from lanelab.driver.base.coded import parsed
from lanelab.driver.base.errors import BedError, RecordError
from lanelab.driver.bed.node import Command, Node, Process, Stdio
from lanelab.driver.bed.remote import start_program

Answer = TypeVar("Answer")
ANSWERS_WITHIN_S, ENDS_WITHIN_S = 10.0, 2.0


@dataclass(frozen=True, slots=True)
class Program:
    """One of driver/bed/remote/, with the modules of that folder that it imports."""

    module: ModuleType
    parts: Sequence[ModuleType] = ()

    def command(self, node: Node, *words: object) -> Command:
        """Return what runs it on this node, where it is brought if need be."""
        path, *_ = [node.program_of_ours(_file(module)) for module in (self.module, *self.parts)]
        if not self.parts:
            return Command([*node.python, path, *map(str, words)])
        start = node.program_of_ours(_file(start_program))
        return Command([*node.python, start, _file(self.module).stem, *map(str, words)])


def _file(module: ModuleType) -> Path:
    return Path(str(module.__file__))


class LineProgram:
    """One that runs. Raises its `error` where the program has ended, or says nothing."""

    def __init__(
        self,
        node: Node,
        program: Program,
        title: str,
        error: type[BedError],
        *words: object,
        answers_within_s: float = ANSWERS_WITHIN_S,
    ) -> None:
        """Keep the program. `title` is what messages call it. `words`: its arguments."""
        source, self._input = os.pipe()
        self._output, sink = os.pipe()
        self._title, self._error, self._answers_within_s = title, error, answers_within_s
        self._read = b""
        self.failed = False
        self._talking = threading.Lock()
        self._process: Process | None = None
        try:
            self._process = node.spawn(program.command(node, *words), Stdio(source, sink, sink))
        finally:
            os.close(source)
            os.close(sink)
            if self._process is None:
                self._close_pipes()

    def ask(self, line: str) -> object:
        """Say a line, and return the answer."""
        with self._turn():
            self._say(line)
            return self._answer()

    def tell(self, line: str) -> None:
        """Say a line that has no answer, or one that `answer` reads later."""
        with self._turn():
            self._say(line)

    def answer(self) -> object:
        """Return what it says next."""
        with self._turn():
            return self._answer()

    def ask_for(self, kind: type[Answer], line: str) -> Answer:
        """Say a line, and return the answer, which holds this."""
        with self._turn():
            self._say(line)
            return self._answer_as(kind)

    def answer_as(self, kind: type[Answer]) -> Answer:
        """Return what it says next, which holds this."""
        with self._turn():
            return self._answer_as(kind)

    @contextlib.contextmanager
    def _turn(self) -> Iterator[None]:
        """One talks at a time. What fails is noted."""
        with self._talking:
            try:
                yield
            except OSError as error:
                self.failed = True
                raise self._error(f"{self._title} has ended: {self._last_words()}") from error
            except BedError:
                self.failed = True
                raise

    def _say(self, line: str) -> None:
        data = line.encode() + b"\n"
        while data:
            data = data[os.write(self._input, data) :]

    def _answer(self) -> object:
        until = time.monotonic() + self._answers_within_s
        while b"\n" not in self._read:
            readable, _, _ = select.select([self._output], [], [], max(0.0, until - time.monotonic()))
            if not readable:
                raise self._error(f"{self._title} said nothing for {self._answers_within_s:g} s")
            data = os.read(self._output, 1 << 16)
            if not data:
                raise self._error(f"{self._title} has ended: {self._last_words()}")
            self._read += data
        line, _, self._read = self._read.partition(b"\n")
        if not line.startswith(b"{"):
            raise self._error(f"{self._title} failed: {self._last_words(line)}")
        try:
            answer: object = json.loads(line)
        except ValueError as error:
            raise self._error(f"{self._title} says what cannot be read: {line[:200]!r}") from error
        return answer

    def _answer_as(self, kind: type[Answer]) -> Answer:
        try:
            return parsed(kind, self._answer(), f"what {self._title} says")
        except RecordError as error:
            raise self._error(error.what) from error

    def _last_words(self, before: bytes = b"") -> str:
        """Return the last words of a program: of a traceback, the last line."""
        words = before + b"\n" + self._read
        with contextlib.suppress(OSError):
            while select.select([self._output], [], [], ENDS_WITHIN_S)[0] and (data := os.read(self._output, 65536)):
                words += data
        lines = words.decode(errors="replace").strip().splitlines()
        return lines[-1].strip() if lines else "it said nothing"

    def close(self) -> None:
        """End it."""
        self._close_pipes()
        if self._process is None:
            return
        try:
            self._process.wait(ENDS_WITHIN_S)
        except TimeoutError:
            self._process.signal(9)

    def _close_pipes(self) -> None:
        for fd in (self._input, self._output):
            with contextlib.suppress(OSError):
                os.close(fd)
        self._input = self._output = -1
