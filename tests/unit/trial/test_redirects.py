"""Redirects in repeat views: what a browser keeps of them, and records that tell of what none does."""

import math
from collections.abc import Callable
from dataclasses import replace

import pytest

from lanelab.driver.arm.arm import Arm
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.site.prepare.prepare import prepare
from lanelab.driver.site.prepare.variant import Variant
from lanelab.driver.site.redirects import redirect_for_s
from lanelab.driver.site.site import Headers, Site, SiteObject
from lanelab.driver.trial.page_load.expectation import Expected
from lanelab.driver.trial.page_load.judges import objects, redirects, revisits
from lanelab.driver.trial.page_load.judges.judge import Case
from lanelab.driver.trial.page_load.second_visit import expired, fresh, never_kept
from lanelab.driver.trial.recorders.tcpdump import CaptureOptions
from lanelab.driver.trial.tolerances import Tolerances
from tests.kit.falsified import change, drop
from tests.kit.judging import LINK, STRICT
from tests.kit.records import HASH, SITE, Data, record

DAY_S = 86_400
COLD = Arm.parse("first", {})
AT_ONCE = Arm.parse("again", {"start": "warm"})
DAY_LATER = Arm.parse("again", {"start": "warm", "revisit_after": "1d"})
SHORT, LONG = ("Cache-Control", "max-age=3600"), ("Cache-Control", "max-age=604800")
NEVER = ("Cache-Control", "no-store")
DATE, CHANGED = ("Expires", "Tue, 25 Feb 2014 20:06:24 GMT"), ("Last-Modified", "Sun, 01 Jul 2012 12:00:00 GMT")
# The places of requests in a record, which has one for each object of the site.
ENTRY, PAGE, MOVED, LOGO = range(4)


def site(status: int, *headers: tuple[str, str]) -> Site:
    """The page's address in clear leads for good to another host; an image is behind a redirect of this status."""
    page = replace(SITE.objects[0], host="www.a.test", path="/", headers=(NEVER,))
    entry = SiteObject("a.test", "/", 0, "text/html", HASH, status=301, headers=(("Location", "http://www.a.test/"),))
    moved = replace(entry, path="/moved.png", status=status, headers=(("Location", "//b.test/logo.png"), *headers))
    logo = replace(SITE.objects[2], headers=(LONG,))
    return replace(SITE, entry_path="/", objects=(entry, page, moved, logo))


def as_served(of: Site, arm: Arm) -> Site:
    return prepare(of, Variant(age_s=arm.revisit_s, aged_for=arm.browser)) if arm.revisit_s else of


def visited(served: Site, arm: Arm, asked_for: tuple[int, ...]) -> Data:
    """A repeat view that asked for these of the objects, and had the others in the cache."""
    data = record(arm, served)
    for place, (each, one) in enumerate(zip(data["requests"], served.objects, strict=True)):
        kept = place not in asked_for
        each.update(status=one.status, response_headers=[list(pair) for pair in one.headers], body_bytes=one.size)
        each.update({"from_cache": True, "connection": None, "wire_bytes": 0} if kept else {})
    return data


def case_of(data: Data, served: Site, arm: Arm, tolerances: Tolerances = STRICT) -> Case:
    read = TrialRecord.from_json(data)
    assert read.page_load
    return Case(read, read.page_load, Expected(arm, served, LINK, tolerances, {"capture": CaptureOptions()}))


def failures(data: Data, served: Site, arm: Arm, tolerances: Tolerances = STRICT) -> list[str]:
    case = case_of(data, served, arm, tolerances)
    judges = (objects.JUDGE, revisits.JUDGE, redirects.JUDGE)
    return [f"{each.reason}: {each.detail}" for judge in judges for each in judge.failures(case)]


# --- what browsers keep


@pytest.mark.parametrize(
    ("status", "headers", "seconds"),
    [
        *((status, (), math.inf) for status in (301, 308)),
        *((status, (), 0) for status in (302, 303, 307)),
        *((status, (SHORT,), 3600) for status in (301, 302, 307, 308)),
        *((status, (NEVER,), 0) for status in (301, 302, 303, 307, 308)),
        (301, (("Vary", "*"),), 0),
        (303, (SHORT,), None),  # Firefox asks for it all the same
        *((status, (DATE,), None) for status in (301, 302)),
        *((status, (CHANGED,), None) for status in (301, 302)),  # Firefox guesses
        (301, (("Cache-Control", "must-revalidate"),), None),
    ],
)
def test_how_long_a_browser_may_keep_a_redirect(status: int, headers: Headers, seconds: float | None) -> None:
    assert redirect_for_s(status, headers) == seconds


def test_what_a_visit_a_day_later_has_of_redirects() -> None:
    for status, headers, is_fresh, has_expired in (
        (301, (), True, False),
        (308, (), True, False),
        (302, (), False, True),
        (307, (), False, True),
        (308, (SHORT,), False, True),
        (302, (LONG,), True, False),
        (301, (("Expires", "0"),), False, True),
    ):
        served = as_served(site(status, *headers), DAY_LATER)
        had, gone = fresh(served, DAY_LATER), expired(served, DAY_LATER)
        assert ("a.test/moved.png" in had, "a.test/moved.png" in gone) == (is_fresh, has_expired), (status, headers)
        assert ("a.test/" in had, "a.test/" in gone) == (False, False), "browsers may ask for what was navigated to"


def test_no_browser_keeps_a_redirect_for_now_or_one_that_forbids_it() -> None:
    kept = [never_kept(site(status)) for status in (301, 308)]
    assert kept == [frozenset(), frozenset()]
    assert all(never_kept(site(status)) == {"a.test/moved.png"} for status in (302, 303, 307))
    assert never_kept(site(301, NEVER)) == {"a.test/moved.png"}
    assert never_kept(site(302, SHORT)) == frozenset()


# --- repeat views as they are


@pytest.mark.parametrize("arm", [AT_ONCE, DAY_LATER], ids=["at once", "a day later"])
@pytest.mark.parametrize("status", [301, 308])
def test_a_repeat_view_takes_permanent_redirects_from_its_cache(arm: Arm, status: int) -> None:
    served = as_served(site(status), arm)
    assert failures(visited(served, arm, (PAGE,)), served, arm) == []
    assert failures(visited(served, arm, (ENTRY, PAGE, MOVED)), served, arm) == [], "it may ask for them as well"


def test_a_permanent_redirect_that_was_asked_for_again_is_flagged_where_the_browser_keeps_it() -> None:
    """Firefox has none of another process, so nobody can hold it against a visit."""
    firefox = Arm.parse("again", {"start": "warm", "revisit_after": "1d", "browser": "firefox"})
    for arm, kept in ((DAY_LATER, True), (firefox, False)):
        served = as_served(site(301), arm)
        assert ("a.test/moved.png" in fresh(served, arm)) == kept
        flags = list(revisits.JUDGE.flags(case_of(visited(served, arm, (PAGE, MOVED)), served, arm)))
        assert [each.detail for each in flags] == (
            ["a.test/moved.png, still fresh 1d after the first visit"] if kept else []
        )


@pytest.mark.parametrize("arm", [AT_ONCE, DAY_LATER], ids=["at once", "a day later"])
@pytest.mark.parametrize("status", [302, 303, 307])
def test_a_repeat_view_asks_for_other_redirects_again(arm: Arm, status: int) -> None:
    served = as_served(site(status), arm)
    assert failures(visited(served, arm, (PAGE, MOVED)), served, arm) == []


def test_a_redirect_may_come_from_the_cache_for_as_long_as_it_says() -> None:
    assert failures(visited(site(302, SHORT), AT_ONCE, (PAGE,)), site(302, SHORT), AT_ONCE) == []
    served = as_served(site(302, LONG), DAY_LATER)
    assert failures(visited(served, DAY_LATER, (PAGE,)), served, DAY_LATER) == []


# --- and as none is

UNKEPT = "from-cache: a.test/moved.png came from the cache, and no browser keeps such a redirect"
EXPIRED = "from-cache: a.test/moved.png came from the cache, and has expired 1d after the first visit"


@pytest.mark.parametrize("status", [302, 303, 307])
def test_a_redirect_for_now_from_the_cache_fails(status: int) -> None:
    assert failures(visited(site(status), AT_ONCE, (PAGE,)), site(status), AT_ONCE) == [UNKEPT]
    served = as_served(site(status), DAY_LATER)
    assert failures(visited(served, DAY_LATER, (PAGE,)), served, DAY_LATER) == [EXPIRED, UNKEPT]


def test_whatever_its_record_says_of_how_long_it_is_fresh() -> None:
    data = visited(site(302), AT_ONCE, (PAGE,))
    change(MOVED, response_headers=[["Location", "//b.test/logo.png"], list(LONG)])(data)
    assert failures(data, site(302), AT_ONCE) == [UNKEPT]


def test_a_permanent_redirect_that_has_expired_fails_from_the_cache_and_where_it_was_not_asked_for() -> None:
    served = as_served(site(308, SHORT), DAY_LATER)
    assert failures(visited(served, DAY_LATER, (PAGE, MOVED)), served, DAY_LATER) == []
    assert failures(visited(served, DAY_LATER, (PAGE,)), served, DAY_LATER) == [EXPIRED]
    data = visited(served, DAY_LATER, (PAGE, MOVED))
    drop(MOVED)(data)
    (missing,) = failures(data, served, DAY_LATER)
    assert missing.startswith("missing-object: a.test/moved.png (never asked for, and has expired 1d after")


def test_a_redirect_without_its_age_fails_where_time_lies_between() -> None:
    served = as_served(site(301), DAY_LATER)
    data = visited(served, DAY_LATER, (PAGE,))
    change(MOVED, response_headers=[["Location", "//b.test/logo.png"]])(data)
    (ageless,) = failures(data, served, DAY_LATER)
    assert ageless.startswith("from-cache: a.test/moved.png came without the age")


@pytest.mark.parametrize("cached", [True, False])
@pytest.mark.parametrize("status", [200, 302, 404])
def test_another_status_than_the_redirects_own_fails(status: int, *, cached: bool) -> None:
    """As where it is said of a redirect what was said of the answer behind it."""
    data = visited(site(301), AT_ONCE, (PAGE,))
    change(MOVED, status=status, from_cache=cached)(data)
    assert failures(data, site(301), AT_ONCE) == [f"failed-object: a.test/moved.png (status {status} instead of 301)"]


@pytest.mark.parametrize(("led", "by"), [(PAGE, "a.test/"), (LOGO, "a.test/moved.png")])
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_that_led_to_nothing_fails(status: int, led: int, by: str) -> None:
    asked_for = (PAGE, MOVED) if status not in (301, 308) else (PAGE,)
    data = visited(site(status), AT_ONCE, asked_for)
    lost = site(status).objects[led].url
    drop(led)(data)
    assert failures(data, site(status), AT_ONCE) == [f"missing-object: {lost} (never asked for, though {by} led to it)"]
    assert failures(data, site(status), AT_ONCE, Tolerances(missing=1)) == []


def leads_elsewhere(data: Data) -> None:
    """It was led to another image than the site's."""
    change(MOVED, response_headers=[["Location", "//b.test/other.png"]])(data)
    change(LOGO, url="http://b.test/other.png")(data)


def fails(data: Data) -> None:
    """Then nothing had to follow, and it has a reason of its own."""
    change(MOVED, error="net::ERR_FAILED")(data)
    drop(LOGO)(data)


@pytest.mark.parametrize(
    ("falsify", "reason"),
    [(leads_elsewhere, "missing-object: b.test/logo.png"), (fails, "failed-object: a.test/moved")],
)
def test_a_redirect_that_led_elsewhere_or_failed_has_its_reason(falsify: Callable[[Data], None], reason: str) -> None:
    data = visited(site(301), AT_ONCE, (PAGE,))
    falsify(data)
    (failure,) = failures(data, site(301), AT_ONCE)
    assert failure.startswith(reason)


def test_a_script_may_not_want_to_be_led_on() -> None:
    data = visited(site(302), AT_ONCE, (PAGE, MOVED))
    change(MOVED, type="Fetch")(data)
    drop(LOGO)(data)
    assert failures(data, site(302), AT_ONCE) == []


def test_what_is_blocked_is_led_to_by_nothing() -> None:
    arm = Arm.parse("again", {"start": "warm", "block": "b.test"})
    data = visited(site(301), arm, (PAGE,))
    drop(LOGO)(data)
    assert failures(data, site(301), arm) == []


def test_a_first_visit_is_not_judged_by_it() -> None:
    everything = (ENTRY, PAGE, MOVED, LOGO)
    assert failures(visited(site(302), COLD, everything), site(302), COLD) == []
    (cached,) = failures(visited(site(302), COLD, (ENTRY, PAGE, LOGO)), site(302), COLD)
    assert cached == "from-cache: a.test/moved.png"


def test_an_address_with_a_location_that_is_none_leads_nowhere() -> None:
    odd = site(301)
    objects_of_site = [replace(each, headers=(("Location", "http://[a/"),)) for each in odd.objects[2:3]]
    odd = replace(odd, objects=(*odd.objects[:2], *objects_of_site, odd.objects[3]))
    assert failures(visited(odd, AT_ONCE, (PAGE,)), odd, AT_ONCE) == []
