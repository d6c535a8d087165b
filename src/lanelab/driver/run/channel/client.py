"""The controller's end of a bed: starts the bed process, asks it for things, and ends it."""

import contextlib
import json
import os
import queue
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from types import TracebackType

from lanelab.driver.base import configuration, userns
from lanelab.driver.base.child_start import start_of
from lanelab.driver.base.coded import JsonObject
from lanelab.driver.base.errors import BedError, BedLost, LanelabError
from lanelab.driver.base.paths import SOURCES
from lanelab.driver.bed.node import Command, Process, Stdio, Terminal
from lanelab.driver.bed.registry import kind_named
from lanelab.driver.bed.substrate import BedSettings
from lanelab.driver.link.live.operations import LinkOperations
from lanelab.driver.run.channel.fact_operations import FactOperations
from lanelab.driver.run.channel.protocol import VERSION, Answer, BedReady, Channel, Message, error_from_message
from lanelab.driver.trial.operations import TrialOperations

# Whatever Python's own settings in the user's environment, which the commands in the bed get as they are.
START = start_of("lanelab.driver.run.channel.bed_start")
DOWN_TIMEOUT_S = 5


class Bed(LinkOperations, TrialOperations, FactOperations):
    """A bed in use. A context manager: leaving it ends the bed.

    Any thread of any process may start one, and any thread of that process may use it. The bed ends with the process
    that started it, at the latest.
    """

    def __init__(self, settings: BedSettings, *, on_start: Callable[[int], None] = lambda _pid: None) -> None:
        self.settings = settings
        self.folder = settings.folder
        ours, theirs = socket.socketpair()
        self._channel = Channel(ours)
        with (self.folder / "bed-process.log").open("wb") as log:
            self._process = subprocess.Popen(
                [
                    *userns.wrapper(),
                    sys.executable,
                    "-I",
                    "-c",
                    START,
                    str(SOURCES),
                    str(theirs.fileno()),
                    str(os.getpid()),
                ],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**os.environ, **configuration.current().environment(), "LANELAB_BED": self.folder.name},
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )
        theirs.close()
        on_start(self._process.pid)
        try:
            self.info = self._bring_up(ours)
        except BaseException:
            self._process.kill()  # it would not listen before its bed is up
            self.close()
            raise
        self._answers: dict[int, queue.Queue[Message]] = {}
        self._next = 1
        self._asking = threading.Lock()
        self._lost = False
        threading.Thread(target=self._receive, name="bed", daemon=True).start()

    def _bring_up(self, connection: socket.socket) -> BedReady:
        try:
            self._channel.send(self.settings.to_json())
        except OSError:
            raise self._lost_error("during its start") from None
        within_s = kind_named(self.settings.substrate).traits.up_within_s
        connection.settimeout(within_s)
        begun = time.monotonic()
        received = self._channel.receive()
        connection.settimeout(None)
        if received is None and time.monotonic() - begun >= within_s:
            raise BedError(f"the bed did not come up within {within_s:g} s", f"Its logs: {self.folder}")
        if received is None:
            raise self._lost_error("during its start")
        message = received[0]
        if "error" in message:
            raise error_from_message(message["error"])
        if message["lanelab_bed"] != VERSION:
            raise BedError(f"the bed process speaks version {message['lanelab_bed']}, not {VERSION}")
        (self.folder / "bed.json").write_text(json.dumps(message, indent=1) + "\n")
        return BedReady.from_json(message)

    @property
    def pid(self) -> int:
        """The number of the bed's outermost process."""
        return self._process.pid

    def __enter__(self) -> "Bed":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def ask(self, name: str, arguments: JsonObject, within_s: float) -> object:
        """Ask the bed's process to do one of the interfaces' operations."""
        request: Message = {"name": name, "with": dict(arguments)}
        return self._ask("do", request, within_s=within_s)["answer"]

    def exec(self, node: str, command: Command, stdio: Stdio, terminal: Terminal | None = None) -> Process:
        """Start a command on a node."""
        size = [terminal.rows, terminal.columns] if terminal else None
        argv, environment = list(command.argv), dict(command.env)
        return self._start(
            "exec", stdio, {"node": node, "argv": argv, "env": environment, "cwd": command.cwd, "tty": size}
        )

    def script(self, argv: Sequence[str], stdio: Stdio) -> Process:
        """Start a program beside the nodes, with the `node` helper on its PATH."""
        return self._start("script", stdio, {"argv": list(argv)})

    def _start(self, op: str, stdio: Stdio, request: Message) -> Process:
        null = os.open(os.devnull, os.O_RDWR)
        try:
            fds = [null if fd is None else fd for fd in (stdio.stdin, stdio.stdout, stdio.stderr)]
            return RemoteProcess(self, self._ask(op, request, fds)["process"])
        finally:
            os.close(null)

    def _ask(self, op: str, request: Message, fds: Sequence[int] = (), *, within_s: float | None = None) -> Answer:
        """Raises BedLost when the bed is gone, or does not answer in time: then it is ended, since nothing is known of
        it any more. Commands may take as long as they like."""
        called = request.get("name", op)
        answer: queue.Queue[Message] = queue.Queue()
        with self._asking:
            if self._lost:
                raise self._lost_error(f"before '{called}'")
            number, self._next = self._next, self._next + 1
            self._answers[number] = answer
        try:
            self._channel.send({"id": number, "op": op, **request}, fds)
        except OSError:
            raise self._lost_error(f"before '{called}'") from None
        try:
            message = answer.get(timeout=within_s)
        except queue.Empty:
            self._process.kill()
            raise BedLost(
                f"the bed did not answer '{called}' within {within_s:g} s", f"Its logs: {self.folder}"
            ) from None
        if "error" in message:
            raise error_from_message(message["error"])
        if "ok" not in message:
            raise self._lost_error(f"during '{called}'")
        return message["ok"]

    def _receive(self) -> None:
        while (received := self._channel.receive()) is not None:
            message = received[0]
            waiting = self._answers.pop(message["id"], None)
            if waiting:
                waiting.put(message)
        with self._asking:
            self._lost = True
            for waiting in self._answers.values():
                waiting.put({})

    def _lost_error(self, when: str) -> LanelabError:
        last_words = ""
        with contextlib.suppress(OSError):
            lines = (self.folder / "bed-process.log").read_text(errors="replace").strip().splitlines()
            last_words = f": {lines[-1]}" if lines else ""
        return BedLost(f"the bed process died {when}{last_words}", f"Its log: {self.folder / 'bed-process.log'}")

    def close(self) -> None:
        """End the bed and everything in it."""
        with contextlib.suppress(OSError):
            self._channel.send({"id": 0, "op": "down"})
        try:
            self._process.wait(DOWN_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()  # its first process dies with it, and with that the rest
            self._process.wait()
        self._channel.close()


class RemoteProcess(Process):
    """A command in the bed, seen from the controller."""

    def __init__(self, bed: Bed, number: int) -> None:
        self._bed, self._number = bed, number
        self._status: int | None = None

    def wait(self, timeout_s: float | None = None) -> int:
        """Wait for its end. There is no time limit: a caller that wants one waits in another thread."""
        if timeout_s is not None:
            raise TypeError("a command in the bed is waited for without a time-out")
        if self._status is None:
            self._status = self._bed._ask("wait", {"process": self._number})["status"]
        return self._status

    def signal(self, number: int) -> None:
        self._bed._ask("signal", {"process": self._number, "signal": number})

    def resize(self, terminal: Terminal) -> None:
        size: Message = {"rows": terminal.rows, "columns": terminal.columns}
        self._bed._ask("resize", {"process": self._number, **size})
