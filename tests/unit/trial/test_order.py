"""What was sent again, what was overtaken, what was copied: over simulated links of which the truth is known."""

import heapq
import random
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lanelab.driver.trial.packets.packets import Connection, summarise
from tests.kit.frames import ACK, CLIENT, SERVER, SYN, Recorder, stamped, tcp

DOWN = (SERVER, 80, CLIENT, 40000)
UP = (CLIENT, 40000, SERVER, 80)
SIZE = 1000
BEGAN_US = 1_700_000_000_000_000


@dataclass
class Link:
    down_ms: float = 50.0
    up_ms: float = 50.0
    lost: float = 0.0
    reordered: float = 0.0  # these skip the delay down, as netem does it
    copied: float = 0.0
    jitter_ms: float = 0.0


@dataclass
class Truth:
    """Of what came below the highest number that had come before."""

    again: int = 0
    late: int = 0
    copies: int = 0


@dataclass
class Simulation:
    """A sender that repeats what three later packets have overtaken, and what is not acknowledged within two round
    trips. It counts its packets in IP's identification and writes timestamps."""

    link: Link
    seed: int
    packets: int = 120
    pace_ms: float = 1.2
    stamps: bool = True
    ids: bool = True
    truth: Truth = field(default_factory=Truth)

    def run(self) -> Connection:
        self.random = random.Random(self.seed)
        self.arrivals: list[tuple[float, int, int, int, str, int]] = []  # ms, order, packet, ms sent, what, id
        self.sent = 0
        rtt = self.link.down_ms + self.link.up_ms
        for packet in range(self.packets):
            self._send(packet, rtt * 2 + packet * self.pace_ms, "first")
        recorder = Recorder()
        self._open(recorder, rtt)
        self._receive(recorder, rtt)
        (found,) = summarise(recorder.pcap()).by_connection
        return found

    def _send(self, packet: int, at: float, what: str) -> None:
        self.sent += 1
        if self.random.random() < self.link.lost:
            return
        for which in range(2 if self.random.random() < self.link.copied else 1):
            skips = self.random.random() < self.link.reordered
            delay = 0.1 if skips else self.link.down_ms + self.random.random() * self.link.jitter_ms
            heapq.heappush(self.arrivals, (at + delay, 2 * self.sent + which, packet, int(at), what, self.sent))

    def _open(self, recorder: Recorder, rtt: float) -> None:
        recorder.add(tcp(UP, 0, 0, SYN, options=self._options(0), number=1), 0)
        recorder.add(tcp(DOWN, 0, 1, SYN | ACK, options=self._options(0), number=0), rtt)
        recorder.add(tcp(UP, 1, 1, ACK, options=self._options(0), number=2), 0.05)

    def _receive(self, recorder: Recorder, rtt: float) -> None:
        came: set[int] = set()
        behind: dict[int, int] = {}  # how many came from behind a packet that is missing
        highest, now, self.newest_ms = -1, rtt + 0.05, -1.0
        repeated: set[int] = set()
        seen: set[int] = set()
        while self.arrivals:
            at, _, packet, sent_ms, what, number = heapq.heappop(self.arrivals)
            at, what = max(at, now), "copy" if number in seen else what
            seen.add(number)
            payload = bytes([packet % 256]) * SIZE
            frame = tcp(
                DOWN, 1 + packet * SIZE, 1, ACK, payload, options=self._options(sent_ms), number=self._id(number)
            )
            recorder.add(frame, at - now)
            now = at
            if packet <= highest:
                self.truth.again += what == "again"
                self.truth.late += what == "first"
                self.truth.copies += what == "copy"
            highest = max(highest, packet)
            self.newest_ms = self.newest_ms if packet in came else at
            came.add(packet)
            for missing in range(packet):
                if missing in came or missing in repeated:
                    continue
                behind[missing] = behind.get(missing, 0) + 1
                if behind[missing] >= 3:
                    repeated.add(missing)
                    self._send(missing, at + self.link.up_ms, "again")

    def _options(self, sent_ms: int) -> bytes:
        return stamped(5000 + sent_ms, 1) if self.stamps else b""

    def _id(self, number: int) -> int:
        return (60_000 + number) & 0xFFFF if self.ids else 0


def judged(found: Connection) -> Truth:
    return Truth(found.retransmissions_down, found.out_of_order, found.copies)


LINKS = {
    "clean": Link(),
    "loss": Link(lost=0.05),
    "reordered": Link(reordered=0.1),
    "asymmetric": Link(down_ms=80, up_ms=20, reordered=0.02),
    "asymmetric and lossy": Link(down_ms=80, up_ms=20, reordered=0.02, lost=0.03),
    "up slower": Link(down_ms=20, up_ms=80, reordered=0.05, lost=0.03),
    "jitter": Link(jitter_ms=20, lost=0.02),
}


@pytest.mark.parametrize("name", LINKS)
@pytest.mark.parametrize("marks", ["both", "timestamps", "identifications"])
def test_every_segment_is_what_it_was(name: str, marks: str) -> None:
    seen = Truth()
    for seed in range(6):
        run = Simulation(LINKS[name], seed, stamps=marks != "identifications", ids=marks != "timestamps")
        found = run.run()
        assert judged(found) == run.truth, seed
        assert found.data_us is not None
        assert found.data_us - found.first_us == pytest.approx(run.newest_ms * 1000, abs=200), seed
        seen.again, seen.late = seen.again + run.truth.again, seen.late + run.truth.late
    link = LINKS[name]
    assert (seen.again > 0) == (link.lost > 0 or link.reordered > 0 or link.jitter_ms > 0)
    assert (seen.late > 0) == (link.reordered > 0 or link.jitter_ms > 0)


@pytest.mark.parametrize("link", [Link(copied=0.1), Link(copied=0.1, lost=0.03), Link(copied=0.05, jitter_ms=5)])
def test_copies_of_the_network_are_not_the_senders(link: Link) -> None:
    copies = 0
    for seed in range(6):
        run = Simulation(link, seed)
        found = run.run()
        assert judged(found) == run.truth, seed
        copies += run.truth.copies
    assert copies > 0


def test_one_overtaking_packet_at_80_and_20_ms_repeats_nothing() -> None:
    """The time that a gap has been open says nothing there: what is late fills it after more than half a round trip."""
    recorder = Recorder()
    recorder.add(tcp(UP, 0, 0, SYN, options=stamped(1, 0)), 0)
    recorder.add(tcp(DOWN, 0, 1, SYN | ACK, options=stamped(5000, 1), number=0), 100)
    recorder.add(tcp(UP, 1, 1, ACK, options=stamped(101, 5000)), 0.05)
    order = [66, *range(66), 67]
    for place, packet in enumerate(order):
        options = stamped(5200 + int(packet * 1.2), 101)
        frame = tcp(DOWN, 1 + packet * SIZE, 1, ACK, bytes(SIZE), options=options, number=100 + packet)
        recorder.add(frame, 200 if place == 0 else 1.2)
    (found,) = summarise(recorder.pcap()).by_connection
    assert (found.retransmissions_down, found.out_of_order, found.copies) == (0, 66, 0)
    assert found.payload_down == 68 * SIZE


def test_an_answer_whose_last_packet_comes_first_has_a_time() -> None:
    """Nothing of it comes in its turn: the second half first, then the first half."""
    recorder = Recorder()
    recorder.add(tcp(UP, 0, 0, SYN), 0)
    recorder.add(tcp(DOWN, 0, 1, SYN | ACK), 40)
    recorder.add(tcp(UP, 1, 1, ACK), 0.05)
    recorder.add(tcp(DOWN, 1 + SIZE, 1, ACK, bytes(SIZE)), 50)
    recorder.add(tcp(DOWN, 1, 1, ACK, bytes(SIZE)), 5)
    recorder.add(tcp(DOWN, 1, 1, ACK, bytes(SIZE)), 300)
    (found,) = summarise(recorder.pcap()).by_connection
    assert found.data_us == found.first_us + 95_050


@settings(max_examples=60, deadline=None)
@given(
    st.builds(
        Link,
        down_ms=st.floats(5, 100),
        up_ms=st.floats(5, 100),
        lost=st.floats(0, 0.1),
        reordered=st.floats(0, 0.1),
    ),
    st.integers(0, 1_000_000),
)
def test_no_link_and_no_seed_misleads(link: Link, seed: int) -> None:
    run = Simulation(link, seed, packets=60)
    assert judged(run.run()) == run.truth


@settings(max_examples=40, deadline=None)
@given(st.builds(Link, down_ms=st.floats(5, 100), lost=st.floats(0, 0.1)), st.integers(0, 1_000_000))
def test_without_marks_loss_alone_is_still_told(link: Link, seed: int) -> None:
    """By the time that a gap has been open."""
    run = Simulation(link, seed, packets=60, stamps=False, ids=False)
    found = run.run()
    assert (found.retransmissions_down, found.out_of_order) == (run.truth.again, 0)
