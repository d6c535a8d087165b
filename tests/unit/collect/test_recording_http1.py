"""What a connection carried, as HTTP/1.x messages."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lanelab.driver.collect.recording.http1 import messages
from lanelab.driver.collect.recording.message import End, Message, WireError

ASK = b"GET /%d HTTP/1.1\r\nHost: a.test\r\n\r\n"
PIECES = st.lists(
    st.sampled_from(
        [
            ASK % 1,
            b"POST /p HTTP/1.1\r\nHost: a.test\r\nContent-Length: 3\r\n\r\nabc",
            b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
            b"HTTP/1.1 103 Early\r\n\r\n",
            b"HTTP/1.1 204 No\r\n\r\n",
            b"HTTP/1.0 200 OK\n\nrest",
            b"\r\n",
            b"0\r\n",
            b"Transfer-Encoding: chunked\r\n",
        ]
    )
    | st.binary(max_size=40)
)


def only(sent: bytes, received: bytes) -> Message:
    (message,) = messages(sent, received)
    return message


def answer(received: bytes, sent: bytes = ASK % 1) -> tuple[int, bytes, End]:
    got = only(sent, received).answer
    assert got is not None
    return got.status, got.body, got.end


def test_a_connection_that_stays_carries_many() -> None:
    received = (
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"
        b"HTTP/1.1 404 Not Found\r\nTransfer-Encoding: gzip, chunked\r\n\r\n"
        b"3;name=value\r\nabc\r\n2\r\nde\r\n0\r\nX-Trailer: yes\r\n\r\n"
        b"HTTP/1.1 204 No Content\r\n\r\n"
        b"HTTP/1.0 200 OK\r\n\r\nuntil the end"
    )
    found = list(messages(b"".join(ASK % number for number in range(4)), received))
    assert [each.target for each in found] == ["/0", "/1", "/2", "/3"]
    answers = [each.answer for each in found if each.answer]
    assert [(each.status, each.body) for each in answers] == [
        (200, b"hi"), (404, b"abcde"), (204, b""), (200, b"until the end"),
    ]  # fmt: skip
    assert [each.end for each in answers] == [End.WHOLE, End.WHOLE, End.WHOLE, End.UNTIL_CLOSE]
    assert answers[3].protocol == "http/1.0"
    assert [each.offset for each in found] == [number * len(ASK % 0) for number in range(4)]


def test_the_head_is_as_it_came() -> None:
    head = b"HTTP/1.1 200 Alles gut\r\nA:b\r\nx: caf\xe9\r\nA: c \r\n d\r\nno field\r\nContent-Length: 0\r\n\r\n"
    got = only(ASK % 1, head).answer
    assert got is not None
    assert got.reason == "Alles gut"
    assert got.headers == (("A", "b"), ("x", "caf\xe9"), ("A", "c d"), ("Content-Length", "0"))


def test_bodies_that_are_none() -> None:
    head = b"HEAD / HTTP/1.1\r\nHost: a.test\r\n\r\n"
    assert answer(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", head) == (200, b"", End.WHOLE)
    assert answer(b"HTTP/1.1 304 Same\r\nContent-Length: 9\r\n\r\n") == (304, b"", End.WHOLE)
    assert answer(b"HTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx") == (
        200, b"x", End.WHOLE,
    )  # fmt: skip


def test_a_request_with_a_body_is_followed_by_the_next() -> None:
    sent = b"POST /p HTTP/1.1\r\nHost: a.test\r\nContent-Length: 3\r\n\r\nabc" + ASK % 2
    assert [(each.method, each.body) for each in messages(sent, b"")] == [("POST", b"abc"), ("GET", b"")]


@pytest.mark.parametrize(
    "received",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhi",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhi",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n",
    ],
)
def test_what_is_cut_off_shows(received: bytes) -> None:
    assert answer(received) == (200, b"hi", End.CUT)


def test_no_answer_shows() -> None:
    assert [each.end for each in messages(ASK % 1 + ASK % 2, b"HTTP/1.1 204 No\r\n\r\nHTTP/1.1 20")] == [
        End.WHOLE, End.NONE,
    ]  # fmt: skip


def test_another_protocol_ends_the_reading() -> None:
    switched = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n\x81\x05hello"
    assert only(ASK % 1 + b"\x81\x85....", switched).tunnel


@pytest.mark.parametrize(
    "received",
    [
        b"SSH-2.0-x\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1, 2\r\n\r\nhi",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhi",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nhi\r\n",
    ],
)
def test_what_is_no_http_is_an_error(received: bytes) -> None:
    with pytest.raises(WireError):
        list(messages(ASK % 1, received))


@given(PIECES, PIECES)
def test_anything_is_read_or_refused(sent: list[bytes], received: list[bytes]) -> None:
    try:
        found = list(messages(b"".join(sent), b"".join(received)))
    except WireError:
        return
    assert all(each.method and each.offset < len(b"".join(sent)) for each in found)


@given(st.integers(0, 200))
def test_a_cut_takes_nothing_whole_that_was_not(cut: int) -> None:
    """Wherever a connection ends: what counts as whole is what was sent."""
    whole = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody" * 2 + (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n"
    )
    for each in messages(ASK % 0 + ASK % 1 + ASK % 2, whole[:cut]):
        if each.end is End.WHOLE:
            assert each.answer is not None
            assert each.answer.body == b"body"
