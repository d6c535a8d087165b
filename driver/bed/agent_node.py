"""A node that is reached through the agent: whatever the line to it is made of."""

from __future__ import annotations

import base64
import contextlib
import os
import queue
import select
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from driver.bed.node import Command, Node, Process, Stdio, Terminal
from driver.bed.remote.agent_protocol import CHUNK, VERSION, WINDOW, Lines, encode, encode_bytes
from driver.bed.terminal import stderr_apart, write_all
from model.errors import NodeError


class AgentLink:
    """The line to an agent: sends what is asked, hands what is told to whoever asked."""

    def __init__(self, name: str, line: socket.socket) -> None:
        self.name = name
        self._line = line
        self._sending = threading.Lock()
        self._tasks: dict[int, AgentTask] = {}
        self._next = 1
        self._hello: queue.Queue[dict[str, Any]] = queue.Queue()
        self._when_lost: Callable[[], None] = lambda: None
        self.lost = threading.Event()
        self.heard = time.monotonic()  # when the agent last said anything
        threading.Thread(target=self._receive, name=f"agent-{name}", daemon=True).start()

    def await_hello(self, timeout_s: float) -> dict[str, Any]:
        """What the agent says when it is ready. Raises TimeoutError, or NodeError when the line closes first."""
        try:
            hello = self._hello.get(timeout=timeout_s)
        except queue.Empty:
            raise TimeoutError from None
        if not hello:
            raise NodeError(f"the {self.name} closed its line before it was ready")
        if hello["version"] != VERSION:
            raise NodeError(f"the {self.name} speaks version {hello['version']} of the agent's protocol, not {VERSION}")
        return hello

    def register(self, task: AgentTask) -> int:
        with self._sending:
            number = self._next
            self._next += 1
            self._tasks[number] = task
        if self.lost.is_set():
            task.told({"ev": "lost"})
        return number

    def ask(self, **message: object) -> None:
        try:
            with self._sending:
                self._line.sendall(encode(message))
        except OSError:
            self._lose()

    def when_lost(self, tell: Callable[[], None]) -> None:
        """Call that when the line closes, or at once if it has."""
        self._when_lost = tell
        if self.lost.is_set():
            tell()

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._line.shutdown(socket.SHUT_RDWR)
        self._line.close()

    def finish(self, timeout_s: float) -> None:
        """Close politely: wait until the other side has ended too, but not for ever."""
        with contextlib.suppress(OSError):
            self._line.shutdown(socket.SHUT_WR)
        self.lost.wait(timeout_s)
        self.close()

    def _receive(self) -> None:
        lines = Lines()
        try:
            while data := self._line.recv(65536):
                self.heard = time.monotonic()
                for message in lines.feed(data):
                    self._dispatch(message)
        except (OSError, ValueError):
            pass
        self._lose()

    def _dispatch(self, message: dict[str, Any]) -> None:
        if message["ev"] == "hello":
            self._hello.put(message)
        if message["ev"] in ("hello", "beat"):
            return
        task = self._tasks.get(message["id"])
        if message["ev"] in ("closed", "error"):
            self._tasks.pop(message["id"], None)
        if task:
            task.told(message)

    def _lose(self) -> None:
        if self.lost.is_set():
            return
        self.lost.set()
        self._when_lost()  # before those that wait: who knows why tells it better
        self._hello.put({})
        for task in list(self._tasks.values()):
            task.told({"ev": "lost"})


class AgentTask(Process):
    """Something that the agent does for us: a command, or a file that is carried."""

    def __init__(self, link: AgentLink, what: str, stdio: Stdio, *, whole: bool = False) -> None:
        """`whole`: all that is carried or nothing counts, as of a file; `cut` tells why it was not all."""
        self._link, self._what, self._whole = link, what, whole
        self.cut: OSError | None = None
        self._sinks = {stream: os.dup(fd) for stream, fd in ((1, stdio.stdout), (2, stdio.stderr)) if fd is not None}
        self._source = self._over_seen = self._over = -1
        if stdio.stdin is not None:
            self._source = os.dup(stdio.stdin)
            self._over_seen, self._over = os.pipe()  # the second is closed when the command has ended
        self._told: queue.Queue[dict[str, Any]] = queue.Queue()
        self._room = threading.Semaphore(WINDOW // CHUNK)
        self._sent_pieces: list[int] = []
        self._started = threading.Event()
        self._ended = threading.Event()
        self._failure: NodeError | None = None
        self._status = 0
        self.number = link.register(self)
        threading.Thread(target=self._deliver, name=f"task-{self.number}", daemon=True).start()

    def told(self, message: dict[str, Any]) -> None:
        """Called by the line's thread, which must never wait."""
        self._told.put(message)

    def begin(self, **message: object) -> None:
        self._link.ask(id=self.number, **message)

    def await_start(self) -> None:
        self._started.wait()
        if self._failure:
            self._close_source()
            raise self._failure

    def feed(self) -> None:
        """Carry our source to the agent, a window at a time, in a thread of its own."""
        if self._source >= 0:
            threading.Thread(target=self._carry, name=f"input-{self.number}", daemon=True).start()

    def ended(self) -> bool:
        return self._ended.is_set()

    def wait(self, timeout_s: float | None = None) -> int:
        if not self._ended.wait(timeout_s):
            raise TimeoutError
        if self._failure:
            raise self._failure
        return self._status

    def signal(self, number: int) -> None:
        self._link.ask(op="signal", id=self.number, signal=number)

    def resize(self, terminal: Terminal) -> None:
        self._link.ask(op="resize", id=self.number, rows=terminal.rows, columns=terminal.columns)

    def _carry(self) -> None:
        try:
            while True:
                self._room.acquire()
                data = self._next_piece()
                if data is None:
                    return
                self._sent_pieces.append(len(data))
                if self.cut:
                    self._link.ask(op="abandon", id=self.number)
                    return
                self._link.ask(op="in", id=self.number, data=encode_bytes(data))
                if not data:
                    return
        finally:
            self._close_source()

    def _next_piece(self) -> bytes | None:
        """The next of the source; None when the command has ended: what comes later is not for it."""
        watched = select.poll()
        watched.register(self._source, select.POLLIN)
        watched.register(self._over_seen, 0)
        while True:
            ready = watched.poll()
            if any(fd == self._over_seen for fd, _ in ready):
                return None
            try:
                return os.read(self._source, CHUNK)
            except BlockingIOError:  # another reader was faster
                continue
            except OSError as error:
                if self._whole:
                    self.cut = error
                return b""

    def _close_source(self) -> None:
        if self._source >= 0:
            os.close(self._source)
            os.close(self._over_seen)
            self._source = -1

    def _deliver(self) -> None:
        acknowledged, kind = 0, ""
        while kind not in ("closed", "error", "lost"):
            message = self._told.get()
            kind = message["ev"]
            if kind == "started":
                self._started.set()
            elif kind == "out":
                self._write_out(message)
            elif kind == "ack":
                acknowledged += message["n"]
                while self._sent_pieces and acknowledged >= self._sent_pieces[0]:
                    acknowledged -= self._sent_pieces.pop(0)
                    self._room.release()
            elif not self._ended.is_set():
                self._end(message)
        for sink in self._sinks.values():
            os.close(sink)
        self._sinks.clear()

    def _write_out(self, message: dict[str, Any]) -> None:
        data = base64.b64decode(message["data"])
        sink = self._sinks.get(message["fd"])
        if sink is not None and data:
            try:
                write_all(sink, data)
            except OSError as error:  # whoever read it is gone: the command learns it as it would from a pipe
                self.cut = error
                del self._sinks[message["fd"]]
                os.close(sink)
                self._link.ask(op="drop", id=self.number, fd=message["fd"])
                return
        if data:
            self._link.ask(op="ack", id=self.number, fd=message["fd"], n=len(data))

    def _end(self, message: dict[str, Any]) -> None:
        if message["ev"] == "lost":
            self._failure = NodeError(f"the {self._link.name} went away during {self._what}")
        elif message["ev"] == "error":
            self._failure = NodeError(f"on {self._link.name}, {self._what} failed: {message['what']}")
        else:
            self._status = message["status"]
        if self._over >= 0:
            os.close(self._over)
        self._ended.set()
        self._started.set()
        self._room.release()


class AgentNode(Node):
    """A node behind an agent."""

    def __init__(self, name: str, link: AgentLink) -> None:
        super().__init__(name)
        self._link = link

    def spawn(self, command: Command, stdio: Stdio | None = None, terminal: Terminal | None = None) -> Process:
        stdio = stdio or Stdio()
        task = AgentTask(self._link, f"'{command}'", stdio)
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
            task = AgentTask(self._link, f"writing {target}", Stdio(stdin=fd), whole=True)
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
                task = AgentTask(self._link, f"reading {source}", Stdio(stdout=file.fileno()), whole=True)
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
        """Carried by the agent. `timeout_s` is the caller's for what it does with it; that nobody listens is known at
        once."""
        ours, theirs = socket.socketpair()
        task = AgentTask(self._link, f"connecting to {address}:{port}", Stdio(theirs.fileno(), theirs.fileno()))
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
        self._link.close()
