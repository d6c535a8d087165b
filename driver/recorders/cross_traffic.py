"""Cross traffic of a trial: bulk TCP flows over the link that begin before the load and end after it.

It has the life of a recorder, and is no row of the registry: whether there is cross traffic is a setting of the link.
Its two programs (driver/bed/remote/cross.py) end with it, and with the bed at the latest.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import statistics
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from driver.bed.node import Command, Node, Stdio
from driver.bed.remote import cross
from driver.recorders.recorder import Context, Recorder, Recording, Weight
from driver.shaping.addresses import ADDRESSES
from driver.timeouts import scaled
from model.coded import Coded
from model.errors import BedError, NodeError
from model.evidence.cross import CrossEvidence, CrossFlow, ProbeTimes
from model.link import Link
from model.reasons import Reason

NAME, FILE = "cross", "cross.json"
SETTLE_S, SETTLE_TRIPS = 3.0, 10  # so long the flows run before the load: slow start is over and the queue stands
ANSWER_TIMEOUT_S = 60.0
BITS, PERCENT = 8, 100
ENDS = {"down": ("server", "client"), "up": ("client", "server")}  # sender and receiver


def settles_s(link: Link) -> float:
    """How long a trial waits for it."""
    return SETTLE_S + SETTLE_TRIPS * link.rtt.ns / 1e9 if link.cross else 0.0


class _NoOptions(Coded):
    """The link has them."""


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


class Cross(Recorder[_NoOptions]):
    name = NAME
    reason = Reason.CROSS_MISSING

    def __init__(self, link: Link) -> None:
        super().__init__(_NoOptions())
        self._link = link
        self._sender: _EndProgram | None = None
        self._receiver: _EndProgram | None = None
        self._idle_ms, self._flowing = 0.0, 0.0
        self._settled_s, self._ended = 0.0, False

    @classmethod
    def disk_bytes(cls, options: _NoOptions, weight: Weight) -> float:  # noqa: ARG003 - of a recorder
        return 0.0

    def start(self, context: Context) -> None:
        """Raises BedError. The load may begin when it returns: the flows have what they can get."""
        asked = self._link.cross
        self._folder = context.folder
        sender, receiver = (context.nodes[name] for name in ENDS[asked.way])
        port, flows = cross.PORT, asked.flows
        words = ("send", port, ADDRESSES[receiver.name], flows, asked.congestion_control)
        self._sender = _EndProgram(sender, *words)
        self._sender.answer()
        self._receiver = _EndProgram(receiver, "receive", port, ADDRESSES[sender.name], flows)
        self._idle_ms = float(self._receiver.answer()["idle_ms"])
        self._sender.tell("start")
        self._sender.answer()
        self._flowing = time.monotonic()
        time.sleep(settles_s(self._link))

    def _ends(self) -> Sequence[_EndProgram]:
        return [end for end in (self._receiver, self._sender) if end]

    def load_begins(self) -> None:
        self._settled_s = time.monotonic() - self._flowing
        for end in self._ends():
            end.tell("begin")

    def load_ended(self) -> None:
        for end in self._ends():
            end.tell("end")
        self._ended = True

    def stop(self) -> Recording:
        if not self._ended or self._sender is None or self._receiver is None:
            self.close()
            return Recording()  # there was no load, and the trial has failed already
        received, sent = self._receiver.answer(), self._sender.answer()
        self.close()
        (self._folder / FILE).write_text(json.dumps({"sender": sent, "receiver": received}))
        try:
            evidence = evidence_of(self._link, received, sent, self._idle_ms, self._settled_s)
        except (KeyError, TypeError, ValueError) as error:
            raise BedError(f"the programs of cross traffic do not tell what they saw: {error!r}") from error
        return Recording(files=(FILE,), measures=measures_of(self._link, evidence), evidence=evidence)

    def close(self) -> None:
        for end in self._ends():
            end.close()
        self._sender = self._receiver = None


def evidence_of(
    link: Link, received: Mapping[str, Any], sent: Mapping[str, Any], idle_ms: float, settled_s: float
) -> CrossEvidence:
    """What both ends saw, flow by flow. The receiver takes flows in the order in which the sender opens them."""
    trips: dict[int, list[float]] = {}
    for _, number, rtt_us, *_ in sent["samples"]:
        trips.setdefault(number, []).append(rtt_us / 1000)
    ends = zip(sent["flows"], received["before"], received["bytes"], strict=False)  # a judge counts them
    flows = tuple(
        CrossFlow(
            congestion_control=flow["control"],
            bytes_before=before,
            bytes=got,
            retransmissions=flow["retransmissions"],
            rtt_ms=round(statistics.median(trips[number]), 3) if number in trips else None,
            ended=flow["ended"],
        )
        for number, (flow, before, got) in enumerate(ends)
    )
    times = sorted(float(took) for _, took in received["answers"])
    probes = ProbeTimes(
        idle_ms=round(idle_ms, 3),
        sent=int(received["sent"]),
        answered=len(times),
        median_ms=round(statistics.median(times), 3) if times else None,
        worst_95_ms=round(times[min(len(times) - 1, len(times) * 95 // 100)], 3) if times else None,
    )
    return CrossEvidence(
        link.cross.way, flows, round(settled_s, 3), float(received["load_s"]), float(received["silence_s"]), probes
    )


def measures_of(link: Link, seen: CrossEvidence) -> dict[str, float]:
    """By their names in model/metrics.py."""
    bps = BITS * sum(flow.bytes for flow in seen.flows) / seen.load_s
    measures: dict[str, float] = {"cross_rate": bps}
    rate = link.down.rate if seen.way == "down" else link.up.rate
    if rate:
        measures["cross_share"] = PERCENT * bps / rate.bps
    trips = [flow.rtt_ms for flow in seen.flows if flow.rtt_ms is not None]
    if trips:
        measures["cross_rtt_ms"] = statistics.median(trips)
    probes = seen.probes
    for name, value in (("queueing_delay_ms", probes.median_ms), ("queueing_delay_95_ms", probes.worst_95_ms)):
        if value is not None:
            measures[name] = max(0.0, round(value - probes.idle_ms, 3))
    return measures
