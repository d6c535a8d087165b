"""Bulk TCP flows over a link: a program on each of its ends, driver/bed/remote/cross.py.

Both end with `close`, and with the bed at the latest.
"""

import time
from collections.abc import Mapping, Sequence
from typing import TypedDict

from lanelab.driver.base.errors import NodeError
from lanelab.driver.base.timeouts import scaled
from lanelab.driver.bed.addresses import ADDRESSES
from lanelab.driver.bed.line_program import LineProgram, Program
from lanelab.driver.bed.node import Node
from lanelab.driver.bed.remote import cross
from lanelab.driver.link import Link

SETTLE_S, SETTLE_TRIPS = 3.0, 10  # so long the flows run before a load: slow start is over and the queue stands
ANSWER_TIMEOUT_S = 60.0
PROGRAM = Program(cross)
ENDS = {"down": ("server", "client"), "up": ("client", "server")}  # sender and receiver


def settles_s(link: Link) -> float:
    """Return how long the cross traffic of a link takes until it has what it can get."""
    return SETTLE_S + SETTLE_TRIPS * link.rtt.ns / 1e9 if link.cross else 0.0


class _Idle(TypedDict):
    idle_ms: float


class CrossFlows:
    """The cross traffic that a link has."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._sender: LineProgram | None = None
        self._receiver: LineProgram | None = None
        self.idle_ms = 0.0  # the quickest round trip before the flows began
        self.flowing_since_s = 0.0

    def start(self, nodes: Mapping[str, Node]) -> None:
        """Raises BedError. When it returns, the flows have what they can get."""
        wanted = self._link.cross
        sender, receiver = (nodes[name] for name in ENDS[wanted.way])
        port, flows = cross.PORT, wanted.flows
        self._sender = _program(sender, "send", port, ADDRESSES[receiver.name], flows, wanted.congestion_control)
        self._sender.answer()
        self._receiver = _program(receiver, "receive", port, ADDRESSES[sender.name], flows)
        self.idle_ms = self._receiver.answer_as(_Idle)["idle_ms"]
        self._sender.tell("start")
        self._sender.answer()
        self.flowing_since_s = time.monotonic()
        time.sleep(settles_s(self._link))

    def tell(self, word: str) -> None:
        """Tell both ends `begin` or `end`: what they count lies between the two."""
        for end in self._ends():
            end.tell(word)

    def seen(self) -> tuple[cross.ReceiverReport, cross.SenderReport]:
        """Return what the receiver and the sender saw, once they were told the end."""
        if self._receiver is None or self._sender is None:
            raise NodeError("there is no cross traffic that could be read")
        return self._receiver.answer_as(cross.ReceiverReport), self._sender.answer_as(cross.SenderReport)

    def close(self) -> None:
        for end in self._ends():
            end.close()
        self._sender = self._receiver = None

    def _ends(self) -> Sequence[LineProgram]:
        return [end for end in (self._receiver, self._sender) if end]


def _program(node: Node, *words: object) -> LineProgram:
    """Return one of the two ends."""
    title = f"the program of cross traffic on {node.name}"
    return LineProgram(node, PROGRAM, title, NodeError, *words, answers_within_s=scaled(ANSWER_TIMEOUT_S))
