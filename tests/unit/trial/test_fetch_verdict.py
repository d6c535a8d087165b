"""The verdict on fetches: a sound one counts, and each witness alone is enough to tell what is wrong."""

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest

from lanelab.driver.arm.arm import Arm
from lanelab.driver.record.reasons import Failure, Reason, timed_out
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.trial.fetch.bound import fetch_bound
from lanelab.driver.trial.fetch.judges import judge
from lanelab.driver.trial.fetch.requests import measures_of
from lanelab.driver.trial.fetch.settings import FetchSettings
from tests.kit.fetch_records import (
    HTML,
    LOGO,
    STYLE,
    Fetched,
    exchange,
    fetched,
    in_series,
    much_too_quick,
    out_of_time,
    warm,
)
from tests.kit.records import SITE

HTTP = Arm.parse("http", {})
CLOSING = Arm.parse("closing", {"keepalive": False})
HTTPS = Arm.parse("https", {"tls": "1.3", "tls_resumption": False})
H2 = Arm.parse("h2", {"protocol": "h2", "tls": "1.3"})
H2C = Arm.parse("h2c", {"protocol": "h2"})
SPDY = Arm.parse("spdy", {"protocol": "spdy/3.1"})
Change = Callable[[Fetched], Any]


def closing() -> Fetched:
    """A connection for each."""
    exchanges = [exchange(HTML, 1, 90, 150), exchange(STYLE, 2, 200, 260), exchange(LOGO, 3, 310, 370)]
    made = fetched(CLOSING, exchanges)
    for each in made.told.connections:
        each["closed_ms"] = next(r["last_byte_ms"] for r in made.told.requests if r["connection"] == each["connection"])
        each["ended_by"] = "server"
    return made


SOUND: dict[str, Callable[[], Fetched]] = {
    **{arm.name: lambda arm=arm: in_series(arm) for arm in (HTTP, HTTPS, H2, H2C, SPDY)},  # type: ignore[misc]
    "closing": closing,
    "warm": lambda: warm(H2),
    "warm spdy": lambda: warm(SPDY),
}


@pytest.mark.parametrize("name", SOUND)
def test_a_sound_fetch_counts(name: str) -> None:
    assert SOUND[name]().judged() == []


def told(number: int, **values: object) -> Change:
    return lambda made: made.objects[number].update(values)


def report(**values: object) -> Change:
    return lambda made: made.report.update(values)


def logged(number: int, **values: object) -> Change:
    return lambda made: made.told.requests[number].update(values)


def connection(number: int, **values: object) -> Change:
    return lambda made: made.told.connections[number].update(values)


def served(number: int, **values: object) -> Change:
    return lambda made: made.told.served[number].update(values)


def captured(number: int, **values: Any) -> Change:
    def change(made: Fetched) -> None:
        made.told.captured[number] = dataclasses.replace(made.told.captured[number], **values)

    return change


def swapped(made: Fetched) -> None:
    """The second object was asked for first."""
    first, second = made.objects[:2]
    for key in ("url", "body_bytes"):
        first[key], second[key] = second[key], first[key]
    wires = made.told.requests
    for key in ("url", "response_body_bytes"):
        wires[0][key], wires[1][key] = wires[1][key], wires[0][key]
    lines = made.told.served
    for key in ("path", "body_bytes", "sent_bytes"):
        lines[0][key], lines[1][key] = lines[1][key], lines[0][key]


def side_by_side(made: Fetched) -> None:
    """The second object was under way before the first was whole."""
    made.objects[1]["began_ms"] = made.objects[0]["ended_ms"] - 20
    made.told.requests[1]["queued_ms"] = made.objects[1]["began_ms"]


def read_together(made: Fetched) -> None:
    made.told.served[1]["began_us"] = made.told.served[0]["began_us"] + 1000


def without_last(made: Fetched) -> None:
    """All who know of it are silent about the last object."""
    made.objects.pop()
    made.told.requests.pop()
    made.told.served.pop()
    made.report["ended_ms"] = made.objects[-1]["ended_ms"] + 0.1


CASES: list[tuple[Reason, str, Change, str]] = [
    # objects
    (Reason.FAILED_OBJECT, "http", told(1, sha256="1" * 64), "another one by its SHA-256"),
    (Reason.FAILED_OBJECT, "h2", told(1, sha256=None), "not whole"),
    (Reason.FAILED_OBJECT, "spdy", told(1, status=404), "status 404"),
    (Reason.FAILED_OBJECT, "http", told(1, status=None), "no answer"),
    (Reason.FAILED_OBJECT, "http", told(1, body_bytes=199), "199 bytes instead of 200"),
    (Reason.FAILED_OBJECT, "http", told(1, error="the connection ended"), "the connection ended"),
    (Reason.FAILED_OBJECT, "warm", told(1, sha256="1" * 64), "another one by its SHA-256"),
    (Reason.MISSING_OBJECT, "h2", without_last, f"not measured: {LOGO}"),
    (Reason.MISSING_OBJECT, "warm", told(1, measured=True), f"not fetched before: {STYLE}"),
    (Reason.EXTRA_REQUEST, "http", told(1, measured=False), f"fetched before, and not asked for: {STYLE}"),
    (Reason.EXTRA_REQUEST, "http", told(1, url="a.test/other"), "a.test/other"),
    (Reason.WIRE_MISMATCH, "h2c", swapped, "in another order"),
    # the report against the log
    (Reason.WIRE_MISMATCH, "http", logged(1, response_body_bytes=150), "the bytes 200, and its log 150"),
    (Reason.WIRE_MISMATCH, "http", logged(1, status=206), "the status 200, and its log 206"),
    (Reason.WIRE_MISMATCH, "http", told(2, request=7), "lacks request 7"),
    (Reason.WIRE_MISMATCH, "http", told(1, ended_ms=155.0), "out of order"),
    (Reason.WIRE_MISMATCH, "http", logged(1, last_byte_ms=95.0, first_byte_ms=94.0), "out of order"),
    (Reason.WIRE_MISMATCH, "http", told(2, ended_ms=375.0), "55 ms after its last byte came"),
    # the server's log
    (Reason.WIRE_MISMATCH, "http", lambda made: made.told.served.pop(), "the server's log lacks"),
    (Reason.WIRE_MISMATCH, "http", served(0, began_us=1_600_000_000_000_000), "before or after the fetch"),
    (Reason.WIRE_MISMATCH, "http", lambda made: made.told.served.append({**made.told.served[0]}), "does not tell of"),
    # the wire
    (Reason.PROTOCOL_FALLBACK, "h2", logged(1, protocol="http/1.1"), "by the fetcher 1 of 3 requests used http/1.1"),
    (Reason.PROTOCOL_FALLBACK, "h2", served(1, protocol="HTTP/1.1"), "by the server's log"),
    (Reason.PROTOCOL_FALLBACK, "h2c", captured(0, spoken_up="http/1.1"), "by the capture the client began"),
    (Reason.TLS_FALLBACK, "https", connection(0, tls="TLS 1.2"), "by the fetcher there was TLS 1.2"),
    (Reason.TLS_FALLBACK, "https", captured(0, tls_version="TLS 1.2"), "by the capture there was TLS 1.2"),
    (Reason.RESUMPTION_IGNORED, "https", connection(1, tls_resumed=True), "by the fetcher 1 of 2"),
    (Reason.KEEPALIVE_IGNORED, "closing", connection(1, requests=2), "keepalive is off, but by the fetcher"),
    (Reason.WIRE_MISMATCH, "http", lambda made: made.told.captured.pop(), "connections are not in the capture"),
    # how many at once
    (Reason.AT_ONCE_IGNORED, "h2", report(at_once=6), "asked for 6 objects at once instead of 1"),
    (Reason.AT_ONCE_IGNORED, "h2", side_by_side, "by the fetcher's report 2 objects were under way"),
    (Reason.AT_ONCE_IGNORED, "h2", logged(1, sent_ms=120.0, queued_ms=119.0), "by the fetcher's log 2 objects"),
    (Reason.AT_ONCE_IGNORED, "h2", read_together, "by the server's log 2 objects were under way"),
    # warm or fresh
    (Reason.WARM_IGNORED, "http", report(warm=True), "fetched everything once before"),
    (Reason.WARM_IGNORED, "http", connection(0, began_ms=-100.0), "by the fetcher's log connection 1 was begun before"),
    (Reason.WARM_IGNORED, "http", captured(0, first_us=1_699_999_999_000_000), "by the capture the connection"),
    (Reason.WARM_IGNORED, "warm", report(warm=False), "fetched nothing before"),
    (Reason.WARM_IGNORED, "warm", connection(0, began_ms=400.0), "connection 1 was begun within it"),
    (Reason.WARM_IGNORED, "warm", captured(0, first_us=1_700_000_000_400_000), "by the capture the connection"),
    (Reason.WARM_IGNORED, "warm", logged(4, reused=False), "no request came before"),
    # time
    (Reason.BELOW_BOUND, "http", much_too_quick, "the link allows"),
    (Reason.BELOW_BOUND, "http", logged(1, first_byte_ms=160.0), "answers began sooner than the link allows"),
    (Reason.TIMEOUT, "http", report(in_time=False), "its time was over"),
]


@pytest.mark.parametrize(
    ("reason", "name", "change", "words"), CASES, ids=[f"{one[0].value}-{place}" for place, one in enumerate(CASES)]
)
def test_what_one_witness_says_otherwise_is_found(reason: Reason, name: str, change: Change, words: str) -> None:
    made = SOUND[name]()
    change(made)
    found = [each for each in made.judged() if each.reason is reason]
    assert any(words in each.detail for each in found), made.judged()


def side_by_side_fetch() -> Fetched:
    """Two at once, over two connections."""
    exchanges = [exchange(HTML, 1, 90, 150), exchange(STYLE, 2, 91, 152), exchange(LOGO, 3, 240, 300)]
    return fetched(HTTP, exchanges, FetchSettings(("*",), 2, warm=False))


def test_two_at_once_are_two_at_once_and_not_one() -> None:
    assert side_by_side_fetch().judged() == []
    made = in_series(HTTP)
    made.settings = FetchSettings(("*",), 2, warm=False)
    made.report["at_once"] = 2
    assert [each.reason for each in made.judged()] == [Reason.AT_ONCE_IGNORED]


PIECES: list[tuple[str, Callable[[TrialRecord], TrialRecord]]] = [
    *(
        (f"evidence.{name}", lambda record, name=name, none=none: _with(record, **{name: none}))
        for name, none in (("fetch", None), ("server", None), ("settings", None), ("gateway", None), ("link", None))
    ),
    ("evidence.packets.client", lambda record: _with(record, packets={})),
    ("evidence.capture.client", lambda record: _with(record, capture={})),
    ("evidence", lambda record: dataclasses.replace(record, evidence=None)),
]


def _with(record: TrialRecord, **values: Any) -> TrialRecord:
    assert record.fetch is not None
    return dataclasses.replace(record, evidence=dataclasses.replace(record.fetch, **values))


@pytest.mark.parametrize(("path", "without"), PIECES, ids=[path for path, _ in PIECES])
def test_what_is_not_there_is_a_reason(path: str, without: Callable[[TrialRecord], TrialRecord]) -> None:
    made = in_series(H2)
    failures = judge(without(made.trial()), made.expected())
    assert any(each.reason is Reason.EVIDENCE_MISSING and path in each.detail for each in failures), failures


@pytest.mark.parametrize("name", ["connection", "status", "tls", "sent_ms", "first_byte_ms", "last_byte_ms"])
@pytest.mark.parametrize("place", [1, 4])
def test_what_the_log_does_not_say_of_one_request_is_missing_though_it_says_it_of_the_other(
    place: int, name: str
) -> None:
    """A warm fetch asks for each address twice."""
    made = warm(H2)
    logged(place, **{name: None})(made)
    missing = [each.detail for each in made.judged() if each.reason is Reason.EVIDENCE_MISSING]
    assert missing == [f"the record lacks evidence.gateway.requests[{place}].{name}"]


@pytest.mark.parametrize("other", [{"status": 404}, {"method": "POST"}, {"request_sha1": "1" * 40}])
def test_a_body_of_the_address_that_no_get_is_answered_with_is_another_one(other: dict[str, Any]) -> None:
    beside = dataclasses.replace(SITE.objects[1], sha256="4" * 64, **other)
    site = dataclasses.replace(SITE, objects=(*SITE.objects, beside))
    made = in_series(H2)
    assert judge(made.trial(), made.expected(site)) == []
    told(1, sha256="4" * 64)(made)
    found = judge(made.trial(), made.expected(site))
    assert [each.reason for each in found] == [Reason.FAILED_OBJECT]
    assert "another one by its SHA-256" in found[0].detail


def test_a_report_without_objects_is_none() -> None:
    made = in_series(HTTP)
    made.objects.clear()
    assert Failure(Reason.EVIDENCE_MISSING, "the record lacks evidence.fetch.objects") in made.judged()


def test_the_numbers_are_those_of_report_and_log() -> None:
    made = in_series(H2)
    evidence = made.trial().fetch
    assert evidence is not None
    measures = measures_of(evidence)
    times = [each["ended_ms"] - each["began_ms"] for each in made.objects]
    assert measures["fetch_ms"] == pytest.approx(made.report["ended_ms"] - made.report["began_ms"])
    assert measures["object_ms"] == pytest.approx(sorted(times)[1])
    assert measures["object_most_ms"] == pytest.approx(max(times))
    assert (measures["objects"], measures["object_bytes"], measures["object_connections"]) == (3, 6200, 1)
    wires = made.told.requests
    assert measures["object_wait_ms"] == pytest.approx(sorted(w["first_byte_ms"] - w["sent_ms"] for w in wires)[1])


@pytest.mark.parametrize(
    ("name", "asked"),
    [("http", 3), ("http", 2), ("https", 2), ("h2", 3), ("spdy", 1), ("closing", 2), ("warm", 5), ("warm", 2)],
)
def test_a_fetch_whose_time_was_over_is_a_time_out_and_nothing_else(name: str, asked: int) -> None:
    """Else it would be tried again until it is quick. So is one whose time was over while it warmed connections."""
    made = SOUND[name]()
    out_of_time(made, asked)
    assert timed_out([each.reason for each in made.judged()]), made.judged()


def test_a_fetch_that_came_to_no_end_has_no_numbers() -> None:
    made = in_series(H2)
    made.report["in_time"] = False
    evidence = made.trial().fetch
    assert evidence is not None
    assert measures_of(evidence) == {}
    assert evidence.loaded_ms is None


def test_the_bound_grows_with_turns_and_handshakes() -> None:
    def bound(made: Fetched) -> float:
        expected = made.expected()
        return fetch_bound(expected.link, expected.arm, expected.settings, made.trial())

    series, secure, cold, again = (bound(SOUND[name]()) for name in ("h2c", "h2", "closing", "warm"))
    trip = 40
    assert 4 * trip * 0.9 < series < 4 * trip + 10
    assert trip * 0.9 < secure - series < trip * 1.1
    assert 6 * trip * 0.9 < cold < 6 * trip + 10
    assert 3 * trip * 0.9 < again < 3 * trip + 10
    for make in SOUND.values():
        made = make()
        assert bound(made) < made.report["ended_ms"] - made.report["began_ms"]
