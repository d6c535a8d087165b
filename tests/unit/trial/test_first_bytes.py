"""The first bytes of a connection: what is spoken in clear, and what a real TLS session shows of itself."""

import ssl
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lanelab.driver.trial.packets import first_bytes
from lanelab.driver.trial.packets.packets import Connection, summarise
from tests.kit.frames import Recorder, Talk
from tests.kit.tls_talk import TlsTalk

VERSIONS = {"TLS 1.2": ssl.TLSVersion.TLSv1_2, "TLS 1.3": ssl.TLSVersion.TLSv1_3}
H2_SETTINGS = bytes.fromhex("000012040000000000")
SPDY_SETTINGS = bytes.fromhex("8003000400000014")


def talked(up: bytes, down: bytes, snaplen: int = 262144) -> Connection:
    recorder = Recorder()
    talk = Talk(recorder)
    talk.open()
    talk.say("up", up)
    talk.say("down", down)
    (found,) = summarise(recorder.pcap(snaplen=snaplen)).by_connection
    return found


@pytest.mark.parametrize(
    ("up", "down", "spoken"),
    [
        (b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", b"HTTP/1.1 200 OK\r\n", ("http/1.1", "http/1.1")),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + H2_SETTINGS, H2_SETTINGS, ("h2", "h2")),
        (SPDY_SETTINGS, bytes.fromhex("8003000200000010"), ("spdy/3", "spdy/3")),
        (bytes.fromhex("80020001010000aa"), b"HTTP/1.1 400 Bad Request\r\n", ("spdy/2", "http/1.1")),
        (b"EHLO you\r\n", bytes(20), ("other", "other")),
        (b"\x16\x03\x01\x00\x50\x01", b"\x15\x03\x03\x00\x02\x02", ("tls", "tls")),
    ],
    ids=["http", "h2", "spdy/3", "spdy/2 refused", "neither", "alert"],
)
@pytest.mark.parametrize("snaplen", [262144, 60])
def test_what_is_spoken_in_clear(up: bytes, down: bytes, spoken: tuple[str | None, str | None], snaplen: int) -> None:
    found = talked(up, down, snaplen)
    assert (found.spoken_up, found.spoken_down) == spoken
    assert (found.alpn_offered, found.tls_version, found.tls_resumed) == (None, None, None)


def test_first_bytes_that_were_lost_are_those_that_are_sent_again() -> None:
    recorder = Recorder()
    talk = Talk(recorder)
    talk.open()
    talk.say("up", b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    first = talk.say("down", b"HTTP/1.1 200 OK\r\n\r\n", lost=True)
    talk.say("down", b"and this is what came")
    (before,) = summarise(recorder.pcap()).by_connection
    assert (before.spoken_up, before.spoken_down) == ("http/1.1", None)
    talk.repeat("down", first, b"HTTP/1.1 200 OK\r\n\r\n", after_ms=200)
    (after,) = summarise(recorder.pcap()).by_connection
    assert (after.spoken_up, after.spoken_down) == ("http/1.1", "http/1.1")


def connection(session: TlsTalk, recorder: Recorder) -> Connection:
    session.run()
    return summarise(recorder.pcap()).by_connection[-1]


@pytest.mark.parametrize("version", VERSIONS)
def test_what_a_tls_session_shows(tmp_path: Path, version: str) -> None:
    recorder = Recorder()
    first = TlsTalk(tmp_path, VERSIONS[version], recorder, alpn=("spdy/3.1", "http/1.1"))
    found = connection(first, recorder)
    assert (found.tls, found.spoken_up, found.spoken_down) == (True, "tls", "tls")
    assert (found.alpn_offered, found.tls_version, found.tls_resumed) == (("spdy/3.1", "http/1.1"), version, False)
    recorder = Recorder()
    again = connection(TlsTalk(tmp_path, VERSIONS[version], recorder, before=first), recorder)
    assert (again.tls_version, again.tls_resumed) == (version, True)


def test_without_alpn_nothing_is_offered(tmp_path: Path) -> None:
    recorder = Recorder()
    assert connection(TlsTalk(tmp_path, VERSIONS["TLS 1.3"], recorder), recorder).alpn_offered == ()


def test_what_was_not_captured_is_not_known(tmp_path: Path) -> None:
    recorder = Recorder()
    TlsTalk(tmp_path, VERSIONS["TLS 1.3"], recorder, alpn=("h2",)).run()
    (found,) = summarise(recorder.pcap(snaplen=96)).by_connection
    assert found.tls
    assert (found.alpn_offered, found.tls_version, found.tls_resumed) == (None, None, None)


@given(st.binary(max_size=300))
def test_nothing_is_too_strange(data: bytes) -> None:
    for start in (b"", b"\x16\x03\x01\x00\xff\x01", b"\x16\x03\x03\x00\xff\x02"):
        said = first_bytes.hello(start + data)
        first_bytes.protocol(start + data)
        assert first_bytes.resumed(said, said) in (None, True, False)
