"""The agent: what runs on a node that is another machine or another kernel, and does what the bed asks of it.

This file, those beside it that it imports, and the standard library, so that it can be started on any node that has
Python 3.9 or later: the router's kernel reads them through its root file system, an ssh host gets a copy. It speaks
over two descriptors (a connection, a pipe, an ssh channel). When they close, it ends every process that it started and
then itself: nothing on the node outlives the bed.
"""

from __future__ import annotations

import base64
import contextlib
import errno
import fcntl
import os
import platform
import selectors
import signal
import socket
import struct
import termios
from collections.abc import Callable
from pathlib import Path

from driver.bed.remote.agent_channel import Line
from driver.bed.remote.agent_protocol import CHUNK, VERSION, WINDOW, Message, encode_bytes, missing_folder
from driver.bed.remote.agent_start import Started, set_size, start_on_pipes, start_on_terminal

CONNECT_TIMEOUT_S = 1.0  # nobody else is served meanwhile


def waiting_bytes(fd: int) -> int:
    """How much could be read at once."""
    return int(struct.unpack("i", fcntl.ioctl(fd, termios.FIONREAD, bytes(4)))[0])


class Output:
    """A descriptor of ours that is read and sent to the caller as stream `stream` of `owner`."""

    def __init__(self, owner: Task, fd: int, stream: int) -> None:
        self.owner, self.fd, self.stream = owner, fd, stream
        self.credit = WINDOW
        self.watched = False
        self.owed = 0  # bytes that were waiting when the process ended: they are told before its end


class Task:
    """A process, a connection, or a file being written or read, under the caller's number."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.pid = 0
        self.status: int | None = None
        self.exit_told = False
        self.input_fd = -1
        self.input_waiting: list[bytes] = []
        self.input_watched = False
        self.input_is_terminal = False
        self.outputs: list[Output] = []
        self.is_connection = False
        self.path = ""  # of a file that is being written; it gets its name when it is whole
        self.mode = 0


class Agent:
    """The loop: one thread, every descriptor non-blocking."""

    def __init__(self, fd_in: int, fd_out: int, on_beat: Callable[[], None] = lambda: None) -> None:
        """`on_beat`: called whenever the other side shows that it is there."""
        self.tasks: dict[int, Task] = {}
        self.selector = selectors.DefaultSelector()
        # Whatever comes tells that: a beat itself may have to wait behind much data.
        self.line = Line(fd_in, fd_out, self.selector, self.handle, on_beat)
        self.tell = self.line.tell
        self.asked: dict[str, Callable[[Message], None]] = {
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
        """Serve until the line closes, then end what was started."""
        wake_read, wake_write = os.pipe()
        for fd in (wake_read, wake_write):
            os.set_blocking(fd, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
        self.selector.register(wake_read, selectors.EVENT_READ, lambda _: self.reap(wake_read))
        self.line.watch()
        self.tell({"ev": "hello", "version": VERSION, "kernel": platform.release(), "pid": os.getpid()})
        while self.line.open:
            for key, events in self.selector.select():
                key.data(events)
        self.end_everything()

    def handle(self, message: Message) -> None:
        try:
            self.asked[message["op"]](message)
        except Exception as error:  # noqa: BLE001 - one request that fails must not end the others
            self.fail(message, error)

    def fail(self, message: Message, error: Exception) -> None:
        number = int(message.get("id", 0))
        task = self.tasks.pop(number, None)
        if task:
            self.forget_files(task)
        what = error.strerror if isinstance(error, OSError) else repr(error)
        self.tell({"ev": "error", "id": number, "errno": getattr(error, "errno", 0) or 0, "what": what})

    def beat(self, _message: Message) -> None:
        self.tell({"ev": "beat"})

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
        self.tell({"ev": "started", "id": task.number, "pid": task.pid})

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

    def ended(self, task: Task, status: int) -> None:
        """The process's own words come before its end. What it left behind may hold its outputs for as long as it
        likes: those are carried on, but nobody waits for them."""
        task.status = status
        for output in task.outputs:
            output.owed = waiting_bytes(output.fd)
        for output in list(task.outputs):
            if output.watched:
                self.on_output(output)
        self.finish_if_done(task)

    def finish_if_done(self, task: Task) -> None:
        if task.status is None or task.number not in self.tasks:
            return
        if not task.exit_told and all(output.owed <= 0 for output in task.outputs):
            task.exit_told = True
            self.close_input(task)
            self.tell({"ev": "exit", "id": task.number, "status": task.status})
        if not task.outputs:
            del self.tasks[task.number]
            self.forget_files(task)
            self.tell({"ev": "closed", "id": task.number})

    def signal(self, message: Message) -> None:
        task = self.tasks.get(message["id"])
        if task and task.pid and task.status is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(task.pid, message["signal"])

    def resize(self, message: Message) -> None:
        task = self.tasks.get(message["id"])
        if task and task.input_is_terminal:
            set_size(task.input_fd, message["rows"], message["columns"])

    # --- streams

    def watch_output(self, task: Task, fd: int, stream: int) -> None:
        os.set_blocking(fd, False)
        output = Output(task, fd, stream)
        task.outputs.append(output)
        self.want_output(output, wanted=True)

    def want_output(self, output: Output, *, wanted: bool) -> None:
        if wanted and not output.watched:
            self.selector.register(output.fd, selectors.EVENT_READ, lambda _: self.on_output(output))
        elif output.watched and not wanted:
            self.selector.unregister(output.fd)
        output.watched = wanted

    def on_output(self, output: Output) -> None:
        task = output.owner
        if not output.watched:  # what was handled just before this has closed it
            return
        try:
            data = os.read(output.fd, min(CHUNK, output.credit))
        except BlockingIOError:
            return
        except OSError:  # a terminal whose last process is gone says EIO
            data = b""
        if data:
            output.credit -= len(data)
            output.owed -= len(data)
            if output.credit <= 0:
                self.want_output(output, wanted=False)
            self.tell({"ev": "out", "id": task.number, "fd": output.stream, "data": encode_bytes(data)})
        else:
            self.close_output(output)
            self.end_connection(task)
        self.finish_if_done(task)

    def close_output(self, output: Output) -> None:
        self.want_output(output, wanted=False)
        os.close(output.fd)
        output.owner.outputs.remove(output)

    def drop(self, message: Message) -> None:
        """Nobody reads that stream any more: who writes to it learns so from the kernel, as from any pipe."""
        task = self.tasks.get(message["id"])
        for output in list(task.outputs) if task else []:
            if task and output.stream == message["fd"]:
                self.close_output(output)
                if task.input_is_terminal and output.stream == 1:
                    self.close_input(task)
                self.end_connection(task)
                self.finish_if_done(task)

    def acknowledge(self, message: Message) -> None:
        task = self.tasks.get(message["id"])
        for output in task.outputs if task else []:
            if output.stream == message["fd"]:
                output.credit += message["n"]
                self.want_output(output, wanted=True)

    def write_input(self, message: Message) -> None:
        task = self.tasks.get(message["id"])
        if task and task.input_fd >= 0:
            task.input_waiting.append(base64.b64decode(message["data"]))
            self.on_input_room(task)

    def on_input_room(self, task: Task) -> None:
        try:
            while task.input_waiting:
                data = task.input_waiting[0]
                if not data:
                    self.end_input(task)
                    return
                written = os.write(task.input_fd, data)
                task.input_waiting[0] = data[written:]
                if written == len(data):
                    task.input_waiting.pop(0)
                self.tell({"ev": "ack", "id": task.number, "n": written})
        except BlockingIOError:
            if not task.input_watched:
                self.selector.register(task.input_fd, selectors.EVENT_WRITE, lambda _: self.on_input_room(task))
                task.input_watched = True
            return
        except OSError as error:
            if task.path:
                raise
            if error.errno:  # the process no longer reads; it says itself how it ends
                self.close_input(task)
            return
        self.unwatch_input(task)

    def end_input(self, task: Task) -> None:
        if task.input_is_terminal:
            task.input_waiting.pop(0)
            os.write(task.input_fd, b"\x04")
            return
        if task.is_connection:
            self.end_connection(task)
            self.finish_if_done(task)
            return
        path = task.path
        self.close_input(task)
        if path:
            part = Path(path + ".part")
            part.chmod(task.mode)
            part.replace(path)
            task.path = ""
            task.status = 0
            self.finish_if_done(task)

    def unwatch_input(self, task: Task) -> None:
        if task.input_watched:
            self.selector.unregister(task.input_fd)
            task.input_watched = False

    def close_input(self, task: Task) -> None:
        self.unwatch_input(task)
        task.input_waiting.clear()
        if task.input_fd >= 0:
            os.close(task.input_fd)
            task.input_fd = -1

    # --- connections

    def connect(self, message: Message) -> None:
        """To a port of this node's own: it answers at once, or nobody listens."""
        line = socket.create_connection((message["address"], message["port"]), CONNECT_TIMEOUT_S)
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        task = Task(message["id"])
        task.is_connection = True
        fd = line.detach()
        task.input_fd = os.dup(fd)
        self.watch_output(task, fd, 1)
        self.tasks[task.number] = task
        self.tell({"ev": "started", "id": task.number, "pid": 0})

    def end_connection(self, task: Task) -> None:
        """Whoever closes it first, all of it is over: nothing that we reach so has more to say to a closed line."""
        if not task.is_connection:
            return
        task.status = 0
        self.close_input(task)
        for output in list(task.outputs):
            self.close_output(output)

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

    def forget_files(self, task: Task) -> None:
        self.close_input(task)
        for output in task.outputs:
            self.want_output(output, wanted=False)
            os.close(output.fd)
        task.outputs.clear()
        if task.path:
            with contextlib.suppress(OSError):
                Path(task.path + ".part").unlink()

    def end_everything(self) -> None:
        for task in list(self.tasks.values()):
            self.forget_files(task)
            if task.pid and task.status is None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(task.pid, signal.SIGKILL)
