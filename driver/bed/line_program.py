"""A program of ours that runs on a node for long, and answers each line with a line of JSON."""

from __future__ import annotations

import contextlib
import json
import os
import select
import threading
import time
from pathlib import Path
from typing import Any

from driver.bed.node import Command, Node, Process, Stdio
from model.errors import BedError

ANSWERS_WITHIN_S, ENDS_WITHIN_S = 10.0, 2.0


class LineProgram:
    """One that runs. Raises its `error` where the program has ended, or says nothing."""

    def __init__(self, node: Node, path: Path, title: str, error: type[BedError]) -> None:
        """`title`: what messages call it."""
        source, self._input = os.pipe()
        self._output, sink = os.pipe()
        self._title, self._error = title, error
        self._read = b""
        self.failed = False
        self._asking = threading.Lock()
        self._process: Process | None = None
        try:
            self._process = node.spawn(Command([*node.python, node.program_of_ours(path)]), Stdio(source, sink, sink))
        finally:
            os.close(source)
            os.close(sink)
            if self._process is None:
                self._close_pipes()

    def ask(self, line: str) -> dict[str, Any]:
        with self._asking:
            try:
                data = line.encode() + b"\n"
                while data:
                    data = data[os.write(self._input, data) :]
                return self._answer()
            except OSError as error:
                self.failed = True
                raise self._error(f"{self._title} has ended: {self._last_words()}") from error
            except BedError:
                self.failed = True
                raise

    def _answer(self) -> dict[str, Any]:
        until = time.monotonic() + ANSWERS_WITHIN_S
        while b"\n" not in self._read:
            readable, _, _ = select.select([self._output], [], [], max(0.0, until - time.monotonic()))
            if not readable:
                raise self._error(f"{self._title} said nothing for {ANSWERS_WITHIN_S:g} s")
            data = os.read(self._output, 1 << 16)
            if not data:
                raise self._error(f"{self._title} has ended: {self._last_words()}")
            self._read += data
        line, _, self._read = self._read.partition(b"\n")
        if not line.startswith(b"{"):
            raise self._error(f"{self._title} failed: {self._last_words(line)}")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _last_words(self, before: bytes = b"") -> str:
        """Of a traceback, the last line."""
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
