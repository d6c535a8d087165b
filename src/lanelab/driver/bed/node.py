"""A node: a place where commands run. Whoever holds one neither knows nor asks what it is made of."""

import contextlib
import os
import shlex
import socket
import subprocess
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from lanelab.driver.base.errors import CommandFailed, NodeError

IN_MEMORY = "/dev/shm"  # noqa: S108 - reading a node's file must work when the disk is full
NODE_NAMES = ("client", "router", "server")


@dataclass(frozen=True, slots=True)
class Stdio:
    """Descriptors of this process that become a command's own; None is /dev/null."""

    stdin: int | None = None
    stdout: int | None = None
    stderr: int | None = None


@dataclass(frozen=True, slots=True)
class Terminal:
    """A command gets a terminal of this size; its stdin and stdout are relayed to the descriptors of Stdio."""

    rows: int = 24
    columns: int = 80


@dataclass(frozen=True, slots=True)
class Command:
    """The command to run. Arguments are a list: no shell reads them."""

    argv: Sequence[str]
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: str | None = None  # None: /

    def __str__(self) -> str:
        return shlex.join(self.argv)


@dataclass(frozen=True, slots=True)
class Completed:
    """Says how a command ended. A negative status is the signal that killed it."""

    status: int
    stdout: str
    stderr: str


class Process(ABC):
    """A command that runs on a node; its owner ends it."""

    @abstractmethod
    def wait(self, timeout_s: float | None = None) -> int:
        """Return its status; negative: the signal that killed it. Raises TimeoutError."""

    @abstractmethod
    def signal(self, number: int) -> None:
        """Signal the command and what it started in its process group; nothing if it has ended."""

    def resize(self, terminal: Terminal) -> None:  # noqa: B027 - only commands on a terminal have a size
        """Tell the command that its terminal's size has changed."""


class Node(ABC):
    """One machine of a bed."""

    python: Sequence[str] = ("python3", "-I", "-S")  # how a program of ours is started there

    def __init__(self, name: str) -> None:
        self.name = name

    @abstractmethod
    def spawn(self, command: Command, stdio: Stdio | None = None, terminal: Terminal | None = None) -> Process:
        """Start a command and return at once. Raises NodeError when there is no such program."""

    @abstractmethod
    def put(self, source: Path, target: str, mode: int = 0o644) -> None:
        """Copy a local file to the node; the target has its name only when it is whole."""

    @abstractmethod
    def get(self, source: str, target: Path) -> None:
        """Copy a file of the node to a local file; the target has its name only when it is whole."""

    @abstractmethod
    def connect(self, address: str, port: int, timeout_s: float = 1) -> socket.socket:
        """Return a connection to a TCP port as if from within the node. It never crosses the link unless the address
        does. Raises OSError."""

    @abstractmethod
    def close(self) -> None:
        """End every process that was started here."""

    def cover(self, path: str, text: str) -> None:  # noqa: ARG002 - those who can have their own
        """Let everything on this node, and only there, find this text in a file of the system's, which stays as it is.

        For as long as the bed lives; covering it again changes the text. Where one machine is one node this may replace
        the file and put it back in `close`.
        """
        raise NodeError(f"{self.name} cannot have a {path} of its own", "Only client and server can")

    def write(self, path: str, data: bytes, mode: int = 0o644) -> None:
        """Make a file on the node; it has its name only when it is whole."""
        with _memory("write") as source:
            source.write(data)
            source.flush()
            self.put(Path(f"/proc/self/fd/{source.fileno()}"), path, mode)

    def read(self, path: str) -> bytes:
        """Return a file of the node, as it is now."""
        with tempfile.TemporaryDirectory(dir=IN_MEMORY if Path(IN_MEMORY).is_dir() else None) as folder:
            self.get(path, Path(folder, "read"))
            return Path(folder, "read").read_bytes()

    def exchange(self, address: str, port: int, data: bytes, timeout_s: float = 1) -> bytes:
        """Say something to a TCP port from within the node: the first bytes of the answer, none if nothing answers."""
        with contextlib.suppress(OSError), self.connect(address, port, timeout_s) as connection:
            connection.settimeout(timeout_s)
            connection.sendall(data)
            return connection.recv(65536)
        return b""

    def program_of_ours(self, path: Path) -> str:
        """Return where a program that lanelab brings along is on this node."""
        return str(path)

    def run(
        self, argv: Sequence[str], *, stdin: bytes = b"", check: bool = True, timeout_s: float | None = 60
    ) -> Completed:
        """Run a command to its end. With `check`, a status other than 0 raises CommandFailed with its words."""
        command = Command(argv, cwd="/")
        with _memory("stdin") as source, _memory("stdout") as out, _memory("stderr") as err:
            if stdin:
                source.write(stdin)
                source.seek(0)
            process = self.spawn(command, Stdio(source.fileno() if stdin else None, out.fileno(), err.fileno()))
            status = self._wait_or_kill(command, process, timeout_s)
            out.seek(0)
            err.seek(0)
            done = Completed(status, out.read().decode(errors="replace"), err.read().decode(errors="replace"))
        if check and done.status != 0:
            complaint = (done.stderr.strip() or done.stdout.strip() or "it said nothing").replace("\n", "; ")
            raise CommandFailed(f"on {self.name}, '{command}' {ended(done.status)}: {complaint}", status=done.status)
        return done

    def _wait_or_kill(self, command: Command, process: Process, timeout_s: float | None) -> int:
        try:
            return process.wait(timeout_s)
        except TimeoutError:
            process.signal(9)
            with contextlib.suppress(TimeoutError):  # where its machine is gone too, that is not all there is to say
                process.wait(5)
            raise NodeError(f"on {self.name}, '{command}' did not end within {timeout_s:g} s") from None


def _memory(name: str) -> BinaryIO:
    """A file that needs no disk: commands must run when it is full."""
    return os.fdopen(os.memfd_create(name), "wb+")


def ended(status: int) -> str:
    """Return a status in words."""
    return f"ended with status {status}" if status >= 0 else f"was killed by signal {-status}"


class LocalProcess(Process):
    """A process that is a child of this one."""

    def __init__(self, popen: subprocess.Popen[bytes]) -> None:
        self._popen = popen

    @property
    def pid(self) -> int:
        return self._popen.pid

    def ended(self) -> bool:
        return self._popen.poll() is not None

    def wait(self, timeout_s: float | None = None) -> int:
        try:
            return self._popen.wait(timeout_s)
        except subprocess.TimeoutExpired:
            raise TimeoutError from None

    def signal(self, number: int) -> None:
        if self._popen.poll() is None:
            try:
                os.killpg(self._popen.pid, number)
            except ProcessLookupError:
                return
