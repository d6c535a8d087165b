"""What the agent does for its caller, each under a number of the caller's, and the streams of all of it.

Standard library only, like the agent.
"""

from __future__ import annotations

import base64
import contextlib
import fcntl
import os
import selectors
import struct
import termios
from collections.abc import Callable
from pathlib import Path

from lanelab.driver.bed.remote.agent_protocol import CHUNK, WINDOW, Message, encode_bytes


def waiting_bytes(fd: int) -> int:
    """Return how much could be read at once."""
    return int(struct.unpack("i", fcntl.ioctl(fd, termios.FIONREAD, bytes(4)))[0])


class Output:
    """A descriptor of ours that is read and sent to the caller as stream `stream` of `owner`."""

    def __init__(self, owner: Task, fd: int, stream: int) -> None:
        self.owner, self.fd, self.stream = owner, fd, stream
        self.credit = WINDOW
        self.watched = False
        self.owed = 0  # bytes that were waiting when the process ended: they are sent before its end


class Task:
    """A process, a connection, or a file being written or read, under the caller's number."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.pid = 0
        self.status: int | None = None
        self.exit_sent = False
        self.input_fd = -1
        self.input_waiting: list[bytes] = []
        self.input_watched = False
        self.input_is_terminal = False
        self.outputs: list[Output] = []
        self.is_connection = False
        self.path = ""  # of a file that is being written; it gets its name when it is whole
        self.mode = 0


class Streams:
    """Carries the input and output of tasks. Every descriptor is non-blocking."""

    def __init__(self, selector: selectors.BaseSelector, send: Callable[[Message], None]) -> None:
        self.tasks: dict[int, Task] = {}
        self.selector, self.send = selector, send

    def ended(self, task: Task, status: int) -> None:
        """Send the process's own output before its end. A process that it left behind may hold the outputs for longer:
        they are carried on, but nobody waits for them."""
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
        if not task.exit_sent and all(output.owed <= 0 for output in task.outputs):
            task.exit_sent = True
            self.close_input(task)
            self.send({"ev": "exit", "id": task.number, "status": task.status})
        if not task.outputs:
            del self.tasks[task.number]
            self.forget_files(task)
            self.send({"ev": "closed", "id": task.number})

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
            self.send({"ev": "out", "id": task.number, "fd": output.stream, "data": encode_bytes(data)})
        else:
            self.close_output(output)
            self.end_connection(task)
        self.finish_if_done(task)

    def close_output(self, output: Output) -> None:
        self.want_output(output, wanted=False)
        os.close(output.fd)
        output.owner.outputs.remove(output)

    def drop(self, message: Message) -> None:
        """Nobody reads that stream any more. The kernel tells whoever writes to it, as with any pipe."""
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
                self.send({"ev": "ack", "id": task.number, "n": written})
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

    def end_connection(self, task: Task) -> None:
        """A connection ends as a whole, whichever side closes it first."""
        if not task.is_connection:
            return
        task.status = 0
        self.close_input(task)
        for output in list(task.outputs):
            self.close_output(output)

    def forget_files(self, task: Task) -> None:
        self.close_input(task)
        for output in task.outputs:
            self.want_output(output, wanted=False)
            os.close(output.fd)
        task.outputs.clear()
        if task.path:
            with contextlib.suppress(OSError):
                Path(task.path + ".part").unlink()
