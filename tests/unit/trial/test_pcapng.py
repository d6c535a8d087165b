"""Captures with their keys: tshark reads what was inside TLS, and the packets that were there before."""

import gzip
import ssl
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lanelab.driver.base.errors import CaptureError
from lanelab.driver.trial.packets.packets import open_capture, places, summarise
from lanelab.driver.trial.packets.pcapng import embed_keys
from tests.kit import tshark
from tests.kit.frames import Recorder, Talk
from tests.kit.tls_talk import TlsTalk

VERSIONS = [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3]
INSIDE = ("http.request.uri", "http.response.code", "http.file_data")


def plain(**options: object) -> bytes:
    recorder = Recorder()
    talk = Talk(recorder)
    talk.open()
    for size in (1, 2, 3, 4, 1400):
        talk.say("down", b"z" * size)
    talk.close()
    return recorder.pcap(**options)  # type: ignore[arg-type]


@tshark.needs_tshark
@pytest.mark.parametrize("version", VERSIONS, ids=lambda version: version.name)
def test_tshark_reads_what_was_inside(version: ssl.TLSVersion, tmp_path: Path) -> None:
    recorder = Recorder()
    session = TlsTalk(tmp_path, version, recorder)
    session.run()
    whole, bare = tmp_path / "whole.pcapng.gz", tmp_path / "bare.pcapng.gz"
    embed_keys(recorder.pcap(), session.key_log.read_text(), whole)
    embed_keys(recorder.pcap(), "", bare)
    inside = tshark.fields(whole, *INSIDE, only="http")
    assert (inside[0][0], inside[1][1]) == ("/secret.html", "200")
    assert tshark.fields(bare, *INSIDE, only="http") == []
    assert sum(each.tls for each in summarise(recorder.pcap()).by_connection) == 1
    assert session.key_log.read_bytes() in gzip.decompress(whole.read_bytes())


@tshark.needs_tshark
@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("nanoseconds", [False, True])
@pytest.mark.parametrize("snaplen", [262144, 61])
def test_packets_are_what_they_were(order: str, snaplen: int, tmp_path: Path, *, nanoseconds: bool) -> None:
    before, after = tmp_path / "a.pcap", tmp_path / "b.pcapng.gz"
    before.write_bytes(plain(order=order, nanoseconds=nanoseconds, snaplen=snaplen))
    assert embed_keys(before, "# no keys\n", after) == 11
    names = ("frame.time_epoch", "frame.len", "frame.cap_len", "tcp.seq_raw", "tcp.flags", "tcp.len")
    columns = ",".join(f'"{name}","%Cus:{name}"' for name in names)
    shown = ("-o", f"gui.column.format:{columns}", "-P", "-x")  # with every byte
    said = tshark.tshark(before, *shown)
    assert said.count("\n0000 ") == 11
    assert tshark.tshark(after, *shown) == said


def test_the_same_capture_makes_the_same_bytes(tmp_path: Path) -> None:
    first, second = tmp_path / "a.gz", tmp_path / "b.gz"
    embed_keys(plain(), "key\n", first)
    embed_keys(plain(), "key\n", second)
    assert first.read_bytes() == second.read_bytes()


def blocks(data: bytes) -> list[tuple[int, bytes]]:
    """Type and body of each block; lengths at both ends must agree, and all blocks be aligned."""
    found, position = [], 0
    while position < len(data):
        kind, length = (int.from_bytes(data[position + at : position + at + 4], "little") for at in (0, 4))
        assert length % 4 == 0
        assert int.from_bytes(data[position + length - 4 : position + length], "little") == length
        found.append((kind, data[position + 8 : position + length - 4]))
        position += length
    return found


@given(st.binary(max_size=200), st.text(max_size=50), st.integers(0, 200))
def test_blocks_are_sound_whatever_is_in_them(rest: bytes, keys: str, cut: int) -> None:
    data = plain()[: 24 + cut] + rest
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "x.gz")
        count = embed_keys(data, keys, file)
        found = blocks(gzip.decompress(file.read_bytes()))
    kinds = [kind for kind, _ in found]
    assert kinds == [0x0A0D0D0A, *([10] if keys else []), 1, *[6] * count]
    assert count == len(list(places(open_capture(data)))) == summarise(data).packets


def test_what_is_no_capture_leaves_no_file(tmp_path: Path) -> None:
    with pytest.raises(CaptureError):
        embed_keys(b"nonsense", "", tmp_path / "x.gz")
    assert list(tmp_path.iterdir()) == []
