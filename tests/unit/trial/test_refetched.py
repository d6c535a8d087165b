"""An object that came twice is flagged, where one answer was enough."""

from dataclasses import replace
from typing import Any

import pytest

from lanelab.driver.arm.arm import Arm
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.site.site import Site
from lanelab.driver.trial.page_load.judges.refetched import Refetched
from tests.kit.records import SITE, Data, ask, record, request

HTTP = Arm.parse("http", {})
LOGO = "b.test/logo.png"
TODAY, LONG_AGO = "Fri, 20 Nov 2026 09:30:01 GMT", "Sun, 01 Jul 2012 12:00:00 GMT"
IN_OCTOBER, BEFORE_YESTERDAY = "Thu, 01 Oct 2026 12:00:00 GMT", "Wed, 18 Nov 2026 12:00:00 GMT"
TOMORROW, YEAR = "Sat, 21 Nov 2026 12:00:00 GMT", "max-age=31536000"


def flags(data: Data, site: Site = SITE) -> list[str]:
    return [f"{flag.name}: {flag.detail}" for flag in Refetched(TrialRecord.from_json(data), site).flags()]


def twice(*headers: tuple[str, str], url: str = LOGO, **changed: Any) -> Data:
    """A load in which something more was asked for, by default what was there; its answers have these headers."""
    data = record(HTTP)
    more = request(url, 7, HTTP) | changed
    ask(data, more, HTTP)
    for each in data["requests"]:
        each["response_headers"] = [*each["response_headers"], *map(list, headers)]
    return data


def test_a_sound_load_is_not_flagged() -> None:
    assert flags(record(HTTP)) == []


@pytest.mark.parametrize(
    "headers",
    [
        (),
        (("Date", TODAY),),
        (("Cache-Control", "max-age=3600"), ("Expires", LONG_AGO)),
        (("Vary", "Accept"),),
        (("Cache-Control", "public"),),
        (("Date", IN_OCTOBER), ("Cache-Control", f"public, {YEAR}, immutable")),
        (("Date", IN_OCTOBER), ("Cache-Control", YEAR), ("Age", "86400"), ("Vary", "Accept-Encoding, Origin")),
        (("Date", TODAY), ("Cache-Control", "must-revalidate, max-age=3600")),
        (("Date", BEFORE_YESTERDAY), ("Expires", TOMORROW)),
        (("Expires", TOMORROW),),
        (("Date", TODAY), ("Last-Modified", LONG_AGO)),
        (("Date", BEFORE_YESTERDAY), ("Last-Modified", LONG_AGO)),
        (("Date", TOMORROW), ("Cache-Control", "max-age=90")),
    ],
)
def test_an_answer_that_may_be_kept_and_came_twice_is_flagged(headers: tuple[tuple[str, str], ...]) -> None:
    assert flags(twice(*headers)) == [f"fetched-twice: {LOGO} (2 times)"]


@pytest.mark.parametrize(
    "headers",
    [
        (("Cache-Control", "private, no-store"),),
        (("Cache-Control", "no-cache"),),
        (("cache-control", "Max-Age=0"),),
        (("Pragma", "no-cache"),),
        (("Vary", "*"),),
        (("Expires", LONG_AGO),),
        (("Date", LONG_AGO), ("Cache-Control", "max-age=3600")),
        (("Date", "yesterday"),),
        (("Date", "yesterday"), ("Cache-Control", YEAR)),
        (("Date", LONG_AGO), ("Cache-Control", f"{YEAR}, immutable")),
        (("Date", IN_OCTOBER), ("Cache-Control", YEAR), ("Age", "31536000")),
        (("Date", IN_OCTOBER), ("Last-Modified", LONG_AGO)),
        (("Date", IN_OCTOBER),),
        (("Date", TODAY), ("Last-Modified", TODAY)),
        (("Date", TODAY), ("Cache-Control", "must-revalidate"), ("Last-Modified", LONG_AGO)),
        (("Date", TODAY), ("Cache-Control", "max-age=59")),
        (("Date", TODAY), ("Cache-Control", "max-age=soon"), ("Expires", TOMORROW)),
        (("Date", BEFORE_YESTERDAY), ("Expires", TODAY)),
        (("Expires", "-1"),),
    ],
)
def test_what_a_browser_may_not_keep_it_fetches_again(headers: tuple[tuple[str, str], ...]) -> None:
    assert flags(twice(*headers)) == []


@pytest.mark.parametrize(
    "changed",
    [
        {"from_cache": True},
        {"status": 304},
        {"status": 206},
        {"status": None, "error": "net::ERR_ABORTED"},
        {"type": "Media"},
        {"request_headers": [["Range", "bytes=0-99"]]},
        {"method": "POST"},
        {"method": "HEAD"},
        {"url": "http://b.test/logo.png?again"},
        {"url": "http://else.test/logo.png"},
    ],
)
def test_what_was_not_the_same_whole_answer_is_not_flagged(changed: Data) -> None:
    assert flags(twice(**changed)) == []


def test_an_address_with_several_recorded_answers_is_asked_as_often() -> None:
    logo = SITE.objects[2]
    site = replace(SITE, objects=(*SITE.objects, replace(logo, sha256="1" * 64)))
    assert flags(twice(), site) == []
    data = twice()
    ask(data, request(LOGO, 8, HTTP), HTTP)
    assert flags(data, site) == [f"fetched-twice: {LOGO} (3 times)"]


def test_what_was_answered_with_the_nearest_object_is_judged_elsewhere() -> None:
    data = twice()
    data["evidence"]["server"]["requests"][-1]["match"] = "nearest"
    assert flags(data) == []


LONG = ("Cache-Control", YEAR)
TWICE = [f"fetched-twice: {LOGO} (2 times)"]


@pytest.mark.parametrize(("headers", "flagged"), [((), []), ((LONG,), TWICE)])
@pytest.mark.parametrize(
    "changed", [{"type": "Fetch"}, {"type": "Font"}, {"before_load": False}, {"initiator": "script"}]
)
def test_what_says_nothing_is_kept_with_its_document_only(changed: Data, headers: Any, flagged: list[str]) -> None:
    """What a script asks for is not, nor is anything after the load event."""
    assert flags(twice(*headers, **changed)) == flagged


@pytest.mark.parametrize(("headers", "flagged"), [((), []), ((LONG,), TWICE)])
def test_firefox_keeps_what_is_fresh(headers: Any, flagged: list[str]) -> None:
    data = twice(*headers)
    data["evidence"]["browser"]["facts"]["product"] = "Firefox 140.0"
    assert flags(data) == flagged


@pytest.mark.parametrize(("preload", "flagged"), [(False, []), (True, TWICE)])
def test_a_page_may_ask_in_two_ways_but_not_by_its_preload(preload: bool, flagged: list[str]) -> None:
    data = twice()
    data["requests"][2] |= {"request_headers": [["Sec-Fetch-Mode", "no-cors"]], "link_preload": preload}
    data["requests"][3] |= {"request_headers": [["Sec-Fetch-Mode", "cors"]]}
    assert flags(data) == flagged


@pytest.mark.parametrize(("vary", "flagged"), [("Accept", []), ("Accept-Language", TWICE)])
def test_an_answer_to_another_question_is_another(vary: str, flagged: list[str]) -> None:
    data = twice(LONG, ("Vary", vary))
    data["requests"][2]["request_headers"] = [["Accept", "image/*"], ["Accept-Language", "en"]]
    data["requests"][3]["request_headers"] = [["accept", "*/*"], ["accept-language", "en"]]
    assert flags(data) == flagged


@pytest.mark.parametrize(("ended_ms", "flagged"), [(20_300.0, TWICE), (20_400.0, []), (None, [])])
def test_nobody_waits_for_another_for_ever(ended_ms: float | None, flagged: list[str]) -> None:
    """The second is asked for 350 ms after the first request."""
    data = twice(LONG)
    data["requests"][2]["ended_ms"] = ended_ms
    assert flags(data) == flagged


FRAME, OTHER_FRAME = "http://b.test/frame.html", "http://a.test/frame.html"
PAGE = "http://a.test/index.html"


@pytest.mark.parametrize(
    ("frame", "askers", "headers", "flagged"),
    [
        (FRAME, ("http://a.test/", "http://a.test/"), (LONG,), TWICE),
        (FRAME, (FRAME, "http://b.test/"), (LONG,), TWICE),
        (OTHER_FRAME, (PAGE, OTHER_FRAME), (LONG,), TWICE),
        (FRAME, ("http://a.test/", FRAME), (LONG,), []),
        (FRAME, ("http://b.test/style.css", "http://b.test/style.css"), (LONG,), []),
        (FRAME, (None, None), (LONG,), []),
        (FRAME, ("http://a.test/", "http://a.test/"), (), []),
        (None, ("http://a.test/", FRAME), (LONG,), TWICE),
        (None, ("http://a.test/", FRAME), (), TWICE),
    ],
)
def test_frames_of_other_sites_have_caches_of_their_own(
    frame: str | None, askers: tuple[str | None, ...], headers: Any, flagged: list[str]
) -> None:
    data = twice(*headers)
    for each, asker in zip(data["requests"][2:4], askers, strict=True):
        each["request_headers"] = [] if asker is None else [["Referer", asker]]
    if frame is not None:
        host_and_path = frame.partition("://")[2]
        ask(data, request(host_and_path, 8, HTTP, kind="Document"), HTTP)
    assert flags(data) == flagged


def test_documents_are_not_judged() -> None:
    """A frame's is kept apart from the page's."""
    data = twice(LONG, url="a.test/index.html", type="Document")
    assert flags(data) == []
