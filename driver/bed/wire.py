"""What the bed and an agent say to each other: JSON lines, and how much may be under way. No I/O.

    asked:  spawn in signal resize put get ack           each with the caller's number "id"
    told:   hello started out exit error ack

Bytes travel as base64. Each stream may have WINDOW bytes under way that the other side has not acknowledged, so
that a slow reader of one stream never blocks the others. Standard library only: it goes to nodes with the agent.
"""

from __future__ import annotations

import base64
import json
from typing import Any

VERSION = 1
WINDOW = 256 * 1024
CHUNK = 24 * 1024

Message = dict[str, Any]


def encode(message: Message) -> bytes:
    """One message as one line."""
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


def encode_bytes(data: bytes) -> str:
    return base64.b64encode(data).decode()


class Lines:
    """Bytes in, messages out; no I/O."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> list[Message]:
        *lines, self._rest = (self._rest + data).split(b"\n")
        return [json.loads(line) for line in lines if line.strip()]
