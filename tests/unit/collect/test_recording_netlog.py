"""The browser's log of its network, and what a site gets of it."""

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lanelab.driver.collect.recording.exchanges import Recorded, purpose, recorded
from lanelab.driver.collect.recording.netlog import NetlogError, lines_of, read

TYPES = {
    "SSL_SOCKET_BYTES_SENT": 1, "SSL_SOCKET_BYTES_RECEIVED": 2, "SOCKET_BYTES_SENT": 3, "SOCKET_BYTES_RECEIVED": 4,
    "REQUEST_ALIVE": 5, "URL_REQUEST_START_JOB": 6, "SOMETHING_ELSE": 7, "TCP_CONNECT": 8,
}  # fmt: skip
CONSTANTS = {
    "logEventTypes": TYPES, "logSourceType": {"SOCKET": 10, "URL_REQUEST": 1}, "timeTickOffset": 1_700_000_000_000,
    "netError": {"ERR_NAME_NOT_RESOLVED": -105},
}  # fmt: skip
ASK = "GET {} HTTP/1.1\r\nHost: {}\r\n\r\n"
BEGIN, END = 1, 2


def event(kind: str, source: int, time: int, phase: int = 0, **parameters: Any) -> dict[str, Any]:
    made = {"id": source, "type": 1 if kind in ("REQUEST_ALIVE", "URL_REQUEST_START_JOB") else 10}
    return {"params": parameters, "phase": phase, "source": made, "time": str(time), "type": TYPES[kind]}


def bytes_of(kind: str, source: int, time: int, data: str) -> dict[str, Any]:
    raw = data.encode("latin-1")
    return event(kind, source, time, byte_count=len(raw), bytes=base64.b64encode(raw).decode())


def asked(source: int, time: int, url: str, error: int | None = 0, initiator: str = "http://a.test") -> list[Any]:
    """`error`: None where the request never ended."""
    begun = [
        event("REQUEST_ALIVE", source, time, BEGIN, url=url, traffic_annotation=7),
        event("URL_REQUEST_START_JOB", source, time, BEGIN, url=url, method="GET", initiator=initiator,
              request_type="other"),
    ]  # fmt: skip
    return begun if error is None else [*begun, event("REQUEST_ALIVE", source, time + 1, END, net_error=error)]


def log(*events: Any, end: str = "],\n") -> str:
    flat = [one for each in events for one in (each if isinstance(each, list) else [each])]
    lines = ",\n".join(json.dumps(each, separators=(",", ":")) for each in flat)
    return f'{{"constants":{json.dumps(CONSTANTS)},\n"events": [\n{lines}{end}"polledData":{{}}}}\n'


def found(text: str, loaded_ms: float | None = None) -> Recorded:
    return recorded(read(lines_of(text.encode().splitlines(keepends=True))), loaded_ms)


PLAIN = [
    *asked(1, 100, "http://a.test/x"),
    bytes_of("SOCKET_BYTES_SENT", 20, 101, ASK.format("/x", "a.test")),
    event("SOMETHING_ELSE", 20, 102),
    bytes_of("SOCKET_BYTES_RECEIVED", 20, 103, "HTTP/1.1 200 OK\r\nContent-Le"),
    bytes_of("SOCKET_BYTES_RECEIVED", 20, 104, "ngth: 2\r\n\r\nhi"),
]


def test_pieces_are_joined() -> None:
    (exchange,) = found(log(PLAIN)).exchanges
    assert (exchange.url, exchange.status, exchange.body) == ("http://a.test/x", 200, b"hi")
    assert exchange.at_utc == "2023-11-14T22:13:20.101Z"


def test_opening_a_connection_tells_how_far_the_host_is() -> None:
    opening = [event("TCP_CONNECT", 20, 60, BEGIN), event("TCP_CONNECT", 20, 85, END)]
    assert [each.connect_ms for each in found(log(*opening, *PLAIN)).exchanges] == [25.0]
    assert [each.connect_ms for each in found(log(*opening[:1], *PLAIN)).exchanges] == [None]
    failed = [opening[0], event("TCP_CONNECT", 20, 85, END, net_error=-102)]
    assert [each.connect_ms for each in found(log(*failed, *PLAIN)).exchanges] == [None]
    assert [each.connect_ms for each in found(log(*PLAIN)).exchanges] == [None]


def test_a_browser_that_does_not_log_it_is_read_all_the_same() -> None:
    text = log(*PLAIN).replace('"TCP_CONNECT": 8', '"ANOTHER": 8')
    assert [each.connect_ms for each in found(text).exchanges] == [None]


def test_what_was_decrypted_counts() -> None:
    secret = [
        *asked(1, 100, "https://a.test/x"),
        bytes_of("SOCKET_BYTES_SENT", 20, 100, "\x16\x03\x01 hello"),
        bytes_of("SSL_SOCKET_BYTES_SENT", 20, 101, ASK.format("/x", "a.test")),
        bytes_of("SOCKET_BYTES_SENT", 20, 101, "\x17\x03\x03 secret"),
        bytes_of("SSL_SOCKET_BYTES_RECEIVED", 20, 103, "HTTP/1.1 204 No\r\n\r\n"),
        bytes_of("SOCKET_BYTES_SENT", 21, 104, "\x16\x03\x01 opened ahead, never used"),
    ]
    result = found(log(secret))
    assert [(each.url, each.status) for each in result.exchanges] == [("https://a.test/x", 204)]
    assert result.left_out == ()


def test_late_is_after_the_load_event() -> None:
    assert [each.late for each in found(log(PLAIN), 100.5).exchanges] == [True]
    assert [each.late for each in found(log(PLAIN), 101.5).exchanges] == [False]


def test_what_nobody_answered_is_named() -> None:
    lost = [
        *asked(2, 110, "http://dead.test/pixel?x=1", -105),
        *asked(3, 111, "https://a.test/hangs", None),
        bytes_of("SSL_SOCKET_BYTES_SENT", 30, 112, ASK.format("/hangs", "a.test")),
        *asked(4, 113, "http://a.test/x"),  # again, from the cache
    ]
    assert found(log(PLAIN, lost)).unanswered == ("dead.test/pixel?x=1", "a.test/hangs")


def test_a_body_that_ends_with_its_connection_counts_unless_the_browser_ended_it() -> None:
    closing = [
        bytes_of("SOCKET_BYTES_SENT", 20, 101, ASK.format("/x", "a.test")),
        bytes_of("SOCKET_BYTES_RECEIVED", 20, 103, "HTTP/1.1 200 OK\r\n\r\nhi"),
    ]
    assert [each.body for each in found(log(asked(1, 100, "http://a.test/x"), closing)).exchanges] == [b"hi"]
    cut = found(log(asked(1, 100, "http://a.test/x", -3), closing))
    assert cut.exchanges == ()
    assert cut.unanswered == ("a.test/x",)
    assert cut.left_out == ("http://a.test/x: only its first 2 bytes had come when the recording ended",)


def test_the_browsers_own_requests_are_no_part_of_a_page() -> None:
    own = [
        *asked(5, 90, "https://update.test/check", initiator="not an origin"),
        bytes_of("SSL_SOCKET_BYTES_SENT", 40, 91, ASK.format("/check", "update.test")),
        bytes_of("SSL_SOCKET_BYTES_RECEIVED", 40, 92, "HTTP/1.1 204 No\r\n\r\n"),
    ]
    result = found(log(own, PLAIN))
    assert [each.url for each in result.exchanges] == ["http://a.test/x"]
    assert result.hosts_of_browser == ("update.test",)
    assert result.unanswered == ()


def test_a_navigation_has_no_origin_and_is_the_pages() -> None:
    begun = asked(1, 100, "http://a.test/x", initiator="not an origin")
    begun[0]["params"]["traffic_annotation"] = purpose("navigation_url_loader")
    assert purpose("navigation_url_loader") == 63171670, "as Chromium works it out"
    assert len(found(log(begun, PLAIN[3:])).exchanges) == 1


def test_a_websocket_is_left_out_in_words() -> None:
    switched = [
        bytes_of("SOCKET_BYTES_SENT", 20, 101, ASK.format("/socket", "a.test") + "\x81\x85"),
        bytes_of("SOCKET_BYTES_RECEIVED", 20, 103, "HTTP/1.1 101 Switching Protocols\r\n\r\n\x81\x05hello"),
    ]
    result = found(log(PLAIN, switched))
    assert len(result.exchanges) == 1
    assert result.left_out == ("what followed on http://a.test/socket: a WebSocket or another protocol",)


def test_a_connection_that_is_none_of_http_costs_itself_only() -> None:
    noise = [
        bytes_of("SOCKET_BYTES_SENT", 33, 99, "\x00\x01\x02 what is this\r\n\r\n"),
        bytes_of("SOCKET_BYTES_RECEIVED", 33, 99, "?"),
    ]
    result = found(log(noise, PLAIN))
    assert len(result.exchanges) == 1
    assert result.left_out[0].startswith("a connection that cannot be read")


@pytest.mark.parametrize("end", ["],\n", ",\n"])
def test_a_log_without_its_end_counts_to_its_last_line(end: str) -> None:
    text = log(PLAIN, end=end).replace('"polledData":{}}\n', "" if end == ",\n" else '"polledData":{}}\n')
    cut = text + '{"params":{"byte_count":2,"bytes":"aG' if end == ",\n" else text
    read_log = read(lines_of(cut.encode().splitlines(keepends=True)))
    assert read_log.whole is (end == "],\n")
    assert len(recorded(read_log, None).exchanges) == 1


@pytest.mark.parametrize("offset", ["1700000000000", '"1700000000000"', '"1.7e12"'])
def test_the_difference_of_the_clocks_may_be_text(offset: str) -> None:
    text = log(PLAIN).replace("1700000000000", offset)
    assert read(text.splitlines(keepends=True)).epoch_ms == 1.7e12


@pytest.mark.parametrize("offset", ["null", '"soon"', "[]"])
def test_a_difference_of_the_clocks_that_is_no_number_is_an_error(offset: str) -> None:
    with pytest.raises(NetlogError, match="timeTickOffset is no number"):
        read(log(PLAIN).replace("1700000000000", offset).splitlines(keepends=True))


@pytest.mark.parametrize(
    "text", ["", "{}", "[]\n", '{"constants":{}}\n', '{"constants":{"logEventTypes":{}},\n', "\x00"]
)
def test_what_is_no_log_is_an_error(text: str) -> None:
    with pytest.raises(NetlogError):
        read(text.splitlines(keepends=True))


@given(st.integers(0, 3000), st.binary(max_size=60))
def test_any_cut_and_any_noise_is_read_or_refused(place: int, noise: bytes) -> None:
    data = log(PLAIN).encode()
    for text in (data[:place], data[:place] + noise, data[:place] + noise + data[place:]):
        try:
            result = recorded(read(lines_of(text.splitlines(keepends=True))), 100.0)
        except NetlogError:
            continue
        assert all(each.status == 200 or each.body != b"hi" for each in result.exchanges)
