"""Which packets of a capture belong to which request."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from lanelab.analysis.results.dissection import Frame, dissect
from lanelab.analysis.results.request_packets import Dissected
from lanelab.analysis.results.trial_packets import decoded_as
from lanelab.driver.arm.arm import Arm
from lanelab.driver.base.errors import CaptureError, InputError
from lanelab.driver.record.evidence.browser import Request
from lanelab.driver.record.evidence.ends import Ends
from tests.kit import frames, records, tshark

PORT = 40000
ENDS = Ends(PORT, "10.10.2.2", 80)
ALL = dict.fromkeys(range(3), ENDS)
NATIVE = Arm.parse("native", {})
WIRE = {
    "protocol": "h2", "tls": None, "connection": 1, "stream": 1, "reused": False, "in_flight": 1, "tries": 1,
    "wire_priority": None, "queued_ms": 1.0, "sent_ms": 1.0, "first_byte_ms": 2.0, "last_byte_ms": 2.0,
    "request_header_bytes": 1, "request_header_wire_bytes": 1, "response_header_bytes": 1,
    "response_header_wire_bytes": 1, "request_body_bytes": 0, "response_body_bytes": 0,
}  # fmt: skip


def frame(number: int, *, up: bool, seq: int = 0, payload: int = 0, ack: int = 0, protocol: str = "TCP") -> Frame:
    return Frame(
        number=number, at_us=1000 * number, bytes=66 + payload, up=up, stream=0, ends=ENDS, payload=payload, seq=seq,
        after=seq + payload, ack=ack, segments=frozenset(), records=frozenset(), again=False, streams=frozenset(),
        opened=(), targets=(), answers=0, name="", protocol=protocol, info="",
    )  # fmt: skip


def look_up(number: int, *, up: bool, name: str) -> Frame:
    return replace(frame(number, up=up, protocol="DNS"), stream=None, name=name)


def request(url: str, **more: object) -> Request:
    return Request.from_json(records.request(url, 0, NATIVE) | more)


def roles(found: Dissected, place: int) -> dict[int, str]:
    return {packet.frame.number: packet.role for packet in found.request(place).packets}


def http() -> list[Frame]:
    """Two requests in one packet, and their answers in their order, of which the first takes two packets."""
    return [
        look_up(1, up=True, name="a.test"),
        look_up(2, up=False, name="a.test"),
        look_up(3, up=True, name="other.test"),
        frame(4, up=True),
        frame(5, up=False),
        replace(frame(6, up=True, seq=1, payload=200), targets=("a.test/one", "a.test/two")),
        frame(7, up=False, seq=1, ack=201),
        frame(8, up=False, seq=1, payload=1000),
        frame(9, up=True, seq=201, ack=1001),
        replace(frame(10, up=False, seq=1, payload=1000), again=True),
        replace(frame(11, up=False, seq=1001, payload=500), answers=1, segments=frozenset({8, 11})),
        replace(frame(12, up=False, seq=1501, payload=90), answers=1),
        frame(13, up=True, seq=201, ack=1591),
    ]


def test_requests_of_one_packet_have_their_own_answers() -> None:
    found = Dissected(http(), [request("a.test/one"), request("a.test/two")], ALL)
    assert roles(found, 0) == {
        1: "look-up", 2: "look-up", 4: "connection", 5: "connection", 6: "request", 7: "ack", 8: "response", 9: "ack",
        10: "response", 11: "response", 13: "ack",
    }  # fmt: skip
    second = roles(found, 1)
    assert (second[6], second[12], second[13]) == ("request", "response", "ack")
    assert 8 not in second
    assert 11 not in second


def one_at_a_time() -> list[Frame]:
    """Three requests on a connection, of whose answers the dissector told the first alone."""
    return [
        replace(frame(1, up=True, seq=1, payload=100, ack=1), targets=("a.test/one",)),
        replace(frame(2, up=False, seq=1, payload=500), answers=1),
        replace(frame(3, up=True, seq=101, payload=100, ack=501), targets=("a.test/two",)),
        frame(4, up=False, seq=501, payload=1000),
        frame(5, up=False, seq=2501, payload=1000),  # what came before it is missing
        replace(frame(6, up=True, seq=201, payload=100, ack=3501), targets=("a.test/three",)),
        frame(7, up=False, seq=3501, payload=700),
    ]


def test_answers_that_the_dissector_does_not_tell_are_found_by_their_place_in_the_connection() -> None:
    found = Dissected(one_at_a_time(), [request(f"a.test/{name}") for name in ("one", "two", "three")], ALL)
    responses = [[frame.number for frame in found.request(place).of("response")] for place in range(3)]
    assert responses == [[2], [4, 5], [7]]


def test_of_requests_sent_ahead_only_the_first_without_an_answer_has_what_came() -> None:
    talk = [
        replace(frame(1, up=True, seq=1, payload=200, ack=1), targets=("a.test/one", "a.test/two", "a.test/three")),
        replace(frame(2, up=False, seq=1, payload=500), answers=1),
        frame(3, up=False, seq=501, payload=1000),
        frame(4, up=False, seq=1501, payload=1000),
    ]
    found = Dissected(talk, [request(f"a.test/{name}") for name in ("one", "two", "three")], ALL)
    responses = [[frame.number for frame in found.request(place).of("response")] for place in range(3)]
    assert responses == [[2], [3, 4], []]


@tshark.needs_tshark
def test_behind_what_was_lost_and_sent_again_every_response_is_found(tmp_path: Path) -> None:
    """tshark leaves what was sent again out by itself, and then dissects nothing behind it on that connection."""
    recorder = frames.Recorder()
    talk = frames.Talk(recorder, port=PORT)
    talk.open()
    for name, lost in (("one", True), ("two", False)):
        talk.say("up", f"GET /{name} HTTP/1.1\r\nHost: a.test\r\n\r\n".encode(), after_ms=5)
        talk.say("down", b"HTTP/1.1 200 OK\r\nContent-Length: 3000\r\n\r\n" + bytes(1000), after_ms=40)
        second = talk.say("down", bytes(1000), lost=lost)
        talk.say("down", bytes(1000))
        if lost:
            talk.repeat("down", second, bytes(1000), after_ms=60)
        talk.segment("up", talk.up, talk.down)
    capture = tmp_path / "client.pcap"
    capture.write_bytes(recorder.pcap())
    requests = [request(f"a.test/{name}") for name in ("one", "two")]
    told = dissect(Path(shutil.which("tshark") or ""), capture, None)
    assert sum(each.answers for each in told) == 2
    found = Dissected(told, requests, ALL)
    for place, numbers in enumerate(([5, 6, 7], [10, 11, 12])):
        assert [each.number for each in found.request(place).of("response")] == numbers


def test_streams_of_http_2_are_told_apart() -> None:
    frames = [
        replace(
            frame(1, up=True, seq=1, payload=80), streams=frozenset({1, 3}), opened=((1, "a.test/x"), (3, "a.test/y"))
        ),
        replace(frame(2, up=False, seq=1, payload=900), streams=frozenset({3})),
        replace(frame(3, up=False, seq=901, payload=900), streams=frozenset({1})),
    ]
    found = Dissected(frames, [request("a.test/x"), request("a.test/y")], ALL)
    assert roles(found, 0) == {1: "request", 3: "response"}
    assert roles(found, 1) == {1: "request", 2: "response"}
    assert [found.request(place).stream for place in (0, 1)] == [1, 3]
    assert found.shared() == {1}


def test_what_is_asked_for_twice_is_found_twice() -> None:
    frames = [
        replace(
            frame(number, up=True, seq=number, payload=1), streams=frozenset({number}), opened=((number, "a.test/x"),)
        )
        for number in (1, 3)
    ]
    found = Dissected(frames, [request("a.test/x"), request("a.test/x")], ALL)
    assert [found.request(place).stream for place in (0, 1)] == [1, 3]


@pytest.mark.parametrize("known", [True, False], ids=["address", "port alone"])
def test_one_port_may_have_connections_to_two_servers(*, known: bool) -> None:
    """Each with a stream 1. Where a log lacks the server's address, the host's name tells them apart."""
    ends = (ENDS, ENDS._replace(server="10.10.16.2"))
    told = [
        replace(frame(number, up=True, seq=1, payload=80), stream=number, ends=each, streams=frozenset({1}))
        for number, each in enumerate(ends)
    ]
    wire = {"wire": WIRE} if known else {}
    requests = [request(f"{host}.test/x", **wire) for host in ("b", "a")]
    if not known:
        told = [replace(each, opened=((1, f"{host}.test/x"),)) for each, host in zip(told, "ab", strict=True)]
    found = Dissected(told, requests, dict(enumerate(reversed(ends if known else [each.names[1] for each in ends]))))
    assert [found.request(place).connection for place in (0, 1)] == [1, 0]


@pytest.mark.parametrize(
    ("asked", "frames", "ends", "error", "says"),
    [
        (request("a.test/one", from_cache=True), http(), ALL, InputError, "came from the browser's cache"),
        (request("a.test/one"), http(), {}, CaptureError, "is on no connection that was captured"),
        (request("a.test/no"), http(), ALL, CaptureError, "no packet with request 1 was found"),
        (request("a.test/no"), [frame(1, up=True, protocol="TLSv1.3")], ALL, CaptureError, "has no TLS keys"),
    ],
    ids=["cache", "no connection", "not sent", "no keys"],
)
def test_a_request_without_packets_says_why(
    asked: Request, frames: list[Frame], ends: dict[int, Ends], error: type[Exception], says: str
) -> None:
    found = Dissected(frames, [asked], ends)
    assert found.request(0).packets == ()
    why = found.why_not(0)
    assert isinstance(why, error)
    assert says in str(why)


@pytest.mark.parametrize(
    ("protocol", "tls", "decode"),
    [("spdy/3", None, "spdy"), ("spdy/3.1", "TLS 1.2", None), ("h2", None, "http2"), ("http/1.1", None, None)],
)
def test_tshark_is_told_what_is_in_clear(protocol: str, tls: str | None, decode: str | None) -> None:
    assert decoded_as([through_the_gateway(protocol, tls)]) == decode


@pytest.mark.parametrize("tls", [None, "TLS 1.2"])
def test_what_tshark_does_not_know_is_named(tls: str | None) -> None:
    with pytest.raises(CaptureError, match="not SPDY/2"):
        decoded_as([through_the_gateway("spdy/2", tls)])


def test_hosts_that_speak_differently_in_clear_are_named() -> None:
    with pytest.raises(CaptureError, match=r"speak http/1\.1 and spdy/3 in clear, and tshark takes one for all"):
        decoded_as([through_the_gateway(protocol, None) for protocol in ("spdy/3", "http/1.1")])
    both = [through_the_gateway(protocol, "TLS 1.3") for protocol in ("spdy/3", "http/1.1")]
    assert decoded_as(both) is None


def through_the_gateway(protocol: str, tls: str | None) -> Request:
    return request("a.test/one", wire=WIRE | {"protocol": protocol, "tls": tls})
