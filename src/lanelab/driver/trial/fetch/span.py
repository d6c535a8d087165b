"""Whether the time that is measured is that of the fetch: it begins with the first packet, and ends with the last data.
Pure.

The fetcher alone says when it began and ended. The client's capture has the packets by the clock of the same machine:
where there is one, it is asked too.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from lanelab.driver.record.evidence.browser import LoadClock
from lanelab.driver.record.evidence.ends import Ends
from lanelab.driver.record.evidence.fetch import FetchEvidence, FetchReport
from lanelab.driver.record.reasons import Failure, Reason
from lanelab.driver.trial.fetch.agreement import LATE_MS, MOST_LATE_MS
from lanelab.driver.trial.packets.sequence import signed
from lanelab.driver.trial.packets.timeline import ACK, SYN, Datagram, Packet, Stream, Timeline
from lanelab.driver.trial.page_load.earlier import QUIC_PORT
from lanelab.driver.trial.page_load.evidence import FAREWELL
from lanelab.driver.trial.page_load.requests import few
from lanelab.driver.trial.page_load.witnesses import WEB_PORTS

NEAR_MS = 1.0  # between two readings of one clock for one event, by two threads
# What its ends may be away from others' word for them; the share is of all of it. It may end later, since that is told.
APART_MS, APART_SHARE = 5.0, 0.02
DNS_PORT = 53
NS_PER_US, NS_PER_MS = 1000, 1_000_000


@dataclass(frozen=True, slots=True)
class Arrival:
    """Data from the server that had not come before; of QUIC a datagram, with data or without."""

    at_ms: float  # since the beginning of what is measured
    size: int
    is_data: bool = True  # surely: a datagram of QUIC may also acknowledge, repeat, or look for the path's largest


class Span:
    """The verdict on the span of one fetch."""

    def __init__(self, evidence: FetchEvidence, report: FetchReport, timeline: Timeline | None) -> None:
        self._report, self._clock, self._timeline = report, evidence.clock, timeline
        connections = evidence.gateway.connections if evidence.gateway else ()
        # One that was opened for nothing may still be in its handshake when all is there.
        self._used = {each.ends for each in connections if each.requests and each.ends}

    def failures(self) -> Iterator[Failure]:
        seen = self._seen
        details = [*self._by_report(), *([*self._begin_by(seen), *self._end_by(seen)] if seen else ())]
        if details:
            yield Failure(Reason.WIRE_MISMATCH, few(details))

    def late(self) -> Iterator[str]:
        """Yield by how much the fetch ended later than all was there, where that makes its time doubtful, and no
        more."""
        last = self._last_ms(self._seen) if self._seen else None
        late = {
            "by its own report the last object was there": self._behind_objects_ms,
            "by the capture the last data came": None if last is None else self._report.total_ms - last,
        }
        for words, ms in late.items():
            if ms is not None and LATE_MS < ms <= self._most_late_ms:
                yield f"{words} {ms:.1f} ms before the fetch ended"

    @cached_property
    def _seen(self) -> "Seen | None":
        """None: there is no capture, or no fetch that could be compared with it."""
        if self._timeline is None or self._clock is None or not self._report.in_time or not self._report.measured:
            return None
        return Seen(self._timeline, self._clock, self._used)

    @property
    def _apart_ms(self) -> float:
        return max(APART_MS, APART_SHARE * self._report.total_ms)

    @property
    def _most_late_ms(self) -> float:
        """Return how much later than its last data a fetch may end: it waits for a processor as with each object."""
        return max(MOST_LATE_MS, APART_SHARE * self._report.total_ms)

    @property
    def _behind_objects_ms(self) -> float | None:
        """Return how long after its last object the fetch ended; None: it came to no end, or had none."""
        ended = [each.ended_ms for each in self._report.measured if each.ended_ms is not None]
        return self._report.ended_ms - max(ended) if ended and self._report.in_time else None

    @property
    def _warmed_ms(self) -> float | None:
        """Return when what was fetched before had ended, by the fetcher's log's clock; None: nothing was, or not all
        of it ended."""
        before = [each.ended_ms for each in self._report.objects if not each.measured]
        ended = [each for each in before if each is not None]
        return max(ended) if ended and len(ended) == len(before) else None

    def _by_report(self) -> Iterator[str]:
        """What is measured begins with its first request, and ends with its last object."""
        report, most = self._report, self._apart_ms
        began = [each.began_ms for each in report.measured]
        if began and not 0 <= min(began) - report.began_ms <= most:
            yield f"the fetch began at {report.began_ms:.1f} ms, and its first request at {min(began):.1f} ms"
        behind = self._behind_objects_ms
        if behind is not None and not 0 <= behind <= self._most_late_ms:
            last_ms = report.ended_ms - behind
            yield f"the fetch ended at {report.ended_ms:.1f} ms, and its last object at {last_ms:.1f} ms"
        before = [each.ended_ms for each in report.objects if not each.measured and each.ended_ms is not None]
        if before and max(before) > report.began_ms + NEAR_MS:
            yield "what was fetched before had not ended when the measured part began"
        warmed = self._warmed_ms
        if warmed is not None and report.began_ms - warmed > most:
            yield f"the measured part began {report.began_ms - warmed:.1f} ms after what was fetched before had ended"

    def _begin_by(self, seen: "Seen") -> Iterator[str]:
        """The first packet of the measured part leaves when it begins: a request where connections are there, else what
        opens one or looks up its host."""
        warmed = self._warmed_ms
        first = seen.opening_ms() if warmed is None else seen.asked_after_ms(warmed - self._report.began_ms)
        if first is None:
            yield "the capture has no packet with which the fetch begins"
        elif abs(first) > self._apart_ms:
            when = "after" if first > 0 else "before"
            yield f"by the capture the first packet left {abs(first):.1f} ms {when} the fetch began"

    def _end_by(self, seen: "Seen") -> Iterator[str]:
        """The fetch ends when the last data is there, and what comes later are no more than last words."""
        total, last = self._report.total_ms, self._last_ms(seen)
        if last is None:
            yield "the capture has no data that came before the fetch ended"
        elif total - last > self._most_late_ms:
            yield f"by the capture the last data came {total - last:.1f} ms before the fetch ended"
        late = [each for each in seen.arrivals if each.is_data and each.size > FAREWELL]
        after = [each.at_ms for each in late if each.at_ms > total + self._apart_ms]
        if after:
            yield f"by the capture data came until {max(after) - total:.1f} ms after the fetch ended"

    def _last_ms(self, seen: "Seen") -> float | None:
        """Return when the last data came that can be the fetch's: not what came long after its end."""
        latest = self._report.total_ms + self._apart_ms
        return max((each.at_ms for each in seen.arrivals if each.at_ms <= latest), default=None)


@dataclass(frozen=True)
class Seen:
    """The packets that the client's capture has of the fetch. Times are ms since the beginning of what is measured.

    Every connection of a fetch begins in its capture. Of others, which the fetch before left, a FIN may be sent again.
    """

    timeline: Timeline
    clock: LoadClock
    used: set[Ends]  # of connections that carried requests

    def _ms(self, at_ns: int) -> float:
        return (at_ns - self.clock.asked * NS_PER_US) / NS_PER_MS

    @cached_property
    def _streams(self) -> Sequence[Stream]:
        """Return the connections of TCP that the client began."""
        return [each for each in self.timeline.streams if each.server[1] in WEB_PORTS and begins(each)]

    @cached_property
    def _datagrams(self) -> Sequence[Datagram]:
        """Return those of connections of QUIC that the client began."""
        begun_ns = {
            each.stream.ends: each.stream.packets[0].at_ns
            for each in self.timeline.quic
            if each.stream.server[1] == QUIC_PORT and each.stream.packets
        }
        known = (each for each in self.timeline.datagrams if each.ends in begun_ns)
        return [each for each in known if each.at_ns >= begun_ns[each.ends]]

    @cached_property
    def arrivals(self) -> Sequence[Arrival]:
        """Return all data on connections that carried requests."""
        carrying = [each for each in self._streams if each.ends in self.used]
        by_quic = [each for each in self._datagrams if not each.up and each.ends in self.used]
        return [
            *(Arrival(self._ms(each.at_ns), each.payload) for one in carrying for each in new_data(one.down)),
            *(Arrival(self._ms(each.at_ns), each.length, is_data=False) for each in by_quic),
        ]

    def opening_ms(self) -> float | None:
        """Return when the first packet of all left."""
        look_ups = [each.at_ns for each in self.timeline.datagrams if each.up and each.server_port == DNS_PORT]
        begun = [each.packets[0].at_ns for each in self._streams]
        by_quic = [each.at_ns for each in self._datagrams if each.up]
        first = min([*look_ups, *begun, *by_quic], default=None)
        return None if first is None else self._ms(first)

    def asked_after_ms(self, warmed_ms: float) -> float | None:
        """Return when the client first sent data after all had come that came up to that moment."""
        heard = max((each.at_ms for each in self.arrivals if each.at_ms <= warmed_ms), default=warmed_ms)
        sent = [self._ms(each.at_ns) for one in self._streams for each in one.up if each.payload]
        sent += [self._ms(each.at_ns) for each in self._datagrams if each.up]
        return min((at_ms for at_ms in sent if at_ms > heard), default=None)


def begins(stream: Stream) -> bool:
    """Return whether the first packet of a connection is the one with which its client begins it."""
    first = next(iter(stream.packets), None)
    return first is not None and first.up and first.flags & (SYN | ACK) == SYN


def new_data(packets: Iterable[Packet]) -> Iterator[Packet]:
    """Yield the packets of one side of a connection with bytes that had not come before: what was sent again, or was
    doubled on the way, is no part of an answer."""
    origin: int | None = None
    pieces: list[tuple[int, int]] = []  # that came, from where to where behind the first byte; no two touch
    for packet in packets:
        if not packet.payload:
            continue
        origin = packet.seq if origin is None else origin
        begin = signed(packet.seq - origin)
        end = begin + packet.payload
        if any(first <= begin and end <= last for first, last in pieces):
            continue
        yield packet
        joined = [each for each in pieces if each[0] <= end and begin <= each[1]]
        pieces = [each for each in pieces if each not in joined]
        pieces.append((min([begin, *(each[0] for each in joined)]), max([end, *(each[1] for each in joined)])))
