"""The channel between the controller and a bed process: JSON lines and open descriptors over a Unix socket.

Version 2. The bed process speaks first:      {"lanelab_bed": 2}
The controller asks:                          {"id": 7, "op": "exec", ...}          (+ "fds": how many come along)
                                              {"id": 8, "op": "do", "name": "set_link", "with": {...}}   (operations)
The bed process answers each, in any order:   {"id": 7, "ok": {...}} or {"id": 7, "error": {"type", "what", "remedy"}}
"""

import array
import contextlib
import json
import os
import socket
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypedDict

from lanelab.driver.base import errors
from lanelab.driver.base.coded import Coded
from lanelab.driver.base.errors import LanelabError

VERSION = 2
MAX_FDS = 8


class ErrorWords(TypedDict):
    """A LanelabError on its way."""

    type: str
    what: str
    remedy: str
    key: str
    place: str


class Answer(TypedDict, total=False):
    """The answer to a request: one of these, or none."""

    process: int  # the number of a command
    status: int  # of a command
    answer: object  # of an operation of the interfaces


Message = TypedDict(
    "Message",
    {
        "lanelab_bed": int,  # VERSION
        "id": int,
        "fds": int,  # so many descriptors come along
        "op": str,
        "ok": Answer,
        "error": ErrorWords,
        # do
        "name": str,
        "with": Mapping[str, object],
        # exec, script
        "node": str,
        "argv": list[str],
        "env": dict[str, str] | None,
        "cwd": str | None,
        "tty": list[int] | None,  # rows and columns
        # wait, signal, resize
        "process": int,
        "signal": int,
        "rows": int,
        "columns": int,
    },
    total=False,
)


@dataclass(frozen=True, slots=True)
class BedReady(Coded):
    """The first word of a bed process whose bed is up."""

    lanelab_bed: int  # VERSION
    router: str
    kernel: str  # of the router
    proven_bps: int  # the router carries so much exactly
    addresses: Mapping[str, str]  # of the nodes, on the management path
    bring_up_s: float


class Channel:
    """One end of the channel. Any thread may send; one thread receives."""

    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection
        self._sending = threading.Lock()
        self._rest = b""
        self._fds: list[int] = []

    def fileno(self) -> int:
        return self._socket.fileno()

    def send(self, message: Mapping[str, object], fds: Sequence[int] = ()) -> None:
        """Raises OSError when the other end is gone."""
        if fds:
            message = {**message, "fds": len(fds)}
        data = json.dumps(message, separators=(",", ":")).encode() + b"\n"
        with self._sending:
            sent = socket.send_fds(self._socket, [data], list(fds)) if fds else 0
            self._socket.sendall(data[sent:])

    def receive(self) -> tuple[Message, list[int]] | None:
        """Return the next message and its descriptors, which the caller owns; None when the channel is closed."""
        while b"\n" not in self._rest:
            try:
                data, ancillary, _, _ = self._socket.recvmsg(65536, socket.CMSG_SPACE(MAX_FDS * 4))
            except OSError:
                return None
            if not data:
                return None
            for level, kind, payload in ancillary:
                if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                    numbers = array.array("i")
                    numbers.frombytes(payload[: len(payload) - len(payload) % numbers.itemsize])
                    self._fds.extend(numbers)
            self._rest += data
        line, _, self._rest = self._rest.partition(b"\n")
        message: Message = json.loads(line)
        count = int(message.get("fds", 0))
        fds, self._fds = self._fds[:count], self._fds[count:]
        for fd in fds:
            os.set_inheritable(fd, False)
        return message, fds

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()


def error_to_message(error: LanelabError) -> ErrorWords:
    key, place = (getattr(error, name, "") for name in ("key", "place"))
    return {"type": type(error).__name__, "what": error.what, "remedy": error.remedy, "key": key, "place": place}


def error_from_message(message: ErrorWords) -> LanelabError:
    kind = getattr(errors, message["type"], None)
    if not (isinstance(kind, type) and issubclass(kind, LanelabError)):
        kind = errors.BedError  # of a part of the bed that has errors of its own
    error: LanelabError = kind(message["what"], message["remedy"])
    if isinstance(error, errors.InputError):
        error.key = message["key"]
    return error
