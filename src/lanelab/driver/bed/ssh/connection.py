"""The connection to a machine: one ssh. It carries questions about the machine first, then the agent's messages.

What the login shell over there reads is one short command without anything that any shell (sh, csh, fish) takes apart:
words, and Python in single quotes that has neither quotes nor an exclamation mark nor a backslash. It says a number
that nobody else could say, so whatever shells print before is passed over; then it reads the rest from us.
"""

import base64
import contextlib
import io
import json
import re
import secrets
import socket
import subprocess
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypedDict, TypeVar

from lanelab.driver.base.coded import parsed
from lanelab.driver.base.errors import HostAway, HostError, RecordError
from lanelab.driver.base.timeouts import scaled
from lanelab.driver.bed.agent_connection import AgentConnection
from lanelab.driver.bed.remote import namespaces
from lanelab.driver.bed.remote.examine import MachineReport
from lanelab.driver.bed.remote.keeper import Answer, Order
from lanelab.driver.bed.remote_files import remote_files
from lanelab.driver.bed.ssh.hosts import SshHost
from lanelab.driver.bed.ssh.refusals import refusal

PYTHON_NEEDED = (3, 9)
# The alarm ends it where lanelab vanishes without a word: nothing else would end it.
BEGIN = (
    "import sys,os,base64,signal;signal.alarm({within_s});"
    "print({number},sys.version_info[0],sys.version_info[1],os.geteuid(),flush=True);"
    "exec(base64.b64decode(sys.stdin.buffer.raw.readline()))"
)
WHO = """
import json
caps = [line.split()[1] for line in open("/proc/self/status") if line.startswith("CapEff:")]
print(json.dumps({"admin": bool(int(caps[0], 16) & 1 << 21), "connection": os.environ.get("SSH_CONNECTION", "")}),
      flush=True)
exec(base64.b64decode(sys.stdin.buffer.raw.readline()))
"""
# Not through a shell, so it may be quoted as it likes. sudo clears the environment: what we know of it stays with us.
# The alarm would be sudo's own.
BECOME_ROOT = """
signal.alarm(0)
try:
    os.execvp("sudo", ["sudo", "-n", "--", sys.executable, "-I", "-S", "-c", {begin!r}])
except OSError as error:
    sys.exit("sudo: " + ("there is no sudo there" if error.errno in (2, 13) else error.strerror))
"""
LOAD = """
data, fd = b"", os.memfd_create("lanelab")
while len(data) < {size}:
    piece = sys.stdin.buffer.raw.read({size} - len(data))
    if not piece:
        sys.exit()
    data += piece
with open(fd, "wb", closefd=False) as file:
    file.write(data)
sys.path.insert(0, "/proc/self/fd/%d" % fd)
sys.dont_write_bytecode = True
from lanelab.driver.bed.remote.keeper import main
main({connection!r}, {within_s})
"""
# LANELAB_PATIENCE multiplies these.
CONNECT_WITHIN_S = 25.0
ANSWER_WITHIN_S = 30.0
QUESTION_WITHIN_S = 60.0  # a machine may have to wait while another one becomes root
NOISE_AT_MOST = 1 << 20
CLOCK_TOLERANCE_S = 0.3  # a bed refuses a machine that is a second off


class _Who(TypedDict):
    """The words of WHO."""

    admin: bool
    connection: str


Word = TypeVar("Word", _Who, Answer)


def archive() -> bytes:
    """Return everything of ours that runs there, for Python's zipimport."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, path in remote_files().items():
            packed.writestr(name, path.read_bytes())
    return data.getvalue()


class SshConnection:
    """An ssh to a machine. It ends when the process that started it does, and so does everything over there."""

    def __init__(self, node: str, host: SshHost, log: Path, parent_pid: int) -> None:
        """Start ssh and return at once. `log` is where ssh's stderr goes."""
        self.node, self.host = node, host
        self._log = log
        self._number = secrets.randbelow(10**17) + 10**17
        ours, theirs = socket.socketpair()
        words = f"{host.python} -I -S -c '{self._begin()}'"

        def die_along() -> None:
            namespaces.die_with_parent(parent_pid)

        try:
            with log.open("wb") as output:
                self._process = subprocess.Popen(
                    host.command(words),
                    stdin=theirs.fileno(),
                    stdout=theirs.fileno(),
                    stderr=output,
                    preexec_fn=die_along,  # noqa: PLW1509 - before the first thread
                )
        except OSError as error:
            ours.close()
            raise HostError(f"cannot start ssh: {error.strerror}", "Install it (package openssh-client)") from error
        finally:
            theirs.close()
        self._socket = ours

    @property
    def title(self) -> str:
        return f"{self.host.name} ({self.node})"

    def open(self) -> None:
        """Wait until our program over there answers, with the rights that it needs. Raises HostError."""
        version, user = self._await_number()
        if version < PYTHON_NEEDED:
            need, has = ".".join(map(str, PYTHON_NEEDED)), ".".join(map(str, version))
            remedy = "Install a newer one, and name it with ansible_python_interpreter"
            raise HostError(f"{self.title}: its Python is {has}, and {need} is needed", remedy)
        self._run_there(WHO)
        who = self._answer(_Who)
        if user != 0 and not who["admin"]:
            self._become_root()
        packed = archive()
        within_s = _question_within_s()
        self._run_there(LOAD.format(size=len(packed), connection=who["connection"], within_s=within_s))
        self._send(packed, "while it was being prepared")

    def _begin(self) -> str:
        return BEGIN.format(number=self._number, within_s=_question_within_s())

    def _become_root(self) -> None:
        self._number += 1
        self._run_there(BECOME_ROOT.format(begin=self._begin()))
        try:
            self._await_number()
        except HostError as error:
            complaints = [line for line in self._complaints() if line.startswith("sudo")]
            why = complaints[-1].removeprefix("sudo: ") if complaints else error.what
            what = f"{self.title}: its user may not become root: {why}"
            raise HostError(what, "Let it use sudo without a password, or set ansible_user=root") from error

    def ask(self, op: str, **words: object) -> Any:  # noqa: ANN401 - JSON
        """Ask our program there. Raises HostError."""
        self._send(json.dumps({"op": op, **words}).encode() + b"\n", f"during '{op}'")
        answer = self._answer(Answer)
        if "error" in answer:
            passes = answer.get("passes", False)
            raise (HostAway if passes else HostError)(f"{self.title}: {answer['error']}")
        return answer["ok"]

    def report(self, names: list[str]) -> MachineReport:
        """Ask what the machine is, and which of these programs it has. Raises HostError."""
        facts = self.ask("facts", programs=names)
        try:
            return parsed(MachineReport, facts, f"what {self.title} says of itself")
        except RecordError as error:
            raise HostError(error.what, f"By hand: {self.host.by_hand}") from error

    def clock_offset_s(self) -> float:
        """Return how far its clock is ahead of ours, as the quickest of some answers tells."""
        answers = []
        for _ in range(3):
            before = time.time()
            its_time = self.ask("clock")
            after = time.time()
            answers.append((after - before, its_time - (before + after) / 2))
        return float(min(answers)[1])

    def set_clock(self) -> None:
        """Make its clock ours, unless it is right: a step that nobody needs is one too many."""
        ahead_s = self.clock_offset_s()
        if abs(ahead_s) > CLOCK_TOLERANCE_S:
            self.ask("set-clock", ahead_s=ahead_s)

    def become_agent(self, order: Order) -> AgentConnection:
        """The machine is a node from now on."""
        self.ask("hold", **order)
        self._socket.settimeout(None)
        agent = AgentConnection(self.node, self._socket)
        agent.await_hello(scaled(ANSWER_WITHIN_S))
        return agent

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def await_end(self, within_s: float) -> None:
        """What runs over there has ended when ssh does. Closed before."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(max(within_s, 0))

    def last_complaint(self) -> str:
        """Return the last complaint of ssh, or of a program over there."""
        return (self._complaints() or [""])[-1]

    def _complaints(self) -> list[str]:
        lines = self._log.read_text(errors="replace").splitlines() if self._log.exists() else []
        return [line.strip() for line in lines if line.strip()]

    def _run_there(self, program: str) -> None:
        self._send(base64.b64encode(program.encode()) + b"\n", "while it was being prepared")

    def _send(self, data: bytes, when: str) -> None:
        self._socket.settimeout(scaled(ANSWER_WITHIN_S))
        try:
            self._socket.sendall(data)
        except OSError:  # or a time-out: nobody over there reads
            raise self._gone(when) from None

    def _await_number(self) -> tuple[tuple[int, int], int]:
        """Pass over what the shell prints, our own words too; Python's version and the user's number."""
        numbers = re.compile(rb"%d (\d+) (\d+) (\d+)\r?\n$" % self._number)
        received = self._receive_until(
            lambda received: received.endswith(b"\n") and bool(numbers.search(received, max(len(received) - 100, 0))),
            scaled(CONNECT_WITHIN_S),
        )
        match = numbers.search(received)
        assert match  # noqa: S101 - that was waited for
        return (int(match[1]), int(match[2])), int(match[3])

    def _answer(self, kind: type[Word]) -> Word:
        line = self._receive_until(lambda received: received.endswith(b"\n"), scaled(ANSWER_WITHIN_S))
        try:
            return parsed(kind, json.loads(line), f"an answer of {self.title}")
        except (ValueError, RecordError):
            text = line[:200].decode(errors="replace").strip()
            what = f"{self.title}: something else than lanelab's own program answers: {text!r}"
            raise HostError(what, f"By hand: {self.host.by_hand}") from None

    def _receive_until(self, enough: Callable[[bytes], bool], timeout_s: float) -> bytes:
        """Receive byte by byte, since what comes after may be the agent's."""
        received, until = b"", time.monotonic() + timeout_s
        while not enough(received):
            self._socket.settimeout(max(until - time.monotonic(), 0.001))
            try:
                byte = self._socket.recv(1)
            except TimeoutError:
                what = f"{self.title}: no answer within {timeout_s:g} s{self._complaint()}"
                raise HostAway(what, "Does its shell wait for something at login?") from None
            except OSError:
                byte = b""
            if not byte or len(received) > NOISE_AT_MOST:
                raise self._gone("before it answered")
            received += byte
        return received

    def _complaint(self) -> str:
        return f": {self.last_complaint()}" if self.last_complaint() else ""

    def _gone(self, when: str) -> HostError:
        return refusal(self.title, self.host, self._complaints(), when)


def _question_within_s() -> int:
    return round(scaled(QUESTION_WITHIN_S))
