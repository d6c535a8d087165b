"""Bulk TCP flows over a link: a program on each of its ends, driver/bed/remote/cross.py.

Both end with `close`, and with the bed at the latest.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from driver.bed.node import Command, Node, Stdio
from driver.bed.remote import cross
from driver.shaping.addresses import ADDRESSES
from driver.timeouts import scaled
from model.errors import NodeError
from model.link import Link

SETTLE_S, SETTLE_TRIPS = 3.0, 10  # so long the flows run before a load: slow start is over and the queue stands
ANSWER_TIMEOUT_S = 60.0
ENDS = {"down": ("server", "client"), "up": ("client", "server")}  # sender and receiver


def settles_s(link: Link) -> float:
    """How long the cross traffic of a link takes until it has what it can get."""
    return SETTLE_S + SETTLE_TRIPS * link.rtt.ns / 1e9 if link.cross else 0.0


class CrossFlows:
    """The cross traffic that a link has."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._sender: _EndProgram | None = None
        self._receiver: _EndProgram | None = None
        self.idle_ms = 0.0  # the quickest round trip before the flows began
        self.flowing_since_s = 0.0

    def start(self, nodes: Mapping[str, Node]) -> None:
        """Raises BedError. When it returns, the flows have what they can get."""
        asked = self._link.cross
        sender, receiver = (nodes[name] for name in ENDS[asked.way])
        port, flows = cross.PORT, asked.flows
        self._sender = _EndProgram(sender, "send", port, ADDRESSES[receiver.name], flows, asked.congestion_control)
        self._sender.answer()
        self._receiver = _EndProgram(receiver, "receive", port, ADDRESSES[sender.name], flows)
        self.idle_ms = float(self._receiver.answer()["idle_ms"])
        self._sender.tell("start")
        self._sender.answer()
        self.flowing_since_s = time.monotonic()
        time.sleep(settles_s(self._link))

    def tell(self, word: str) -> None:
        """`begin` or `end`: what both ends count lies between the two."""
        for end in self._ends():
            end.tell(word)

    def seen(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """What the receiver and the sender saw, once they were told the end."""
        if self._receiver is None or self._sender is None:
            raise NodeError("there is no cross traffic that could be read")
        return self._receiver.answer(), self._sender.answer()

    def close(self) -> None:
        for end in self._ends():
            end.close()
        self._sender = self._receiver = None

    def _ends(self) -> Sequence[_EndProgram]:
        return [end for end in (self._receiver, self._sender) if end]


class _EndProgram:
    """One of the two programs."""

    def __init__(self, node: Node, *words: object) -> None:
        self._node, self._received = node, b""
        source, self._stdin = os.pipe()
        self._stdout, sink = os.pipe()
        try:
            argv = [*node.python, node.program_of_ours(Path(cross.__file__)), *map(str, words)]
            self._process = node.spawn(Command(argv), Stdio(source, sink, sink))
        except BaseException:
            self._close_pipes()
            raise
        finally:
            os.close(source)
            os.close(sink)

    def tell(self, word: str) -> None:
        try:
            os.write(self._stdin, f"{word}\n".encode())
        except OSError as error:
            raise NodeError(f"on {self._node.name}, the program of cross traffic has ended: {error}") from error

    def answer(self) -> Any:  # noqa: ANN401 - what a program says is its own
        until = time.monotonic() + scaled(ANSWER_TIMEOUT_S)
        while b"\n" not in self._received:
            ready, _, _ = select.select([self._stdout], [], [], max(until - time.monotonic(), 0))
            data = os.read(self._stdout, 65536) if ready else b""
            if not data:
                break
            self._received += data
        line, _, self._received = self._received.partition(b"\n")
        try:
            return json.loads(line)
        except ValueError:
            words = (line + b"\n" + self._received + self._rest()).decode(errors="replace").strip().splitlines()
            why = words[-1] if words else "it said nothing"  # of a traceback, the last line
            raise NodeError(f"on {self._node.name}, the program of cross traffic failed: {why}") from None

    def _rest(self) -> bytes:
        ready, _, _ = select.select([self._stdout], [], [], 1.0)
        return os.read(self._stdout, 65536) if ready else b""

    def close(self) -> None:
        self._process.signal(9)
        self._close_pipes()

    def _close_pipes(self) -> None:
        for end in (self._stdin, self._stdout):
            with contextlib.suppress(OSError):
                os.close(end)
        self._stdin = self._stdout = -1
