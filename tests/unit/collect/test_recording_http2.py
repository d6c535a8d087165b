"""What a connection carried, as messages of HTTP/2."""

import hpack
import pytest
from hyperframe import frame as frames
from hypothesis import given
from hypothesis import strategies as st

from lanelab.driver.collect.recording.http2 import PREFACE, messages
from lanelab.driver.collect.recording.message import End, WireError

ASKED = ((":method", "GET"), (":scheme", "https"), (":authority", "a.test"), (":path", "/x?y"), ("accept", "*/*"))


def head(encoder: hpack.Encoder, stream: int, fields: tuple[tuple[str, str], ...], *flags: str) -> bytes:
    block = encoder.encode([(name.encode("latin-1"), value.encode("latin-1")) for name, value in fields])
    return bytes(frames.HeadersFrame(stream, block, flags=["END_HEADERS", *flags]).serialize())


def data(stream: int, body: bytes, *flags: str, padding: int = 0) -> bytes:
    padded = ["PADDED"] if padding else []
    return bytes(frames.DataFrame(stream, body, pad_length=padding, flags=[*flags, *padded]).serialize())


def sent() -> bytes:
    encoder = hpack.Encoder()
    settings = frames.SettingsFrame(0, settings={1: 65536}).serialize()
    asked = [head(encoder, stream, ASKED, "END_STREAM") for stream in (1, 3)]
    posted = (*ASKED[1:], (":method", "POST"))
    body = head(encoder, 5, posted) + data(5, b"abc", "END_STREAM")
    return bytes(PREFACE + settings + b"".join(asked) + body)


def received() -> bytes:
    encoder = hpack.Encoder()
    encoder.header_table_size = 65536
    block = encoder.encode([(b":status", b"200"), (b"set-cookie", b"a=1"), (b"set-cookie", b"b=caf\xe9")])
    in_pieces = (
        frames.HeadersFrame(3, block[:2], flags=["PADDED"], pad_length=5).serialize()
        + frames.ContinuationFrame(3, block[2:4]).serialize()
        + frames.ContinuationFrame(3, block[4:], flags=["END_HEADERS"]).serialize()
    )
    promise = frames.PushPromiseFrame(3, promised_stream_id=2, flags=["END_HEADERS"])
    promise.data = encoder.encode([(b":method", b"GET"), (b":path", b"/pushed")])
    pieces = [
        frames.SettingsFrame(0, settings={}).serialize(),
        in_pieces,
        promise.serialize(),
        head(encoder, 1, ((":status", "103"), ("link", "<x>"))),
        data(3, b"he", padding=9),
        head(encoder, 1, ((":status", "404"), ("x", "y")), "END_STREAM"),
        frames.PingFrame(0, b"12345678").serialize(),
        data(3, b"llo"),
        head(encoder, 3, (("x-trailer", "yes"),), "END_STREAM"),
        head(encoder, 5, ((":status", "200"),)),
        data(5, b"half"),
        frames.RstStreamFrame(5, error_code=2).serialize(),
        frames.GoAwayFrame(0, last_stream_id=5).serialize(),
    ]
    return b"".join(bytes(each) for each in pieces)


def test_streams_are_told_apart() -> None:
    first, second, third = messages(sent(), received())
    assert first.answer is not None
    assert second.answer is not None
    assert third.answer is not None
    assert (first.method, first.scheme, first.authority, first.target) == ("GET", "https", "a.test", "/x?y")
    assert first.headers == (("accept", "*/*"),)
    assert (first.answer.status, first.answer.headers, first.end) == (404, (("x", "y"),), End.WHOLE)
    assert (second.answer.status, second.answer.body, second.end) == (200, b"hello", End.WHOLE)
    assert second.answer.headers == (("set-cookie", "a=1"), ("set-cookie", "b=caf\xe9"))
    assert (third.method, third.body) == ("POST", b"abc")
    assert (third.answer.body, third.end) == (b"half", End.CUT)
    assert first.offset < second.offset < third.offset


def test_no_answer_shows() -> None:
    assert [each.end for each in messages(sent(), b"")] == [End.NONE] * 3


def test_a_head_that_is_interrupted_is_an_error() -> None:
    broken = frames.HeadersFrame(1, b"\x88").serialize() + data(1, b"x")
    with pytest.raises(WireError, match="interrupted"):
        list(messages(sent(), broken))


def test_what_is_no_http2_is_an_error() -> None:
    with pytest.raises(WireError):
        list(messages(b"GET / HTTP/1.1\r\n\r\n", b""))


@given(st.integers(0, 400))
def test_a_cut_takes_nothing_whole_that_was_not(cut: int) -> None:
    whole = {each.offset: each for each in messages(sent(), received())}
    for each in messages(sent(), received()[:cut]):
        if each.end is End.WHOLE:
            assert each == whole[each.offset]


@given(st.binary(max_size=200), st.integers(0, 300), st.integers(0, 255))
def test_anything_is_read_or_refused(noise: bytes, place: int, value: int) -> None:
    changed = bytearray(received())
    changed[place % len(changed)] = value
    for answered in (noise, bytes(changed), bytes(changed) + noise, received()[:place] + noise):
        for asked in (sent(), PREFACE + noise):
            try:
                list(messages(asked, answered))
            except WireError:
                continue
