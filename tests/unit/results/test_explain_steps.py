"""What `lanelab explain --step` says of two arms in one step of a journey."""

import dataclasses
import json
import re
from collections.abc import Mapping
from typing import Any

import pytest
from rich.console import Console

from lanelab.analysis.results.comparisons import NOT_INTERLEAVED
from lanelab.analysis.results.explain import Explained, explain, explain_steps
from lanelab.analysis.results.explain.step_course import Course, course_of, covered_ms
from lanelab.analysis.results.layout.data import data_of
from lanelab.analysis.results.layout.terminal import on_terminal
from lanelab.analysis.results.load_parts import Bar, Row
from lanelab.analysis.results.model import Run
from lanelab.analysis.results.sections.explained import explained_sections
from lanelab.driver.base.errors import InputError
from lanelab.driver.record.evidence.browser import Request
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.run.folder import format as run_format
from tests.kit.journeys import JOURNEY, read, sound
from tests.kit.made_parts import nothing, run_with_parts

STEPS = tuple(step.name for step in JOURNEY)
# Each arm's measures of the step news; the load time grows with the round.
SAME = {"bound_ms": 400, "requests": 3, "from_cache": 1}
MADE: Mapping[int, Mapping[str, float]] = {
    1: {**SAME, "plt_ms": 1000, "connections_opened": 0, "connections_reused": 2},
    2: {**SAME, "plt_ms": 700, "connections_opened": 1, "connections_reused": 0},
}


def run(rounds: int = 6, **changes: Any) -> Run:
    whole = run_with_parts(rounds=rounds)
    trials = []
    for trial in whole.trials:
        made = {f"{name}@news": value for name, value in MADE[trial.cell.arm.number].items()}
        made["plt_ms@news"] += trial.round
        trials.append(dataclasses.replace(trial, measures={**trial.measures, **made}))
    meta = {run_format.JOURNEY: json.dumps(STEPS)}
    return dataclasses.replace(whole, **{"trials": tuple(trials), "meta": meta, **changes})


def record_of(number: int) -> TrialRecord:
    """Both arms have one waterfall; in the second all of news is over sooner, and the page is smaller."""
    data = sound()
    if number % 2 == 0:
        data["recordings"]["journey"]["steps"][1]["times"]["plt_ms"] = 700.0
        data["requests"][3]["wire_bytes"] = 100
    return read(data)


def explained(of: Run, *what: str, step: str = "news") -> Explained:
    return explain_steps(of, what, step, record_of)


def test_the_trials_that_are_told_are_those_whose_record_has_the_step() -> None:
    """A record that lacks a step adds to no median, and so not to their number."""

    def lacking(number: int) -> TrialRecord:
        data = sound()
        if number in (1, 3):  # of the first arm
            data["recordings"]["journey"]["steps"][1]["times"]["plt_ms"] = None
        return read(data)

    whole = explain_steps(run(), ("HTTP", "HTTP/2"), "news", record_of)
    assert data_of(whole)["steps"][0]["trials"] == [6, 6]
    (step,) = data_of(explain_steps(run(), ("HTTP", "HTTP/2"), "news", lacking))["steps"]
    assert step["trials"] == [4, 6]
    assert step["facts"]["plt_ms"][0] == 1004.5, "the median of rounds 3 to 6"
    assert "trials of which these are medians 6 6" in text(whole)


def text(of: Explained) -> str:
    console = Console(width=10_000)
    with console.capture() as capture:
        console.print(on_terminal(explained_sections(of)))
    return " ".join(capture.get().split())


def test_two_arms_differ_in_a_step_by_what_its_records_say() -> None:
    found = explained(run(), "HTTP", "HTTP/2")
    (step,) = found.steps
    assert step.total.value == pytest.approx(-300)
    told = text(found)
    assert "dummy, 100ms, step news: HTTP/2 was faster than HTTP" in told
    assert "Within a round HTTP/2 took 300 ms less than HTTP (95% interval -300 to -300 ms, 6 rounds)" in told
    assert "Medians: HTTP/2 704 ms, HTTP 1.00 s." in told
    assert "By what went on: nothing in flight -300 ms." in told
    assert "HTTP/2 opens 1 connection and goes on with 0; HTTP opens 0 connections and goes on with 2" in told
    assert "The link allows 400 ms at best: HTTP takes 2.5 times and HTTP/2 takes 1.8 times as long." in told
    assert "kB less" in told
    for row in ("waiting for answers (ms)", "round trips waited for", "bytes received (kB)", "Requests 3 3"):
        assert row in told


def test_what_is_known_of_a_step_is_in_its_json() -> None:
    (step,) = data_of(explained(run(), "HTTP", "HTTP/2"))["steps"]
    assert (step["base"], step["arm"], step["step"], step["rounds"]) == ("HTTP", "HTTP/2", "news", 6)
    assert step["facts"]["connections_opened"] == [0, 1]
    assert sum(base for base, _ in step["courses_ms"].values()) == pytest.approx(1000)
    assert sum(other for _, other in step["courses_ms"].values()) == pytest.approx(700)
    assert step["bytes"][0] > step["bytes"][1] > 0
    json.dumps(step)


@pytest.mark.parametrize(
    ("rounds", "words"),
    [
        (2, "too few rounds to compare HTTP/2 with HTTP (2)"),
        (3, "HTTP/2 was faster than HTTP in all 3 rounds, which are too few to be sure"),
    ],
)
def test_few_rounds_say_little(rounds: int, words: str) -> None:
    assert words in text(explained(run(rounds), "HTTP", "HTTP/2"))


def test_a_step_that_takes_as_long_in_both_is_not_called_faster() -> None:
    same = run()
    trials = tuple(
        dataclasses.replace(trial, measures={**trial.measures, "plt_ms@news": 1000.0 + (trial.number % 3)})
        for trial in same.trials
    )
    told = text(explained(dataclasses.replace(same, trials=trials), "HTTP", "HTTP/2"))
    assert "no difference shown between HTTP/2 and HTTP" in told


@pytest.mark.parametrize(
    ("of", "what", "step", "told"),
    [
        (run(), ("HTTP", "HTTP/2"), "nws", r"no step 'nws'.*Did you mean news\? It has home, news, back"),
        (run(), ("HTTP",), "news", r"explained of two arms"),
        (run(), (), "news", r"explained of two arms"),
        (run(), ("HTTP", "HTTP/3"), "news", r"no arm 'HTTP/3'"),
        (run(), ("HTTP", "HTTP"), "news", r"does not differ from itself"),
        (run_with_parts(), ("HTTP", "HTTP/2"), "news", r"load one page, and have no steps"),
        (run(trials=()), ("HTTP", "HTTP/2"), "news", r"no journey of this run counts"),
    ],
)
def test_what_cannot_be_explained_is_refused(of: Run, what: tuple[str, ...], step: str, told: str) -> None:
    with pytest.raises(InputError) as refused:
        explained(of, *what, step=step)
    assert re.search(told, str(refused.value)), refused.value


def test_arms_that_took_no_turns_are_not_compared() -> None:
    whole = run()
    in_turn = dataclasses.replace(whole, plan=dataclasses.replace(whole.plan, order="sequential"))
    found = explained(in_turn, "HTTP", "HTTP/2")
    assert (found.steps, found.not_told) == ((), (NOT_INTERLEAVED,))


def test_a_step_that_no_round_has_twice_is_told() -> None:
    found = explained(run(), "HTTP", "HTTP/2", step="home")
    assert found.steps == ()
    assert "no round has both" in found.not_told[0]


def test_a_journey_has_no_parts_and_says_what_to_ask() -> None:
    bare = dataclasses.replace(run(), trials=run_with_parts(has_parts=False).trials)
    with pytest.raises(InputError, match=r"make a journey.*--step home"):
        explain(bare, (), nothing)


def row(*bars: tuple[str, float, float], cached: bool = False) -> Row:
    request: Request = dataclasses.replace(read(sound()).requests[0], from_cache=cached)
    return Row(request, tuple(Bar(*each) for each in bars), None, None, ())


def test_what_went_on_is_what_counts_first_and_adds_up() -> None:
    rows = [
        row(("connect", 0, 100), ("wait", 100, 200), ("receive", 200, 300)),
        row(("wait", 150, 250), ("receive", 400, 700)),  # the end of the step is at 600
        row(("wait", 310, 350), cached=True),
    ]
    assert course_of(rows, 600) == {
        Course.OPENING: 100, Course.WAITING: 100, Course.ARRIVING: 300, Course.NOTHING: 100,
    }  # fmt: skip
    assert course_of([], 40) == dict.fromkeys(list(Course)[:3], 0) | {Course.NOTHING: 40}


def test_time_that_is_covered_twice_counts_once() -> None:
    assert covered_ms([(10, 20), (0, 15), (40, 90), (-5, 3)], 50) == 30
