"""Recording pages of real servers in a bed: every byte that they sent, and clear words where that cannot be."""

import json
import signal
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.e2e import pages
from tests.kit.inside import call
from tests.kit.origins import odd
from tests.kit.origins.page import replies

LINK = {"rtt": "5ms", "rate": "50mbit"}


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    found: dict[str, Any] = call("recordings", "everything", tmp_path_factory.mktemp("everything"), LINK)
    return found


@pytest.fixture
def thirty(everything: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = everything["thirty"]
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


def test_a_trial_sees_the_requests_of_every_frame(everything: dict[str, Any]) -> None:
    """What was asked for before the load event, whichever site's frame asked."""
    early = {each["url"] for each in everything["thirty"]["recording"]["exchanges"] if not each["late"]}
    assert "https://hinted.thirty-ads.test/ad.js" in early, "of a frame of another site"
    assert early - set(everything["seen"]) == set()


def test_what_cannot_be_kept_is_named(everything: dict[str, Any]) -> None:
    recording = everything["trouble"]
    assert [each["url"] for each in recording["exchanges"]] == ["http://www.thirty.test/trouble"]
    assert set(recording["unanswered"]) == {
        "dead.thirty-ads.test/pixel.png", "www.thirty.test/half.png", "www.thirty.test/never",
    }  # fmt: skip
    left_out = "; ".join(recording["left_out"])
    assert "half.png: only its first" in left_out
    assert "WebSocket" in left_out
    assert "www.thirty.test/never" in " ".join(recording["notes"]), "held open, and told so"


def test_a_device_is_what_the_page_sees(everything: dict[str, Any]) -> None:
    recording = everything["trouble"]
    assert recording["title"].split()[1:] == ["1.5", "true"]
    assert "Lumia 900" in recording["user_agent"]
    sent = [value for name, value in recording["exchanges"][0]["request_headers"] if name.lower() == "user-agent"]
    assert sent == [recording["user_agent"]]


@pytest.mark.long
def test_each_way_to_ask_is_recorded(tmp_path: Path) -> None:
    """Workers, reports, prefetching, forms, objects, beacons: none is taken for the browser's own business."""
    found = call("recordings", "each_way", tmp_path, LINK)
    recorded = Counter(wire(each, asked_range(each)) for each in found["recording"]["exchanges"])
    assert recorded == Counter(wire(each, each["range"]) for each in found["sent"])
    assert {each["url"].removeprefix("http://www.thirty.test") for each in found["sent"]} == odd.WAYS
    assert found["recording"]["unanswered"] == found["recording"]["left_out"] == []


@pytest.mark.long
def test_what_apache_sends_is_what_curl_gets(tmp_path: Path) -> None:
    """Header compression, frames and deflated bodies of a server that is not ours."""
    found = call("recordings", "apache", tmp_path, LINK)
    exchanges = found["recording"]["exchanges"]
    assert len(exchanges) == pages.FILES + 1
    assert {each["protocol"] for each in exchanges} == {"h2"}
    coded = [each["url"] for each in exchanges if ["content-encoding", "gzip"] in each["headers"]]
    assert len(coded) >= 2, "page and style sheet"
    for each in exchanges:
        fetched = found["fetched"][each["url"]]
        assert each["body"] == fetched["body"]
        status, *fields = [line for line in fetched["head"] if line]
        assert str(each["status"]) in status
        recorded = [f"{name}: {value}" for name, value in each["headers"] if name != "date"]
        assert recorded == [line for line in fields if not line.startswith("date:")]


@pytest.mark.long
def test_what_is_no_page_is_refused_in_words(tmp_path: Path) -> None:
    said: dict[str, str] = call("recordings", "no_pages", tmp_path, LINK)
    expected = {
        "missing": "status 404",
        "image": "image/png and no page",
        "download": "a file to be saved and no page",
        "unknown": "ERR_NAME_NOT_RESOLVED",
        "refused": "ERR_CONNECTION_REFUSED",
        "certificate": "ERR_CERT",
    }
    assert {name: words for name, words in expected.items() if words not in said[name]} == {}, said
    assert all(words.count(". ") >= 1 for words in said.values()), "and what to do"


@pytest.fixture
def commanded(everything: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = everything["command"]
    return found


def test_the_command_makes_a_site(commanded: dict[str, Any]) -> None:
    made = commanded["small --licence"]
    assert made["status"] == 0, made["said"]
    assert set(made["files"]) == {"site.yaml", "archive.warc.gz", "screenshot.png"}
    assert "a-secret" not in made["manifest"]
    assert "set-cookie of www.thirty.test: visit" in made["said"], "a secret is named"
    for words in ("title: A small page", "entry: www.thirty.test/small", "viewport: 1366x768", "licence: ours"):
        assert words in made["manifest"]
    expected = [
        [method, host + path, 200, len(replies()[method, host, path].body)]
        for method, host, path in (
            ("GET", "late.thirty-images.test", "/timer.png"),
            ("GET", "www.thirty.test", "/small"),
            ("GET", "www.thirty.test", "/small.png"),
        )
    ]
    assert sorted(commanded["objects"]) == expected


def test_the_command_replaces_no_site_unasked(commanded: dict[str, Any]) -> None:
    assert commanded["small"]["status"] == 2
    assert "--replace" in commanded["small"]["said"]
    replaced = commanded["small --replace"]
    assert replaced["status"] == 0, replaced["said"]
    assert "user_agent: me/1" in replaced["manifest"]
    assert "viewport: 400x300" in replaced["manifest"]
    assert "left_out" not in replaced["manifest"], "secrets were kept"


def test_the_command_leaves_nothing_of_what_failed(commanded: dict[str, Any]) -> None:
    assert commanded["lost"]["status"] == 1
    assert "ERR_NAME_NOT_RESOLVED" in commanded["lost"]["said"]
    assert "Traceback" not in str(commanded)
    assert commanded["left"] == []


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_recording_that_is_stopped_leaves_nothing(tmp_path: Path, number: int) -> None:
    found = call("recordings", "interrupted", tmp_path, LINK, number=int(number))
    assert found["status"] == 128 + number, found["said"]
    assert found["left"] == []
    assert found["browsers"] == []
    assert not found["site"]
