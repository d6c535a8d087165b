"""This machine as a node: where pages of the world outside are recorded."""

from __future__ import annotations

import os
import signal
import socket
import sys
from pathlib import Path

from driver.bed.local import copy_whole, start_local
from driver.bed.node import Command, LocalProcess, Node, Process, Stdio, Terminal
from driver.bed.terminal import TerminalProcess
from driver.host.find_program import find, search_path
from model.configuration import PROJECT
from model.errors import NodeError

# What is started dies with us, however we end. For root it is an ordinary user: Chromium's sandbox wants that.
CONFINE = """
import os, sys
sys.path.insert(0, sys.argv[1])
from driver.bed.remote import namespaces
parent, root = int(sys.argv[2]), os.getuid() == 0
if root:
    namespaces.enter_user_namespace(0x00020000)
namespaces.die_with_parent(parent)
os.execvp(sys.argv[3], sys.argv[3:])
"""


class ThisMachine(Node):
    """No namespaces: its network is the machine's."""

    python = (str(Path(sys.executable).resolve()), "-I", "-S")

    def __init__(self) -> None:
        super().__init__("this machine")
        self._processes: list[LocalProcess | TerminalProcess] = []

    def spawn(self, command: Command, stdio: Stdio | None = None, terminal: Terminal | None = None) -> Process:
        environment = {**os.environ, "PATH": search_path(), **command.env}
        if find(command.argv[0]) is None and not os.access(command.argv[0], os.X_OK):
            raise NodeError(f"there is no program '{command.argv[0]}' on this machine", "Install it")
        argv = [*self.python, "-c", CONFINE, str(PROJECT), str(os.getpid()), *command.argv]
        process = start_local(argv, environment, (), stdio or Stdio(), terminal)
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
            raise NodeError(f"cannot copy {source} to {target}: {error.strerror or error}") from error

    def connect(self, address: str, port: int, timeout_s: float = 1) -> socket.socket:
        line = socket.create_connection((address, port), timeout_s)
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return line

    def close(self) -> None:
        for process in self._processes:
            process.signal(signal.SIGKILL)
        self._processes.clear()
