"""An object that came twice is flagged, where one answer was enough."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from lanelab.driver.arm.arm import Arm
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.site.site import Site
from lanelab.driver.trial.page_load.judges.refetched import Refetched
from tests.unit.records import SITE, Data, ask, record, request

HTTP = Arm.parse("http", {})
LOGO = "b.test/logo.png"
TODAY, LONG_AGO = "Fri, 20 Nov 2026 09:30:01 GMT", "Sun, 01 Jul 2012 12:00:00 GMT"


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
    [(), (("Date", TODAY),), (("Cache-Control", "max-age=3600"), ("Expires", LONG_AGO)), (("Vary", "Accept"),)],
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
