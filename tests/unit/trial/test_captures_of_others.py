"""Captures that others made, in all the forms in which TCP and UDP come: read as tshark reads them."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from lanelab.driver.base.errors import CaptureError
from lanelab.driver.trial.packets.frames import COOKED, COOKED_2, LOOP, NULL, RAW, RAW_4, RAW_6
from lanelab.driver.trial.packets.packets import PacketSummary, summarise
from lanelab.driver.trial.packets.timeline import read_timeline
from tests.kit import tshark
from tests.kit.frames import ACK, CLIENT, PSH, SERVER, SYN, ip6, pcap, tcp, udp
from tests.kit.machine import ROOT

CAPTURES = ROOT / "tests" / "data" / "captures"
FILES = sorted(path.name for path in CAPTURES.glob("*.pcap*"))
CLIENT_6, SERVER_6 = "2001:db8::2", "2001:db8:2::2"


def read_by_tshark(file: Path) -> tuple[int, int, int, int, Counter[str], int]:
    """Packets, bytes, TCP connections, UDP flows, TCP packets by connection, payload of TCP."""
    names = ("frame.len", "tcp.stream", "udp.stream", "tcp.len")
    rows = tshark.fields(file, *names)
    tcp_streams = Counter(stream for _, stream, _, _ in rows if stream)
    udp_streams = {stream for _, _, stream, _ in rows if stream}
    payload = sum(int(length) for *_, length in rows if length)
    return len(rows), sum(int(row[0]) for row in rows), len(tcp_streams), len(udp_streams), tcp_streams, payload


def read_by_us(found: PacketSummary) -> tuple[int, int, int, int, Counter[str], int]:
    streams = Counter({str(n): each.packets_up + each.packets_down for n, each in enumerate(found.by_connection)})
    payload = sum(each.payload_up + each.payload_down for each in found.by_connection)
    return found.packets, found.bytes, len(found.by_connection), len(found.by_udp_flow), streams, payload


@tshark.needs_tshark
@pytest.mark.parametrize("name", FILES)
def test_we_read_what_tshark_reads(name: str) -> None:
    found = summarise(CAPTURES / name)
    assert found.incomplete is None
    assert read_by_us(found) == read_by_tshark(CAPTURES / name)


@tshark.needs_tshark
def test_a_handshake_over_ipv6_takes_as_long_as_tshark_says() -> None:
    file = CAPTURES / "test_loopback.pcap"
    before, found = summarise(file, "::1").by_connection
    (said,) = {row[0] for row in tshark.fields(file, "tcp.analysis.initial_rtt") if row[0]}
    assert found.handshake_rtt_us == pytest.approx(float(said) * 1e6, abs=1)
    assert (found.server, found.server_port, found.syn, found.used) == ("::1", 8080, True, False)
    assert (before.server_port, before.syn, before.spoken_up, before.used) == (8080, False, "http/1.1", True)


# --- other frames around the same packets


def conversation(client: str, server: str) -> list[bytes]:
    up, down = (client, 40000, server, 80), (server, 80, client, 40000)
    return [
        tcp(up, 1000, 0, SYN),
        tcp(down, 5000, 1001, SYN | ACK),
        tcp(up, 1001, 5001, ACK),
        tcp(up, 1001, 5001, ACK | PSH, b"GET / HTTP/1.1\r\n\r\n"),
        tcp(down, 5001, 1019, ACK | PSH, b"x" * 900),
        tcp(down, 5901, 1019, ACK | PSH, b"y" * 900),
        tcp(up, 1019, 6801, ACK),
        udp(client, 5001, server, 53, b"question"),
        udp(server, 53, client, 5001, b"the answer"),
    ]


def tagged(frame: bytes, *tags: int) -> bytes:
    """With VLAN tags of these kinds."""
    inner = frame[12:]
    for number, kind in reversed(list(enumerate(tags))):
        inner = kind.to_bytes(2) + (7 + number).to_bytes(2) + inner
    return frame[:12] + inner


def cooked(frame: bytes) -> bytes:
    return b"\x00\x00\x00\x01\x00\x06" + bytes(8) + frame[12:]


def cooked_2(frame: bytes) -> bytes:
    return frame[12:14] + bytes(2) + b"\x00\x00\x00\x02\x00\x01\x00\x06" + bytes(8) + frame[14:]


def null(frame: bytes) -> bytes:
    return (2 if frame[12] == 8 else 30).to_bytes(4, "little") + frame[14:]


def loop(frame: bytes) -> bytes:
    return (2 if frame[12] == 8 else 24).to_bytes(4) + frame[14:]


FORMS: dict[str, tuple[int, Callable[[bytes], bytes]]] = {
    "plain": (1, lambda frame: frame),
    "802.1Q": (1, lambda frame: tagged(frame, 0x8100)),
    "QinQ": (1, lambda frame: tagged(frame, 0x88A8, 0x8100)),
    "cooked": (COOKED, cooked),
    "cooked 2": (COOKED_2, cooked_2),
    "raw": (RAW, lambda frame: frame[14:]),
    "null": (NULL, null),
    "loop": (LOOP, loop),
}
ADDRESSES = {"IPv4": (CLIENT, SERVER), "IPv6": (CLIENT_6, SERVER_6)}


def made(form: str, version: str) -> bytes:
    link, wrap = FORMS[form]
    frames = conversation(*ADDRESSES[version])
    return pcap([(1_700_000_000_000_000 + 20_000 * n, wrap(frame)) for n, frame in enumerate(frames)], link=link)


@pytest.mark.parametrize("version", ADDRESSES)
@pytest.mark.parametrize("form", FORMS)
def test_the_same_packets_say_the_same_in_every_form(form: str, version: str) -> None:
    client, server = ADDRESSES[version]
    found = summarise(made(form, version), client)
    (connection,), (flow,) = found.by_connection, found.by_udp_flow
    assert (connection.server, connection.server_port, connection.client_port) == (server, 80, 40000)
    assert (connection.packets_up, connection.packets_down) == (4, 3)
    assert (connection.payload_up, connection.payload_down) == (18, 1800)
    assert (connection.handshake_rtt_us, connection.used, connection.spoken_up) == (40_000, True, "http/1.1")
    assert (flow.server, flow.packets_up, flow.packets_down, flow.dns, flow.quic) == (server, 1, 1, True, None)
    assert (found.bytes, found.other_packets) == (found.bytes_up + found.bytes_down, 0)


@pytest.mark.parametrize("version", ADDRESSES)
@pytest.mark.parametrize("form", FORMS)
def test_timelines_have_them_all(form: str, version: str) -> None:
    client, server = ADDRESSES[version]
    found = read_timeline(made(form, version), client)
    (stream,) = found.streams
    assert (stream.client, stream.server) == ((client, 40000), (server, 80))
    assert [packet.payload for packet in stream.packets] == [0, 0, 0, 18, 900, 900, 0]
    assert [packet.up for packet in stream.packets] == [True, False, True, True, False, False, True]
    assert [(each.up, each.server, each.client_port) for each in found.datagrams] == [
        (True, server, 5001), (False, server, 5001),
    ]  # fmt: skip


@tshark.needs_tshark
@pytest.mark.parametrize("version", ADDRESSES)
@pytest.mark.parametrize("form", ["QinQ", "cooked", "cooked 2", "null"])
def test_tshark_sees_the_same_in_them(form: str, version: str, tmp_path: Path) -> None:
    file = tmp_path / "made.pcap"
    file.write_bytes(made(form, version))
    assert read_by_us(summarise(file, ADDRESSES[version][0])) == read_by_tshark(file)


@pytest.mark.parametrize(("link", "version"), [(RAW_4, "IPv4"), (RAW_6, "IPv6")])
def test_raw_packets_of_one_version_have_a_number_of_their_own(link: int, version: str) -> None:
    frames = [frame[14:] for frame in conversation(*ADDRESSES[version])]
    found = summarise(pcap([(20_000 * n, frame) for n, frame in enumerate(frames)], link=link))
    assert (found.connections, found.other_packets) == (1, 0)


def test_headers_between_ipv6_and_tcp_are_stepped_over() -> None:
    (syn,) = (frame for frame in conversation(CLIENT_6, SERVER_6)[:1])
    segment = syn[54:]
    hop_by_hop = bytes([60, 0]) + bytes(6)
    destination = bytes([44, 1]) + bytes(14)
    first, later = bytes([6, 0, 0, 1]) + bytes(4), bytes([6, 0, 0x01, 0]) + bytes(4)
    around = [ip6(CLIENT_6, SERVER_6, 0, hop_by_hop + destination + part + segment) for part in (first, later)]
    found = summarise(pcap([(0, bytes(12) + b"\x86\xdd" + packet) for packet in around]), CLIENT_6)
    assert (found.connections, found.other_packets, found.bytes_up) == (1, 1, found.bytes)


def test_padding_behind_a_short_segment_is_no_part_of_it() -> None:
    frames = conversation(CLIENT, SERVER)[:3]
    request = tcp((CLIENT, 40000, SERVER, 80), 1001, 5001, ACK, b"GE") + b"\xee\xee\xee\xee"
    rest = tcp((CLIENT, 40000, SERVER, 80), 1003, 5001, ACK, b"T / HTTP/1.1\r\n")
    found = summarise(pcap([(n, frame) for n, frame in enumerate([*frames, request, rest])]))
    assert found.by_connection[0].spoken_up == "http/1.1"


def test_interfaces_of_several_kinds_are_refused() -> None:
    section = (CAPTURES / "le-test001.pcapng").read_bytes()
    other = bytearray(section)
    at = other.index(b"\x01\x00\x00\x00", 28)
    other[at + 8] = 113
    with pytest.raises(CaptureError, match=r"mixes link types \[1, 113\]"):
        summarise(section + bytes(other))
