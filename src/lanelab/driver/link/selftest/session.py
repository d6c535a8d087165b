"""The probe's programs on a node: one process there starts them, so that none waits for an interpreter."""

import contextlib
import json
import os
import queue
import threading
from typing import IO, Any

from lanelab.driver.base.errors import NodeError
from lanelab.driver.bed.line_program import Program as NodeProgram
from lanelab.driver.bed.node import Node, Process, Stdio
from lanelab.driver.bed.remote import probe, probe_packets, probe_tcp

PROBE = NodeProgram(probe, (probe_packets, probe_tcp))
Line = str | None  # None: the program has ended


class Session:
    """Starts programs on its node until it is closed, which ends those that still run. A context manager."""

    def __init__(self, node: Node) -> None:
        self.name = node.name
        source, self._stdin = os.pipe()
        stdout, sink = os.pipe()
        try:
            self._process: Process = node.spawn(PROBE.command(node), Stdio(source, sink, sink))
        except BaseException:
            os.close(self._stdin)
            os.close(stdout)
            raise
        finally:
            os.close(source)
            os.close(sink)
        self._programs: dict[int, queue.SimpleQueue[Line]] = {}
        self._asking = threading.Lock()
        self._last_words = ""
        self._ended = False
        self._reader = threading.Thread(target=self._read, args=(os.fdopen(stdout),), name=f"probe-{node.name}")
        self._reader.start()

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self._process.signal(9)
        os.close(self._stdin)
        self._process.wait()
        self._reader.join()

    def begin(self, *words: object) -> "Program":
        """Start one of the probe's programs."""
        with self._asking:
            number = len(self._programs) + 1
            lines = self._programs[number] = queue.SimpleQueue[Line]()
            if self._ended:
                lines.put(None)
        texts = list(map(str, words))
        self.tell(number, *texts)
        return Program(self, number, " ".join(texts), lines)

    def tell(self, number: int, *words: str) -> None:
        with self._asking, contextlib.suppress(BrokenPipeError):  # its end is told by what it no longer says
            os.write(self._stdin, json.dumps([number, *words]).encode() + b"\n")

    def failure(self, what: str, last_line: str) -> NodeError:
        why = last_line.strip() or self._last_words.strip() or "it said nothing"
        return NodeError(f"on {self.name}, the probe '{what}' failed: {why}")

    def _read(self, output: IO[str]) -> None:
        with output:
            for line in output:
                number, _, rest = line.rstrip("\n").partition(" ")
                program = self._programs.get(int(number)) if number.isdigit() else None
                if program is None:
                    self._last_words = line
                else:
                    program.put(rest or None)
        with self._asking:
            self._ended = True
            for each in self._programs.values():
                each.put(None)


class Program:
    """One of the probe's programs while it runs; it ends by itself, or with its session."""

    def __init__(self, session: Session, number: int, what: str, lines: "queue.SimpleQueue[Line]") -> None:
        self._session, self._number, self._what, self._lines = session, number, what, lines
        self._has_ended = False

    def go(self) -> None:
        """End its stdin: what waits for that goes on."""
        self._session.tell(self._number)

    def result(self) -> Any:  # noqa: ANN401 - what a program says is its own
        """Return what it says next. Raises NodeError where it has failed."""
        line = self._line()
        try:
            return json.loads(line or "")
        except ValueError:
            last = line
            while not self._has_ended:  # of a traceback, the last line
                last = line or last
                line = self._line()
            raise self._session.failure(self._what, last or "") from None

    def _line(self) -> Line:
        line = self._lines.get()
        self._has_ended = line is None
        return line
