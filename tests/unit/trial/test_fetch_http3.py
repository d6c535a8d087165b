"""The verdict on fetches by HTTP/3: a sound one counts, and each witness alone is enough to tell what is wrong."""

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest

from lanelab.driver.arm.arm import Arm
from lanelab.driver.record.evidence.fetch import FetchEvidence
from lanelab.driver.record.reasons import Reason, timed_out
from lanelab.driver.trial.fetch.bound import fetch_bound
from tests.kit.fetch_records import Fetched, begin_quic, datagram, in_series, much_too_quick, out_of_time, warm
from tests.kit.records import connection as over_tcp

H2 = Arm.parse("h2", {"server": "caddy", "protocol": "h2", "tls": "1.3"})
H2C = Arm.parse("h2c", {"protocol": "h2"})
H3 = Arm.parse("h3", {"server": "caddy", "protocol": "h3", "tls": "1.3"})
Change = Callable[[Fetched], Any]


def cold() -> Fetched:
    return in_series(H3)


def kept() -> Fetched:
    return warm(H3)


@pytest.mark.parametrize("sound", [cold, kept])
def test_a_sound_fetch_counts(sound: Callable[[], Fetched]) -> None:
    made = sound()
    assert made.told.captured == []
    assert made.judged() == []


def told(number: int, **values: object) -> Change:
    return lambda made: made.objects[number].update(values)


def logged(number: int, **values: object) -> Change:
    return lambda made: made.told.requests[number].update(values)


def connection(**values: object) -> Change:
    return lambda made: made.told.connections[0].update(values)


def served(number: int, **values: object) -> Change:
    return lambda made: made.told.served[number].update(values)


def flow(**values: Any) -> Change:
    """Of UDP, or of the QUIC in it."""

    def change(made: Fetched) -> None:
        quic = made.told.flows[0].quic
        assert quic is not None
        own = {name: value for name, value in values.items() if hasattr(quic, name)}
        others = {name: value for name, value in values.items() if name not in own}
        made.told.flows[0] = dataclasses.replace(made.told.flows[0], quic=dataclasses.replace(quic, **own), **others)

    return change


def by_tcp(made: Fetched) -> None:
    """A connection over TCP beside it, which carried something."""
    made.told.captured.append(over_tcp(40_100, H2))


def read_together(made: Fetched) -> None:
    made.told.served[1]["began_us"] = made.told.served[0]["began_us"] + 1000


CASES: list[tuple[Reason, Callable[[], Fetched], Change, str]] = [
    (Reason.PROTOCOL_FALLBACK, cold, logged(1, protocol="h2"), "by the fetcher 1 of 3 requests used h2"),
    (Reason.PROTOCOL_FALLBACK, cold, served(1, protocol="HTTP/2.0"), "by the server's log 1 of 3 requests used"),
    (Reason.PROTOCOL_FALLBACK, cold, connection(alpn="h2"), "the server chose h2 by ALPN"),
    (Reason.PROTOCOL_FALLBACK, cold, flow(alpn_chosen="hq"), "the server chose hq by ALPN within QUIC"),
    (Reason.PROTOCOL_FALLBACK, cold, flow(alpn_offered=("h3", "hq")), "was offered by ALPN within QUIC"),
    (Reason.PROTOCOL_FALLBACK, cold, flow(server_name="x.test"), "was for x.test"),
    (Reason.PROTOCOL_FALLBACK, cold, flow(short_down=0), "no handshake was complete"),
    (Reason.PROTOCOL_FALLBACK, cold, by_tcp, "1 TCP connections carried requests"),
    (Reason.WIRE_MISMATCH, cold, by_tcp, "1 connections of the capture are not the fetcher's: port 40100"),
    (Reason.WIRE_MISMATCH, cold, flow(client_port=50_000), "are not in the capture: port 40001"),
    (Reason.WIRE_MISMATCH, cold, flow(client_port=50_000), "are not the fetcher's: port 50000"),
    (Reason.WIRE_MISMATCH, cold, flow(moved_from=40_001), "went on at port"),
    (Reason.WIRE_MISMATCH, cold, lambda made: made.told.served.pop(), "the server's log lacks"),
    (Reason.TLS_FALLBACK, cold, flow(tls_version="TLS 1.2"), "TLS 1.2 within QUIC"),
    (Reason.TLS_FALLBACK, cold, connection(tls="TLS 1.2"), "by the fetcher there was TLS 1.2"),
    (Reason.EARLY_DATA_IGNORED, cold, flow(early_packets=1), "began with early data"),
    (Reason.CONNECTIONS_EXCEEDED, cold, connection(backup=True), "begun as backups"),
    (Reason.STREAM_SETTINGS, cold, connection(most_in_flight=257), "257 requests under way"),
    (Reason.FAILED_OBJECT, cold, told(1, sha256="1" * 64), "another one by its SHA-256"),
    (Reason.AT_ONCE_IGNORED, cold, read_together, "by the server's log 2 objects were under way"),
    (Reason.WARM_IGNORED, cold, flow(first_us=1_699_999_999_000_000), "by the capture the connection from port 40001"),
    (Reason.WARM_IGNORED, kept, flow(first_us=1_700_000_000_400_000), "by the capture the connection"),
    (Reason.BELOW_BOUND, cold, much_too_quick, "the link allows"),
]


@pytest.mark.parametrize(
    ("reason", "sound", "change", "words"), CASES, ids=[f"{one[0].value}-{place}" for place, one in enumerate(CASES)]
)
def test_what_one_witness_says_otherwise_is_found(
    reason: Reason, sound: Callable[[], Fetched], change: Change, words: str
) -> None:
    made = sound()
    change(made)
    found = [each for each in made.judged() if each.reason is reason]
    assert any(words in each.detail for each in found), made.judged()


@pytest.mark.parametrize(
    ("sound", "kept_of", "words"),
    [
        (cold, lambda at: at > 3, "by the capture the first packet left"),
        (kept, lambda at: not 10 <= at < 13, "by the capture the first packet left"),
        (cold, lambda at: at < 7, "by the capture the last data came"),
        (cold, lambda _: False, "the capture has no packet with which the fetch begins"),
    ],
)
def test_the_span_is_compared_with_the_datagrams(
    sound: Callable[[], Fetched], kept_of: Callable[[int], bool], words: str
) -> None:
    made = sound()
    datagrams = made.timeline.datagrams
    made.timeline.datagrams = [each for place, each in enumerate(datagrams) if kept_of(place)]
    found = [each.detail for each in made.judged() if each.reason is Reason.WIRE_MISMATCH]
    assert any(words in detail for detail in found), found


def test_what_comes_after_the_end_by_quic_need_be_no_data() -> None:
    made = cold()
    made.timeline.datagrams.append(datagram(made.report["ended_ms"] + 200, 40_001, up=False, length=1400))
    assert made.judged() == []


@pytest.mark.parametrize(("sound", "asked"), [(cold, 3), (cold, 1), (kept, 5), (kept, 2)])
def test_a_fetch_whose_time_was_over_is_a_time_out_and_nothing_else(sound: Callable[[], Fetched], asked: int) -> None:
    made = sound()
    out_of_time(made, asked)
    assert timed_out([each.reason for each in made.judged()]), made.judged()


BEFORE = 40_050  # the port of a connection of the fetch before


def test_datagrams_of_a_connection_that_the_capture_does_not_see_begin_are_none_of_the_fetch() -> None:
    made = cold()
    made.timeline.datagrams.insert(0, datagram(2, BEFORE, up=True, length=40))
    assert made.judged() == []
    begin_quic(made.timeline, 2, BEFORE)
    found = [each.detail for each in made.judged() if each.reason is Reason.WIRE_MISMATCH]
    assert any("ms before the fetch began" in detail for detail in found), found


def test_datagrams_of_a_connection_before_on_the_same_port_are_none_of_the_fetch() -> None:
    made = cold()
    made.timeline.datagrams.insert(0, datagram(2, 40_001, up=True, length=40))
    assert made.judged() == []


def test_what_is_sent_on_a_connection_before_is_no_first_request_of_a_warm_fetch() -> None:
    made = kept()
    at_ms = made.objects[2]["ended_ms"]
    asked = next(place for place, each in enumerate(made.timeline.datagrams) if place >= 10 and each.up)
    del made.timeline.datagrams[asked]
    made.timeline.datagrams.insert(asked, datagram(at_ms, BEFORE, up=True, length=40))
    assert any("by the capture the first packet left" in each.detail for each in made.judged())


def test_datagrams_that_the_clients_sockets_drop_slow_the_fetch_down() -> None:
    made = cold()
    made.datagrams = {"received": 9990, "dropped": 10, "without_room": 10}
    assert made.judged() == []
    made.datagrams = {"received": 9989, "dropped": 11, "without_room": 9}
    (failure,) = made.judged()
    assert failure.reason is Reason.FETCHER_LIMITED
    assert "of 10000 datagrams" in failure.detail
    assert "dropped 11, 9 of them since the fetcher read too late" in failure.detail


def test_a_fetch_whose_datagrams_nobody_counted_does_not_count() -> None:
    made = cold()
    made.datagrams = None
    (failure,) = made.judged()
    assert (failure.reason, failure.detail) == (Reason.EVIDENCE_MISSING, "the record lacks evidence.datagrams")
    made.datagrams = {"received": 0, "dropped": 0, "without_room": 0}  # though objects came
    (failure,) = made.judged()
    assert (failure.reason, failure.detail) == (Reason.EVIDENCE_MISSING, "the record lacks evidence.datagrams.received")


def test_over_tcp_nobody_counts_datagrams_and_nobody_asks() -> None:
    made = in_series(H2)
    assert made.datagrams is None
    assert made.judged() == []
    made.datagrams = {"received": 10, "dropped": 10, "without_room": 10}
    assert made.judged() == []


def test_a_record_from_before_datagrams_were_counted_is_read() -> None:
    evidence = cold().trial().fetch
    assert evidence is not None
    data = evidence.to_json()
    assert FetchEvidence.from_json(data) == evidence
    del data["datagrams"]
    assert FetchEvidence.from_json(data) == dataclasses.replace(evidence, datagrams=None)


@pytest.mark.parametrize("name", ["alpn_chosen", "alpn_offered", "server_name", "tls_version", "ready_us"])
def test_what_a_capture_does_not_tell_of_quic_is_a_reason(name: str) -> None:
    made = cold()
    flow(**{name: None})(made)
    found = [each.detail for each in made.judged() if each.reason is Reason.EVIDENCE_MISSING]
    assert any(f"by_udp_flow[0].quic.{name}" in detail for detail in found)


def test_a_capture_without_quic_is_a_reason() -> None:
    made = cold()
    made.told.captured, made.told.flows = [over_tcp(40_001, H2)], []
    reasons = {each.reason for each in made.judged()}
    assert {Reason.EVIDENCE_MISSING, Reason.PROTOCOL_FALLBACK} <= reasons


def test_any_other_fetch_fails_where_quic_was_begun() -> None:
    made = in_series(H2)
    assert made.judged() == []
    made.told.flows += cold().told.flows
    assert Reason.PROTOCOL_FALLBACK in {each.reason for each in made.judged()}


def test_its_handshake_is_one_in_the_bound_tls_included() -> None:
    def bound(made: Fetched) -> float:
        expected = made.expected()
        return fetch_bound(expected.link, expected.arm, expected.settings, made.trial())

    assert bound(in_series(H2C)) == pytest.approx(bound(cold()), abs=2)
    assert bound(in_series(H2)) == pytest.approx(bound(cold()) + 40, abs=3)
    for made in (cold(), kept()):
        assert bound(made) < made.report["ended_ms"] - made.report["began_ms"]
