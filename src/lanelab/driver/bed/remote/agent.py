"""The agent: what runs on a node that is another machine or another kernel, and does what the bed asks of it.

It needs the files beside it and the standard library, so it can be started on any node that has Python 3.9 or later:
the router's kernel reads them through its root file system, an ssh host gets a copy. It speaks over two descriptors (a
connection, a pipe, an ssh channel). When they close, it ends every process that it started and then itself: nothing on
the node outlives the bed.
"""

from __future__ import annotations

import contextlib
import errno
import os
import platform
import selectors
import signal
import socket
from collections.abc import Callable
from pathlib import Path

from lanelab.driver.bed.remote.agent_channel import AgentChannel
from lanelab.driver.bed.remote.agent_protocol import VERSION, Message, missing_folder
from lanelab.driver.bed.remote.agent_start import Started, set_size, start_on_pipes, start_on_terminal
from lanelab.driver.bed.remote.agent_streams import Streams, Task

CONNECT_TIMEOUT_S = 1.0  # nobody else is served meanwhile


class Agent(Streams):
    """The loop: one thread, every descriptor non-blocking."""

    def __init__(self, fd_in: int, fd_out: int, on_beat: Callable[[], None] = lambda: None) -> None:
        """`on_beat`: called whenever the other side shows that it is there."""
        selector = selectors.DefaultSelector()
        # Whatever comes counts: a beat itself may have to wait behind much data.
        self.channel = AgentChannel(fd_in, fd_out, selector, self.handle, on_beat)
        super().__init__(selector, self.channel.send)
        self.operations: dict[str, Callable[[Message], None]] = {
            "spawn": self.spawn,
            "in": self.write_input,
            "signal": self.signal,
            "resize": self.resize,
            "put": self.put,
            "get": self.get,
            "abandon": self.abandon,
            "connect": self.connect,
            "beat": self.beat,
            "ack": self.acknowledge,
            "drop": self.drop,
        }

    # --- the loop

    def serve(self) -> None:
        """Serve until the channel closes, then end what was started."""
        wake_read, wake_write = os.pipe()
        for fd in (wake_read, wake_write):
            os.set_blocking(fd, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
        self.selector.register(wake_read, selectors.EVENT_READ, lambda _: self.reap(wake_read))
        self.channel.watch()
        self.send({"ev": "hello", "version": VERSION, "kernel": platform.release(), "pid": os.getpid()})
        while self.channel.open:
            for key, events in self.selector.select():
                key.data(events)
        self.end_everything()

    def handle(self, message: Message) -> None:
        try:
            self.operations[message["op"]](message)
        except Exception as error:  # noqa: BLE001 - one request that fails must not end the others
            self.fail(message, error)

    def fail(self, message: Message, error: Exception) -> None:
        number = int(message.get("id", 0))
        task = self.tasks.pop(number, None)
        if task:
            self.forget_files(task)
        what = (error.strerror if isinstance(error, OSError) else None) or repr(error)
        self.send({"ev": "error", "id": number, "errno": getattr(error, "errno", 0) or 0, "what": what})

    def beat(self, _message: Message) -> None:
        self.send({"ev": "beat"})

    # --- processes

    def spawn(self, message: Message) -> None:
        task = Task(message["id"])
        terminal, folder = message.get("tty"), message.get("cwd")
        if folder and not Path(folder).is_dir():
            raise OSError(errno.ENOENT, missing_folder(folder))
        environment = {**os.environ, **(message.get("env") or {})}
        if terminal:
            size, apart = (terminal[0], terminal[1]), bool(message.get("stderr"))
            started = start_on_terminal(message["argv"], environment, folder, size, stderr_apart=apart)
            task.input_is_terminal = True
        else:
            started = start_on_pipes(message["argv"], environment, folder, with_input=bool(message.get("stdin")))
        self.watch_started(task, started)
        self.tasks[task.number] = task
        self.send({"ev": "started", "id": task.number, "pid": task.pid})

    def watch_started(self, task: Task, started: Started) -> None:
        task.pid, task.input_fd = started.pid, started.input_fd
        for stream, fd in started.outputs:
            self.watch_output(task, fd, stream)

    def reap(self, wake_fd: int) -> None:
        with contextlib.suppress(BlockingIOError):
            os.read(wake_fd, 4096)
        while True:
            try:
                pid, raw = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            for task in list(self.tasks.values()):
                if task.pid == pid:
                    self.ended(task, os.waitstatus_to_exitcode(raw))

    def signal(self, message: Message) -> None:
        task = self.tasks.get(message["id"])
        if task and task.pid and task.status is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(task.pid, message["signal"])

    def resize(self, message: Message) -> None:
        task = self.tasks.get(message["id"])
        if task and task.input_is_terminal:
            set_size(task.input_fd, message["rows"], message["columns"])

    # --- connections

    def connect(self, message: Message) -> None:
        """Connect to a port of this node: it answers at once, or nobody listens."""
        connection = socket.create_connection((message["address"], message["port"]), CONNECT_TIMEOUT_S)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        task = Task(message["id"])
        task.is_connection = True
        fd = connection.detach()
        task.input_fd = os.dup(fd)
        self.watch_output(task, fd, 1)
        self.tasks[task.number] = task
        self.send({"ev": "started", "id": task.number, "pid": 0})

    # --- files

    def put(self, message: Message) -> None:
        task = Task(message["id"])
        task.input_fd = os.open(message["path"] + ".part", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, message["mode"])
        task.path, task.mode = message["path"], message["mode"]
        self.tasks[task.number] = task

    def abandon(self, _message: Message) -> None:
        """What is to be written cannot be read: a file that is cut must not get its name."""
        raise OSError(errno.ECANCELED, "its source cannot be read")

    def get(self, message: Message) -> None:
        """Through a process: a regular file cannot be polled."""
        self.spawn({"id": message["id"], "argv": ["cat", "--", message["path"]]})

    def end_everything(self) -> None:
        for task in list(self.tasks.values()):
            self.forget_files(task)
            if task.pid and task.status is None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(task.pid, signal.SIGKILL)
