"""This machine's side of a bed: its namespaces, processes and files."""

import contextlib
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from lanelab.driver.base.errors import NodeError
from lanelab.driver.bed.node import LocalProcess, Node, Process, Stdio, Terminal
from lanelab.driver.bed.remote import enclosure, namespaces
from lanelab.driver.bed.remote.refusals import diagnose
from lanelab.driver.bed.terminal import TerminalProcess


def enter_bed(controller: int | None) -> None:
    """Go on, in another process, inside the bed's own namespaces, which end with the controller (a pidfd).
    Raises NamespaceError."""
    try:
        enclosure.enter(namespaces.CLONE_NEWNET | namespaces.CLONE_NEWIPC, controller)
    except OSError as error:
        raise diagnose(error) from error
    Path(enclosure.BED_STATE).mkdir()


def copy_whole(source: Path, target: Path, mode: int | None = None) -> None:
    """Copy a file; the target has its name only when it is whole and has its mode."""
    part = target.with_name(target.name + ".part")
    try:
        shutil.copyfile(source, part)
        if mode is not None:
            part.chmod(mode)
        part.replace(target)
    except OSError:
        with contextlib.suppress(OSError):
            part.unlink()
        raise


def start_local(
    argv: Sequence[str], environment: dict[str, str], stdio: Stdio, terminal: Terminal | None
) -> LocalProcess | TerminalProcess:
    """Start a child of this process, on the given descriptors or on a terminal that is relayed to them."""
    if terminal:
        return TerminalProcess(argv, environment, stdio, terminal)
    return LocalProcess(
        subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL if stdio.stdin is None else stdio.stdin,
            stdout=subprocess.DEVNULL if stdio.stdout is None else stdio.stdout,
            stderr=subprocess.DEVNULL if stdio.stderr is None else stdio.stderr,
            env=environment,
            start_new_session=True,
        )
    )


class LocalNode(Node):
    """A node whose files are this machine's, and whose commands are children of this process."""

    python = (str(Path(sys.executable).resolve()), "-I", "-S")

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._spawning = threading.Lock()
        self._processes: list[LocalProcess | TerminalProcess] = []

    def _start(
        self, argv: Sequence[str], environment: dict[str, str], stdio: Stdio | None, terminal: Terminal | None
    ) -> Process:
        """Start a child that ends with the node."""
        process = start_local(argv, environment, stdio or Stdio(), terminal)
        with self._spawning:
            self._processes = [other for other in self._processes if not other.ended()]
            self._processes.append(process)
        return process

    def put(self, source: Path, target: str, mode: int = 0o644) -> None:
        self._copy(source, Path(target), mode)

    def get(self, source: str, target: Path) -> None:
        self._copy(Path(source), target)

    def _copy(self, source: Path, target: Path, mode: int | None = None) -> None:
        try:
            copy_whole(source, target, mode)
        except OSError as error:
            what = error.strerror or str(error)
            raise NodeError(f"on {self.name}, cannot copy {source} to {target}: {what}") from error

    def read(self, path: str) -> bytes:
        """A log is read after every trial, so not by a command."""
        try:
            return Path(path).read_bytes()
        except OSError as error:
            raise NodeError(f"on {self.name}, cannot read {path}: {error.strerror}") from error

    def close(self) -> None:
        with self._spawning:
            for process in self._processes:
                process.signal(signal.SIGKILL)
            self._processes.clear()


def connected(address: str, port: int, timeout_s: float) -> socket.socket:
    """Return a connection from the network of this thread. Raises OSError."""
    line = socket.create_connection((address, port), timeout_s)
    line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return line
