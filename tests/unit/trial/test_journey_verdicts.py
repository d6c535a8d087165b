"""The verdict on a journey: a sound one counts, and each falsification of it is refused in words that name the step."""

from collections.abc import Callable

import pytest

from lanelab.driver.record.reasons import Failure, Reason
from lanelab.driver.trial.page_load.journey import step_measures
from lanelab.driver.trial.page_load.judges.judge import Case
from lanelab.driver.trial.page_load.judges.registry import flags, judge
from tests.kit.journeys import (
    BY_SCRIPT,
    EXPECTED,
    HOME,
    JOURNEY,
    LOGO,
    NEWS,
    PHOTO,
    STYLE,
    Change,
    ask,
    asked,
    below_bound,
    drop,
    inside,
    read,
    restored,
    scripted,
    sound,
    step,
    step_of,
)
from tests.kit.records import Data


def judged(data: Data) -> list[Failure]:
    return judge(read(data), EXPECTED)


def doubts(data: Data) -> list[str]:
    trial = read(data)
    assert trial.page_load is not None
    return [f"{each.name}: {each.detail}" for each in flags(Case(trial, trial.page_load, EXPECTED))]


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
