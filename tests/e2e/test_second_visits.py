"""Second visits after a time, in real browsers: what has expired is asked for again, and so are redirects that no
browser keeps."""

from pathlib import Path
from typing import Any

import pytest

from lanelab.driver.base.programs.find_program import find
from lanelab.driver.collect.new_site import Facts, add_site
from lanelab.driver.site.exchange import Exchange
from tests.kit.exchanges import exchange
from tests.kit.handles import LanelabCommand
from tests.kit.machine import needs_namespaces

from .pages import png
from .runs import Played, play, share_programs

pytestmark = needs_namespaces

# The dummy page's files say when they were changed and no more: Chromium keeps them for a tenth of the year until the
# first visit, Firefox for a week.
ARMS = """\
sites: [{site}]
links: {{rate: 20mbit, rtt: 20ms}}
defaults: {{start: warm}}
trials: 1
seed: 6
arms:
"""
YEARS = """\
  at once: {}
  apache years: {revisit_after: 3650d}
  apache h2 years: {revisit_after: 3650d, protocol: h2, tls: "1.3"}
  gateway years: {revisit_after: 3650d, protocol: spdy/3.1}
  keeps nothing: {browser_flags: [--disk-cache-size=1]}
"""
FIREFOX = bool(find("firefox-esr") or find("firefox"))
needs_firefox = pytest.mark.skipif(not FIREFOX, reason="firefox is not installed here")
OBJECTS = 24
# A page as it was recorded years ago: by a calendar of today nothing of it is fresh at all.
RECORDED, MONTH_LATER, BEFORE = (
    "Sun, 26 Jan 2014 20:06:24 GMT",
    "Tue, 25 Feb 2014 20:06:24 GMT",
    "Tue, 02 Apr 2013 20:06:24 GMT",  # 300 days, so that Chromium guesses 30
)
LIVES = {
    "hour.png": ("Cache-Control", "max-age=3600"),
    "dated.png": ("Expires", MONTH_LATER),
    "guessed.png": ("Last-Modified", BEFORE),
    "year.png": ("Cache-Control", "max-age=31536000"),
}
YEAR = LIVES["year.png"]
# Images behind redirects: the status, where it leads, and what it says of its life.
MOVED: dict[str, tuple[int, str, tuple[tuple[str, str], ...]]] = {
    "for-good.png": (308, "kept.png", ()),
    "for-now.png": (302, "found.png", ()),
    "for-an-hour.png": (301, "moved.png", (LIVES["hour.png"],)),
}
KEPT = {"for-good.png": 308, "": 301}  # for ever: the other one is of the site's own address, and leads to the page
AGAIN = {"for-now.png", "for-an-hour.png"}
LED_TO = {target for _, target, _ in MOVED.values()}
# What is asked for again, besides the page, which says that it always is. By the answers' dates at once is years later.
AFTER = {
    "at once": ("{}", {*LIVES, *AGAIN, *LED_TO}),
    "day": ("{revisit_after: 1d}", {"hour.png", *AGAIN}),
    "ten days": ("{revisit_after: 10d}", {"hour.png", *AGAIN}),
    "two months": ("{revisit_after: 60d}", {"hour.png", "dated.png", "guessed.png", *AGAIN}),
    "h2 two months": (
        '{revisit_after: 60d, protocol: h2, tls: "1.3"}',
        {"hour.png", "dated.png", "guessed.png", *AGAIN},
    ),
}
# Firefox keeps no redirect from one process to the next.
FIREFOXS = {"firefox ten days": ("{browser: firefox, revisit_after: 10d}", {"hour.png", "guessed.png", *MOVED})}


def page() -> list[Exchange]:
    images = "".join(f'<img src="/{name}" width="8" height="8">' for name in (*LIVES, *MOVED))
    text = f'<!doctype html><link rel="icon" href="data:,">{images}'
    date = ("Date", RECORDED)
    of_page = (date, ("Content-Type", "text/html"), ("Cache-Control", "no-cache"))
    of_images = {
        name: (date, ("Content-Type", "image/png"), ("ETag", f'"{name}"'), life)
        for name, life in (*LIVES.items(), *((target, YEAR) for target in sorted(LED_TO)))
    }
    return [
        led("http://page.test/", 301, "http://www.page.test/"),
        exchange("http://www.page.test/", headers=of_page, body=text.encode()),
        *(
            exchange(f"http://www.page.test/{name}", headers=headers, body=png(number, 8))
            for number, (name, headers) in enumerate(of_images.items(), 1)
        ),
        *(led(f"http://www.page.test/{name}", status, f"/{to}", *life) for name, (status, to, life) in MOVED.items()),
    ]


def led(url: str, status: int, to: str, *headers: tuple[str, str]) -> Exchange:
    """A redirect."""
    plain = (("Date", RECORDED), ("Content-Type", "text/plain"), ("Location", to))
    return exchange(url, status=status, reason="Moved", headers=(*plain, *headers), body=b"moved")


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Played:
    folder = tmp_path_factory.mktemp("recorded")
    add_site("recorded", page(), Facts("recorded", "a test", entry="http://page.test/"), folder / "sites")
    lanelab = LanelabCommand(folder / "build")
    share_programs(lanelab)
    arms = "".join(f"  {name}: {settings}\n" for name, (settings, _) in asked_after().items())
    return play(lanelab, folder, ARMS.format(site="recorded") + arms, env={"LANELAB_SITES": str(folder / "sites")})


def asked_after() -> dict[str, tuple[str, set[str]]]:
    return AFTER | (FIREFOXS if FIREFOX else {})


@pytest.mark.parametrize("arm", [*AFTER, *(pytest.param(each, marks=needs_firefox) for each in FIREFOXS)])
def test_time_goes_on_from_the_day_of_the_recording(recorded: Played, arm: str) -> None:
    _, expired = asked_after()[arm]
    names = {url.rpartition("/")[2] for url in asked(recorded, arm)}
    assert names - {""} == expired


@pytest.mark.parametrize("arm", [*AFTER, *(pytest.param(each, marks=needs_firefox) for each in FIREFOXS)])
def test_a_permanent_redirect_is_kept_and_leads_on(recorded: Played, arm: str) -> None:
    answers = requests(recorded, arm)
    kept = {each["url"].rpartition("/")[2]: each["status"] for each in answers if each["from_cache"] and moves(each)}
    assert kept == ({} if arm in FIREFOXS else KEPT)
    targets = {each["url"].rpartition("/")[2] for each in answers if not moves(each)}
    assert targets >= LED_TO
    assert "://www.page.test/" in next(each["url"] for each in answers if not moves(each)), "the page is what it led to"


TWICE = """\
<!doctype html><link rel="icon" href="data:,"><script>
const request = new XMLHttpRequest();
for (let time = 0; time < 2; time += 1) { request.open("GET", "/for-a-year", false); request.send(); }
</script>"""


def test_a_redirect_that_one_load_meets_twice_comes_from_the_cache_the_second_time(tmp_path: Path) -> None:
    plain = ("Content-Type", "text/plain")
    page = exchange("http://page.test/", headers=(("Content-Type", "text/html"),), body=TWICE.encode())
    there = exchange("http://page.test/there", headers=(plain, ("Cache-Control", "no-cache")), body=b"there" * 50)
    moved = exchange("http://page.test/for-a-year", status=301, headers=(plain, ("Location", "/there"), YEAR))
    add_site("twice", [page, moved, there], Facts("twice", "a test"), tmp_path / "sites")
    lanelab = LanelabCommand(tmp_path / "build")
    share_programs(lanelab)
    text = ARMS.format(site="twice").replace("start: warm", "start: fresh-process") + "  chromium: {}\n"
    text += "  firefox: {browser: firefox}\n" if FIREFOX else ""
    played = play(lanelab, tmp_path, text, env={"LANELAB_SITES": str(tmp_path / "sites")})
    for browser in ("chromium", *(["firefox"] if FIREFOX else [])):
        _, first, target, second, again = requests(played, browser)
        assert [(each["status"], each["from_cache"]) for each in (first, second)] == [(301, False), (301, True)]
        assert [each["status"] for each in (target, again)] == [200, 200]
        assert second["started_ms"] <= second["ended_ms"] <= again["started_ms"] + 5, "it ended when it led on"


def moves(request: dict[str, Any]) -> bool:
    status: int = request["status"]
    return 300 <= status < 400 and status != 304


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Played:
    folder = tmp_path_factory.mktemp("visits")
    lanelab = LanelabCommand(folder / "build")
    share_programs(lanelab)
    more = "  firefox month: {browser: firefox, revisit_after: 30d}\n" if FIREFOX else ""
    return play(lanelab, folder, ARMS.format(site="dummy") + YEARS + more)


def requests(played: Played, arm: str) -> list[dict[str, Any]]:
    return [each for each in played.requests(arm, of_all=False) if not each["url"].endswith("favicon.ico")]


def asked(played: Played, arm: str) -> set[str]:
    return {each["url"] for each in requests(played, arm) if not each["from_cache"]}


@pytest.mark.parametrize(
    "arm",
    [*("apache years", "apache h2 years", "gateway years"), pytest.param("firefox month", marks=needs_firefox)],
)
def test_what_has_expired_is_asked_for_again(played: Played, arm: str) -> None:
    assert len(asked(played, arm)) >= OBJECTS
    not_modified = [each for each in requests(played, arm) if each["status"] == 304]
    assert len(not_modified) >= OBJECTS - 1, "the files have not changed"


def test_what_is_fresh_is_not(played: Played) -> None:
    assert len(asked(played, "at once")) <= 1, "the page itself, if anything"


def test_of_a_browser_that_keeps_nothing_no_repeat_view_counts(played: Played) -> None:
    assert "ok" not in played.statuses("keeps nothing")
    assert played.reasons("keeps nothing") == {"warm-ignored"}
