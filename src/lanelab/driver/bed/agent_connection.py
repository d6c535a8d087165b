"""The connection to an agent, whatever carries it."""

import contextlib
import queue
import socket
import threading
import time
from collections.abc import Callable
from typing import Protocol

from lanelab.driver.base.errors import NodeError
from lanelab.driver.bed.remote.agent_protocol import VERSION, Lines, Message, encode


class Task(Protocol):
    """A task that the agent does for us, under a number of ours."""

    def receive(self, message: Message) -> None:
        """Receive a message. The thread that reads the connection calls this, which must never wait."""


class AgentConnection:
    """The connection to an agent: sends requests, and hands each message that comes to the task that it belongs to."""

    def __init__(self, name: str, connection: socket.socket) -> None:
        self.name = name
        self._socket = connection
        self._sending = threading.Lock()
        self._tasks: dict[int, Task] = {}
        self._next = 1
        self._hello: queue.Queue[Message] = queue.Queue()
        self._on_loss: Callable[[], None] = lambda: None
        self.lost = threading.Event()
        self.last_message_at = time.monotonic()
        threading.Thread(target=self._receive, name=f"agent-{name}", daemon=True).start()

    def await_hello(self, timeout_s: float) -> Message:
        """Return the agent's first message. Raises TimeoutError, or NodeError when the connection closes first."""
        try:
            hello = self._hello.get(timeout=timeout_s)
        except queue.Empty:
            raise TimeoutError from None
        if not hello:
            raise NodeError(f"the {self.name} closed its connection before it was ready")
        if hello["version"] != VERSION:
            raise NodeError(f"the {self.name} speaks version {hello['version']} of the agent's protocol, not {VERSION}")
        return hello

    def register(self, task: Task) -> int:
        with self._sending:
            number = self._next
            self._next += 1
            self._tasks[number] = task
        if self.lost.is_set():
            task.receive({"ev": "lost"})
        return number

    def ask(self, **message: object) -> None:
        try:
            with self._sending:
                self._socket.sendall(encode(message))
        except OSError:
            self._lose()

    def when_lost(self, callback: Callable[[], None]) -> None:
        """Call this when the connection closes, or at once if it has."""
        self._on_loss = callback
        if self.lost.is_set():
            callback()

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def finish(self, timeout_s: float) -> None:
        """Close, and wait until the other side has ended too, at most this long."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_WR)
        self.lost.wait(timeout_s)
        self.close()

    def _receive(self) -> None:
        parser = Lines()
        try:
            while data := self._socket.recv(65536):
                self.last_message_at = time.monotonic()
                for message in parser.feed(data):
                    self._dispatch(message)
        except (OSError, ValueError):
            pass
        self._lose()

    def _dispatch(self, message: Message) -> None:
        if message["ev"] == "hello":
            self._hello.put(message)
        if message["ev"] in ("hello", "beat"):
            return
        task = self._tasks.get(message["id"])
        if message["ev"] in ("closed", "error"):
            self._tasks.pop(message["id"], None)
        if task:
            task.receive(message)

    def _lose(self) -> None:
        if self.lost.is_set():
            return
        self.lost.set()
        self._on_loss()  # before the tasks: its error says more than theirs
        self._hello.put({})
        for task in list(self._tasks.values()):
            task.receive({"ev": "lost"})
