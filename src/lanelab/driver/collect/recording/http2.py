"""What a connection carried, as the messages of HTTP/2. Pure: hyperframe reads the frames, hpack the header fields."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import hpack
from hpack.exceptions import HPACKError
from hyperframe import frame as frames
from hyperframe.exceptions import HyperframeError

from lanelab.driver.collect.recording.message import Answer, End, Message, WireError
from lanelab.driver.site.site import Headers

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
FRAME_HEAD = 9
LARGEST_TABLE = 1 << 24  # what the other side allows is agreed in frames that both may reorder; browsers say 64 KiB
LARGEST_LIST = 1 << 20


@dataclass(slots=True)
class Side:
    """The frames that one side sent in one stream."""

    offset: int = 0
    heads: list[Headers] = field(default_factory=list)
    data: list[bytes] = field(default_factory=list)
    ended: bool = False


@dataclass(slots=True)
class _Open:
    """A head that goes on in CONTINUATION frames."""

    stream: int
    block: bytearray
    ends: bool
    offset: int
    promised: bool


def messages(sent: bytes, received: bytes) -> Iterator[Message]:
    """Yield every request of the connection, in the order of their beginnings. Raises WireError at what is no
    HTTP/2."""
    if not sent.startswith(PREFACE):
        raise WireError("a connection does not begin as HTTP/2 does")
    requests_by_stream = streams(sent, len(PREFACE))
    answered = streams(received, 0)
    for number, side in requests_by_stream.items():
        if side.heads:
            yield _message(side, answered.get(number))


def streams(data: bytes, at: int) -> dict[int, Side]:
    """Return what one side sent, by stream, in the order of first heads. What is cut off at the end is left out."""
    sides: dict[int, Side] = {}
    decoder = hpack.Decoder(max_header_list_size=LARGEST_LIST)
    decoder.max_allowed_table_size = LARGEST_TABLE
    under_way: _Open | None = None
    for offset, frame in _frames(data, at):
        if under_way is not None:
            if not isinstance(frame, frames.ContinuationFrame) or frame.stream_id != under_way.stream:
                raise WireError("a head of HTTP/2 is interrupted by another frame")
            under_way.block += frame.data
        elif isinstance(frame, frames.HeadersFrame | frames.PushPromiseFrame):
            promised = isinstance(frame, frames.PushPromiseFrame)
            under_way = _Open(frame.stream_id, bytearray(frame.data), "END_STREAM" in frame.flags, offset, promised)
        elif isinstance(frame, frames.DataFrame):
            _take_data(sides, frame)
        if under_way is not None and "END_HEADERS" in frame.flags:
            _take_head(sides, under_way, _decoded(decoder, bytes(under_way.block)))
            under_way = None
    return sides


def _frames(data: bytes, at: int) -> Iterator[tuple[int, frames.Frame]]:
    view = memoryview(data)
    while len(data) - at >= FRAME_HEAD:
        try:
            frame, length = frames.Frame.parse_frame_header(view[at : at + FRAME_HEAD])
            body = at + FRAME_HEAD
            if len(data) - body < length:
                return
            frame.parse_body(view[body : body + length])
        except HyperframeError as error:
            raise WireError(f"a frame of HTTP/2 cannot be read: {error}") from error
        yield at, frame
        at = body + length


def _take_data(sides: dict[int, Side], frame: frames.DataFrame) -> None:
    side = sides.get(frame.stream_id)
    if side is None or not side.heads:
        raise WireError("a body of HTTP/2 came before its head")
    side.data.append(bytes(frame.data))
    side.ended = side.ended or "END_STREAM" in frame.flags


def _take_head(sides: dict[int, Side], head: _Open, headers: Headers) -> None:
    """A promise only moves the table: browsers refuse what servers push."""
    if head.promised:
        return
    side = sides.setdefault(head.stream, Side(head.offset))
    side.heads.append(headers)
    side.ended = side.ended or head.ends


def _decoded(decoder: hpack.Decoder, block: bytes) -> Headers:
    try:
        listed = decoder.decode(block, raw=True)
    except (HPACKError, IndexError, ValueError) as error:
        raise WireError(f"a head of HTTP/2 cannot be read: {error!r}") from error
    return tuple((_text(each[0]), _text(each[1])) for each in listed)


def _text(raw: bytes | str) -> str:
    return raw.decode("latin-1") if isinstance(raw, bytes) else raw


def _message(side: Side, answered: Side | None) -> Message:
    pseudo, headers = _split(side.heads[0])
    method = pseudo.get(":method", "")
    if not method:
        raise WireError("a request of HTTP/2 has no method")
    return Message(
        method=method,
        target=pseudo.get(":path", ""),
        authority=pseudo.get(":authority", ""),
        scheme=pseudo.get(":scheme"),
        headers=headers,
        body=b"".join(side.data),
        offset=side.offset,
        answer=_answer(answered) if answered else None,
        tunnel=method == "CONNECT",
    )


def _answer(side: Side) -> Answer | None:
    """Return the first head that is final; what comes after it are trailers."""
    for head in side.heads:
        pseudo, headers = _split(head)
        status = pseudo.get(":status", "")
        if not (len(status) == 3 and status.isascii() and status.isdigit()):
            raise WireError(f"an answer of HTTP/2 has the status {status[:20]!r}")
        if status[0] != "1":
            end = End.WHOLE if side.ended else End.CUT
            return Answer(int(status), "", headers, b"".join(side.data), "h2", end)
    return None


def _split(head: Headers) -> tuple[dict[str, str], Headers]:
    """Return pseudo fields, and the others in their order."""
    pseudo = {name: text for name, text in head if name.startswith(":")}
    return pseudo, tuple((name, text) for name, text in head if not name.startswith(":"))
