"""Second visits: what they ask of a site, what browsers are told, and records that tell of another visit."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from lanelab.driver.arm.arm import Arm
from lanelab.driver.base.errors import InputError
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.site.prepare.ages import aged, kept_answers
from lanelab.driver.site.prepare.prepare import prepare
from lanelab.driver.site.prepare.variant import Variant
from lanelab.driver.site.site import Site, SiteObject
from lanelab.driver.trial.page_load.expectation import Expected
from lanelab.driver.trial.page_load.judges import objects, revisits
from lanelab.driver.trial.page_load.judges.judge import Case
from lanelab.driver.trial.page_load.second_visit import expired, fresh
from lanelab.driver.trial.recorders.tcpdump import CaptureOptions
from tests.kit.judging import LINK, STRICT
from tests.kit.records import HASH, SITE, Data, ask, record, request

DAY_S = 86_400
WARM = Arm.parse("again", {"start": "warm", "revisit_after": "1d"})
NOW, LAST_WEEK, LONG_AGO = (
    "Fri, 20 Nov 2026 09:29:59 GMT",
    "Fri, 13 Nov 2026 09:30:00 GMT",
    "Sun, 01 Jul 2012 12:00:00 GMT",
)
SHORT, LONG, YEAR = "max-age=3600", "max-age=604800", "max-age=31536000"


@pytest.mark.parametrize(
    ("written", "expected", "seconds"),
    [
        ("1d", "1d", DAY_S),
        ("24h", "1d", DAY_S),
        ("90min", "90min", 5400),
        ("3600 s", "1h", 3600),
        ("0s", "0s", 0),
        (0, "0s", 0),
    ],
)
def test_a_time_away_has_one_way_to_be_written(written: object, expected: str, seconds: int) -> None:
    arm = Arm.parse("again", {"start": "warm", "revisit_after": written})
    assert (arm.revisit_after, arm.revisit_s, arm.variant.age_s) == (expected, seconds, seconds)


@pytest.mark.parametrize("written", ["1", "1m", "-1d", "1.5d", "4000d", "soon", "99999999999s", ""])
def test_what_is_no_time_is_refused(written: str) -> None:
    with pytest.raises(InputError, match="revisit_after"):
        Arm.parse("again", {"start": "warm", "revisit_after": written})


@pytest.mark.parametrize("start", ["fresh-process", "fresh-context"])
def test_a_first_visit_has_nothing_to_come_back_to(start: str) -> None:
    with pytest.raises(InputError, match="nothing is kept"):
        Arm.parse("again", {"start": start, "revisit_after": "1d"})


@pytest.mark.parametrize("server", ["nginx", "caddy", "lighttpd", "h2o"])
def test_servers_that_send_all_of_it_again_are_refused(server: str) -> None:
    with pytest.raises(InputError, match="sends again in full"):
        Arm.parse("again", {"start": "warm", "revisit_after": "1d", "server": server})


def test_arms_without_it_are_what_they_were() -> None:
    again = Arm.parse("again", {"start": "warm"})
    assert "revisit_after" not in again.changed()
    assert again.variant.text == Arm.parse("first", {}).variant.text


def test_each_answer_to_a_get_has_the_age() -> None:
    recorded = SiteObject("a.test", "/a", 3, "text/css", HASH, headers=(("age", "7"), ("Cache-Control", SHORT)))
    plain = SiteObject("a.test", "/b", 3, "text/css", HASH)
    posted = replace(recorded, method="POST")
    first, second, third = aged(replace(SITE, objects=(recorded, plain, posted)), DAY_S, "chromium")
    assert first.headers == (("Cache-Control", SHORT), ("Age", "86407"))
    file = {"Content-Type": "text/css", **dict(plain.file_headers)}
    assert dict(second.headers) == {**file, "Cache-Control": f"max-age={365 * DAY_S // 10}", "Age": "86400"}
    assert third == posted
    site = prepare(SITE, Variant(age_s=DAY_S, aged_for="chromium"))
    assert all(("Age", "86400") in each.headers for each in site.objects)
    assert "age=86400" in site.variant


RECORDED = "2014-01-26T20:06:24Z"
THEN, MONTH_BEFORE, DAY_LATER = (
    "Sun, 26 Jan 2014 20:06:24 GMT",
    "Fri, 27 Dec 2013 20:06:24 GMT",
    "Mon, 27 Jan 2014 20:06:24 GMT",
)


@pytest.mark.parametrize(
    ("headers", "status", "told"),
    [
        ((("Date", THEN), ("Expires", DAY_LATER)), 200, DAY_S),
        ((("Expires", DAY_LATER),), 200, DAY_S),  # by the site's date
        ((("Date", THEN), ("Expires", MONTH_BEFORE)), 200, 0),
        ((("Date", THEN), ("Expires", "0")), 200, 0),
        ((("Date", THEN), ("Expires", DAY_LATER)), 302, DAY_S),
        ((("Date", THEN), ("Last-Modified", MONTH_BEFORE)), 200, 3 * DAY_S),
        ((("Date", THEN), ("Last-Modified", MONTH_BEFORE)), 404, None),  # browsers guess of what is there
        ((("Date", THEN), ("Cache-Control", SHORT), ("Expires", DAY_LATER)), 200, None),  # which says it already
        ((("Date", THEN), ("Cache-Control", "no-store"), ("Expires", DAY_LATER)), 200, None),
        ((("Date", THEN),), 200, None),
    ],
)
def test_what_says_by_dates_how_long_it_is_fresh_says_it_in_seconds(
    headers: tuple[tuple[str, str], ...], status: int, told: int | None
) -> None:
    """As they were on the day of the recording: a browser's clock is that of today."""
    one = SiteObject("a.test", "/a", 3, "text/css", HASH, status=status, headers=headers)
    (served,) = aged(replace(SITE, objects=(one,), date=RECORDED), DAY_S, "chromium")
    kept = tuple(each for each in headers if each[0] != "Date")
    said = () if told is None else (("Cache-Control", f"max-age={told}"),)
    assert served.headers == (*kept, *said, ("Age", "86400"))


HOUR_BEFORE = "Sun, 26 Jan 2014 19:06:24 GMT"


@pytest.mark.parametrize(
    ("headers", "own_s"),
    [
        pytest.param((("Age", "3000"),), 3000, id="it came from a cache on the way"),
        pytest.param((("Date", HOUR_BEFORE), ("Age", "3000")), 3000, id="caches say it by their Age"),
        pytest.param((("Date", HOUR_BEFORE),), 0, id="the day that a site names need not be that of its recording"),
        pytest.param((("Age", "soon"),), 0, id="that is no age"),
        pytest.param((), 0, id="it was new"),
    ],
)
def test_what_was_old_when_it_was_recorded_is_that_much_older(headers: tuple[tuple[str, str], ...], own_s: int) -> None:
    one = SiteObject("a.test", "/a", 3, "text/css", HASH, headers=(*headers, ("Cache-Control", SHORT)))
    site = replace(SITE, objects=(one,), date=RECORDED)
    (served,) = aged(site, DAY_S, "chromium")
    assert served.headers == (("Cache-Control", SHORT), ("Age", str(DAY_S + own_s)))
    (kept,) = kept_answers(site, "chromium")
    assert kept.seconds == 3600 - own_s
    assert kept_answers(replace(site, objects=(served,)), "chromium", DAY_S) == [kept]


def test_no_age_is_more_than_browsers_count() -> None:
    one = SiteObject("a.test", "/a", 3, "text/css", HASH, headers=(("Age", "9" * 30),))
    (served,) = aged(replace(SITE, objects=(one,)), DAY_S, "chromium")
    assert dict(served.headers)["Age"] == str(2**31)


@pytest.mark.parametrize(
    ("own", "is_fresh", "has_expired"),
    [
        ((), True, False),
        ((("Age", "1500"),), True, False),
        ((("Age", "1800"),), False, False),  # on the edge: nobody can tell
        ((("Age", "3000"),), False, True),
    ],
)
def test_a_browser_counts_both_ages(own: tuple[tuple[str, str], ...], is_fresh: bool, has_expired: bool) -> None:
    arm = Arm.parse("again", {"start": "warm", "revisit_after": "30min"})
    logo = replace(SITE.objects[2], headers=(*own, ("Cache-Control", SHORT)))
    site = prepare(replace(SITE, objects=(*SITE.objects[:2], logo)), Variant(age_s=1800, aged_for="chromium"))
    assert (logo.url in fresh(site, arm), logo.url in expired(site, arm)) == (is_fresh, has_expired)


def test_a_guess_is_that_of_the_arms_browser() -> None:
    changed = SiteObject("a.test", "/a", 3, "text/css", HASH, headers=(("Last-Modified", LONG_AGO),))
    for browser, guessed_s in (("chromium", (365 * DAY_S) // 10), ("firefox", 7 * DAY_S)):
        arm = Arm.parse("again", {"start": "warm", "revisit_after": "1d", "browser": browser})
        (served,) = aged(replace(SITE, objects=(changed,)), arm.variant.age_s, arm.variant.aged_for)
        assert ("Cache-Control", f"max-age={guessed_s}") in served.headers


def case(data: Data, arm: Arm = WARM) -> Case:
    read = TrialRecord.from_json(data)
    assert read.page_load
    return Case(read, read.page_load, Expected(arm, SITE, LINK, STRICT, {"capture": CaptureOptions()}))


def visited(cached: bool, *headers: tuple[str, str], age: str = "86400", **changed: Any) -> Data:
    """A repeat view in which the logo has these headers, and all else is fresh and from the cache."""
    data = record(WARM)
    for each in data["requests"]:
        mine = headers if each["url"].endswith("logo.png") else (("Cache-Control", YEAR),)
        each["response_headers"] = [["Date", NOW], ["Age", age], *map(list, mine)]
        each["from_cache"] = cached or not each["url"].endswith("logo.png")
        each.update(changed if each["url"].endswith("logo.png") else {})
    return data


def said(data: Data, arm: Arm = WARM) -> list[str]:
    judge, trial = revisits.JUDGE, case(data, arm)
    failures = [f"{each.reason}: {each.detail}" for each in judge.failures(trial)]
    return failures + [f"{each.name}: {each.detail}" for each in judge.flags(trial)]


@pytest.mark.parametrize(
    "headers",
    [
        (("Cache-Control", LONG),),
        (("Last-Modified", LONG_AGO),),
        (("Cache-Control", f"{SHORT}, stale-while-revalidate=604800"),),
        (("Cache-Control", "max-age=86400"),),  # on the edge: nobody can tell
        (),
    ],
)
def test_what_is_fresh_may_come_from_the_cache(headers: tuple[tuple[str, str], ...]) -> None:
    assert said(visited(True, *headers)) == []


EXPIRED = "from-cache: b.test/logo.png came from the cache, and has expired 1d after the first visit"
FRESH = "fetched-twice: b.test/logo.png, still fresh 1d after the first visit"
AGELESS = "came without the age"


@pytest.mark.parametrize(
    "headers", [(("Cache-Control", SHORT),), (("Expires", LONG_AGO),), (("Last-Modified", LAST_WEEK),)]
)
def test_what_has_expired_may_not_come_from_the_cache(headers: tuple[tuple[str, str], ...]) -> None:
    assert said(visited(True, *headers)) == [EXPIRED]
    assert said(visited(False, *headers)) == []
    assert said(visited(False, *headers, status=304)) == []


def test_what_was_asked_for_though_it_is_fresh_is_flagged() -> None:
    assert said(visited(False, ("Cache-Control", LONG))) == [FRESH]
    assert said(visited(False)) == [], "it does not say how long it is fresh"


@pytest.mark.parametrize("age", ["86399", "0", "a day"])
@pytest.mark.parametrize("cached", [True, False])
def test_an_answer_without_its_age_fails(age: str, *, cached: bool) -> None:
    data = visited(cached, ("Cache-Control", LONG), age=age)
    assert any(AGELESS in each for each in said(data))


def without_headers(data: Data) -> None:
    for each in data["requests"]:
        each["response_headers"] = []


def of_the_server_alone(data: Data) -> None:
    data["requests"][2]["response_headers"] = [["Date", NOW], ["Cache-Control", LONG]]


@pytest.mark.parametrize("falsify", [without_headers, of_the_server_alone])
def test_evidence_that_is_not_there_fails(falsify: Callable[[Data], None]) -> None:
    data = visited(True, ("Cache-Control", LONG))
    falsify(data)
    assert any(AGELESS in each for each in said(data))


def test_firefox_keeps_what_does_not_say_how_long_for_a_week() -> None:
    fortnight = {"start": "warm", "revisit_after": "14d"}
    data = visited(True, ("Last-Modified", LONG_AGO), age=str(14 * DAY_S))
    assert EXPIRED.replace("1d", "14d") in said(data, Arm.parse("firefox", {"browser": "firefox", **fortnight}))
    others = [each for each in said(data, Arm.parse("chromium", fortnight)) if "logo.png" in each]
    assert others == []


# --- what the site says, of which a record may have nothing


def told(*headers: str) -> Site:
    """The tiny site, each of its answers with what it says of its life, as the arm has it served."""
    said = zip(SITE.objects, headers, strict=True)
    answers = (replace(each, headers=(("Cache-Control", one),)) for each, one in said)
    return prepare(replace(SITE, objects=tuple(answers)), Variant(age_s=DAY_S, aged_for=WARM.browser))


def of_site(site: Site) -> Data:
    """A second visit as it should be: what has expired was asked for, the rest came from the cache or was not asked
    for."""
    data = record(WARM)
    for each, one in zip(data["requests"], site.objects, strict=True):
        each["response_headers"] = [["Date", NOW], *map(list, one.headers)]
        each["from_cache"] = YEAR in dict(one.headers)["Cache-Control"]
    return data


def of_trial(data: Data, site: Site, arm: Arm = WARM) -> Case:
    trial = case(data, arm)
    return replace(trial, expected=replace(trial.expected, site=site))


def judged(data: Data, site: Site, arm: Arm = WARM) -> list[str]:
    trial = of_trial(data, site, arm)
    failures = [*objects.JUDGE.failures(trial), *revisits.JUDGE.failures(trial)]
    return [f"{each.reason}: {each.detail}" for each in failures]


def without(data: Data, name: str) -> Data:
    data["requests"] = [each for each in data["requests"] if name not in each["url"]]
    return data


def test_a_second_visit_as_it_should_be_counts() -> None:
    for site in (told(YEAR, SHORT, YEAR), told(SHORT, YEAR, SHORT), told("no-store", SHORT, YEAR)):
        assert judged(of_site(site), site) == []
    assert judged(without(of_site(told(SHORT, SHORT, YEAR)), "logo"), told(SHORT, SHORT, YEAR)) == []


@pytest.mark.parametrize("life", [SHORT, "max-age=0", "no-store", "no-cache"])
def test_what_has_expired_and_was_not_asked_for_fails(life: str) -> None:
    site = told(YEAR, YEAR, life)
    missing = "missing-object: b.test/logo.png (never asked for, and has expired 1d after the first visit)"
    assert judged(without(of_site(site), "logo"), site) == [missing]


def test_what_has_expired_and_was_asked_for_in_vain_fails() -> None:
    site = told(YEAR, YEAR, SHORT)
    data = of_site(site)
    data["requests"][2].update(status=None, ended_ms=None)
    assert any("missing-object: b.test/logo.png (did not end, and has expired" in each for each in judged(data, site))


def test_what_has_expired_and_came_from_the_cache_fails_whatever_its_record_says() -> None:
    site = told(YEAR, YEAR, SHORT)
    data = of_site(site)
    data["requests"][2]["from_cache"] = True
    data["requests"][2]["response_headers"] = [["Date", NOW], ["Age", "86400"], ["Cache-Control", YEAR]]
    assert judged(data, site) == [EXPIRED]


def test_what_is_served_stale_need_not_be_asked_for() -> None:
    site = told(YEAR, YEAR, f"{SHORT}, stale-while-revalidate=604800")
    assert judged(without(of_site(site), "logo"), site) == []


def test_without_a_time_between_nothing_has_to_be_asked_for() -> None:
    at_once = Arm.parse("again", {"start": "warm"})
    site = told(YEAR, YEAR, SHORT)
    assert judged(without(of_site(site), "logo"), site, at_once) == []


def with_fresh(number: int, again: int) -> tuple[Data, Site]:
    """A second visit to a page with so many fresh objects, some of which came over the network again."""
    images = [SiteObject("b.test", f"/{each}.png", 5000, "image/png", HASH) for each in range(number)]
    page, life = SITE.objects[0], (("Cache-Control", YEAR),)
    objects = (replace(page, headers=(("Cache-Control", SHORT),)), *(replace(each, headers=life) for each in images))
    site = prepare(replace(SITE, objects=objects), Variant(age_s=DAY_S, aged_for=WARM.browser))
    data = record(WARM)
    data["requests"] = [{**data["requests"][0], "response_headers": [["Date", NOW], ["Age", "86400"]]}]
    for place, each in enumerate(site.objects[1:]):
        asked = request(each.url, 1 + place, WARM, body=each.size)
        sent = [["Date", NOW], *map(list, each.headers)]
        ask(data, {**asked, "from_cache": place >= again, "response_headers": sent}, WARM)
    return data, site


@pytest.mark.parametrize(("number", "again"), [(3, 2), (3, 3), (4, 3), (100, 51), (100, 99)])
def test_a_visit_in_which_most_of_what_is_fresh_came_again_is_none(number: int, again: int) -> None:
    data, site = with_fresh(number, again)
    came = f"warm-ignored: of {number} objects that are still fresh 1d after the first visit {again} came over"
    assert [each.startswith(came) for each in ignored(data, site)] == [True]
    for each in data["requests"]:
        each["status"] = 304  # which is no cache's answer either
    assert [each.startswith(came) for each in ignored(data, site)] == [True]


@pytest.mark.parametrize(("number", "again"), [(1, 1), (2, 2), (3, 1), (4, 2), (100, 50)])
def test_what_is_fetched_past_the_cache_is_flagged_and_the_visit_counts(number: int, again: int) -> None:
    """As a service worker's script is."""
    data, site = with_fresh(number, again)
    assert ignored(data, site) == []
    (flag,) = revisits.JUDGE.flags(of_trial(data, site))
    assert (flag.name, "b.test/0.png" in flag.detail) == ("fetched-twice", True)


def ignored(data: Data, site: Site, arm: Arm = WARM) -> list[str]:
    return [each for each in judged(data, site, arm) if each.startswith("warm-ignored")]


AT_ONCE = Arm.parse("again", {"start": "warm"})
ETAG = ("ETag", '"1"')


def visited_again(number: int, anew: int, arm: Arm, headers: tuple[tuple[str, str], ...], **more: Any) -> list[str]:
    """What is said of a visit to a page with so many images that say this. So many of them were asked for, and came
    over the network, where `more` does not say otherwise; the others came from the cache."""
    page = SITE.objects[0]
    images = (SiteObject("b.test", f"/{each}.png", 5000, "image/png", HASH, headers=headers) for each in range(number))
    site = replace(SITE, objects=(page, *images))
    if arm.revisit_s:
        site = prepare(site, Variant(age_s=arm.revisit_s, aged_for=arm.browser))
    data = record(arm)
    data["requests"] = data["requests"][:1]
    for place, each in enumerate(site.objects[1:]):
        asked = request(each.url, 1 + place, arm, body=each.size)
        sent = {"response_headers": [["Date", NOW], *map(list, each.headers)]}
        ask(data, {**asked, **sent, **(more if place < anew else {"from_cache": True})}, arm)
    return ignored(data, site, arm)


KEPT_ANYHOW = [
    (AT_ONCE, (("Cache-Control", "no-cache"), ETAG)),
    (AT_ONCE, (("Last-Modified", LAST_WEEK),)),
    (AT_ONCE, (("Cache-Control", LONG),)),
    (AT_ONCE, (("Cache-Control", LONG), ("Vary", "Accept-Encoding"))),
    (WARM, (("Cache-Control", SHORT), ETAG)),  # nothing is fresh that could tell
]


@pytest.mark.parametrize(("number", "anew"), [(3, 2), (3, 3), (100, 51)])
@pytest.mark.parametrize(("arm", "headers"), KEPT_ANYHOW)
def test_a_visit_that_asks_as_if_there_had_been_none_is_a_first_one(
    arm: Arm, headers: tuple[tuple[str, str], ...], number: int, anew: int
) -> None:
    """What browsers keep they ask about, if they ask at all."""
    (told,) = visited_again(number, anew, arm, headers)
    assert told.startswith(f"warm-ignored: of {number} objects that a first visit leaves {anew} were asked for as if")


@pytest.mark.parametrize(("number", "anew"), [(2, 2), (4, 2), (100, 50)])
def test_a_visit_that_asks_for_half_of_it_anew_counts(number: int, anew: int) -> None:
    assert visited_again(number, anew, AT_ONCE, (("Cache-Control", LONG), ETAG)) == []


@pytest.mark.parametrize("arm", [AT_ONCE, WARM])
@pytest.mark.parametrize(
    "more",
    [
        {"status": 304},
        {"request_headers": [["If-None-Match", '"1"']]},  # of a server that sends all of it again
        {"request_headers": [["if-modified-since", LAST_WEEK]]},
        {"request_headers": [["Range", "bytes=0-"]]},
        {"from_cache": True},
        {"connection": None},  # from a service worker
        {"before_load": False},
        {"response_headers": [["Date", NOW], ["Cache-Control", "no-store"], ["ETag", '"1"']]},
        {"response_headers": [["Date", NOW], ["Vary", "Cookie"], ["ETag", '"1"']]},
        {"response_headers": [["Date", NOW]]},  # nothing by which it could be asked about
    ],
)
def test_what_a_browser_may_ask_for_on_a_second_visit_is_no_first_one(more: Data, arm: Arm) -> None:
    assert visited_again(4, 4, arm, (("Cache-Control", "max-age=60"), ETAG), **more) == []


def test_a_first_visit_asks_for_all_of_it() -> None:
    first = Arm.parse("first", {})
    assert visited_again(4, 4, first, (("Cache-Control", LONG), ETAG)) == []


def test_the_page_itself_may_be_asked_for_again() -> None:
    site = told(YEAR, SHORT, SHORT)
    data = of_site(site)
    data["requests"][0]["from_cache"] = False
    assert judged(data, site) == []


def test_other_repeat_views_are_not_judged_by_it() -> None:
    data = visited(True, ("Cache-Control", SHORT))
    without_headers(data)
    assert said(data, Arm.parse("again", {"start": "warm"})) == []
