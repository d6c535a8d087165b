"""A record as HAR 1.2, held against the specification (http://www.softwareishard.com/blog/har-12-spec/)."""

import datetime
import gzip
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lanelab.driver.arm.arm import Arm
from lanelab.driver.arm.browsers.chromium import events
from lanelab.driver.arm.browsers.har import har
from lanelab.driver.record.record import TrialRecord
from tests.kit import records

DATA = Path(__file__).parents[2] / "data" / "browser"
NUMBER = (int, float)
# Every field of the specification: its type, and whether it must be there. Own fields begin with "_".
NAMED = {"name": (str, True), "value": (str, True), "comment": (str, False)}
COOKIE = {
    **NAMED,
    "path": (str, False),
    "domain": (str, False),
    "expires": (str, False),
    "httpOnly": (bool, False),
    "secure": (bool, False),
}
TIMINGS: dict[str, Any] = {
    **dict.fromkeys(("send", "wait", "receive"), (NUMBER, True)),
    **dict.fromkeys(("blocked", "dns", "connect", "ssl"), (NUMBER, False)),
}
REQUEST: dict[str, Any] = {
    "method": (str, True),
    "url": (str, True),
    "httpVersion": (str, True),
    "cookies": ([COOKIE], True),
    "headers": ([NAMED], True),
    "queryString": ([NAMED], True),
    "postData": (dict, False),
    "headersSize": (int, True),
    "bodySize": (int, True),
}
CONTENT: dict[str, Any] = {
    "size": (int, True),
    "compression": (int, False),
    "mimeType": (str, True),
    "text": (str, False),
    "encoding": (str, False),
}
RESPONSE: dict[str, Any] = {
    "status": (int, True),
    "statusText": (str, True),
    "httpVersion": (str, True),
    "cookies": ([COOKIE], True),
    "headers": ([NAMED], True),
    "content": (CONTENT, True),
    "redirectURL": (str, True),
    "headersSize": (int, True),
    "bodySize": (int, True),
}
ENTRY: dict[str, Any] = {
    "pageref": (str, False),
    "startedDateTime": ("date", True),
    "time": (NUMBER, True),
    "request": (REQUEST, True),
    "response": (RESPONSE, True),
    "cache": ({}, True),
    "timings": (TIMINGS, True),
    "serverIPAddress": (str, False),
    "connection": (str, False),
}
PAGE: dict[str, Any] = {
    "startedDateTime": ("date", True),
    "id": (str, True),
    "title": (str, True),
    "pageTimings": ({"onContentLoad": (NUMBER, False), "onLoad": (NUMBER, False)}, True),
}
PROGRAM = {"name": (str, True), "version": (str, True)}
HAR: dict[str, Any] = {
    "log": (
        {
            "version": (str, True),
            "creator": (PROGRAM, True),
            "browser": (PROGRAM, False),
            "pages": ([PAGE], False),
            "entries": ([ENTRY], True),
        },
        True,
    )
}


def hold(value: Any, wanted: Any, where: str) -> None:
    """Raises AssertionError where a value is not as the specification has it."""
    if wanted == "date":
        assert datetime.datetime.fromisoformat(value).tzinfo, where
    elif isinstance(wanted, dict):
        assert isinstance(value, dict), where
        for name, (kind, required) in wanted.items():
            assert name in value or not required, f"{where}.{name} is missing"
            if name in value:
                hold(value[name], kind, f"{where}.{name}")
        foreign = [name for name in value if name not in wanted and not name.startswith("_")]
        assert not foreign, f"{where} has {foreign}"
    elif isinstance(wanted, list):
        assert isinstance(value, list), where
        for number, item in enumerate(value):
            hold(item, wanted[0], f"{where}[{number}]")
    else:
        assert isinstance(value, wanted), f"{where} is {value!r}"
        assert wanted is bool or not isinstance(value, bool), where


def record(log: str) -> TrialRecord:
    requests = events.requests(json.loads(gzip.decompress((DATA / f"performance-log-{log}.json.gz").read_bytes())))
    data = records.record(Arm.parse("http", {}))
    browser = data["evidence"]["browser"]
    browser["facts"]["product"] = "Chromium 156.0.8078.79"
    browser["times"] |= {
        "dcl_ms": 97.4, "plt_navigation_ms": None if log == "failed" else 1190.7, "first_paint_ms": None, "fcp_ms": 228,
        "lcp_ms": None,
    }  # fmt: skip
    made = TrialRecord.from_json(data | {"started_utc": "2026-11-20T15:00:00.123Z"})
    return replace(made, requests=requests)


@pytest.mark.parametrize("log", ["plain", "failed"])
def test_the_whole_is_as_specified(log: str) -> None:
    made: Any = har(record(log))
    hold(made, HAR, "har")
    for entry in made["log"]["entries"]:
        parts = sum(max(value, 0) for name, value in entry["timings"].items() if name != "ssl")
        assert entry["time"] == pytest.approx(parts, abs=0.01)
        assert entry["pageref"] == made["log"]["pages"][0]["id"]
    json.dumps(made, allow_nan=False)


def test_what_it_says() -> None:
    made: Any = har(record("plain"))["log"]
    assert made["browser"] == {"name": "Chromium", "version": "156.0.8078.79"}
    assert made["pages"][0]["pageTimings"] == {"onContentLoad": 97.4, "onLoad": 1190.7, "_firstContentfulPaint": 228}
    assert made["pages"][0]["startedDateTime"] == "2026-11-20T15:00:00.123+00:00"
    first = made["entries"][0]
    assert first["request"]["url"] == "http://dummy.example/"
    assert first["serverIPAddress"] == "10.10.2.2"
    assert first["_priority"] == "VeryHigh"
    assert first["response"]["bodySize"] == first["response"]["content"]["size"]


def test_what_never_happened_is_minus_one() -> None:
    made: Any = har(record("failed"))["log"]
    assert made["pages"][0]["pageTimings"]["onLoad"] == -1
    entry = made["entries"][0]
    assert entry["response"]["status"] == 0
    assert entry["response"]["_error"] == "net::ERR_CONNECTION_REFUSED"
    assert "serverIPAddress" not in entry


def test_cookies_queries_and_redirects() -> None:
    data = record("plain")
    request = replace(
        data.requests[0],
        url="http://a.example/?x=1&y=&x=%20",
        request_headers=(("cookie", "a=1; b=x=y"),),
        response_headers=(("Set-Cookie", "c=3; Path=/"), ("set-cookie", "d=4"), ("Location", "/there")),
    )
    made: Any = har(replace(data, requests=(request,)))
    hold(made, HAR, "har")
    [entry] = made["log"]["entries"]
    assert entry["request"]["queryString"] == [
        {"name": "x", "value": "1"},
        {"name": "y", "value": ""},
        {"name": "x", "value": " "},
    ]
    assert entry["request"]["cookies"] == [{"name": "a", "value": "1"}, {"name": "b", "value": "x=y"}]
    assert entry["response"]["cookies"] == [{"name": "c", "value": "3"}, {"name": "d", "value": "4"}]
    assert entry["response"]["redirectURL"] == "/there"
