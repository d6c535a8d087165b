"""From ChromeDriver's log to requests: corner cases by hand, and a real log."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from lanelab.driver.arm.browsers.chromium import events
from lanelab.driver.arm.browsers.chromium.log import Entry
from lanelab.driver.arm.browsers.chromium.timings import timings
from lanelab.driver.base.errors import RecordError
from lanelab.driver.record.evidence.browser import WebSocket

DATA = Path(__file__).parents[2] / "data" / "browser"
TIMING = {
    "requestTime": 100.002,
    "dnsStart": 1.0,
    "dnsEnd": 3.0,
    "connectStart": 3.0,
    "connectEnd": 43.0,
    "sslStart": 20.0,
    "sslEnd": 43.0,
    "sendStart": 44.0,
    "sendEnd": 44.5,
    "receiveHeadersStart": 84.5,
    "receiveHeadersEnd": 85.0,
}


def entry(method: str, webview: str = "T", **parameters: Any) -> Entry:
    return {"message": json.dumps({"webview": webview, "message": {"method": method, "params": parameters}})}


def asked(number: str, at: float, url: str = "http://a.example/", **more: Any) -> Entry:
    request = {"url": url, "method": more.pop("method", "GET"), "headers": {"A": "1"}, "initialPriority": "High"}
    told = {"requestId": number, "request": request, "timestamp": at, "type": "Image", "initiator": {"type": "parser"}}
    return entry("Network.requestWillBeSent", **{**told, **more})


def led_to(url: str, at: float, *, has_extra: bool = True, **answer: Any) -> Entry:
    """The next hop of request 1, and the redirect that led to it."""
    return asked("1", at, url, redirectResponse=response(**answer), redirectHasExtraInfo=has_extra)


def response(**more: Any) -> dict[str, Any]:
    plain = {
        "url": "http://a.example/",
        "status": 200,
        "headers": {"Content-Length": "5"},
        "mimeType": "image/png",
        "connectionId": 7,
        "connectionReused": False,
        "remoteIPAddress": "10.10.2.2",
        "remotePort": 80,
        "protocol": "http/1.1",
        "encodedDataLength": 120,
        "timing": TIMING,
    }
    return {**plain, **more}


def answered(number: str, **more: Any) -> Entry:
    return entry("Network.responseReceived", requestId=number, type="Image", response=response(**more))


def finished(number: str, at: float, size: int = 125) -> Entry:
    return entry("Network.loadingFinished", requestId=number, timestamp=at, encodedDataLength=size)


def test_nothing() -> None:
    assert events.requests([]) == ()
    assert events.requests([entry("Page.loadEventFired", timestamp=1.0)]) == ()


def test_one_request() -> None:
    log = [
        entry("Page.loadEventFired", timestamp=50.0),  # of about:blank
        asked("1", 100.0, type="Document"),
        answered("1"),
        entry("Network.dataReceived", requestId="1", dataLength=5, encodedDataLength=5, timestamp=100.1),
        finished("1", 100.2),
        entry("Page.loadEventFired", timestamp=100.3),
    ]
    [found] = events.requests(log)
    assert found.started_ms == 0
    assert found.ended_ms == 200
    assert (found.status, found.protocol, found.connection, found.remote) == (
        200,
        "http/1.1",
        7,
        "10.10.2.2:80",
    )
    assert (found.body_bytes, found.wire_bytes) == (5, 125)
    assert found.before_load
    assert found.error is None
    assert found.timings.connect == 40
    assert found.timings.ssl == 23
    assert sum(value for name, value in found.timings.to_json().items() if name != "ssl") == pytest.approx(200)


def test_a_redirect_is_two_requests() -> None:
    log = [
        entry("Network.requestWillBeSentExtraInfo", requestId="1", headers={"Cookie": "a=1"}),
        asked("1", 100.0, "http://a.example/old"),
        entry("Network.responseReceivedExtraInfo", requestId="1", headers={"Location": "/new"}, statusCode=302),
        led_to("http://a.example/new", 100.1, status=302, encodedDataLength=90),
        entry("Network.requestWillBeSentExtraInfo", requestId="1", headers={"Cookie": "a=2"}),
        answered("1"),
        entry("Network.responseReceivedExtraInfo", requestId="1", headers={"X": "1"}, statusCode=200, headersText="ab"),
        finished("1", 100.4),
    ]
    first, second = events.requests(log)
    assert (first.status, first.wire_bytes, first.ended_ms) == (302, 90, 100)
    assert first.request_headers == (("Cookie", "a=1"),)
    assert first.response_headers == (("Location", "/new"),)
    assert (second.status, second.url, second.started_ms) == (200, "http://a.example/new", 100)
    assert second.request_headers == (("Cookie", "a=2"),)
    assert second.response_header_bytes == 2


def test_a_redirect_that_the_browser_kept_has_its_own_status() -> None:
    """Nothing was sent for it: what was sent and received is of the hop behind it."""
    kept = {"status": 308, "headers": {"Location": "/new"}, "fromDiskCache": True, "connectionId": 0}
    log = [
        asked("1", 100.0, "http://a.example/old"),
        led_to("http://a.example/new", 100.1, has_extra=False, encodedDataLength=0, **kept),
        entry("Network.requestWillBeSentExtraInfo", requestId="1", headers={"Cookie": "a=2"}),
        answered("1"),
        entry("Network.responseReceivedExtraInfo", requestId="1", headers={"X": "1"}, statusCode=200, headersText="ab"),
        finished("1", 100.4),
    ]
    first, second = events.requests(log)
    assert (first.url, first.status, first.from_cache, first.connection) == ("http://a.example/old", 308, True, None)
    assert (first.response_headers, first.wire_bytes) == ((("Location", "/new"),), 0)
    assert (first.ended_ms, first.error) == (100, None)
    assert (second.url, second.status, second.from_cache) == ("http://a.example/new", 200, False)
    assert (second.request_headers, second.response_headers) == ((("Cookie", "a=2"),), (("X", "1"),))


@pytest.mark.parametrize("kept", [(True, False, True), (False, True, False), (True, True, False)])
def test_each_hop_of_several_redirects_has_its_own_answer(kept: tuple[bool, ...]) -> None:
    log = [asked("1", 100.0, "http://a.example/0")]
    for place, cached in enumerate(kept):
        told = entry("Network.responseReceivedExtraInfo", requestId="1", headers={"Hop": str(place)}, statusCode=301)
        log += [] if cached else [told]
        answer = {"status": 301, "headers": {"Hop": str(place)}, "fromDiskCache": cached}
        log.append(led_to(f"http://a.example/{place + 1}", 100.1 + place, has_extra=not cached, **answer))
    last = entry("Network.responseReceivedExtraInfo", requestId="1", headers={"Hop": "3"}, statusCode=304)
    found = events.requests([*log, answered("1"), last, finished("1", 105.0)])
    assert [each.response_headers for each in found] == [(("Hop", str(place)),) for place in range(4)]
    assert [each.status for each in found] == [301, 301, 301, 304]
    assert [each.from_cache for each in found] == [*kept, False]


def test_a_redirect_whose_log_does_not_say_whether_it_was_kept_is_refused() -> None:
    log = [asked("1", 100.0), asked("1", 100.1, "http://a.example/new", redirectResponse=response(status=301))]
    with pytest.raises(RecordError, match="redirectHasExtraInfo is missing"):
        events.requests(log)


def test_tls_is_the_connections() -> None:
    """Of an answer to which another host's redirect led, Chromium does not say it."""
    secure = {"protocol": "h2", "securityDetails": {"protocol": "TLS 1.3"}}
    log = [
        *(asked("1", 1.0, "https://a.example/1"), answered("1", **secure), finished("1", 1.1)),
        *(asked("2", 1.0, "https://a.example/2"), answered("2", protocol="h2"), finished("2", 1.1)),
        *(asked("3", 1.0, "https://b.example/3"), answered("3", connectionId=8), finished("3", 1.1)),
        *(asked("4", 1.0, "http://a.example/4"), answered("4"), finished("4", 1.1)),
    ]
    assert [each.tls for each in events.requests(log)] == ["TLS 1.3", "TLS 1.3", None, None]


def test_a_status_alone_is_no_answer_yet() -> None:
    log = [asked("1", 1.0), entry("Network.responseReceivedExtraInfo", requestId="1", headers={}, statusCode=200)]
    assert [each.status for each in events.requests(log)] == [None]
    failed = entry("Network.loadingFailed", requestId="1", timestamp=1.5, errorText="net::ERR_BLOCKED_BY_ORB")
    assert [(each.status, each.error) for each in events.requests([*log, failed])] == [(200, "net::ERR_BLOCKED_BY_ORB")]


def test_what_is_no_request_is_left_out() -> None:
    log = [asked("1", 1.0, "data:image/png;base64,AA"), asked("2", 1.0, "blob:http://a.example/1"), finished("1", 1.1)]
    assert events.requests(log) == ()


def test_failed_and_blocked() -> None:
    log = [
        asked("1", 1.0),
        entry("Network.loadingFailed", requestId="1", timestamp=1.5, errorText="net::ERR_CONNECTION_RESET"),
        asked("2", 1.0),
        entry(
            "Network.loadingFailed", requestId="2", timestamp=1.5, errorText="net::ERR_F", blockedReason="mixed-content"
        ),
    ]
    first, second = events.requests(log)
    assert (first.error, first.status, first.connection) == ("net::ERR_CONNECTION_RESET", None, None)
    assert first.timings.receive == 500
    assert second.error == "mixed-content"


def test_never_finished() -> None:
    log = [
        asked("1", 1.0),
        answered("1"),
        entry("Network.dataReceived", requestId="1", dataLength=5, encodedDataLength=6, timestamp=100.1),
        asked("2", 2.0),
    ]
    first, second = events.requests(log)
    assert (first.ended_ms, first.wire_bytes, first.body_bytes) == (None, 126, 5)
    assert (second.ended_ms, second.status) == (None, None)
    assert first.before_load, "the load event never came"


def test_from_the_cache() -> None:
    log = [
        asked("1", 1.0),
        entry("Network.requestServedFromCache", requestId="1"),
        answered("1"),
        finished("1", 1.01, 0),
        asked("2", 1.0),
        answered("2", fromDiskCache=True),
        finished("2", 1.01, 0),
        asked("3", 1.0),
        answered("3"),
        entry("Network.responseReceivedExtraInfo", requestId="3", headers={}, statusCode=304),
        finished("3", 1.01, 80),
    ]
    memory, disk, confirmed = events.requests(log)
    for found in (memory, disk):
        assert (found.from_cache, found.connection, found.wire_bytes) == (True, None, 0)
    assert (confirmed.from_cache, confirmed.status, confirmed.wire_bytes) == (False, 304, 80)


def test_one_that_joined_another_is_from_the_cache() -> None:
    """As of a style sheet that the page shows as a picture, too: one receives it, and both have it."""
    log = [
        asked("1", 1.0),
        asked("2", 1.01),
        answered("1"),
        answered("2", connectionId=0),
        entry("Network.dataReceived", requestId="2", dataLength=5, encodedDataLength=0),
        finished("1", 1.2),
        finished("2", 1.1, 5),
        asked("3", 1.3, "http://a.example/other"),
        answered("3", connectionId=0),
        finished("3", 1.4),
    ]
    first, second, alone = events.requests(log)
    assert (first.from_cache, first.connection) == (False, 7)
    assert (second.from_cache, second.connection, second.wire_bytes, second.body_bytes) == (True, None, 0, 5)
    assert (alone.from_cache, alone.connection) == (False, None), "nothing else received it: the evidence is missing"


def test_websockets() -> None:
    log = [
        asked("1", 1.0),
        entry("Network.webSocketCreated", requestId="2", url="ws://a.example/live", initiator={"type": "script"}),
        entry("Network.webSocketHandshakeResponseReceived", requestId="2", timestamp=1.1, response={"status": 404}),
        entry("Network.webSocketCreated", requestId="3", url="wss://b.example/"),
        entry("Network.webSocketFrameError", requestId="3", timestamp=1.2, errorMessage="no"),
    ]
    assert events.sockets(log) == (WebSocket("ws://a.example/live", 404), WebSocket("wss://b.example/", None))
    assert len(events.requests(log)) == 1


def test_after_the_load() -> None:
    log = [asked("1", 1.0), entry("Page.loadEventFired", timestamp=2.0), asked("2", 2.5)]
    assert [found.before_load for found in events.requests(log)] == [True, False]


def test_of_another_page() -> None:
    log = [
        asked("1", 1.0),
        entry("Network.loadingFinished", webview="OTHER", requestId="1", timestamp=9, encodedDataLength=1),
    ]
    [found] = events.requests(log, "T")
    assert found.ended_ms is None
    assert events.requests(log, "OTHER") == ()


def test_an_answer_to_an_unknown_request() -> None:
    log = [answered("9"), finished("9", 1.0), entry("Network.dataReceived", requestId="9", dataLength=1, timestamp=1)]
    assert events.requests(log) == ()


def test_why_the_page_did_not_come() -> None:
    failed = entry("Network.loadingFailed", requestId="2", timestamp=1.5, errorText="net::ERR_CERT_DATE_INVALID")
    redirected = led_to("http://a.example/new", 100.1, status=302)
    good = [asked("1", 1.0), answered("1"), finished("1", 1.1)]
    assert events.document_error(events.requests([*good, asked("2", 1.2), failed])) is None
    assert events.document_error(events.requests([asked("2", 1.2), failed, *good])) == "net::ERR_CERT_DATE_INVALID"
    assert events.document_error(events.requests([asked("1", 100.0), redirected, answered("1")])) is None
    lost = entry("Network.loadingFailed", requestId="1", timestamp=101, errorText="net::ERR_FAILED")
    assert events.document_error(events.requests([asked("1", 100.0), redirected, lost])) == "net::ERR_FAILED"
    assert events.document_error([]) is None


def test_other_windows_that_a_page_opened() -> None:
    opened = entry("Page.windowOpen", url="http://a.example/other", windowName="", userGesture=True)
    assert events.opened_windows([asked("1", 1.0), opened], "T") == ["http://a.example/other"]
    assert events.opened_windows([entry("Page.windowOpen", "another page", url="http://a.example/other")], "T") == []
    assert events.opened_windows([asked("1", 1.0, "http://a.example/?Page.windowOpen")], "T") == []


def test_a_crash() -> None:
    assert events.crashed([entry("Inspector.targetCrashed")], "T")
    assert not events.crashed([asked("1", 1.0)])


@pytest.mark.parametrize(
    ("method", "key"),
    [("Network.dataReceived", "dataLength"), ("Network.loadingFinished", "timestamp"),
     ("Network.requestWillBeSent", "request"), ("Network.responseReceived", "response")],
)  # fmt: skip
def test_an_event_that_lacks_a_key_is_named(method: str, key: str) -> None:
    log: list[Entry] = json.loads(gzip.decompress((DATA / "performance-log-plain.json.gz").read_bytes()))
    renamed: list[Entry] = [{"message": each["message"].replace(f'"{key}"', f'"{key}_"')} for each in log]
    changed = [new if f'"{method}"' in old["message"] else old for old, new in zip(log, renamed, strict=True)]
    with pytest.raises(RecordError, match=f"{key} is missing in {method}"):
        events.requests(changed)


def test_timings_of_a_used_connection() -> None:
    reused = {**TIMING, **dict.fromkeys(("dnsStart", "dnsEnd", "connectStart", "connectEnd", "sslStart", "sslEnd"), -1)}
    found = timings(100.0, 100.2, reused)
    assert (found.dns, found.connect, found.ssl) == (-1, -1, -1)
    assert found.blocked == pytest.approx(46.0), "2 ms before the request's own clock, 44 ms until it was sent"
    assert found.wait == 40


def test_timings_of_early_data() -> None:
    """The request left before the connection was made: what follows is no connecting."""
    early = {**TIMING, "sendStart": TIMING["connectStart"] + 0.5, "sendEnd": TIMING["connectStart"] + 0.5}
    found = timings(100.0, 100.2, early)
    assert found.connect == pytest.approx(0.5)
    parts = (found.blocked, found.dns, found.connect, found.send, found.wait, found.receive)
    assert sum(parts) == pytest.approx(200)


@pytest.mark.parametrize("name", ["plain", "failed"])
def test_a_real_log(name: str) -> None:
    log: list[Entry] = json.loads(gzip.decompress((DATA / f"performance-log-{name}.json.gz").read_bytes()))
    found = events.requests(log)
    assert found
    for request in found:
        parts = sum(max(value, 0) for part, value in request.timings.to_json().items() if part != "ssl")
        if request.ended_ms is not None:
            assert parts == pytest.approx(request.ended_ms - request.started_ms, abs=0.01)
    if name == "plain":
        assert len(found) == 24
        assert {request.status for request in found} == {200}
        assert sum(request.body_bytes for request in found) > 1_000_000
        assert all(request.wire_bytes > request.body_bytes for request in found)
    else:
        assert {request.error for request in found} == {"net::ERR_CONNECTION_REFUSED"}
        assert {request.body_bytes for request in found} == {0}, "the browser's page about the failure is no answer"
