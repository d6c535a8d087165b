"""What an agent does for a node: commands, files, connections."""

import base64
import os
import queue
import select
import threading

from lanelab.driver.base.errors import NodeError
from lanelab.driver.base.writing import write_all
from lanelab.driver.bed.agent_connection import AgentConnection
from lanelab.driver.bed.node import Process, Stdio, Terminal
from lanelab.driver.bed.remote.agent_protocol import CHUNK, WINDOW, Message, encode_bytes


class AgentTask(Process):
    """Something that the agent does for us: it runs a command, or carries a file."""

    def __init__(self, connection: AgentConnection, what: str, stdio: Stdio, *, whole: bool = False) -> None:
        """`whole`: all that is carried or nothing counts, as of a file; `cut` is the error that ended it early."""
        self._agent, self._what, self._whole = connection, what, whole
        self.cut: OSError | None = None
        self._sinks = {stream: os.dup(fd) for stream, fd in ((1, stdio.stdout), (2, stdio.stderr)) if fd is not None}
        self._source = self._over_seen = self._over = -1
        if stdio.stdin is not None:
            self._source = os.dup(stdio.stdin)
            self._over_seen, self._over = os.pipe()  # the second is closed when the command has ended
        self._messages: queue.Queue[Message] = queue.Queue()
        self._room = threading.Semaphore(WINDOW // CHUNK)
        self._sent_pieces: list[int] = []
        self._started = threading.Event()
        self._ended = threading.Event()
        self._failure: NodeError | None = None
        self._status = 0
        self.number = connection.register(self)
        threading.Thread(target=self._deliver, name=f"task-{self.number}", daemon=True).start()

    def receive(self, message: Message) -> None:
        """Receive a message. The connection's thread calls this, which must never wait."""
        self._messages.put(message)

    def begin(self, **message: object) -> None:
        self._agent.ask(id=self.number, **message)

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
        self._agent.ask(op="signal", id=self.number, signal=number)

    def resize(self, terminal: Terminal) -> None:
        self._agent.ask(op="resize", id=self.number, rows=terminal.rows, columns=terminal.columns)

    def _carry(self) -> None:
        try:
            while True:
                self._room.acquire()
                data = self._next_piece()
                if data is None:
                    return
                self._sent_pieces.append(len(data))
                if self.cut:
                    self._agent.ask(op="abandon", id=self.number)
                    return
                self._agent.ask(op="in", id=self.number, data=encode_bytes(data))
                if not data:
                    return
        finally:
            self._close_source()

    def _next_piece(self) -> bytes | None:
        """Return the next piece of the source; None when the command has ended, which takes no more."""
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
            message = self._messages.get()
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

    def _write_out(self, message: Message) -> None:
        data = base64.b64decode(message["data"])
        sink = self._sinks.get(message["fd"])
        if sink is not None and data:
            try:
                write_all(sink, data)
            except OSError as error:  # whoever read it has gone; the command gets the error that a pipe would give it
                self.cut = error
                del self._sinks[message["fd"]]
                os.close(sink)
                self._agent.ask(op="drop", id=self.number, fd=message["fd"])
                return
        if data:
            self._agent.ask(op="ack", id=self.number, fd=message["fd"], n=len(data))

    def _end(self, message: Message) -> None:
        if message["ev"] == "lost":
            self._failure = NodeError(f"the {self._agent.name} went away during {self._what}")
        elif message["ev"] == "error":
            self._failure = NodeError(f"on {self._agent.name}, {self._what} failed: {message['what']}")
        else:
            self._status = message["status"]
        if self._over >= 0:
            os.close(self._over)
        self._ended.set()
        self._started.set()
        self._room.release()
