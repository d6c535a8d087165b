"""This machine as a node, as bare as can be: programs start as they are, and the test ends them."""

import shutil
import socket
import subprocess
import sys
from pathlib import Path

from lanelab.driver.bed.node import Command, LocalProcess, Node, Process, Stdio, Terminal


class Here(Node):
    """This machine as a node."""

    python = (sys.executable, "-I", "-S")

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.started: list[subprocess.Popen[bytes]] = []

    def spawn(self, command: Command, stdio: Stdio | None = None, terminal: Terminal | None = None) -> Process:
        assert stdio
        assert terminal is None
        argv = [str(shutil.which(command.argv[0])), *command.argv[1:]]
        popen = subprocess.Popen(
            argv, stdin=stdio.stdin, stdout=stdio.stdout, stderr=stdio.stderr, start_new_session=True
        )
        self.started.append(popen)
        return LocalProcess(popen)

    def put(self, source: Path, target: str, mode: int = 0o644) -> None:
        raise NotImplementedError

    def get(self, source: str, target: Path) -> None:
        raise NotImplementedError

    def connect(self, address: str, port: int, timeout_s: float = 1) -> socket.socket:
        raise NotImplementedError

    def close(self) -> None:
        raise NotImplementedError
