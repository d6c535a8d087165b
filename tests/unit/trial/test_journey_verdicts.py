"""The verdict on a journey: a sound one counts, and each falsification of it is refused in words that name the step."""

import copy
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lanelab.driver.arm.arm import Arm
from lanelab.driver.record.reasons import Failure, Reason
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.site.site import Site, SiteObject, SitePage
from lanelab.driver.trial.journey import Step
from lanelab.driver.trial.page_load.expectation import Expected
from lanelab.driver.trial.page_load.journey import step_measures
from lanelab.driver.trial.page_load.judges.judge import Case
from lanelab.driver.trial.page_load.judges.registry import flags, judge
from lanelab.driver.trial.recorders.tcpdump import CaptureOptions
from lanelab.driver.trial.recorders.vitals import VitalsOptions
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


def judged(data: Data) -> list[Failure]:
    return judge(read(data), EXPECTED)


def doubts(data: Data) -> list[str]:
    trial = read(data)
    assert trial.page_load is not None
    return [f"{each.name}: {each.detail}" for each in flags(Case(trial, trial.page_load, EXPECTED))]


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


def both(*changes: Change) -> Change:
    def changing(data: Data) -> None:
        for change in changes:
            change(data)

    return changing


def without_last_step(data: Data) -> None:
    del data["recordings"]["journey"]["steps"][2], data["requests"][6:]


def without_steps(data: Data) -> None:
    del data["recordings"]["journey"]


def one_step_more(data: Data) -> None:
    data["recordings"]["journey"]["steps"].append(step_of(2) | {"name": "back-2", "requests": 0})


def another_page(data: Data) -> None:
    """Where news was to be loaded home was."""
    data["requests"][3:6] = [asked(1, 0, HOME), asked(1, 1, STYLE, cached=True), asked(1, 2, LOGO, cached=True)]


def of_an_old_cache(data: Data) -> None:
    """The picture of news is shown, and no step has fetched it."""
    data["requests"][5] = asked(1, 2, PHOTO, cached=True)


def below_bound(data: Data) -> None:
    """News in less than a round trip."""
    inside(1, "times", plt_ms=30.0, plt_navigation_ms=29.0)(data)
    for number in (3, 4, 5):
        data["requests"][number] |= {"started_ms": STEP_MS, "ended_ms": STEP_MS + 20}


def never_to_be_kept(data: Data) -> None:
    """The style sheet may not be kept, and news has none of its own."""
    data["requests"][1]["response_headers"] = [["Cache-Control", "no-store"]]
    drop(4)(data)


def never_answered(data: Data) -> None:
    """No step has had the style sheet: home's was never answered."""
    data["requests"][1] |= {"status": None, "ended_ms": None}
    drop(4)(data)


@pytest.mark.parametrize("made", [sound, restored])
def test_a_sound_journey_counts_and_nothing_speaks_against_it(made: Callable[[], Data]) -> None:
    assert judged(made()) == []
    assert doubts(made()) == []


MISSING, FAILED, NOT_THERE = Reason.MISSING_OBJECT, Reason.FAILED_OBJECT, Reason.EVIDENCE_MISSING
NOT_MADE = Reason.NAVIGATION_FAILED


@pytest.mark.parametrize(
    ("falsify", "reason", "says"),
    [
        pytest.param(ask(5, body_bytes=5999), FAILED, f"step news: {PHOTO} (5999 bytes instead of 6000)", id="swapped"),
        pytest.param(ask(5, status=500), FAILED, f"step news: {PHOTO} (status 500)", id="server failed"),
        pytest.param(drop(5), MISSING, f"step news: {PHOTO} (never asked for)", id="object never asked for"),
        pytest.param(ask(5, ended_ms=3100.0), MISSING, f"step news: {PHOTO} (ended after", id="object late"),
        pytest.param(of_an_old_cache, Reason.FROM_CACHE, f"step news: {PHOTO}", id="older cache"),
        pytest.param(never_to_be_kept, MISSING, f"step news: {STYLE} (never asked for)", id="not to be kept"),
        pytest.param(never_answered, MISSING, f"step news: {STYLE} (never asked for)", id="never there"),
        pytest.param(without_last_step, NOT_THERE, "recordings.journey.steps of back", id="a step too few"),
        pytest.param(without_steps, NOT_THERE, "recordings.journey.steps of home", id="no steps"),
        pytest.param(one_step_more, NOT_THERE, "step back-2", id="a step too many"),
        pytest.param(another_page, MISSING, f"step news: {NEWS} (never asked for)", id="objects of another page"),
        pytest.param(step(1, page=f"http://{HOME}"), NOT_MADE, f"step news: it led to http://{HOME}", id="other page"),
        pytest.param(step(1, name="home-2"), NOT_MADE, "step news: it is the step home-2", id="another name"),
        pytest.param(step(2, back=False), NOT_MADE, "step back: the page was asked for", id="no way back"),
        pytest.param(step(1, thought_ms=900.0), NOT_MADE, "step news: it began 900 ms", id="too soon"),
        pytest.param(step(1, thought_ms=2100.0), NOT_MADE, "step news: it began 2100 ms", id="late"),
        pytest.param(below_bound, Reason.BELOW_BOUND, "step news: the page loaded in 30.0 ms", id="below its bound"),
        pytest.param(inside(1, "times", plt_ms=None), NOT_THERE, "step news: the record lacks times.plt_ms", id="plt"),
        pytest.param(inside(1, "times", ttfb_ms=None), NOT_THERE, "step news: the record lacks times.ttfb", id="ttfb"),
        pytest.param(inside(1, "times", dcl_ms=None), NOT_THERE, "step news: the record lacks times.dcl", id="dcl"),
        pytest.param(step(1, navigation=None), NOT_THERE, "step news: the record lacks navigation", id="navigation"),
        pytest.param(
            step(2, navigation=None), NOT_THERE, "step back: the record lacks navigation", id="navigation of a way back"
        ),
        pytest.param(
            inside(1, "clock", first_request=None),
            NOT_THERE, "step news: the record lacks clock.first_request", id="clock",
        ),
        pytest.param(
            step(2, requests=2), NOT_THERE, "step back: with it steps have 8 requests", id="a request of no step"
        ),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_step_fails_the_trial_with_its_name(falsify: Change, reason: Reason, says: str) -> None:
    data = sound()
    falsify(data)
    failures = judged(data)
    assert any(each.reason is reason and says in each.detail for each in failures), failures


def test_a_swapped_object_fails_its_step_alone() -> None:
    data = sound()
    ask(5, body_bytes=5999)(data)
    assert [each.detail for each in judged(data)] == [f"step news: {PHOTO} (5999 bytes instead of 6000)"]


def test_a_page_shown_as_it_was_left_has_not_been_loaded() -> None:
    """Else the evidence of a load could be taken away, and with it the verdict on it."""
    data = restored()
    data["requests"].append(asked(2, 0, HOME))
    step(2, requests=1)(data)
    assert [each.detail for each in judged(data)] == [
        "step back: the record lacks navigation, though it asked for its page"
    ]


def test_what_was_fetched_in_an_earlier_step_and_again_is_doubted_with_the_step() -> None:
    data = sound()
    data["requests"][4] = asked(1, 1, STYLE)
    assert judged(data) == []
    assert doubts(data) == [f"fetched-twice: step news: {STYLE} (2 times)"]


def test_what_a_step_fetched_twice_is_doubted_with_the_step() -> None:
    """Also where nothing says for how long it may be kept: the page has it in memory."""
    data = sound()
    data["requests"].insert(6, asked(1, 3, PHOTO))
    step(1, requests=4)(data)
    for each in (data["requests"][5], data["requests"][6]):
        each["response_headers"] = []
    assert doubts(data) == [f"fetched-twice: step news: {PHOTO} (2 times)"]


def test_an_answer_that_is_stale_is_fetched_again_and_not_doubted() -> None:
    data = sound()
    data["requests"][4] = asked(1, 1, STYLE)
    for each in (data["requests"][1], data["requests"][4]):
        each["response_headers"] = [["Cache-Control", "max-age=1"]]
    assert (judged(data), doubts(data)) == ([], [])


def test_steps_have_numbers_of_their_own() -> None:
    measures = step_measures(read(sound()), EXPECTED, JOURNEY)
    opened = [measures[f"connections_opened@{step.name}"] for step in JOURNEY]
    reused = [measures[f"connections_reused@{step.name}"] for step in JOURNEY]
    cached = [measures[f"from_cache@{step.name}"] for step in JOURNEY]
    assert (opened, reused, cached) == ([3, 0, 0], [0, 2, 0], [0, 1, 3])
    assert measures["plt_ms@news"] == pytest.approx(1000)
    assert 0 == measures["bound_ms@back"] < measures["bound_ms@news"] < measures["bound_ms@home"]


# --- of a script

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


def test_steps_of_a_script_count_whatever_they_load_and_however_long_they_wait() -> None:
    assert judge(read(scripted()), BY_SCRIPT) == []


@pytest.mark.parametrize(
    ("falsify", "says"),
    [
        (step(1, name="other"), "step second: it is the step other"),
        (drop(1), "step first: a.test/style.css (never asked for)"),
        (ask(6, from_cache=False, status=404, connection=7), "step third: a.test/photo.png (status 404)"),
        (inside(1, "times", plt_ms=None), "step second: the record lacks times.plt_ms"),
        (inside(1, "clock", navigation=None), "step second: the record lacks clock.navigation"),
        (below_bound, "step second: the page loaded in 30.0 ms"),
    ],
)
def test_what_is_wrong_with_a_step_of_a_script_is_refused(falsify: Change, says: str) -> None:
    data = scripted()
    falsify(data)
    assert any(says in failure.detail for failure in judge(read(data), BY_SCRIPT))


# --- with vitals

AFTER_MS = 500.0
WITH_VITALS = replace(EXPECTED, recorders={**EXPECTED.recorders, "vitals": VitalsOptions(AFTER_MS)})
SHIFT: Data = {"at_ms": 700.0, "value": 0.1, "after_input": False, "moved": ["div"]}
PAINT: Data = {"at_ms": 400.0, "size": 9.0, "tag": "p", "element": "p", "url": None, "text": "Words"}
NO_INPUT = ("inp_ms", "soft_navigation_ms", "soft_fcp_ms", "soft_lcp_ms")


def told(step: str, since_ms: float, until_ms: float) -> Data:
    """What a step told of its vitals."""
    absent = dict.fromkeys(NO_INPUT, "nobody clicks") | ({"lcp_settled_ms": "no load"} if since_ms else {})
    vitals: Data = {
        "until_ms": until_ms, "fcp_ms": None if since_ms else 310.0, "interaction": None, "absent": absent,
        "shifts": [SHIFT | {"at_ms": since_ms + 700.0}], "paints": [] if since_ms else [PAINT],
        "tasks": [{"from_ms": since_ms + 10.0, "to_ms": since_ms + 90.0}],
    }  # fmt: skip
    return {"step": step, "since_ms": since_ms, "vitals": vitals, "interactions": [], "soft_navigations": []}


def with_vitals(data: Data) -> Data:
    """Each page was watched for half a second after its load event, at 990 ms."""
    steps = data["recordings"]["journey"]["steps"]
    data["recordings"]["step_vitals"] = {
        "steps": [told(each["name"], 0.0, 1490.0) if each["navigation"] else told(each["name"], 4000.0, 4514.0)
                  for each in steps]
    }  # fmt: skip
    return data


def vital(number: int, **values: Any) -> Change:
    """Change what one step told."""
    return lambda data: data["recordings"]["step_vitals"]["steps"][number].update(values)


def vitals_of(number: int, **values: Any) -> Change:
    return lambda data: data["recordings"]["step_vitals"]["steps"][number]["vitals"].update(values)


def restored_in_time() -> Data:
    """The page that is shown as it was left has been watched, too: its shift is 500 ms after it was shown."""
    data = with_vitals(restored())
    vitals_of(2, shifts=[SHIFT | {"at_ms": 4500.0}])(data)
    return data


@pytest.mark.parametrize("made", [lambda: with_vitals(sound()), restored_in_time])
def test_a_sound_journey_with_vitals_counts(made: Callable[[], Data]) -> None:
    assert judge(read(made()), WITH_VITALS) == []


def forgotten(data: Data) -> None:
    del data["recordings"]["step_vitals"]


def one_less(data: Data) -> None:
    del data["recordings"]["step_vitals"]["steps"][1]


@pytest.mark.parametrize(
    ("falsify", "says"),
    [
        pytest.param(forgotten, "the record lacks recordings.step_vitals", id="none"),
        pytest.param(one_less, "step news: the record lacks its recordings.step_vitals", id="one too few"),
        pytest.param(vitals_of(1, absent={}), "step news: its vitals have neither inp_ms, soft_nav", id="silence"),
        pytest.param(vitals_of(1, paints=[]), "step news: its vitals have neither lcp_settled_ms", id="no paint"),
        pytest.param(vital(1, since_ms=300.0), "step news: it loaded a page, and its vitals begin 300 ms", id="late"),
        pytest.param(vital(2, since_ms=0.0), "step back: it loaded no page, and its vitals", id="of a load"),
        pytest.param(vitals_of(1, until_ms=1300.0), "step news: its page was watched for 190 ms less", id="short"),
        pytest.param(vitals_of(2, until_ms=4505.0), "step back: its page was watched for 7 ms less", id="short back"),
        pytest.param(
            vitals_of(0, shifts=[SHIFT | {"at_ms": 1600.0}]), "step home: its vitals have some", id="another step's"
        ),
        pytest.param(
            vitals_of(2, tasks=[{"from_ms": 3900.0, "to_ms": 3999.0}]), "step back: its vitals have some", id="earlier"
        ),
    ],
)
def test_vitals_that_are_not_of_their_step_are_refused(falsify: Change, says: str) -> None:
    data = restored_in_time()
    falsify(data)
    failures = judge(read(data), WITH_VITALS)
    assert any(each.reason is NOT_THERE and says in each.detail for each in failures), failures


def test_a_step_of_a_script_may_begin_on_a_page_that_is_there() -> None:
    data = with_vitals(scripted())
    last = told("third", 9000.0, 9800.0)
    last["vitals"]["shifts"] = []
    data["recordings"]["step_vitals"]["steps"][2] = last
    by_script = replace(WITH_VITALS, journey=SCRIPTED)
    assert judge(read(data), by_script) == []
    vitals_of(2, until_ms=9700.0)(data)
    assert [each.detail for each in judge(read(data), by_script)] == [
        "step third: its page was watched for 100 ms less than until 500 ms after its end"
    ]
