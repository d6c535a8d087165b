"""The gateway's life in the client node: put there, started, ready, ended, asked for what it wrote."""

import contextlib
import os
import select
import shlex
import signal
import time
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

from lanelab.driver.arm.gateway import log
from lanelab.driver.arm.gateway.configuration import Place, Spoken, configuration
from lanelab.driver.arm.servers.certificates import Leaf
from lanelab.driver.base.errors import GatewayError, NodeError
from lanelab.driver.bed.node import Command, Node, Process, Stdio, ended
from lanelab.driver.record.evidence.gateway import GatewayLog

READY = b"ready"
READY_WITHIN_S = 10.0
# It writes the rest of its log and ends within 100 ms of being asked to.
STOP_WITHIN_S = 5.0
PRIVATE = 0o600
MAKE = 'umask 077; rm -rf -- "$1" && mkdir -p -- "$1"'


class Gateway:
    """One gateway that speaks to the servers as an arm says. Whoever started it stops it."""

    def __init__(self, node: Node, place: Place, process: Process, output: BinaryIO) -> None:
        self._node, self._place, self._process, self._output = node, place, process, output
        self._failure: GatewayError | None = None
        self._stopped = False

    @classmethod
    def start(
        cls,
        node: Node,
        program: str,
        spoken: Spoken,
        folder: Path,
        leaf: Leaf,
        trusted: Sequence[str] = (),
    ) -> "Gateway":
        """Start it; the browser may come when this returns. `program` and `folder` are on the node, the folder in
        memory and its own. `leaf`: what it shows to the browser; `trusted`: the keys that a server may have."""
        place = Place(str(folder))
        node.run(["sh", "-c", MAKE, "sh", place.folder])
        node.write(place.configuration, configuration(spoken, place, trusted).encode(), PRIVATE)
        node.put(leaf.certificate, place.certificate, PRIVATE)
        node.put(leaf.key, place.key, PRIVATE)
        output = os.fdopen(os.memfd_create("gateway"), "rb")
        ready, stdout = os.pipe()
        try:
            command = Command([program, place.configuration])
            process = node.spawn(command, Stdio(None, stdout, output.fileno()))
        except BaseException:
            os.close(ready)
            output.close()
            raise
        finally:
            os.close(stdout)
        gateway_of_node = cls(node, place, process, output)
        try:
            gateway_of_node._await_ready(ready)
        except BaseException:
            with contextlib.suppress(GatewayError):  # it was reported already
                gateway_of_node.stop()
            raise
        finally:
            os.close(ready)
        return gateway_of_node

    def _await_ready(self, ready: int) -> None:
        """It says so on its stdout when it listens; that ends when it does."""
        output, until = b"", time.monotonic() + READY_WITHIN_S
        while READY not in output.split(b"\n")[:-1]:
            readable, _, _ = select.select([ready], [], [], max(until - time.monotonic(), 0))
            data = os.read(ready, 4096) if readable else b""
            if not data:
                break
            output += data
        else:
            return
        try:
            status = self._process.wait(0 if not readable else STOP_WITHIN_S)
        except TimeoutError:
            what = f"the gateway was not ready within {READY_WITHIN_S:g} s: {self._last_words()}"
            raise GatewayError(what, "Is the machine very busy?") from None
        what = f"the gateway {ended(status)} before it was ready: {self._last_words()}"
        raise GatewayError(what, f"Its configuration: {shlex.quote(self._place.configuration)}")

    def stop(self) -> None:
        """End it; what it wrote is whole then. Raises GatewayError when it had ended by itself, or would not end. Once
        is enough: after that it only says again what was wrong."""
        if not self._stopped:
            self._stopped = True
            self._failure = self._end()
            self._output.close()
        if self._failure:
            raise self._failure

    def _end(self) -> GatewayError | None:
        with contextlib.suppress(TimeoutError):
            status = self._process.wait(0)
            what = f"the gateway {ended(status)} by itself: {self._last_words()}"
            return GatewayError(what, "Its log is among the trial's files")
        self._process.signal(signal.SIGTERM)
        try:
            status = self._process.wait(STOP_WITHIN_S)
        except TimeoutError:
            self._process.signal(signal.SIGKILL)
            with contextlib.suppress(TimeoutError):
                self._process.wait(STOP_WITHIN_S)
            return GatewayError(f"the gateway did not end within {STOP_WITHIN_S:g} s of being asked to")
        if status != 0:
            return GatewayError(f"the gateway {ended(status)} when it was asked to end: {self._last_words()}")
        return None

    def files(self, names: dict[str, str]) -> dict[str, bytes]:
        """Return what it wrote of `log`, `keys` and `configuration`, under the names that are asked for."""
        contents = {}
        for what, name in names.items():
            with contextlib.suppress(NodeError):
                contents[name] = self._node.read(str(getattr(self._place, what)))
        return contents

    def record(self) -> GatewayLog:
        """Return what its log says so far."""
        try:
            return log.parse(self._node.read(self._place.log))
        except NodeError:
            return log.parse(b"")

    def _last_words(self) -> str:
        self._output.seek(0)
        lines = [line.strip() for line in self._output.read().decode(errors="replace").splitlines() if line.strip()]
        return "; ".join(lines[-5:]) or "it said nothing"
