"""Records of journeys as text: sound ones of pages and of a script, and changes that falsify them."""

import copy
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from lanelab.driver.arm.arm import Arm
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.site.site import Site, SiteObject, SitePage
from lanelab.driver.trial.journey import Step
from lanelab.driver.trial.page_load.expectation import Expected
from lanelab.driver.trial.recorders.tcpdump import CaptureOptions
from lanelab.driver.trial.tolerances import Tolerances
from tests.kit.records import HASH, LINK, Data, agree, record, request

HTTP = Arm.parse("http", {})
HOME, NEWS, STYLE, LOGO, PHOTO = (
    *("a.test/index.html", "a.test/news.html", "a.test/style.css"),
    *("a.test/logo.png", "a.test/photo.png"),
)
MIMES = {"html": "text/html", "css": "text/css", "png": "image/png"}
SIZES = {HOME: 1000, NEWS: 2000, STYLE: 200, LOGO: 5000, PHOTO: 6000}
PAGES = (SitePage("home", HOME, (HOME, STYLE, LOGO)), SitePage("news", NEWS, (NEWS, STYLE, PHOTO)))
OBJECTS = tuple(
    SiteObject("a.test", url.removeprefix("a.test"), size, MIMES[url.rpartition(".")[2]], HASH)
    for url, size in SIZES.items()
)
SITE = Site("two-pages", "Two pages", "a.test", "/index.html", OBJECTS, Path("/nowhere"), pages=PAGES)
JOURNEY = (Step("home", "home", False, 1000), Step("news", "news", False, 1000), Step("back", "home", True, 1000))
EXPECTED = Expected(HTTP, SITE, LINK, Tolerances(), {"capture": CaptureOptions()}, JOURNEY)
JOURNEY_PAGES = (HOME, NEWS, HOME)
STEP_MS = 2000.0  # from one step to the next
KEPT = [["Cache-Control", "max-age=3600"], ["Date", "Fri, 20 Nov 2026 09:30:01 GMT"]]
Change = Callable[[Data], None]


def asked(step: int, place: int, url: str, *, cached: bool = False) -> Data:
    """A request of a step, on a connection of its place in its page."""
    kind = {"html": "Document", "css": "Stylesheet"}.get(url.rpartition(".")[2], "Image")
    each = request(url, place, HTTP, body=SIZES[url], kind=kind)
    moved = {"started_ms": step * STEP_MS + 50 * place, "ended_ms": step * STEP_MS + 50 * place + 150}
    of_cache = {"from_cache": True, "connection": None, "wire_bytes": 0} if cached else {}
    asker = {} if kind == "Document" else {"request_headers": [["Referer", f"http://{JOURNEY_PAGES[step]}"]]}
    return each | moved | of_cache | asker | {"response_headers": [*each["response_headers"], *KEPT]}


def step_of(number: int, plt_ms: float = 1000.0) -> Data:
    """What the browser tells of a step that loaded its page."""
    step, began_us = JOURNEY[number], 1_790_000_000_000_000 + round(number * STEP_MS * 1000)
    times = {"plt_ms": plt_ms, "plt_navigation_ms": plt_ms - 10, "ttfb_ms": 90.0, "dcl_ms": 300.0}
    return {
        "name": step.name,
        "page": f"http://{JOURNEY_PAGES[number]}",
        "back": step.back,
        "thought_ms": 1001.5 if number else 0.0,
        "times": {**times, "first_paint_ms": 310.0, "fcp_ms": 310.0, "lcp_ms": 400.0},
        "clock": {"asked": began_us, "navigation": began_us + 4000, "first_request": began_us + 5000},
        "navigation": {"loadEventEnd": plt_ms - 10},
        "requests": 3,
    }


def sound() -> Data:
    """Home, news, and back to home, which is loaded from the cache."""
    data = record(HTTP, SITE)
    data["requests"] = [
        *(asked(0, 0, HOME), asked(0, 1, STYLE), asked(0, 2, LOGO)),
        *(asked(1, 0, NEWS), asked(1, 1, STYLE, cached=True), asked(1, 2, PHOTO)),
        *(asked(2, 0, HOME, cached=True), asked(2, 1, STYLE, cached=True), asked(2, 2, LOGO, cached=True)),
    ]
    data["evidence"]["browser"]["times"]["plt_ms"] = 3000.0
    data["recordings"]["journey"] = {"steps": [step_of(number) for number in range(3)]}
    return data


def restored() -> Data:
    """The same, where the browser shows home as it was left."""
    data = sound()
    del data["requests"][6:]
    unknown = dict.fromkeys(data["recordings"]["journey"]["steps"][2]["times"]) | {"plt_ms": 12.0}
    last = {"navigation": None, "times": unknown, "requests": 0}
    data["recordings"]["journey"]["steps"][2] |= last
    data["recordings"]["journey"]["steps"][2]["clock"] |= {"navigation": None, "first_request": None}
    data["evidence"]["browser"]["times"]["plt_ms"] = 2012.0
    return data


def read(data: Data) -> TrialRecord:
    data = copy.deepcopy(data)
    agree(data, HTTP)
    return TrialRecord.from_json(data)


def ask(number: int, **values: Any) -> Change:
    """Change one request."""
    return lambda data: data["requests"][number].update(values)


def step(number: int, **values: Any) -> Change:
    """Change what the browser tells of one step."""
    return lambda data: data["recordings"]["journey"]["steps"][number].update(values)


def inside(number: int, piece: str, **values: Any) -> Change:
    return lambda data: data["recordings"]["journey"]["steps"][number][piece].update(values)


def drop(number: int) -> Change:
    """Take one request away from its step."""

    def dropping(data: Data) -> None:
        del data["requests"][number]
        data["recordings"]["journey"]["steps"][number // 3]["requests"] -= 1

    return dropping


def below_bound(data: Data) -> None:
    """News in less than a round trip."""
    inside(1, "times", plt_ms=30.0, plt_navigation_ms=29.0)(data)
    for number in (3, 4, 5):
        data["requests"][number] |= {"started_ms": STEP_MS, "ended_ms": STEP_MS + 20}


SCRIPTED = (Step("first", "", False, 0), Step("second", "", False, 0), Step("third", "", False, 0))
BY_SCRIPT = replace(EXPECTED, journey=SCRIPTED)


def scripted() -> Data:
    """The same record by a script's names; its last step loads no page, and fetches what nobody needs."""
    data = sound()
    for each, step in zip(data["recordings"]["journey"]["steps"], SCRIPTED, strict=True):
        each |= {"name": step.name, "back": False, "thought_ms": 7000.0}
    last = data["recordings"]["journey"]["steps"][2]
    last["times"] = dict.fromkeys(last["times"]) | {"plt_ms": 300.0}
    last |= {"navigation": None, "requests": 1}
    last["clock"]["navigation"] = None
    data["requests"][6:] = [asked(2, 1, PHOTO, cached=True)]
    data["evidence"]["browser"]["times"]["plt_ms"] = 2300.0
    return data
