"""Recording pages of real servers in a bed: every byte that they sent, and clear words where that cannot be."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

import pytest

from tests.kit.inside import call

LINK = {"rtt": "5ms", "rate": "50mbit"}


@pytest.fixture(scope="module")
def thirty(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    found: dict[str, Any] = call("recordings", "thirty_origins", tmp_path_factory.mktemp("thirty"), LINK)
    return found


def wire(each: Mapping[str, Any], ranged: str) -> str:
    """Everything that was on the wire, to be compared."""
    kept = ("method", "url", "status", "reason", "headers", "body", "protocol")
    return json.dumps([ranged, *(each[name] for name in kept)])


def asked_range(each: Mapping[str, Any]) -> str:
    return next((value for name, value in each["request_headers"] if name.lower() == "range"), "")


def test_every_byte_that_was_sent_is_recorded(thirty: dict[str, Any]) -> None:
    recorded = Counter(wire(each, asked_range(each)) for each in thirty["recording"]["exchanges"])
    sent = Counter(wire(each, each["range"]) for each in thirty["sent"])
    assert sorted(recorded - sent) == []
    assert sorted(sent - recorded) == []


def test_all_that_servers_do_was_there(thirty: dict[str, Any]) -> None:
    exchanges = thirty["recording"]["exchanges"]
    assert len({each["url"].split("/")[2] for each in exchanges}) == 30
    assert {each["protocol"] for each in exchanges} == {"http/1.0", "http/1.1", "h2"}
    statuses = {each["status"] for each in exchanges}
    assert statuses == {200, 201, 204, 206, 301, 302, 303, 304, 307, 308, 404, 500, 503}
    assert {each["method"] for each in exchanges} == {"GET", "POST", "HEAD", "OPTIONS"}
    codings = {value for each in exchanges for name, value in each["headers"] if name.lower() == "content-encoding"}
    assert codings == {"gzip", "br", "deflate"}
    posted = {each["url"]: each["request_body"] for each in exchanges if each["method"] == "POST"}
    assert posted == {
        "https://api.thirty.test/orders": '{"order": 1}',
        "http://beacon.thirty-ads.test/seen": "the page was seen",
    }


def test_what_came_after_the_load_is_late(thirty: dict[str, Any]) -> None:
    late = {each["url"] for each in thirty["recording"]["exchanges"] if each["late"]}
    assert {
        "http://late.thirty-images.test/timer.png",
        "http://late.thirty-images.test/far.png",  # which only scrolling shows
        "http://beacon.thirty-ads.test/seen",
        "https://worker.thirty-apps.test/installed.json",  # a service worker asked
        "https://worker.thirty-apps.test/through.json",
        "https://events.thirty-apps.test/stream",
    } <= late
    early = {each["url"] for each in thirty["recording"]["exchanges"] if not each["late"]}
    assert {"http://thirty.test/", "https://fonts.thirty.test/blocks.woff", "https://api.thirty.test/orders"} <= early


def test_nothing_was_missing(thirty: dict[str, Any]) -> None:
    recording = thirty["recording"]
    assert recording["unanswered"] == []
    assert recording["left_out"] == []
    assert recording["title"] == "Thirty origins"
    assert recording["screenshot"] > 1000


@pytest.fixture(scope="module")
def troubled(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    found: dict[str, Any] = call("recordings", "what_cannot_be_kept", tmp_path_factory.mktemp("trouble"), LINK)
    return found


def test_what_cannot_be_kept_is_named(troubled: dict[str, Any]) -> None:
    recording = troubled["trouble"]
    assert [each["url"] for each in recording["exchanges"]] == ["http://www.thirty.test/trouble"]
    assert set(recording["unanswered"]) == {
        "dead.thirty-ads.test/pixel.png", "www.thirty.test/half.png", "www.thirty.test/never",
    }  # fmt: skip
    left_out = "; ".join(recording["left_out"])
    assert "half.png: only its first" in left_out
    assert "WebSocket" in left_out
    assert "www.thirty.test/never" in " ".join(recording["notes"]), "held open, and told so"


def test_a_device_is_what_the_page_sees(troubled: dict[str, Any]) -> None:
    recording = troubled["trouble"]
    assert recording["title"].split()[1:] == ["1.5", "true"]
    assert "Lumia 900" in recording["user_agent"]
    sent = [value for name, value in recording["exchanges"][0]["request_headers"] if name.lower() == "user-agent"]
    assert sent == [recording["user_agent"]]


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ("missing", "status 404"),
        ("image", "image/png and no page"),
        ("download", "a file to be saved and no page"),
        ("unknown", "ERR_NAME_NOT_RESOLVED"),
        ("refused", "ERR_CONNECTION_REFUSED"),
        ("certificate", "ERR_CERT"),
    ],
)
def test_what_is_no_page_is_refused_in_words(troubled: dict[str, Any], what: str, words: str) -> None:
    assert words in troubled[what]
    assert troubled[what].rstrip().count(". ") >= 1, "and what to do"


def test_no_log_is_left(troubled: dict[str, Any]) -> None:
    assert troubled["left"] == []
