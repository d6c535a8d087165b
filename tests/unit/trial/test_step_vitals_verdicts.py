"""The verdict on the vitals of a journey's steps: sound ones count, and each falsification of them is refused."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from lanelab.driver.record.reasons import Reason
from lanelab.driver.trial.page_load.judges.registry import judge
from lanelab.driver.trial.recorders.vitals import VitalsOptions
from tests.kit.journeys import EXPECTED, SCRIPTED, Change, read, restored, scripted, sound
from tests.kit.records import Data

NOT_THERE = Reason.EVIDENCE_MISSING
AFTER_MS = 500.0
WITH_VITALS = replace(EXPECTED, recorders={**EXPECTED.recorders, "vitals": VitalsOptions(AFTER_MS)})
SHIFT: Data = {"at_ms": 700.0, "value": 0.1, "after_input": False, "moved": ["div"]}
PAINT: Data = {"at_ms": 400.0, "size": 9.0, "tag": "p", "element": "p", "url": None, "text": "Words"}
SOFT: Data = {"at_ms": 4200.0, "url": "http://a.test/room", "kind": "push", "fcp_ms": 20.0, "paints": []}
NO_INPUT = ("inp_ms", "soft_navigation_ms", "soft_fcp_ms", "soft_lcp_ms")


def told(step: str, since_ms: float, until_ms: float) -> Data:
    """What a step told of its vitals."""
    absent = dict.fromkeys(NO_INPUT, "nobody clicks") | ({"lcp_settled_ms": "no load"} if since_ms else {})
    vitals: Data = {
        "until_ms": until_ms, "fcp_ms": None if since_ms else 310.0, "interaction": None, "absent": absent,
        "shifts": [SHIFT | {"at_ms": since_ms + 700.0}], "paints": [] if since_ms else [PAINT],
        "tasks": [{"from_ms": since_ms + 10.0, "to_ms": since_ms + 90.0}],
    }  # fmt: skip
    of_input: Data = {"interactions": [], "soft_navigations": [], "inputs": None}
    return {"step": step, "since_ms": since_ms, "vitals": vitals, "loaded_ms": until_ms - AFTER_MS, **of_input}


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


def both(*changes: Change) -> Change:
    def changing(data: Data) -> None:
        for change in changes:
            change(data)

    return changing


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
        pytest.param(vitals_of(2, until_ms=4505.0), "step back: its page was watched for 9 ms less", id="short back"),
        pytest.param(vital(1, loaded_ms=None), "step news: its vitals lack loaded_ms", id="no end"),
        pytest.param(vital(1, loaded_ms=1290.0), "step news: its page was watched for 300 ms less", id="later end"),
        pytest.param(
            vital(2, soft_navigations=[SOFT | {"paints": [PAINT | {"at_ms": 4100.0}]}]),
            "step back: its vitals have content of a soft navigation", id="painted before its input",
        ),
        pytest.param(
            vital(2, soft_navigations=[SOFT | {"fcp_ms": -20.0}]),
            "step back: its vitals have content of a soft navigation", id="first paint before its input",
        ),
        pytest.param(
            vital(2, soft_navigations=[SOFT | {"paints": [PAINT | {"at_ms": 4600.0}]}]),
            "step back: its vitals have something", id="painted after the end",
        ),
        pytest.param(
            vitals_of(0, shifts=[SHIFT | {"at_ms": 1600.0}]), "step home: its vitals have some", id="another step's"
        ),
        pytest.param(
            vitals_of(2, tasks=[{"from_ms": 3900.0, "to_ms": 3999.0}]), "step back: its vitals have some", id="earlier"
        ),
    ],
)  # fmt: skip
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


@pytest.mark.parametrize(
    ("falsify", "short_ms"),
    [
        pytest.param(vitals_of(1, until_ms=1300.0), 190, id="by what the page says of its end"),
        pytest.param(both(vitals_of(1, until_ms=1190.0), vital(1, loaded_ms=690.0)), 256, id="by the journey's times"),
    ],
)
def test_a_page_that_a_script_loads_has_been_watched_to_the_end(falsify: Change, short_ms: int) -> None:
    data = with_vitals(scripted())
    data["recordings"]["step_vitals"]["steps"][2] = told("third", 9000.0, 9800.0)
    by_script = replace(WITH_VITALS, journey=SCRIPTED)
    assert judge(read(data), by_script) == []
    falsify(data)
    assert [each.detail for each in judge(read(data), by_script)] == [
        f"step second: its page was watched for {short_ms} ms less than until 500 ms after its end"
    ]
