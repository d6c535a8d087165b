"""Captures are read as an independent implementation reads them, and nothing that a file holds is too strange."""

import contextlib
import struct
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lanelab.driver.base.errors import CaptureError
from lanelab.driver.trial.packets.packets import Connection, PacketSummary, summarise
from tests.kit import tshark
from tests.kit.frames import ACK, CLIENT, CLIENT_HELLO, FIN, PSH, RST, SERVER, SYN, Recorder, Talk, ip, pcap, udp

LATE = 45.0  # ms: longer than a round trip


def recorded(scene: Callable[[Talk], None], *, isn: int = 5000, **options: object) -> bytes:
    recorder = Recorder()
    scene(Talk(recorder, server_isn=isn))
    return recorder.pcap(**options)  # type: ignore[arg-type]


def only(data: bytes) -> Connection:
    (connection,) = summarise(data).by_connection
    return connection


def plain(talk: Talk) -> None:
    talk.open()
    talk.say("up", b"GET / HTTP/1.1\r\n\r\n")
    for _ in range(5):
        talk.say("down", b"x" * 1400)
        talk.segment("up", talk.up, talk.down)
    talk.close()


def test_a_plain_connection() -> None:
    found = only(recorded(plain))
    assert (found.client_port, found.server, found.server_port) == (40000, SERVER, 80)
    assert (found.packets_up, found.packets_down) == (9, 8)
    assert (found.bytes_up, found.bytes_down) == (9 * 54 + 18, 8 * 54 + 5 * 1400)
    assert (found.payload_up, found.payload_down) == (18, 7000)
    assert (found.syn, found.handshake, found.tls, found.handshake_rtt_us) == (True, True, False, 40_100)
    assert (found.fin_up, found.fin_down, found.rst_up, found.rst_down) == (True, True, False, False)
    assert found.retransmissions_down == found.retransmissions_up == found.out_of_order == found.probes == 0
    assert found.header_down == 54


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("nanoseconds", [False, True])
def test_every_kind_of_file_says_the_same(order: str, *, nanoseconds: bool) -> None:
    assert summarise(recorded(plain, order=order, nanoseconds=nanoseconds)) == summarise(recorded(plain))


def test_a_short_snap_length_changes_no_number() -> None:
    whole, cut = summarise(recorded(plain)), summarise(recorded(plain, snaplen=60))
    assert cut.by_connection == whole.by_connection
    assert (cut.bytes, cut.snaplen, cut.incomplete) == (whole.bytes, 60, None)


def test_totals_and_times() -> None:
    recorder = Recorder()
    plain(Talk(recorder))
    plain(Talk(recorder, port=40001))
    recorder.add(ip(CLIENT, SERVER, 1, b"ping"))
    recorder.add(bytes(12) + b"\x08\x06" + bytes(28))
    found = summarise(recorder.pcap())
    assert (found.packets, found.connections, found.other_packets) == (36, 2, 2)
    assert found.bytes == found.bytes_up + found.bytes_down + 42
    assert (found.first_us, found.last_us) == (recorder.frames[0][0], recorder.frames[-1][0])
    assert PacketSummary.from_json(found.to_json()) == found


def test_look_ups_are_flows() -> None:
    recorder = Recorder()
    for port in (5001, 5002):
        recorder.add(udp(CLIENT, port, SERVER, 53, b"question"))
        recorder.add(udp(SERVER, 53, CLIENT, port, b"the answer"))
    first, second = summarise(recorder.pcap()).by_udp_flow
    assert (first.client_port, second.client_port, first.server, first.dns) == (5001, 5002, SERVER, True)
    assert (first.packets_up, first.packets_down, first.bytes_up, first.bytes_down) == (1, 1, 50, 52)


def test_a_client_hello_is_seen() -> None:
    def scene(talk: Talk) -> None:
        talk.open()
        talk.say("up", CLIENT_HELLO)
        talk.say("down", b"\x16\x03\x03\x00\x05\x02")

    assert only(recorded(scene)).tls


def test_an_unanswered_connection_is_no_handshake() -> None:
    def scene(talk: Talk) -> None:
        talk.segment("up", talk.up, 0, SYN)
        talk.segment("up", talk.up, 0, SYN, after_ms=1000)

    found = only(recorded(scene))
    assert (found.syn, found.handshake, found.handshake_rtt_us, found.retransmissions_up) == (True, False, None, 1)


def test_a_refused_connection_is_no_handshake() -> None:
    def scene(talk: Talk) -> None:
        talk.segment("up", talk.up, 0, SYN)
        talk.segment("down", 0, talk.up + 1, RST | ACK, window=0)

    assert not only(recorded(scene)).handshake
    assert only(recorded(scene)).rst_down


def test_a_port_that_is_used_again_is_another_connection() -> None:
    recorder = Recorder()
    plain(Talk(recorder))
    plain(Talk(recorder, client_isn=99_000, server_isn=88_000))
    first, second = summarise(recorder.pcap()).by_connection
    assert (first.packets_up, first.retransmissions_down) == (second.packets_up, second.retransmissions_down) == (9, 0)


def test_a_capture_that_begins_within_a_connection_knows_its_client() -> None:
    recorder = Recorder()
    talk = Talk(recorder)
    talk.say("down", b"x" * 100)
    talk.say("up", b"y")
    found = only(recorder.pcap())
    assert (found.client_port, found.server_port, found.syn, found.packets_up) == (40000, 80, False, 1)


Scene = Callable[[Talk], None]


def lost_and_sent_again(talk: Talk) -> None:
    talk.open()
    gap = talk.say("down", b"a" * 1000, lost=True)
    talk.say("down", b"b" * 1000)
    talk.say("down", b"c" * 1000)
    talk.repeat("down", gap, b"a" * 1000, after_ms=LATE)


def sent_twice(talk: Talk) -> None:
    talk.open()
    begin = talk.say("up", b"question" * 10)
    talk.repeat("up", begin, b"question" * 10, after_ms=250)
    talk.say("down", b"answer" * 10)


def end_sent_again(talk: Talk) -> None:
    talk.open()
    talk.segment("down", talk.down, talk.up, FIN | ACK)
    talk.segment("down", talk.down, talk.up, FIN | ACK, after_ms=250)


def answer_sent_again(talk: Talk) -> None:
    talk.segment("up", talk.up, 0, SYN)
    for _ in range(2):
        talk.segment("down", talk.down, talk.up + 1, SYN | ACK, after_ms=1000)


def kept_alive(talk: Talk) -> None:
    talk.open()
    talk.say("up", b"question")
    talk.say("down", b"answer")
    for payload in (b"", b"\0"):
        talk.segment("up", talk.up - 1, talk.down, ACK, payload, after_ms=5000)
        talk.segment("down", talk.down, talk.up, ACK)


def window_probed(talk: Talk) -> None:
    talk.open()
    talk.say("down", b"x" * 1000)
    talk.segment("up", talk.up, talk.down, ACK, window=0)
    for _ in range(3):
        talk.segment("down", talk.down, talk.up, ACK, b"y", after_ms=400)
        talk.segment("up", talk.up, talk.down, ACK, window=0)
    talk.segment("up", talk.up, talk.down, ACK, window=500)
    talk.say("down", b"y" * 1000)


def overtaken(talk: Talk) -> None:
    talk.open()
    late = talk.say("down", b"a" * 1000, lost=True)
    talk.say("down", b"b" * 1000)
    talk.repeat("down", late, b"a" * 1000, after_ms=1)


def two_of_three_lost(talk: Talk) -> None:
    talk.open()
    gap = talk.say("down", b"a" * 3000, lost=True)
    talk.say("down", b"b" * 1000)
    for number in (2, 0, 1):
        talk.repeat("down", gap + 1000 * number, b"a" * 1000, after_ms=LATE)


SCENES: dict[str, tuple[Scene, int, int, int]] = {  # sent again, out of order, probes
    "plain": (plain, 0, 0, 0),
    "lost": (lost_and_sent_again, 1, 0, 0),
    "twice": (sent_twice, 1, 0, 0),
    "end": (end_sent_again, 1, 0, 0),
    "answer": (answer_sent_again, 1, 0, 0),
    "kept-alive": (kept_alive, 0, 0, 2),
    "window-probed": (window_probed, 0, 0, 3),
    "overtaken": (overtaken, 0, 1, 0),
    "two-of-three": (two_of_three_lost, 3, 0, 0),
}


@pytest.mark.parametrize("isn", [5000, 0xFFFF_FF00, 0xFFFF_FFFF, 0x7FFF_FF00])
@pytest.mark.parametrize("name", SCENES)
def test_what_was_sent_again(name: str, isn: int) -> None:
    scene, again, order, probes = SCENES[name]
    found = only(recorded(scene, isn=isn))
    assert found.retransmissions_up + found.retransmissions_down == again
    assert (found.out_of_order, found.probes) == (order, probes)


@tshark.needs_tshark
@pytest.mark.parametrize("isn", [5000, 0xFFFF_FF00])
@pytest.mark.parametrize("name", SCENES)
def test_tshark_says_the_same(name: str, isn: int, tmp_path: Path) -> None:
    file = tmp_path / "scene.pcap"
    file.write_bytes(recorded(SCENES[name][0], isn=isn))
    found = only(file.read_bytes())
    seen = tshark.segments(file)
    assert tshark.conversations(seen) == {found.client_port: (found.packets_up, found.packets_down)}
    assert tshark.sizes(seen) == {(40000, 80): found.bytes_up, (80, 40000): found.bytes_down} or found.packets_down == 0
    again = tshark.sent_again(seen)
    down = found.retransmissions_down + found.out_of_order  # tshark's guess between the two is another
    assert (again[40000], again[80]) == (found.retransmissions_up, down)
    assert sum(each.is_probe for each in seen) == found.probes


def test_ip_options_and_fragments() -> None:
    recorder = Recorder()
    segment = struct.pack(">HHIIBBHHH", 40000, 80, 1, 0, 5 << 4, SYN, 500, 0, 0)
    recorder.add(ip(CLIENT, SERVER, 6, segment, options=b"\x01" * 4))
    recorder.add(ip(CLIENT, SERVER, 6, segment, fragment=0x2000 | 100))
    found = summarise(recorder.pcap())
    assert (found.connections, found.other_packets, found.bytes_up) == (1, 1, found.bytes)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "it is empty"),
        (b"\xd4\xc3\xb2\xa1", "does not begin as one"),
        (b"\x0a\x0d\x0d\x0a" + bytes(40), "has no interface"),
        (pcap([], link=105), "link type 105, none of"),
    ],
)
def test_what_is_no_capture_is_refused(data: bytes, says: str) -> None:
    with pytest.raises(CaptureError, match=says):
        summarise(data)


def test_a_capture_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(CaptureError, match=r"cannot read the capture .*no\.pcap: No such file"):
        summarise(tmp_path / "no.pcap")


@pytest.mark.parametrize(("cut", "says"), [(1, "ends within packet 17"), (60, "within the header of packet 17")])
def test_a_cut_capture_says_so(cut: int, says: str) -> None:
    found = summarise(recorded(plain)[:-cut])
    assert found.incomplete is not None
    assert says in found.incomplete
    assert found.packets == 16


def test_an_empty_capture_is_one() -> None:
    found = summarise(pcap([]))
    assert (found.packets, found.first_us, found.last_us, found.incomplete) == (0, 0, 0, None)


WHOLE = b"".join([recorded(two_of_three_lost)])


@given(st.integers(24, len(WHOLE)))
def test_any_cut_gives_the_packets_before_it(end: int) -> None:
    found, whole = summarise(WHOLE[:end]), summarise(WHOLE)
    assert found.packets <= whole.packets
    assert found.bytes <= whole.bytes
    assert (found.incomplete is None) == (end == len(WHOLE) or sum_of_records(found.packets) == end)


def sum_of_records(count: int) -> int:
    """Where so many packets end in the file."""
    position = 24
    for _ in range(count):
        position += 16 + int.from_bytes(WHOLE[position + 8 : position + 12], "little")
    return position


@given(st.lists(st.tuples(st.integers(24, len(WHOLE) - 1), st.integers(0, 255)), min_size=1, max_size=20))
def test_mangled_captures_give_a_summary(changes: list[tuple[int, int]]) -> None:
    data = bytearray(WHOLE)
    for position, value in changes:
        data[position] = value
    found = summarise(bytes(data))
    assert PacketSummary.from_json(found.to_json()) == found


@given(st.binary(max_size=300))
def test_any_bytes_give_a_typed_error_or_a_summary(data: bytes) -> None:
    with contextlib.suppress(CaptureError):
        summarise(data)


@given(st.binary(max_size=400))
def test_any_packets_give_a_summary(data: bytes) -> None:
    summarise(pcap([]) + data)


@given(
    st.lists(
        st.tuples(
            st.booleans(), st.integers(0, 2**32 - 1), st.integers(0, 3000), st.sampled_from([SYN, ACK, FIN, RST, 0])
        ),
        max_size=40,
    )
)
def test_any_sequence_of_segments_gives_a_summary(segments: list[tuple[bool, int, int, int]]) -> None:
    recorder = Recorder()
    talk = Talk(recorder)
    for upwards, seq, size, flags in segments:
        talk.segment("up" if upwards else "down", seq, 0, flags | PSH, b"z" * min(size, 1400))
    found = summarise(recorder.pcap())
    assert sum(each.packets_up + each.packets_down for each in found.by_connection) == len(segments)


@given(st.integers(0, 2**32 - 1), st.lists(st.integers(1, 1400), min_size=1, max_size=30))
def test_a_sound_connection_has_nothing_sent_again_whatever_its_numbers(isn: int, sizes: list[int]) -> None:
    def scene(talk: Talk) -> None:
        talk.open()
        for size in sizes:
            talk.say("down", b"z" * size)
        talk.close()

    found = only(recorded(scene, isn=isn))
    assert (found.retransmissions_down, found.payload_down, found.out_of_order) == (0, sum(sizes), 0)
