"""Requests in clear, read from captures made by hand."""

import pytest

from lanelab.driver.trial.packets.clear_text import ClearExchange, read_clear_text
from tests.kit.frames import CLIENT, RST, Recorder, Talk

PORTS = frozenset({80})
PAGE, PICTURE = b"<p>page</p>", bytes(3000)


def ask(path: str, method: str = "GET", host: str = "a.test", body: bytes = b"") -> bytes:
    length = f"Content-Length: {len(body)}\r\n" if body else ""
    return f"{method} {path} HTTP/1.1\r\nHost: {host}\r\n{length}\r\n".encode() + body


def answer(body: bytes, status: str = "200 OK", *, more: str = "", length: int | None = None) -> bytes:
    size = len(body) if length is None else length
    return f"HTTP/1.1 {status}\r\nContent-Length: {size}\r\n{more}\r\n".encode() + body


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


@pytest.fixture
def talk(recorder: Recorder) -> Talk:
    opened = Talk(recorder, port=40_001)
    opened.open()
    return opened


def exchanges(recorder: Recorder, snaplen: int = 262144) -> list[ClearExchange]:
    capture = recorder.pcap(snaplen=snaplen)
    return [each for found in read_clear_text(capture, CLIENT, PORTS) for each in found.exchanges]


def test_each_request_has_its_answer_its_sizes_and_its_times(recorder: Recorder, talk: Talk) -> None:
    talk.say("up", ask("/"))
    sent = recorder.now_us
    talk.say("down", answer(PAGE, more="Content-Encoding: gzip\r\n"), after_ms=40)
    came = recorder.now_us
    talk.say("up", ask("/p.png?x=1", host="b.test"))
    talk.say("down", answer(PICTURE), after_ms=40)
    first, second = exchanges(recorder)
    assert (first.method, first.host, first.path, first.protocol) == ("GET", "a.test", "/", "HTTP/1.1")
    assert (first.status, first.encoding, first.body_bytes, first.whole) == (200, "gzip", len(PAGE), True)
    assert first.request_bytes == len(ask("/"))
    assert first.connection_bytes == first.head_bytes + len(PAGE)
    assert (first.sent_us, first.last_us) == (sent, came)
    assert (second.path, second.host, second.number) == ("/p.png?x=1", "b.test", 1)
    assert second.connection_bytes == first.connection_bytes + len(answer(PICTURE))
    assert (first.is_last, second.is_last) == (False, True)
    assert first.connection is second.connection
    assert first.connection.client == (CLIENT, 40_001)
    assert not first.connection.ended


def test_what_comes_out_of_order_or_twice_is_put_in_order(recorder: Recorder, talk: Talk) -> None:
    talk.say("up", ask("/"))
    whole = answer(PICTURE)
    begin = talk.say("down", whole[:1000])
    late = talk.say("down", whole[1000:2000], lost=True)
    talk.say("down", whole[2000:])
    before = recorder.now_us
    talk.repeat("down", begin, whole[:1000])
    talk.repeat("down", late, whole[1000:2000], after_ms=60)
    (found,) = exchanges(recorder)
    assert (found.body_bytes, found.whole) == (3000, True)
    assert found.last_us == recorder.now_us > before


def test_a_request_that_is_sent_again_left_the_first_time(recorder: Recorder, talk: Talk) -> None:
    begin = talk.say("up", ask("/"))
    sent = recorder.now_us
    talk.repeat("up", begin, ask("/"), after_ms=200)
    talk.say("down", answer(PAGE), after_ms=40)
    (found,) = exchanges(recorder)
    assert found.sent_us == sent


@pytest.mark.parametrize(
    ("method", "said", "sizes"),
    [
        ("HEAD", answer(b"", length=500), (0, True)),
        ("GET", b"HTTP/1.1 304 Not Modified\r\nContent-Length: 500\r\n\r\n", (0, True)),
        ("GET", b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + answer(PAGE), (len(PAGE), True)),
        ("GET", answer(PAGE[:4], length=len(PAGE)), (4, False)),
        ("GET", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n", (3, False)),
    ],
)
def test_answers_without_a_body_of_their_length(
    recorder: Recorder, talk: Talk, method: str, said: bytes, sizes: tuple[int, bool]
) -> None:
    talk.say("up", ask("/", method))
    talk.say("down", said, after_ms=40)
    (found,) = exchanges(recorder)
    assert (found.body_bytes, found.whole) == sizes


def test_an_answer_without_a_length_ends_with_its_connection(recorder: Recorder, talk: Talk) -> None:
    talk.say("up", ask("/"))
    talk.say("down", b"HTTP/1.0 200 OK\r\n\r\n" + PAGE, after_ms=40)
    assert [each.whole for each in exchanges(recorder)] == [False]
    talk.close()
    (found,) = exchanges(recorder)
    assert (found.whole, found.body_bytes, found.connection.ended) == (True, len(PAGE), True)


def test_requests_ahead_of_answers_and_with_bodies(recorder: Recorder, talk: Talk) -> None:
    talk.say("up", ask("/a", "POST", body=b"abc") + ask("/b"))
    talk.say("down", answer(PAGE) + answer(PICTURE, "404 Not Found"), after_ms=40)
    assert [(each.method, each.path, each.status, each.number) for each in exchanges(recorder)] == [
        ("POST", "/a", 200, 0),
        ("GET", "/b", 404, 1),
    ]


def test_a_request_without_an_answer_is_there_and_half_of_one_is_not(recorder: Recorder, talk: Talk) -> None:
    talk.say("up", ask("/"))
    sent = recorder.now_us
    (found,) = exchanges(recorder)
    assert (found.status, found.whole, found.connection_bytes, found.last_us) == (None, False, 0, sent)
    other = Talk(recorder, port=40_002)
    other.open()
    other.say("up", ask("/")[:-1])
    assert len(exchanges(recorder)) == 1


def test_a_port_that_is_used_again_is_another_connection(recorder: Recorder, talk: Talk) -> None:
    talk.say("up", ask("/one"))
    talk.say("down", answer(PAGE), after_ms=40)
    talk.segment("up", talk.up, talk.down, RST)
    again = Talk(recorder, port=40_001, client_isn=90_000, server_isn=95_000)
    again.open()
    again.say("up", ask("/two"))
    again.say("down", answer(PAGE), after_ms=40)
    assert [(each.path, each.number, each.connection.ended) for each in exchanges(recorder)] == [
        ("/one", 0, True),
        ("/two", 0, False),
    ]


def test_other_ports_and_connections_from_before_are_left_out(recorder: Recorder) -> None:
    secured = Talk(recorder, port=40_003, server_port=443)
    secured.open()
    secured.say("up", ask("/"))
    Talk(recorder, port=40_004).say("up", ask("/"))
    assert exchanges(recorder) == []


def test_of_packets_that_were_cut_nothing_is_made_up(recorder: Recorder, talk: Talk) -> None:
    talk.say("up", ask("/"))
    talk.say("down", answer(PICTURE), after_ms=40)
    assert not any(each.whole for each in exchanges(recorder, snaplen=96))
