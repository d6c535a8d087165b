"""Round trips by QUIC, and what the judge of the link makes of them: in captures of whole packets, and in cut ones."""

import random
from collections.abc import Sequence
from dataclasses import replace

import pytest

from lanelab.driver.link import Link
from lanelab.driver.record.evidence.link import LinkEvidence, RoundTrip
from lanelab.driver.record.reasons import Reason
from lanelab.driver.trial.packets.link_evidence import link_evidence
from lanelab.driver.trial.packets.packet_fields import Packet, Stream
from lanelab.driver.trial.packets.quic import VERSION_1, Kind, read_head
from lanelab.driver.trial.packets.quic_frames import parameter
from lanelab.driver.trial.packets.quic_keys import FARTHEST, initial_keys
from lanelab.driver.trial.packets.quic_session import ONE_RTT, Session
from lanelab.driver.trial.packets.quic_timeline import (
    LONGEST_ACKNOWLEDGEMENT,
    QuicPacket,
    QuicStream,
    round_trips,
)
from lanelab.driver.trial.packets.secrets import read_secrets
from lanelab.driver.trial.packets.timeline import Timeline, read_timeline
from lanelab.driver.trial.page_load.judges.link import LinkVerdict
from lanelab.driver.trial.page_load.trip_time import late_us
from tests.kit.frames import CLIENT, SERVER, Recorder, udp
from tests.unit.trial.test_link_verdict import TRIAL
from tests.unit.trial.test_quic_opened import KEYS, datagrams

WHOLE, USUAL, SHORTEST = 262_144, 256, 96  # bytes of a frame that a capture keeps
HEADERS = 14 + 20 + 8  # of Ethernet, IP and UDP
LINK = Link.parse({"rtt": "40ms"})
MS = 1_000_000


def captured(rtt_ms: float = 40.0, *, begins_late_ms: float = 0.0, snaplen: int = WHOLE, keys: str = KEYS) -> Timeline:
    """A real connection over a link without a rate: what the server says after the client has is a round trip behind
    it. A server that begins late is so with all of its Initials."""
    recorder, was_up = Recorder(), True
    for up, payload in datagrams():
        head = read_head(payload)
        late = begins_late_ms if head is not None and head.kind == Kind.INITIAL and not up else 0.0
        recorder.wait(rtt_ms + late if was_up and not up else 0.0)
        ends = (CLIENT, 50_000, SERVER, 443) if up else (SERVER, 443, CLIENT, 50_000)
        recorder.add(udp(*ends, payload))
        was_up = up
    return read_timeline(recorder.pcap(snaplen=snaplen), CLIENT, keys)


def judged(seen: LinkEvidence) -> list[Reason]:
    assert TRIAL.page_load is not None
    evidence = replace(TRIAL.page_load, link=seen, emulation=None)
    return [each.reason for each in LinkVerdict(TRIAL, evidence, LINK).failures()]


def reasons(client: Timeline) -> list[Reason]:
    return judged(link_evidence(client, None, LINK))


# --- the judge


@pytest.mark.parametrize("snaplen", [WHOLE, USUAL, SHORTEST])
def test_a_server_that_begins_late_makes_no_longer_link(snaplen: int) -> None:
    """Its first answer is given by a program that has a session to make. What it acknowledges later tells the link."""
    assert reasons(captured(begins_late_ms=6, snaplen=snaplen)) == []


@pytest.mark.parametrize("snaplen", [WHOLE, USUAL, SHORTEST])
@pytest.mark.parametrize("rtt_ms", [37.0, 46.0])
def test_another_link_is_refused(rtt_ms: float, snaplen: int) -> None:
    assert reasons(captured(rtt_ms, snaplen=snaplen)) == [Reason.LINK_RTT]


OTHERS = "".join(f"{line[:-2]}{'11' if line.endswith('00') else '00'}\n" for line in KEYS.splitlines())


@pytest.mark.parametrize("keys", ["", OTHERS], ids=["none", "others"])
def test_without_the_right_keys_only_the_handshake_is_there_to_judge(keys: str) -> None:
    assert reasons(captured(snaplen=USUAL, keys=keys)) == []
    assert reasons(captured(begins_late_ms=6, snaplen=USUAL, keys=keys)) == [Reason.LINK_RTT]


@pytest.mark.parametrize(
    ("us", "held_us", "refused"),
    [
        (60_000, 20_000, False),  # an acknowledgement that was held back for 20 ms
        (60_000, 0, True),
        (60_000, 17_000, False),
        (60_000, 16_000, True),  # what is left is too long by 4 ms
        (75_000, 20_000, True),
        (60_000, 25_000, True),  # a word that leaves less than the link takes is not believed
        (60_000, 60_000, True),
        (41_000, 5_000, False),
        (30_000, 0, True),
    ],
)
def test_what_was_held_back_is_no_part_of_the_link(us: int, held_us: int, refused: bool) -> None:
    seen = link_evidence(captured(), None, LINK)
    one = replace(seen, round_trips=(RoundTrip(us, 75, 78, held_us, by_program=True),))
    assert judged(one) == [Reason.LINK_RTT] * refused


def test_a_kernel_holds_nothing_back_whatever_a_record_says() -> None:
    seen = link_evidence(captured(), None, LINK)
    assert judged(replace(seen, round_trips=(RoundTrip(60_000, 75, 78, held_us=20_000),))) == [Reason.LINK_RTT]


@pytest.mark.parametrize(
    ("us", "by_program", "refused"),
    [(42_000, False, False), (43_000, False, True), (43_000, True, False), (44_000, True, True), (39_000, True, True)],
)
def test_a_program_takes_longer_to_answer_than_a_kernel(us: int, by_program: bool, refused: bool) -> None:
    seen = link_evidence(captured(), None, LINK)
    one = replace(seen, round_trips=(RoundTrip(us, 75, 78, by_program=by_program),))
    assert judged(one) == [Reason.LINK_RTT] * refused
    assert {trip.by_program for trip in seen.round_trips} == {True}


@pytest.mark.parametrize(
    ("ahead_bytes", "us", "late_ms"),
    [
        (0, 81_000, 27),
        (1292, 81_000, 0),  # 27 ms on a link of 384 kbit/s
        (1292, 60_000, 0),  # it did not wait for so long
        (500, 81_000, 16.6),
        (1292, 90_000, 9),
        (1292, 53_000, -1),
    ],
)
def test_a_packet_may_have_waited_for_what_its_client_had_sent_before(
    ahead_bytes: int, us: int, late_ms: float
) -> None:
    slow = Link.parse({"rtt": "50ms", "rate_up": "384kbit"})
    trip = RoundTrip(us, 192, 78, ahead_bytes=ahead_bytes)  # which take 4 ms
    assert late_us(slow, trip) / 1000 == pytest.approx(late_ms, abs=0.1)


def test_what_was_sent_shortly_before_is_of_all_connections() -> None:
    """The hello is in two datagrams; what follows later has nothing ahead of it."""
    one, two = captured(), captured()
    ahead = {trip.ahead_bytes for trip in link_evidence(one, None, LINK).round_trips}
    assert 0 in ahead
    for datagram in two.datagrams[:]:  # each with one of another connection before it
        if datagram.up:
            two.datagrams.append(datagram._replace(at_ns=datagram.at_ns - MS, client_port=9, frame_bytes=1000))
    more = [trip.ahead_bytes for trip in link_evidence(two, None, LINK).round_trips]
    assert min(more) >= 1000


def test_of_one_kind_the_quickest_and_the_promptest_are_kept() -> None:
    """That a link is too short is told by the whole time, and that it is too long by what was not held back."""
    seen = link_evidence(captured(), None, LINK)
    assert min(trip.us for trip in seen.round_trips) >= 40_000
    assert any(trip.held_us for trip in seen.round_trips)
    old = {"us": 40_120, "up_bytes": 74, "down_bytes": 74}  # of a record from before these were kept
    assert RoundTrip.from_json(old) == RoundTrip(40_120, 74, 74, 0, by_program=False)


# --- what is read


@pytest.mark.parametrize("snaplen", [USUAL, SHORTEST])
def test_the_numbers_of_cut_packets_are_those_of_the_whole_ones(snaplen: int) -> None:
    sessions = [Session(read_secrets(KEYS), whole=True) for _ in range(2)]
    numbers, known = 0, 0
    for up, payload in datagrams():
        kept = payload[: snaplen - HEADERS]
        whole, cut = sessions[0].take(payload, up=up), sessions[1].take(kept, up=up, cut=len(kept) < len(payload))
        for one, other in zip(whole, cut, strict=False):
            assert other.number in (one.number, -1)
            assert other.is_open == (not other.is_cut and other.number >= 0)
            numbers, known = numbers + 1, known + (other.number >= 0)
    assert known > 0.9 * numbers


def test_keys_that_have_opened_nothing_number_nothing() -> None:
    session = Session(read_secrets(KEYS), whole=True)
    found = [each for up, payload in datagrams() for each in session.take(payload[:30], up=up, cut=True)]
    assert {each.number for each in found if each.kind == ONE_RTT} == {-1}


def test_a_number_that_is_far_from_those_before_is_none() -> None:
    """Cut packets prove nothing themselves, so that what is none must not lead those behind it astray."""
    dice = random.Random(7)
    keys = initial_keys(dice.randbytes(8), VERSION_1)
    assert keys is not None
    numbers = [(keys[0].largest, keys[0].number(b"\x40" + dice.randbytes(60), 1)) for _ in range(2000)]
    assert {number for _, number in numbers} > {-1}
    assert all(number == -1 or abs(number - largest) <= FARTHEST for largest, number in numbers)


def test_the_time_for_which_an_answer_was_held_back_is_the_servers_word() -> None:
    (connection,) = captured().quic
    assert connection.session.held_unit_us == 8
    held_ns = {trip.held_ns for trip in round_trips(connection)}
    assert 1571 * 8000 in held_ns  # as the acknowledgement of packet 7 says
    assert all(trip.held_ns == 0 for trip in round_trips(connection) if trip.shakes)
    (cut,) = captured(snaplen=USUAL).quic  # in which the server's parameters are missing
    assert cut.session.held_unit_us is None
    assert {trip.held_ns for trip in round_trips(cut)} == {0}


@pytest.mark.parametrize(
    ("parameters", "value"),
    [("", 3), ("0a0105", 5), ("0102400a0a0107", 7), ("010240ff", 3), ("0a05", None), ("0a", None)],
)
def test_a_parameter_is_read_from_among_others(parameters: str, value: int | None) -> None:
    assert parameter(bytes.fromhex(parameters), 0x0A, 3) == value


@pytest.mark.parametrize("snaplen", [WHOLE, USUAL, SHORTEST])
def test_of_a_cut_datagram_the_whole_length_counts(snaplen: int) -> None:
    """Else the data of a page would seem not to come. What is so short may be an acknowledgement alone."""
    (one,) = captured(snaplen=snaplen, keys="").quic
    sizes = [(each.frame_bytes - HEADERS, each.payload) for each in one.stream.down[3:]]  # behind the handshake
    assert len([length for length, _ in sizes if length > 1000]) == 8
    assert all(payload == (length if length > LONGEST_ACKNOWLEDGEMENT else 0) for length, payload in sizes)


def test_datagrams_that_do_not_tell_what_they_carry_are_counted() -> None:
    """Of a connection whose server sent eight long ones behind the handshake."""
    assert [each.unread for each in captured().quic] == [0]
    for client in (captured(snaplen=USUAL), captured(snaplen=SHORTEST), captured(keys="")):
        assert [each.unread >= 8 for each in client.quic] == [True]


def connection(said_ms: Sequence[int], *, goes_on: bool) -> QuicStream:
    """One whose server answers after 340 ms with what cannot be read. `goes_on`: its client's next packet is
    acknowledged 40 ms later."""
    datagrams = [(at, True, 1292) for at in said_ms] + [(340, False, 1294)]
    packets: list[QuicPacket] = []
    if goes_on:
        packets += [QuicPacket(8, 345 * MS, True, 189, Kind.HANDSHAKE, 5, (), ())]
        packets += [QuicPacket(9, 385 * MS, False, 78, Kind.HANDSHAKE, 1, ((5, 5),), ())]
    seen = [
        Packet(number, at * MS, up, size, 0, 0, size, 0, 0, 0, None, None, sacks=False)
        for number, (at, up, size) in enumerate(datagrams, 1)
    ]
    return QuicStream(Stream((CLIENT, 50_000), (SERVER, 443), seen), Session({}), packets)


def test_a_hello_that_was_said_again_tells_no_round_trip_beside_others() -> None:
    """The first was lost: from it to the answer it is no round trip."""
    (trip,) = round_trips(connection((0, 1, 300, 301), goes_on=True))
    assert (trip.took_ns, trip.shakes) == (40 * MS, False)
    told = round_trips(connection((0, 1), goes_on=True))
    assert [(trip.took_ns, trip.shakes) for trip in told] == [(40 * MS, False), (340 * MS, True)]
    (alone,) = round_trips(connection((0, 300), goes_on=False))
    assert alone.took_ns == 340 * MS
