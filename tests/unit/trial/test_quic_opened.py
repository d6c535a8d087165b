"""QUIC with its packets opened: published samples, a real browser's connection beside tshark, and damaged ones."""

import hmac
import random
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lanelab.driver.record.evidence.packets import QuicSummary
from lanelab.driver.trial.packets.frames import inside
from lanelab.driver.trial.packets.packets import open_capture, places, summarise
from lanelab.driver.trial.packets.quic import SMALLEST_INITIAL, VERSION_1, VERSION_2, Kind
from lanelab.driver.trial.packets.quic_frames import PING, STREAMS, Broken, frames
from lanelab.driver.trial.packets.quic_keys import (
    CHACHA,
    Keys,
    expand,
    initial_keys,
    whole_number,
)
from lanelab.driver.trial.packets.quic_session import ONE_RTT, Session
from lanelab.driver.trial.packets.quic_timeline import round_trips
from lanelab.driver.trial.packets.secrets import read_secrets
from lanelab.driver.trial.packets.timeline import read_timeline
from tests.kit import tshark
from tests.kit.frames import CLIENT, SERVER, Recorder, udp
from tests.kit.machine import ROOT

FOLDER = ROOT / "tests" / "data" / "quic"
CAPTURE, KEYS = FOLDER / "chromium.pcapng.gz", (FOLDER / "chromium.keys").read_text()
ADDRESS, PORT = "127.0.0.1", 8443
SAMPLE_ID = bytes.fromhex("8394c8f03e515708")


def datagrams() -> list[tuple[bool, bytes]]:
    """Of the capture: whether it is from the client, and what is in it."""
    capture = open_capture(CAPTURE)
    result = []
    for _, size, begin, end in places(capture):
        found = inside(capture.data, begin, end, size, capture.link)
        assert found is not None
        port = int.from_bytes(capture.data[found.at + 2 : found.at + 4])
        result.append((port == PORT, capture.data[found.at + 8 : end]))
    return result


def quic(keys: str) -> QuicSummary:
    (flow,) = summarise(CAPTURE, ADDRESS, keys).by_udp_flow
    assert flow.quic is not None
    return flow.quic


# --- published samples


@pytest.mark.parametrize(
    ("salt", "label", "key"),
    [
        ("38762cf7f55934b34d179ae6a4c80cadccbb7f0a", "quic key", "1f369613dd76d5467730efcbe3b1a22d"),
        ("0dede3def700a6db819381be6e269dcbf9bd2ed9", "quicv2 key", "8b1a0bc121284290a29e0971b5cd045d"),
    ],
    ids=["RFC 9001, A.1", "RFC 9369, A.1"],
)
def test_initial_keys_are_the_published_ones(salt: str, label: str, key: str) -> None:
    secret = expand(hmac.digest(bytes.fromhex(salt), SAMPLE_ID, "sha256"), "client in", 32)
    assert expand(secret, label, 16).hex() == key


def test_a_packet_with_chacha20_opens() -> None:
    """RFC 9001, A.5."""
    secret = bytes.fromhex("9ac312a7f877468ebe69422748ad00a15443f18203a07d6060f688f30f21632b")
    keys = Keys(secret, VERSION_1, CHACHA)
    keys.largest = 654360563
    opened = keys.open(bytes.fromhex("4cfe4189655e5cd55c41f69080575d7999c25a5bfb"), 1)
    assert opened is not None
    assert (opened.number, [frame.kind for frame in frames(opened.payload)]) == (654360564, [PING])


def test_keys_of_a_version_that_nobody_knows_are_none() -> None:
    assert initial_keys(SAMPLE_ID, 0xFF00001D) is None
    assert initial_keys(SAMPLE_ID, VERSION_2) is not None


@pytest.mark.parametrize(
    ("short", "bits", "largest", "whole"), [(0x9B32, 16, 0xA82F30EA, 0xA82F9B32), (0, 8, -1, 0), (1, 8, 255, 257)]
)
def test_packet_numbers_become_whole(short: int, bits: int, largest: int, whole: int) -> None:
    assert whole_number(short, bits, largest) == whole


# --- a real connection


def test_who_was_asked_for_what_without_keys() -> None:
    found = quic("")
    assert (found.server_name, found.alpn_offered, found.tls_version) == ("site.test", ("h3",), "TLS 1.3")
    assert (found.tls_resumed, found.early_data_offered, found.early_packets) == (False, False, 0)
    assert (found.alpn_chosen, found.early_data_taken) == (None, None)
    assert (found.complete, found.retry, found.version_negotiation, found.moved_from) == (True, False, False, None)


def test_keys_add_what_the_server_chose() -> None:
    found = quic(KEYS)
    assert (found.alpn_chosen, found.early_data_taken) == ("h3", False)
    assert replace(found, alpn_chosen=None, early_data_taken=None) == quic("")


@tshark.needs_tshark
def test_the_hellos_are_those_that_tshark_reads() -> None:
    names = ("tls.handshake.extensions_server_name", "tls.handshake.extensions_alpn_str", "tls.handshake.random")
    rows = tshark.fields(CAPTURE, *names, only="tls.handshake.type", options=["-d", f"udp.port=={PORT},quic"])
    values = [{each[place] for each in rows if each[place]} for place in range(3)]
    session = Session({})
    for up, payload in datagrams():
        session.take(payload, up=up)
    asked, answered = session.client_hello, session.server_hello
    assert asked is not None
    assert answered is not None
    assert (values[0], values[1]) == ({asked.name}, {"h3"})
    assert values[2] == {asked.random.hex(), answered.random.hex()}


@tshark.needs_tshark
def test_every_packet_opens_and_has_the_number_that_tshark_reads() -> None:
    session, ours = Session(read_secrets(KEYS), whole=True), Counter[int]()
    streams: Counter[int] = Counter()
    for up, payload in datagrams():
        for packet in session.take(payload, up=up):
            assert packet.is_open
            ours[packet.number] += 1
            streams.update(frame.stream for frame in packet.frames if frame.kind in STREAMS)
    decode = ["-d", f"udp.port=={PORT},quic"]
    rows = tshark.fields(CAPTURE, "quic.packet_number", "quic.stream.stream_id", only="quic", options=decode)
    assert ours == Counter(int(number) for row in rows for number in row[0].split(",") if number)
    assert streams == Counter(int(number) for row in rows for number in row[1].split(",") if number)


@tshark.needs_tshark
def test_the_artifact_alone_shows_the_headers_of_http_3() -> None:
    """The keys are in the capture; tshark is given nothing else."""
    decode = ["-d", f"udp.port=={PORT},quic"]
    rows = tshark.fields(CAPTURE, "quic.stream.stream_id", only="http3.frame_type==1", options=decode)
    assert {"0", "4", "8"} <= {number for (numbers,) in rows for number in numbers.split(",")}


def test_a_retry_changes_the_keys_of_initials() -> None:
    """What follows it is opened with the id that the server chose in it."""
    session = Session({})
    first = datagrams()[0][1]
    session.take(b"\xf0\0\0\0\1\0\x08" + first[6:14] + b"token" + bytes(16), up=False)
    (packet,) = session.take(first, up=True)
    assert packet.is_open


def test_a_hello_in_pieces_of_any_order_is_put_together() -> None:
    session = Session({})
    for up, payload in reversed([each for each in datagrams() if each[0]][:2]):
        session.take(payload, up=up)
    # The first datagram that is seen names the id: the second's is the same, and so are the keys.
    assert session.client_hello is not None


def test_a_connection_that_goes_on_at_another_port_is_named() -> None:
    recorder = Recorder()
    for up, payload in datagrams():
        port = 50000
        ends = (CLIENT, port, SERVER, 443) if up else (SERVER, 443, CLIENT, port)
        recorder.add(udp(*ends, payload), 1)
    last = [payload for up, payload in datagrams() if up and not payload[0] & 0x80][-1]
    recorder.add(udp(CLIENT, 50001, SERVER, 443, last), 1)
    first, moved = summarise(recorder.pcap()).by_udp_flow
    assert first.quic is not None
    assert moved.quic is not None
    assert (first.quic.moved_from, moved.quic.moved_from) == (None, 50000)
    assert (moved.quic.server_name, moved.quic.initials_up) == ("site.test", 0)


def test_a_short_snap_length_leaves_what_was_not_captured_unknown() -> None:
    session = Session(read_secrets(KEYS), whole=True)
    opened = [packet for up, payload in datagrams() for packet in session.take(payload[:100], up=up)]
    assert session.client_hello is None
    assert {packet.kind for packet in opened if not packet.is_open} >= {Kind.INITIAL, ONE_RTT}


def test_a_short_snap_length_leaves_the_round_trip_of_the_handshake() -> None:
    recorder, answered = Recorder(), False
    for up, payload in datagrams():
        recorder.wait(0.0 if up or answered else 40.0)
        answered = answered or not up
        ends = (CLIENT, 50_000, SERVER, 443) if up else (SERVER, 443, CLIENT, 50_000)
        recorder.add(udp(*ends, payload))
    (connection,) = read_timeline(recorder.pcap(snaplen=96), CLIENT).quic
    (trip,) = round_trips(connection)
    assert trip.shakes
    assert 40_000_000 < trip.took_ns < 41_000_000
    assert trip.up_bytes >= SMALLEST_INITIAL


# --- damage


@given(st.integers(0, 2**32), st.floats(0.0, 0.2))
@settings(max_examples=60, deadline=None)
def test_damaged_datagrams_are_no_error(seed: int, share: float) -> None:
    dice = random.Random(seed)
    session = Session(read_secrets(KEYS), whole=True)
    for up, payload in datagrams():
        data = bytearray(payload)
        for _ in range(int(len(data) * share) + 1):
            data[dice.randrange(len(data))] = dice.randrange(256)
        session.take(bytes(data[: dice.randrange(len(data) + 1)]) if dice.random() < share else bytes(data), up=up)
    assert session.answer is None or session.answer.alpn is not None


@given(st.binary(max_size=200))
@settings(max_examples=300, deadline=None)
def test_any_bytes_are_frames_or_broken(data: bytes) -> None:
    try:
        found = list(frames(data))
    except Broken:
        return
    assert all(len(frame.data) <= len(data) for frame in found)


def test_lines_of_a_key_log_that_are_none_are_passed_over() -> None:
    assert read_secrets("# comment\nCLIENT_RANDOM 00 zz\nSERVER_TRAFFIC_SECRET_0 aa bb\nhalf") == {
        b"\xaa": {"SERVER_TRAFFIC_SECRET_0": b"\xbb"}
    }
