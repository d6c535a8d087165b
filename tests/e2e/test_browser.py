"""Real Chromium in a real bed: cold starts, what is recorded, failures, silence."""

import base64
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from lanelab.driver.base.programs.needs import program
from tests.e2e import pages
from tests.kit.inside import call

RTT_MS = 20
LINK = {"rtt": f"{RTT_MS}ms", "rate": "20mbit"}


@pytest.fixture(scope="module")
def starts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("starts")
    found: dict[str, Any] = call("loads", "every_start", folder, LINK)
    found["folder"] = folder
    return found


@pytest.mark.parametrize("start", ["fresh-process", "fresh-context"])
def test_a_cold_load_asks_for_everything(starts: dict[str, Any], start: str) -> None:
    for load in starts[start]:
        record = load["record"]
        assert record["failures"] == []
        requests = record["requests"]
        assert len(requests) == pages.FILES + 1
        assert {(request["status"], request["from_cache"], request["protocol"]) for request in requests} == {
            (200, False, "http/1.1")
        }
        assert len(load["said"]) == pages.FILES + 1, "what the server saw"
        connections = {request["connection"] for request in requests}
        assert len(connections) <= 6
        assert load["syns"] >= len(connections), "no connection was there before"
        # Chromium connects while it still prepares the request: a part of that round trip, on a busy machine all of it,
        # is before the request's time. That there was no connection before is what the SYNs show.
        assert not requests[0]["reused"], "not even the first"
        assert record["ttfb_ms"] >= RTT_MS - 1, "a round trip to be answered, and what is left of the other"


def test_a_page_that_is_wider_than_the_screen_has_the_view_of_its_device(tmp_path: Path) -> None:
    """On a phone such a page widens what `innerWidth` says."""
    for device, view in call("loads", "views", tmp_path, LINK).items():
        assert abs(view["width"] - view["asked"]) <= 1, (device, view)


@pytest.mark.parametrize("start", ["fresh-process", "fresh-context", "warm"])
def test_what_is_recorded(starts: dict[str, Any], start: str) -> None:
    for number, load in enumerate(starts[start]):
        record = load["record"]
        assert record["plt_ms"] >= record["plt_navigation_ms"] >= record["dcl_ms"] >= record["ttfb_ms"] > 0
        assert record["lcp_ms"] >= record["fcp_ms"] >= record["first_paint_ms"] > 0
        assert record["navigation"]["name"] == pages.URL
        assert [entry["source"] for entry in record["console"]] == ["console-api"]
        assert "from the page" in record["console"][0]["text"]
        assert record["console"][0]["url"] == pages.URL + "s.js"
        browser = record["browser"]
        assert browser["sandbox"] is True
        assert browser["product"].split()[-1].split(".")[0] == browser["chromedriver"].split()[1].split(".")[0]
        assert browser["start"] == start
        assert browser["loads_before"] == (number if start == "fresh-context" else 0)
        assert "--headless=new" in browser["flags"]
        assert re.search(r"Chrome/\d+", browser["user_agent"])
        assert Path(starts["folder"], f"{start}.png").read_bytes().startswith(b"\x89PNG")
        assert load["counts"]["dropped"] == 0
        assert load["packets"] >= load["counts"]["captured"] > 0, "what tcpdump counted is in the file"


def test_a_repeat_view_has_the_files_and_nothing_else(starts: dict[str, Any]) -> None:
    for load in starts["warm"]:
        record = load["record"]
        assert record["failures"] == []
        assert len(record["requests"]) == pages.FILES + 1
        assert all(request["from_cache"] for request in record["requests"][1:])
        assert load["said"] == []


def test_nothing_is_left(starts: dict[str, Any]) -> None:
    assert starts["left"] == []


def test_no_cookie_survives_a_trial(tmp_path: Path) -> None:
    said = call("loads", "cookies", tmp_path, LINK)
    assert sum("/cookie" in line for line in said) == 2
    # An icon is asked for by the very page that was given the cookie.
    pages_asked = [line for line in said if '"GET /' in line and "favicon" not in line]
    assert len(pages_asked) > 2
    assert all(line.split()[1] == "-" for line in pages_asked)


@pytest.mark.parametrize("browser", ["chromium", "firefox"])
def test_a_page_that_was_opened_early_has_nothing_of_the_one_before(tmp_path: Path, browser: str) -> None:
    if not program(browser).path():
        pytest.skip(f"{browser} is not installed here")
    found = call("loads", "after_a_restless_page", tmp_path, LINK, browser=browser)
    assert "restless" in str(found["before"]["console"])
    assert [request["url"] for request in found["after"]["requests"]] == [pages.URL + pages.WIDE]
    assert found["after"]["console"] == []


def side_by_side(folder: Path, function: str, **variants: dict[str, str]) -> dict[str, Any]:
    """The same in a bed for each variant, at once: they mostly wait."""
    with ThreadPoolExecutor() as threads:
        under_way = {}
        for name, arguments in variants.items():
            (folder / name).mkdir()
            under_way[name] = threads.submit(call, "loads", function, folder / name, LINK, **arguments)
        return {name: future.result() for name, future in under_way.items()}


@pytest.fixture(scope="module")
def failures(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    variants = {start: {"start": start} for start in ("fresh-process", "fresh-context")}
    return side_by_side(tmp_path_factory.mktemp("failures"), "failures", **variants)


@pytest.mark.parametrize("start", ["fresh-process", "fresh-context"])
def test_each_failure_has_its_name_and_harms_no_other_trial(failures: dict[str, Any], start: str) -> None:
    found = failures[start]
    reasons = {name: [failure["reason"] for failure in one["record"]["failures"]] for name, one in found.items()}
    assert reasons == {
        "refused": ["navigation-failed"],
        "unknown": ["navigation-failed"],
        "timeout": ["timeout"],
        "killed": ["browser-crashed"],
        "renderer": ["browser-crashed"],
        "stopped": ["timeout"],
    }
    for name, one in found.items():
        assert one["after"] == [], name
        assert one["record"]["plt_ms"] is None
    assert "ERR_CONNECTION_REFUSED" in found["refused"]["record"]["failures"][0]["detail"]
    assert found["refused"]["record"]["requests"][0]["error"] == "net::ERR_CONNECTION_REFUSED"
    unfinished = found["timeout"]["record"]["requests"]
    assert [(request["status"], request["error"]) for request in unfinished] == [(None, "net::ERR_ABORTED")]


@pytest.fixture(scope="module")
def idle(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    variants = {display: {"display": display} for display in ("headless", "headful")}
    return side_by_side(tmp_path_factory.mktemp("idle"), "idle", **variants)


@pytest.mark.parametrize("display", ["headless", "headful"])
def test_a_browser_says_nothing_of_its_own(idle: dict[str, Any], display: str) -> None:
    """Only look-ups of the site's names, although it may ask a resolver: no other name, no other connection."""
    found = idle[display]
    foreign = [line for line in found["packets"] if pages.HOST not in line and "10.10.2.2.80" not in line]
    asked = [line for line in foreign if re.search(r" (A|AAAA|Type65|HTTPS)\? ", line)]
    assert found["failures"] == []
    assert {query["name"] for query in found["queries"]} == {pages.HOST}
    assert asked == []
    assert not [line for line in foreign if "Flags" in line]


def test_settings_of_an_arm_reach_the_page(tmp_path: Path) -> None:
    found = call("loads", "settings", tmp_path, LINK)
    for display in ("headless", "headful"):
        one = found[display]
        assert one["size"] == [640, 480, "en-US"]
        assert one["record"]["browser"]["user_agent"] == "lanelab test"
        assert one["record"]["failures"] == []
        assert one["netlog"] > 1000
        sent = dict(one["record"]["requests"][0]["request_headers"])
        assert sent["User-Agent"] == "lanelab test"
    assert len(found["no images"]["requests"]) < pages.FILES
    assert found["left"] == []


def test_tls_trusts_one_key_and_begins_anew_each_time(tmp_path: Path) -> None:
    found = call("loads", "tls", tmp_path, LINK)
    for name in ("first", "second"):
        record = found[name]["record"]
        assert record["failures"] == []
        assert {request["tls"] for request in record["requests"]} == {"TLS 1.3"}
        # Of a connection that was opened ahead of its request nothing is said there.
        assert max(request["timings"]["ssl"] for request in record["requests"]) > 0
        secrets = [line for line in found[name]["keys"] if line.startswith("CLIENT_HANDSHAKE_TRAFFIC_SECRET ")]
        assert len(secrets) >= len({request["connection"] for request in record["requests"]})
    assert not set(found["first"]["keys"]) & set(found["second"]["keys"]), "each trial's keys are its own"
    foreign = found["foreign"]["record"]["failures"]
    assert [failure["reason"] for failure in foreign] == ["navigation-failed"]
    assert "ERR_CERT" in foreign[0]["detail"]


def test_a_capture_has_all_that_came_before_its_end(tmp_path: Path) -> None:
    for one in call("loads", "capture_everything", tmp_path, {"rtt": "1ms"}, packets=500):
        assert one["counts"]["dropped"] == 0
        assert one["counts"]["captured"] == one["in_file"] >= 1000, one


def test_the_test_pages_images_are_images() -> None:
    assert base64.b64encode(pages.png(1)).startswith(b"iVBORw0KGgo")
