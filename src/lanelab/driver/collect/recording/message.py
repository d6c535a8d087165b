"""One request and its answer as a connection carried them, whatever its protocol."""

from dataclasses import dataclass
from enum import Enum

from lanelab.driver.base.errors import LanelabError
from lanelab.driver.site.site import Headers


class WireError(LanelabError):
    """The bytes of a connection are not what its protocol allows."""


class End(Enum):
    """Says how far an answer came."""

    WHOLE = "whole"
    UNTIL_CLOSE = "until the connection closed"  # which is its end, if nobody cut it off
    CUT = "cut off"
    NONE = "no answer"


@dataclass(frozen=True, slots=True)
class Answer:
    """A final answer. Its head is there in full; its body may not be."""

    status: int
    reason: str
    headers: Headers
    body: bytes  # without transfer coding, with its content coding
    protocol: str
    end: End


@dataclass(frozen=True, slots=True)
class Message:
    """A request, and its answer if one came. Header fields are as they came: each byte is one character (latin-1)."""

    method: str
    target: str  # as it stands in the request; for HTTP/2 the path
    authority: str
    scheme: str | None  # where the protocol says it
    headers: Headers
    body: bytes
    offset: int  # in what the browser sent
    answer: Answer | None
    tunnel: bool = False  # what follows is another protocol, as WebSocket

    @property
    def end(self) -> End:
        return self.answer.end if self.answer else End.NONE
