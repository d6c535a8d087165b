"""A node that is reached through an agent, whatever carries the connection to it."""

import contextlib
import os
import socket
from pathlib import Path

from lanelab.driver.base.errors import NodeError
from lanelab.driver.bed.agent_connection import AgentConnection
from lanelab.driver.bed.agent_task import AgentTask
from lanelab.driver.bed.node import Command, Node, Process, Stdio, Terminal
from lanelab.driver.bed.terminal import stderr_apart


class AgentNode(Node):
    """A node behind an agent."""

    def __init__(self, name: str, connection: AgentConnection) -> None:
        super().__init__(name)
        self._agent = connection

    def spawn(self, command: Command, stdio: Stdio | None = None, terminal: Terminal | None = None) -> Process:
        stdio = stdio or Stdio()
        task = AgentTask(self._agent, f"'{command}'", stdio)
        task.begin(
            op="spawn",
            argv=list(command.argv),
            env=dict(command.env),
            cwd=command.cwd,
            stdin=stdio.stdin is not None,
            tty=[terminal.rows, terminal.columns] if terminal else None,
            stderr=stderr_apart(stdio),
        )
        task.await_start()
        task.feed()
        return task

    def put(self, source: Path, target: str, mode: int = 0o644) -> None:
        try:
            fd = os.open(source, os.O_RDONLY)
        except OSError as error:
            raise NodeError(f"cannot read {source}: {error.strerror}") from error
        try:
            task = AgentTask(self._agent, f"writing {target}", Stdio(stdin=fd), whole=True)
            task.begin(op="put", path=target, mode=mode)
            task.feed()
            try:
                task.wait()
            except NodeError as error:
                if task.cut:
                    raise NodeError(f"cannot read {source}: {task.cut.strerror}") from error
                raise
        finally:
            os.close(fd)

    def get(self, source: str, target: Path) -> None:
        part = target.with_name(target.name + ".part")
        try:
            with part.open("wb") as file:
                task = AgentTask(self._agent, f"reading {source}", Stdio(stdout=file.fileno()), whole=True)
                task.begin(op="get", path=source)
                status = task.wait()
                if task.cut:
                    raise task.cut
                if status != 0:
                    raise NodeError(f"on {self.name}, cannot read {source}")
            part.replace(target)
        except OSError as error:
            raise NodeError(f"cannot write {target}: {error.strerror}") from error
        finally:
            with contextlib.suppress(OSError):
                part.unlink()

    def connect(self, address: str, port: int, timeout_s: float = 1) -> socket.socket:
        """The agent carries it. `timeout_s` is for what the caller does with it: that nobody listens shows at once."""
        ours, theirs = socket.socketpair()
        task = AgentTask(self._agent, f"connecting to {address}:{port}", Stdio(theirs.fileno(), theirs.fileno()))
        theirs.close()
        try:
            task.begin(op="connect", address=address, port=port)
            task.await_start()
        except NodeError as error:
            ours.close()
            raise ConnectionRefusedError(str(error)) from error
        task.feed()
        ours.settimeout(timeout_s)
        return ours

    def close(self) -> None:
        self._agent.close()
