"""The first bytes of one side of a connection, in their order: whole hellos, and whether a request follows.

Segments may come in any order, more than once, and captured only in part. What is kept is bounded.
"""

from collections.abc import Callable

from lanelab.driver.trial.packets import first_bytes

MOST_BYTES = 32 * 1024  # of the beginning of a side: more than any hello, and what comes before a first request
MOST_PARKED = 64  # segments that came before their turn
TLS_HEAD, H2_HEAD, SPDY_HEAD = 5, 9, 8  # bytes of the head of a record or frame
HANDSHAKE, APPLICATION = 22, 23  # types of TLS records
SEALED_13, SEALED_12 = 17, 24  # bytes that encryption adds to a record: TLS 1.3, and AES-GCM with TLS 1.2
PREFACE = len(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
H2_HEADERS = 1  # a type of frame
SPDY_SYN_STREAM = 1
# What a client without a request says by HTTP/2: preface and SETTINGS of six values (75 bytes), WINDOW_UPDATE (13), an
# acknowledgement of SETTINGS (9), an answer to a PING or a GOAWAY (17). A request's headers have more.
IDLE_H2 = 114
# Of a client whose records cannot be followed: key exchange, Finished, and an HTTP/2 session without a request.
IDLE_TLS = 450


class Beginning:
    """The bytes that one side says first."""

    __slots__ = ("data", "holes", "parked")

    def __init__(self) -> None:
        self.data = bytearray()  # what was not captured is zeros
        self.holes: list[tuple[int, int]] = []  # these: from, to
        self.parked: dict[int, tuple[bytes, int]] = {}

    @property
    def full(self) -> bool:
        return len(self.data) >= MOST_BYTES

    def add(self, offset: int, piece: bytes, carried: int) -> None:
        """Take what was captured of a segment: `piece` of its `carried` bytes, which begin `offset` into the stream."""
        if offset > MOST_BYTES:
            return
        if offset > len(self.data):
            if len(self.parked) < MOST_PARKED:
                self.parked.setdefault(offset, (piece, carried))
            return
        self._append(offset, piece, carried)
        while ready := [at for at in self.parked if at <= len(self.data)]:
            for at in ready:
                self._append(at, *self.parked.pop(at))

    def _append(self, offset: int, piece: bytes, carried: int) -> None:
        have = len(self.data)
        if offset + carried <= have:
            return
        self.data += piece[have - offset :]
        if missing := offset + carried - len(self.data):
            self.holes.append((len(self.data), len(self.data) + missing))
            self.data += bytes(min(missing, MOST_BYTES))

    def known(self) -> bytes:
        """Return the bytes up to the first one that was not captured."""
        return bytes(self.data[: self.holes[0][0]] if self.holes else self.data)

    def has(self, begin: int, end: int) -> bool:
        """Return whether these bytes are there."""
        return end <= len(self.data) and not any(begin < to and since < end for since, to in self.holes)


def is_told(begin: Beginning) -> bool:
    """Return whether no more bytes could tell more of a hello; of what is none, whether the protocol can be told."""
    known = begin.known()
    if begin.holes or begin.full:
        return True
    if len(known) >= first_bytes.SHORTEST and known[0] == HANDSHAKE and known[1] == 0x03:
        return first_bytes.is_whole(known)
    return len(known) >= len(first_bytes.H2_PREFACE)


def has_request(begin: Beginning, back: Beginning) -> bool | None:
    """Return whether the client's first bytes have a request in them. False: so far not. None: they cannot tell, and
    more of them could not either."""
    spoken = first_bytes.protocol(begin.known())
    if spoken is None:
        return None if begin.holes else False
    if spoken == first_bytes.TLS:
        return _has_request_in_tls(begin, back)
    if spoken == "h2":
        return _has_frame(begin, PREFACE if begin.data[:1] == b"P" else 0, H2_HEAD, _is_h2_headers)
    if spoken.startswith("spdy"):
        return _has_frame(begin, 0, SPDY_HEAD, _is_syn_stream)
    return True


def likely_request(begin: Beginning, payload: int) -> bool:
    """Guess whether it is a request by how much the client sent, where its first bytes cannot tell."""
    known = begin.known()
    if len(known) < TLS_HEAD or known[0] != HANDSHAKE:
        return payload > (IDLE_H2 if known[:1] in (b"P", b"\0", b"\x80", b"\x17", b"\x15") else 0)
    return payload > TLS_HEAD + int.from_bytes(known[3:5]) + IDLE_TLS


def _has_frame(begin: Beginning, at: int, head: int, wanted: Callable[[bytes], bool]) -> bool | None:
    """Return whether one of the frames from there on is that. A frame's head ends with the three bytes of its length
    (SPDY), or begins with them (HTTP/2)."""
    while begin.has(at, at + head):
        frame = bytes(begin.data[at : at + head])
        if wanted(frame):
            return True
        at += head + int.from_bytes(frame[5:8] if head == SPDY_HEAD else frame[:3])
    return _more_could_tell(begin, at)


def _more_could_tell(begin: Beginning, at: int) -> bool | None:
    return None if begin.full or (at < len(begin.data) and begin.holes) else False


def _is_h2_headers(frame: bytes) -> bool:
    return frame[3] == H2_HEADERS


def _is_syn_stream(frame: bytes) -> bool:
    return frame[0] & 0x80 != 0 and int.from_bytes(frame[2:4]) == SPDY_SYN_STREAM


def _has_request_in_tls(begin: Beginning, back: Beginning) -> bool | None:
    """Guess by the lengths of records, which are in clear."""
    version = first_bytes.tls_version(first_bytes.hello(back.known()))
    is_13 = version == "TLS 1.3"
    sealed, at, finished = 0, 0, not is_13  # in TLS 1.3 the client's Finished looks like data
    while begin.has(at, at + TLS_HEAD):
        kind, length = begin.data[at], int.from_bytes(begin.data[at + 3 : at + 5])
        if kind == APPLICATION:
            sealed += max(0, length - (SEALED_13 if is_13 else SEALED_12)) if finished else 0
            finished = True
        at += TLS_HEAD + length
    if version is None:
        return None if back.holes else False
    if sealed > (IDLE_H2 if _may_be_multiplexed(begin, back) else 0):
        return True
    return _more_could_tell(begin, at)


def _may_be_multiplexed(begin: Beginning, back: Beginning) -> bool:
    """Return whether the session may begin with something else than a request."""
    offered, chosen = first_bytes.hello(begin.known()), first_bytes.hello(back.known())
    names = (chosen.alpn if chosen else None) or (offered.alpn if offered else None)
    return names is None or any(name != "http/1.1" for name in names)
