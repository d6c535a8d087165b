"""The player in the router, as the bed process knows it: one for the link that the bed has, where that moves."""

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
from model.errors import LinkError
from model.evidence.moving import Played

PROGRAM = Path(__file__).resolve().parents[1] / "bed" / "remote" / "player.py"
ANSWERS_WITHIN_S, ENDS_WITHIN_S = 10.0, 2.0
CLOCK_LOOKS = 7


class LinkPlayer:
    """Begins and ends what moves. Raises LinkError where the player has ended, or says nothing."""

    def __init__(self, router: Node, settings: dict[str, Any]) -> None:
        source, self._input = os.pipe()
        self._output, sink = os.pipe()
        self._read = b""
        self.failed = False
        self._asking = threading.Lock()
        self._process: Process | None = None
        try:
            command = Command([*router.python, router.program_of_ours(PROGRAM)])
            self._process = router.spawn(command, Stdio(source, sink, sink))
        finally:
            os.close(source)
            os.close(sink)
            if self._process is None:
                self._close_pipes()
        try:
            self._ask(json.dumps(settings, separators=(",", ":")))
            self._ahead_ns, self._uncertain_ns = self._clock()
        except BaseException:
            self.close()
            raise
        self._began: tuple[int, int] | None = None

    def _clock(self) -> tuple[int, int]:
        """By how much the router's clock is ahead of this one, and how uncertain that is."""
        looks = []
        for _ in range(CLOCK_LOOKS):
            before = time.time_ns()
            there = int(self._ask("clock")["unix_ns"])
            after = time.time_ns()
            looks.append(((after - before) // 2, there - (before + after) // 2))
        uncertain, ahead = min(looks)
        return ahead, uncertain

    def begin(self) -> None:
        """The traces begin."""
        self._ahead_ns, self._uncertain_ns = self._clock()
        self._began = int(self._ask("begin")["unix_ns"]) - self._ahead_ns, self._uncertain_ns

    def end(self) -> Played | None:
        """The link stands still again. None: nothing had begun."""
        if self._began is None:
            return None
        (began_ns, uncertain_ns), self._began = self._began, None
        done = self._ask("end")
        return Played(
            began_unix_us=began_ns // 1000,
            uncertain_us=uncertain_ns // 1000,
            ended_us=(int(done["unix_ns"]) - self._ahead_ns - began_ns) // 1000,
            steps=tuple((int(due), int(late)) for due, late in done["late"]),
            radio=tuple((int(at), str(state)) for at, state in done["radio"]),
        )

    def _ask(self, line: str) -> dict[str, Any]:
        with self._asking:
            try:
                data = line.encode() + b"\n"
                while data:
                    data = data[os.write(self._input, data) :]
                answer: dict[str, Any] = json.loads(self._line())
            except OSError as error:
                self.failed = True
                raise LinkError(f"the player in the router has ended: {self._last_words()}") from error
            except LinkError:
                self.failed = True
                raise
            return answer

    def _line(self) -> bytes:
        until = time.monotonic() + ANSWERS_WITHIN_S
        while b"\n" not in self._read:
            readable, _, _ = select.select([self._output], [], [], max(0.0, until - time.monotonic()))
            if not readable:
                raise LinkError(f"the player in the router said nothing for {ANSWERS_WITHIN_S:g} s")
            data = os.read(self._output, 1 << 16)
            if not data:
                raise LinkError(f"the player in the router has ended: {self._last_words()}")
            self._read += data
        line, _, self._read = self._read.partition(b"\n")
        if not line.startswith(b"{"):
            raise LinkError(f"the player in the router failed: {self._last_words(line)}")
        return line

    def _last_words(self, before: bytes = b"") -> str:
        """Of a traceback, the last line."""
        words = before + b"\n" + self._read
        with contextlib.suppress(OSError):
            while select.select([self._output], [], [], ENDS_WITHIN_S)[0] and (data := os.read(self._output, 65536)):
                words += data
        lines = words.decode(errors="replace").strip().splitlines()
        return lines[-1].strip() if lines else "it said nothing"

    def close(self) -> None:
        """End it. The link stays as it is at that moment: whoever closes this sets another, or ends the bed."""
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
