"""The gateway's log as a record has it, and what a request's way over the link is taken from."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lanelab.analysis.results.load_view import load_view
from lanelab.analysis.results.report.waterfall import waterfall
from lanelab.driver.arm.arm import Arm
from lanelab.driver.arm.gateway import log
from lanelab.driver.link import Link
from lanelab.driver.trial.page_load.bound import physical_bound
from tests.kit.gateway_records import Exchange, Plan
from tests.kit.records import SITE

SPDY = Arm.parse("spdy", {"protocol": "spdy/3.1"})
EXCHANGES = [Exchange(each.url, 1, 45 + n, 160 + n, size=each.size) for n, each in enumerate(SITE.objects)]
TOLD = Plan(SPDY, EXCHANGES).told()
CONNECTION = {**TOLD.connections[0], "event": "connection"}
REQUEST = {**TOLD.requests[0], "event": "request"}
LOOK_UP = {"host": "a", "began_ms": 0.5, "ended_ms": 40.0, "addresses": ["10.10.2.2"], "error": None}
LINES: list[dict[str, object]] = [
    {"event": "gateway", "version": "1", "started_unix_us": 17, "wire": {"protocol": "h2"}},
    {**REQUEST, "request": 2, "url": "a/2"},
    {**CONNECTION, "connection": 2},
    {"event": "dns", **LOOK_UP},
    {**CONNECTION, "connection": 1},
    {**REQUEST, "request": 1, "url": "a/1"},
]


def text(*lines: object) -> bytes:
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def test_each_kind_is_in_the_order_of_its_numbers() -> None:
    found = log.parse(text(*LINES))
    assert [each.connection for each in found.connections] == [1, 2]
    assert [each.url for each in found.requests] == ["a/1", "a/2"]
    assert [each.host for each in found.dns] == ["a"]
    assert (found.version, found.started_unix_us, found.wire) == ("1", 17, {"protocol": "h2"})
    assert found.unread_lines == 0
    assert list(log.gaps(found)) == []


@given(st.integers(0, len(text(*LINES))))
def test_a_log_that_ends_anywhere_gives_what_was_before(length: int) -> None:
    whole = text(*LINES)
    found = log.parse(whole[:length])
    there = whole[:length].splitlines()
    cut = bool(there) and there[-1] not in whole.splitlines()
    kinds = [line["event"] for line in LINES if text(line).rstrip() in there]
    assert len(found.connections) == kinds.count("connection")
    assert len(found.requests) == kinds.count("request")
    assert found.unread_lines == cut


@pytest.mark.parametrize(
    "damaged",
    [
        b'{"event": "request", "requ',
        b"\xff\xfe\n",
        b"[" * 100_000,
        b"[]",
        b"17",
        b'{"event": "gossip", "gossip": 1}',
        b'{"event": ["request"]}',
        b'{"request": 3}',
        text({**REQUEST, "request": "3"}),
        text({**CONNECTION, "connection": None}),
        text({**CONNECTION, "connection": 0}),
        text({key: value for key, value in REQUEST.items() if key != "queued_ms"}),
        text({"event": "gateway", "version": "1"}),
    ],
    ids=lambda line: repr(line[:30]),
)
def test_a_damaged_line_is_counted(damaged: bytes) -> None:
    found = log.parse(text(*LINES[:3]) + damaged.rstrip(b"\n") + b"\n" + text(*LINES[3:]))
    assert found == replace(log.parse(text(*LINES)), unread_lines=1)
    assert "1 of the lines of the gateway's log cannot be read" in list(log.gaps(found))


def test_a_log_of_nothing_is_no_log() -> None:
    assert list(log.gaps(log.parse(b""))) == ["the gateway's log lacks its first line"]


@given(st.binary(max_size=200))
def test_nothing_is_too_strange(data: bytes) -> None:
    log.parse(data)
    log.parse(b'[]\n"x"\n{"event": ["request"]}\n{"event": {}}\n' + data)


def test_requests_are_joined_with_their_way_over_the_link() -> None:
    """By address; twice the same thing in the order of asking; what came from the cache has none."""
    told = Plan(SPDY, EXCHANGES).told()
    again = {**told.record["requests"][1], "started_ms": 900.0}
    cached = {**told.record["requests"][1], "started_ms": 950.0, "from_cache": True}
    told.record["requests"] += [again, cached]
    told.requests.append({**told.requests[1], "queued_ms": 901.0, "stream": 77})
    ways = [each.wire for each in told.trial().requests]
    assert [way.stream if way else None for way in ways] == [1, 3, 5, 77, None]
    assert ways[0]
    assert ways[0].protocol == "spdy/3.1"


def test_the_bound_counts_what_was_on_the_link() -> None:
    """Headers are others there than at the browser, and may be shorter."""
    link = Link.parse({"rtt": "40ms", "rate": "1mbit"})
    told = Plan(SPDY, EXCHANGES).told()
    before = physical_bound(link, SPDY, told.trial())
    for each in told.record["requests"]:
        each["wire_bytes"] = 10**6
    assert physical_bound(link, SPDY, told.trial()) == before
    for each in told.requests:
        each["response_body_bytes"] += 5000
    for each in told.served:
        each["sent_bytes"] += 5000
    assert physical_bound(link, SPDY, told.trial()) > before + 80


def test_a_waterfall_tells_of_the_link() -> None:
    record = Plan(SPDY, EXCHANGES).told().trial()
    drawn = waterfall(load_view(record, None, None), 1000)
    assert drawn
    assert "on the link spdy/3.1, connection 1 stream 3: sent after 0.0 ms, first byte 114.0 ms later" in drawn
