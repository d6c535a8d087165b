"""The packets of each request of a trial: look-up, connection, request, response, acknowledgements, repetitions.

Pure: it is told what the record says of the requests and what tshark says of the packets.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from urllib.parse import urlsplit

from lanelab.analysis.results.dissection import Frame
from lanelab.driver.base.errors import CaptureError, InputError
from lanelab.driver.record.evidence.browser import Request
from lanelab.driver.record.evidence.ends import Ends

LOOK_UP, CONNECTION, REQUEST, RESPONSE, ACKNOWLEDGED = "look-up", "connection", "request", "response", "ack"
DNS, TLS = "DNS", "TLS"


@dataclass(frozen=True, slots=True)
class RequestPacket:
    """One packet of a request, and what it is for."""

    role: str
    frame: Frame


@dataclass(frozen=True, slots=True)
class Carried:
    """One request and where it went."""

    number: int  # as `show --trial` numbers them
    request: Request
    ends: Ends | None  # of its connection, as a log has them; None: nobody knows
    connection: int | None  # tshark's tcp.stream
    stream: int | None  # of HTTP/2 or SPDY
    packets: tuple[RequestPacket, ...]

    def of(self, *roles: str) -> list[Frame]:
        return [packet.frame for packet in self.packets if packet.role in roles]


@dataclass(frozen=True, slots=True)
class _Key:
    """The key that tells a request's packets from others on its connection: a stream, or the packet that asks, and
    which of the requests in that packet it is."""

    connection: int
    stream: int | None
    asking: int | None
    which: int = 0


class Dissected:
    """A trial's packets, and which request each belongs to. `ends`: of its connection, by the place of a request."""

    def __init__(self, frames: Sequence[Frame], requests: Sequence[Request], ends: Mapping[int, Ends]) -> None:
        self.frames = frames
        self.requests = requests
        self.ends = ends
        self.by_number = {frame.number: frame for frame in frames}
        self.by_connection: dict[int, list[Frame]] = {}
        self._asking: dict[Ends, list[Frame]] = {}  # what may ask for something
        for frame in frames:
            if frame.stream is not None:
                self.by_connection.setdefault(frame.stream, []).append(frame)
                if frame.up and frame.ends and (frame.streams or frame.opened or frame.targets):
                    for name in frame.ends.names:
                        self._asking.setdefault(name, []).append(frame)
        self._keys = self._find_all()

    def request(self, place: int) -> Carried:
        """Where no packet of it is known there are none."""
        request, key = self.requests[place], self._keys.get(place)
        ends = self.ends.get(place)
        if key is None:
            return Carried(place + 1, request, ends, None, None, ())
        return Carried(place + 1, request, ends, key.connection, key.stream, tuple(self._packets(place, key)))

    def shared(self) -> frozenset[int]:
        """Return numbers of packets that several requests count: with frames of several, or put together with such
        ones."""
        every = (self.request(place) for place in range(len(self.requests)))
        counts = Counter(frame.number for each in every for frame in each.of(REQUEST, RESPONSE))
        return frozenset(number for number, count in counts.items() if count > 1)

    def why_not(self, place: int) -> InputError | CaptureError:
        """Return why no packet of that request was found."""
        request, number = self.requests[place], place + 1
        if request.from_cache:
            return InputError(f"request {number} came from the browser's cache: nothing of it was on the link")
        ends = self.ends.get(place)
        captured = (frame for frame in self.frames if frame.stream is not None)
        frames = [frame for frame in captured if frame.ends and ends in frame.ends.names]
        if not frames:
            return CaptureError(
                f"request {number} is on no connection that was captured",
                "`lanelab show RUN --trial N` says why it failed",
            )
        if any(frame.protocol.startswith(TLS) for frame in frames):
            return CaptureError(
                f"the capture has no TLS keys of the connection of request {number}",
                "Only what was in clear can be seen",
            )
        return CaptureError(f"no packet with request {number} was found on its connection", "Was it sent at all?")

    def _find_all(self) -> dict[int, _Key]:
        """A request that is made twice is on the wire twice, in the same order."""
        taken: set[_Key] = set()
        keys: dict[int, _Key] = {}
        for place, request in enumerate(self.requests):
            ends = self.ends.get(place)
            if request.from_cache or ends is None:
                continue
            key = next((key for key in self._keys_of(request, ends) if key not in taken), None)
            if key is not None:
                taken.add(key)
                keys[place] = key
        return keys

    def _keys_of(self, request: Request, ends: Ends) -> Iterable[_Key]:
        wanted = _target(request.url)
        for frame in self._asking.get(ends, ()):
            if frame.stream is None:
                continue
            if request.wire and request.wire.stream is not None:
                if request.wire.stream in frame.streams:
                    yield _Key(frame.stream, request.wire.stream, None)
                continue
            for stream, target in frame.opened:
                if target == wanted:
                    yield _Key(frame.stream, stream, None)
            for which, target in enumerate(frame.targets):
                if target == wanted:
                    yield _Key(frame.stream, None, frame.number, which)

    def _packets(self, place: int, key: _Key) -> list[RequestPacket]:
        frames = self.by_connection[key.connection]
        parts = self._own_parts(frames, key)
        sent, came = [frame for frame in parts if frame.up], [frame for frame in parts if not frame.up]
        roles: dict[int, str] = {frame.number: REQUEST if frame.up else RESPONSE for frame in parts}
        for role, ours in ((REQUEST, sent), (RESPONSE, came)):
            repeated = [frame for frame in frames if ours and frame.again and frame.up == ours[0].up]
            others = [frame for frame in frames if ours and frame.up != ours[0].up and not frame.payload]
            for part in ours:
                roles.update((each.number, role) for each in repeated if _overlap(each, part))
                after = bisect_right(others, part.number, key=lambda frame: frame.number)
                heard = next((each for each in islice(others, after, None) if each.ack >= part.end), None)
                if heard is not None:
                    roles.setdefault(heard.number, ACKNOWLEDGED)
        self._before(place, frames, roles)
        return [RequestPacket(role, self.by_number[number]) for number, role in sorted(roles.items())]

    def _own_parts(self, frames: Sequence[Frame], key: _Key) -> list[Frame]:
        """Return the packets with its frames or messages, and those whose bytes are put together with theirs."""
        if key.stream is not None:
            return self._put_together([frame for frame in frames if key.stream in frame.streams])
        asks = [(frame.number, which) for frame in frames for which in range(len(frame.targets))]
        place = asks.index((key.asking or 0, key.which))  # answers come in the order of requests
        answers = [frame for frame in frames for _ in range(frame.answers)]
        if place < len(answers):
            return self._put_together([self.by_number[key.asking or 0], answers[place]])
        begin = max((frame.end for frame in self._put_together(answers[-1:])), default=0)
        came = _behind(frames, place, len(answers), begin)
        return [*self._put_together([self.by_number[key.asking or 0]]), *came]

    def _put_together(self, frames: Sequence[Frame]) -> list[Frame]:
        for parts in ("records", "segments"):
            numbers = {number for frame in frames for number in (frame.number, *getattr(frame, parts))}
            frames = [self.by_number[number] for number in sorted(numbers) if number in self.by_number]
        return list(frames)

    def _before(self, place: int, frames: Sequence[Frame], roles: dict[int, str]) -> None:
        """The look-up of its host and the beginning of its connection, where it was the first to need them."""
        first = min(roles)
        asks = (frame.number for frame in frames if frame.up and (frame.opened or frame.targets or any(frame.streams)))
        if min(asks, default=first) >= first:
            roles |= {frame.number: CONNECTION for frame in frames if frame.number < first}
        host = urlsplit(self.requests[place].url).hostname
        if all(urlsplit(each.url).hostname != host for each in self.requests[:place]):
            named = (frame for frame in self.frames if frame.protocol == DNS and frame.name == host)
            roles |= {frame.number: LOOK_UP for frame in named if frame.number < first}


def _behind(frames: Sequence[Frame], place: int, first: int, ended: int) -> list[Frame]:
    """The packets of a response that the dissector does not tell: it was cut off, or the capture lacks a part of it (or
    of one before it).

    `place`: its place on the connection; `first`: that of the first such response; `told`: where the one before that
    ends. Who asks for one thing at a time acknowledges, in asking, all that came before. Where requests are sent ahead
    of their answers, only the first of them can be said to have what came.
    """
    began = [frame.ack for frame in frames for _ in frame.targets]
    ahead = len(set(began)) < len(began)
    if ahead and place > first:
        return []
    begin = max(began[place], ended)
    end = None if ahead else next(iter(began[place + 1 :]), None)
    parts = (frame for frame in frames if not frame.up and frame.payload)
    return [frame for frame in parts if frame.end > begin and (end is None or frame.seq < end)]


def _overlap(one: Frame, other: Frame) -> bool:
    return one.seq < other.end and one.end > other.seq


def _target(url: str) -> str:
    """Host and path as they are on the wire."""
    parts = urlsplit(url)
    return parts.netloc + (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
