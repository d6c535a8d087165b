"""The protocol between the bed and an agent: JSON lines, and how much may be under way. No I/O.

    asked:  spawn in signal resize put abandon get connect ack drop      each with the caller's number "id"; beat
    sent:   hello started out exit closed error ack beat

A process's own output comes before its "exit". "closed" is the last message about it: what it left behind has let go
of its outputs too. "drop" says that nobody reads a stream any more, "abandon" that the rest of a file will not come.

Bytes travel as base64. Each stream may have WINDOW bytes under way that the other side has not acknowledged, so
that a slow reader of one stream never blocks the others. Standard library only: it goes to nodes with the agent.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import TypedDict

VERSION = 3
WINDOW = 256 * 1024
CHUNK = 24 * 1024


class Message(TypedDict, total=False):
    """A message of either side. Which keys it has, follows from the first two."""

    op: str  # of what is asked
    ev: str  # of what is sent
    id: int
    # spawn
    argv: list[str]
    env: dict[str, str] | None
    cwd: str | None
    tty: list[int] | None  # rows and columns
    stdin: bool
    stderr: bool  # apart from the terminal
    # signal, resize, connect, put, get
    signal: int
    rows: int
    columns: int
    address: str
    port: int
    path: str
    mode: int
    # in, out, ack, drop
    data: str  # base64
    fd: int
    n: int  # bytes
    # hello, started, exit, closed, error
    version: int
    kernel: str
    pid: int
    status: int
    errno: int
    what: str


def encode(message: Mapping[str, object]) -> bytes:
    """Return one message as one line."""
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


def encode_bytes(data: bytes) -> str:
    return base64.b64encode(data).decode()


def missing_folder(folder: str) -> str:
    """Return why a command cannot run in that folder of this machine."""
    remark = " (its /run is its own)" if folder == "/run" or folder.startswith("/run/") else ""
    return f"the folder {folder} does not exist inside the bed{remark}"


class Lines:
    """Bytes in, messages out; no I/O."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> list[Message]:
        *lines, self._rest = (self._rest + data).split(b"\n")
        return [json.loads(line) for line in lines if line.strip()]
