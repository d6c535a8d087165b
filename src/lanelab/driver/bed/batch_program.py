"""A program that takes a command a line and goes on running: `tc` and `ip` in their batch mode, a shell. In a router's
kernel the start of a program takes longer than most of what it does."""

import contextlib
import json
import os
import re
import select
import threading
import time
from collections.abc import Sequence

from lanelab.driver.base.errors import CommandFailed, NodeError, RecordError
from lanelab.driver.bed.node import Command, Node, Process, Stdio

ANSWERS_WITHIN_S = 60.0
FAILED = re.compile(r"Command failed -:(\d+)")
# The last word of each says that all before it is done. It is a line of JSON, which begins with a bracket.
TC = (("tc", "-s", "-json", "-force", "-batch", "-"), "qdisc show")
IP = (("ip", "-json", "-details", "-force", "-batch", "-"), "link show dev lo")
SHELL = (("sh",), "echo '[]'")


class BatchProgram:
    """One such program of a node. It starts when it is first needed, and again where it has ended. Several threads may
    ask."""

    def __init__(self, node: Node, program: tuple[Sequence[str], str]) -> None:
        self._node = node
        self._argv, self._show = program
        self._asking = threading.Lock()
        self._process: Process | None = None
        self._stdin = self._stdout = -1
        self._read = b""
        self._count = 0  # of lines that it was given

    def start(self) -> None:
        """Start it ahead of its first use."""
        with self._asking:
            self._require()

    def ask(self, lines: Sequence[str], *, may_fail: int = 0) -> tuple[list[str], object]:
        """Let it do these lines, of which the first `may_fail` may fail. Return what they wrote, and what it shows when
        all is done. Raises CommandFailed for the first of the others that fails, after the last one."""
        return self._do((*lines, self._show), may_fail)

    def show(self, command: str) -> object:
        """Return what this command shows, a line of JSON. Raises CommandFailed, and RecordError where it is none."""
        return self._do((command,))[1]

    def _do(self, lines: Sequence[str], may_fail: int = 0) -> tuple[list[str], object]:
        with self._asking:
            self._require()
            before, self._count = self._count, self._count + len(lines)
            self._write(lines)
            written: list[str] = []
            failures: dict[int, str] = {}
            shown = ""
            while not shown and len(lines) - 1 not in failures:
                line = self._line(lines, written)
                if failed := FAILED.fullmatch(line):
                    failures[int(failed[1]) - before - 1] = "; ".join(written)
                    written.clear()
                elif line.startswith("["):
                    shown = line
                elif line:
                    written.append(line)
        for number, why in failures.items():
            if number >= may_fail:
                what = f"{self._argv[0]} {lines[number]}"
                raise CommandFailed(f"on {self._node.name}, '{what}' failed: {why}", status=1)
        try:
            return written, json.loads(shown)
        except ValueError as error:
            what = f"on {self._node.name}, '{lines[-1]}' shows what cannot be read: {shown[:200]!r}"
            raise RecordError(what) from error

    def _require(self) -> None:
        if self._process is not None:
            return
        source, self._stdin = os.pipe()
        self._stdout, sink = os.pipe()
        try:
            self._process = self._node.spawn(Command(self._argv, cwd="/"), Stdio(source, sink, sink))
        except NodeError:
            self._forget()
            raise
        finally:
            os.close(source)
            os.close(sink)

    def _write(self, lines: Sequence[str]) -> None:
        data = "".join(f"{line}\n" for line in lines).encode()
        with contextlib.suppress(BrokenPipeError):  # what it says last tells why
            while data:
                data = data[os.write(self._stdin, data) :]

    def _line(self, lines: Sequence[str], written: Sequence[str]) -> str:
        until = time.monotonic() + ANSWERS_WITHIN_S
        while b"\n" not in self._read:
            readable, _, _ = select.select([self._stdout], [], [], max(0.0, until - time.monotonic()))
            data = os.read(self._stdout, 1 << 16) if readable else b""
            if not data:
                last = self._read.decode(errors="replace").strip() or "; ".join(written)
                self.close()
                why = f"it has ended: {last or 'it said nothing'}" if readable else "it said nothing"
                done = "; ".join(lines[:-1]) or lines[-1]
                raise CommandFailed(f"on {self._node.name}, '{self._argv[0]}' failed at '{done}': {why}", status=1)
            self._read += data
        line, _, self._read = self._read.partition(b"\n")
        return line.decode(errors="replace").strip()

    def close(self) -> None:
        """End it."""
        process, self._process = self._process, None
        self._forget()
        if process:
            process.signal(9)

    def _forget(self) -> None:
        for fd in (self._stdin, self._stdout):
            with contextlib.suppress(OSError):
                os.close(fd)
        self._stdin = self._stdout = -1
        self._read, self._count = b"", 0
