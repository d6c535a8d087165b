"""The fetcher's life in the client node: a plan of what it fetches, the program, and what it leaves.

It speaks on the link as the gateway does, by the same code; nobody stands before it.
"""

import contextlib
import json
import os
import select
import shlex
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass

from lanelab.driver.arm.gateway import log
from lanelab.driver.arm.gateway.configuration import VERSION, Names, dns_settings, wire_settings
from lanelab.driver.arm.wire import WireSettings
from lanelab.driver.base.errors import FetcherError, NodeError, RecordError
from lanelab.driver.base.timeouts import scaled
from lanelab.driver.bed.node import Command, Node, Process, Stdio, ended
from lanelab.driver.record.evidence.fetch import FetchReport
from lanelab.driver.record.evidence.gateway import GatewayLog

PROGRAM = "lanelab-fetcher"
STOP_WITHIN_S = 5.0  # after SIGTERM, at which it gives up what is under way and tells what there is
PRIVATE = 0o600
MOST_READ = 1 << 20  # bytes at once
FILES = {"plan": "fetch-plan.json", "log": "fetch-wire.jsonl", "keys": "keys.log", "report": "fetch.json"}


@dataclass(frozen=True, slots=True)
class Wanted:
    """The objects that a fetcher is asked for, and how."""

    objects: tuple[str, ...]  # host, path and query; in the order of asking
    at_once: int
    warm: bool
    accept_encoding: str  # "": the field is not sent
    timeout_ms: int  # of all together


def plan_text(arm: WireSettings, names: Names, folder: str, trusted: Sequence[str], wanted: Wanted) -> str:
    """Return the text of a plan. `trusted`: SHA-256 of the public keys that a server may have, base64."""
    plan = {
        "version": VERSION,
        "log": f"{folder}/{FILES['log']}",
        "keylog": "" if arm.tls == "off" else f"{folder}/{FILES['keys']}",
        "dns": dns_settings(names),
        "wire": wire_settings(arm, trusted),
        "objects": list(wanted.objects),
        "at_once": wanted.at_once,
        "warm": wanted.warm,
        "accept_encoding": wanted.accept_encoding,
        "timeout_ms": wanted.timeout_ms,
        "hold": True,  # what its connections use is read while they are there
    }
    return json.dumps(plan, indent=1) + "\n"


def read_report(text: str) -> FetchReport:
    """Return what a fetcher printed. Raises RecordError where that is no report."""
    try:
        data = json.loads(text)
    except ValueError:
        raise RecordError("the fetcher's report is no JSON", "Run the trial again") from None
    return FetchReport.from_json(data, "evidence.fetch")


class Fetcher:
    """One fetch. Whoever made it closes it."""

    def __init__(self, node: Node, program: str, folder: str, plan: str) -> None:
        """Put the plan where the fetcher works: on the node, in memory, its own. It is not started yet. Raises
        NodeError."""
        self._node, self._program, self._folder = node, program, folder
        node.run(["sh", "-c", f"umask 077; rm -rf {shlex.quote(folder)} && mkdir -p {shlex.quote(folder)}"])
        node.write(f"{folder}/{FILES['plan']}", plan.encode(), PRIVATE)
        self._process: Process | None = None
        self._errors = os.fdopen(os.memfd_create("fetcher"), "rb")
        self._reading: int | None = None
        self._output = b""
        self._status: int | None = None

    def start(self) -> None:
        """Begin to fetch. Raises NodeError."""
        command = Command([self._program, f"{self._folder}/{FILES['plan']}"])
        self._reading, writing = os.pipe()
        try:
            self._process = self._node.spawn(command, Stdio(None, writing, self._errors.fileno()))
        finally:
            os.close(writing)

    def has_told(self, within_s: float) -> bool:
        """Return whether it has told its report, or ended without one; it is given that long."""
        if self._reading is None or self._output.endswith(b"\n"):
            return True
        readable, _, _ = select.select([self._reading], [], [], within_s)
        data = os.read(self._reading, MOST_READ) if readable else b""
        self._output += data
        return bool(readable) and (not data or data.endswith(b"\n"))

    def stop(self) -> None:
        """Let it close its connections, and end. What is under way it gives up, and tells what there is."""
        if self._process is None or self._status is not None:
            return
        until = time.monotonic() + scaled(STOP_WITHIN_S)
        self._process.signal(signal.SIGTERM)
        while not self.has_told(max(0.0, until - time.monotonic())) and time.monotonic() < until:
            pass  # a report may come in parts
        for number in (None, signal.SIGKILL):
            if number:
                self._process.signal(number)
            with contextlib.suppress(TimeoutError):
                self._status = self._process.wait(scaled(STOP_WITHIN_S))
                return

    def report(self) -> FetchReport:
        """Return what it tells, when it was stopped. Raises FetcherError where it failed, and RecordError where it
        tells something else than a report."""
        if self._status != 0:
            how = "did not end" if self._status is None else ended(self._status)
            raise FetcherError(f"the fetcher {how}: {self._last_words()}", "Its plan is among the trial's files")
        return read_report(self._output.decode(errors="replace"))

    def log(self) -> GatewayLog:
        """Return what its log says, which is whole when it was stopped."""
        try:
            return log.parse(self._node.read(f"{self._folder}/{FILES['log']}"))
        except NodeError:
            return log.parse(b"")

    def files(self) -> dict[str, bytes]:
        """Return its plan and what it wrote, as files of the trial."""
        contents = {FILES["report"]: self._output}
        for name in (FILES["plan"], FILES["log"], FILES["keys"]):
            with contextlib.suppress(NodeError):
                contents[name] = self._node.read(f"{self._folder}/{name}")
        return contents

    def close(self) -> None:
        """End it, and forget what it said."""
        self.stop()
        reading, self._reading = self._reading, None
        if reading is not None:
            os.close(reading)
        self._errors.close()

    def _last_words(self) -> str:
        self._errors.seek(0)
        lines = [line.strip() for line in self._errors.read().decode(errors="replace").splitlines() if line.strip()]
        return "; ".join(lines[-3:]) or "it said nothing"
