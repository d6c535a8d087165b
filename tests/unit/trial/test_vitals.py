"""Vitals: what is made of what a page tells, with numbers worked out by hand, and each piece that can be missing."""

import copy
from collections.abc import Mapping
from typing import Any, cast

import pytest

from lanelab.driver.arm.browsers.failures import BrowserError
from lanelab.driver.arm.browsers.vitals import Vitals as Answers
from lanelab.driver.arm.browsers.vitals import VitalsAsked, ask
from lanelab.driver.base.errors import InputError, RecordError
from lanelab.driver.base.settings.source import read_yaml
from lanelab.driver.record.evidence.vitals import BusyTask, LayoutShift, VitalsEvidence
from lanelab.driver.record.metrics import metric_named
from lanelab.driver.record.reasons import Reason
from lanelab.driver.trial.recorders.recorder import Context
from lanelab.driver.trial.recorders.vitals import Vitals, VitalsOptions
from lanelab.driver.trial.recorders.vitals_measures import blocking, evidence, layout_shift, measures

SHIFT = {"at_ms": 900.0, "value": 0.1, "after_input": False, "moved": ["div#a"]}
PAINT = {"at_ms": 300.0, "size": 5000.0, "tag": "p", "element": "p.first", "url": None, "text": "Once"}
EVENT = {"name": "pointerdown", "first": True, "interaction": 7, "at_ms": 2000.0, "begun_ms": 2004.0,
         "done_ms": 2004.5, "duration_ms": 24}  # fmt: skip
TOLD: dict[str, Any] = {
    "read": {
        "loaded_ms": 1000.0,
        "fcp_ms": 200.0,
        "shifts": {"dropped": 0, "entries": [SHIFT, {**SHIFT, "at_ms": 1400.0}, {**SHIFT, "at_ms": 1600.0}]},
        "paints": {"dropped": 0, "entries": [PAINT, {**PAINT, "at_ms": 1200.0, "tag": "img", "url": "http://a/b.png"}]},
        "tasks": {"dropped": 0, "entries": [{"from_ms": 400.0, "to_ms": 520.0}]},
    },
    "clicked": {"x": 1, "y": 2, "element": "button#go", "matched": 2},
    "events": [EVENT, {**EVENT, "name": "click", "first": False, "at_ms": 2001.0, "begun_ms": 2005.0, "done_ms": 2105.0,
                       "duration_ms": 112}],
}  # fmt: skip


def told(**read: object) -> dict[str, Any]:
    return {**copy.deepcopy(TOLD), "read": {**TOLD["read"], **read}}


def of(data: Mapping[str, Any], click: str | None = "#go") -> VitalsEvidence:
    return evidence(cast(Answers, data), 500, click)


def test_what_came_by_the_end_counts() -> None:
    vitals = of(TOLD)
    assert measures(vitals) == {
        "cls": 0.2,
        "lcp_settled_ms": 1200.0,
        "long_task_count": 1,
        "long_task_ms": 120.0,
        "tbt_ms": 70.0,
        "inp_ms": 112.0,
    }
    assert all(metric_named(name) for name in measures(vitals))
    assert (vitals.until_ms, len(vitals.shifts), vitals.paints[-1].url) == (1500.0, 2, "http://a/b.png")
    assert VitalsEvidence.from_json(vitals.to_json()) == vitals


def test_a_click_has_parts_that_add_up() -> None:
    click = of(TOLD).interaction
    assert click
    assert (click.element, click.matched, click.at_ms, click.latency_ms) == ("button#go", 2, 2001.0, 112.0)
    assert (click.delay_ms, click.processing_ms, click.presentation_ms) == (4.0, 100.0, 8.0)
    quick = of({**TOLD, "events": [EVENT]}).interaction
    assert quick
    assert quick.latency_ms == quick.delay_ms + quick.processing_ms + quick.presentation_ms == 24


def shifts(*at_and_value: tuple[float, float], after_input: bool = False) -> list[LayoutShift]:
    return [LayoutShift(at, value, after_input, ()) for at, value in at_and_value]


def test_layout_shift_is_the_worst_session_window() -> None:
    assert layout_shift([]) == 0
    assert layout_shift(shifts((0, 0.1), (999, 0.1), (1998, 0.1))) == pytest.approx(0.3)
    assert layout_shift(shifts((0, 0.1), (1000, 0.15))) == pytest.approx(0.15), "a second's pause ends a window"
    steady = shifts(*((at * 900, 0.1) for at in range(8)))
    assert layout_shift(steady) == pytest.approx(0.6), "and so do five seconds: 0 to 4,500 ms are six"
    assert layout_shift([*shifts((0, 0.1)), *shifts((1, 9), after_input=True)]) == pytest.approx(0.1)


def test_blocking_time_is_beyond_fifty_milliseconds_of_each_task() -> None:
    tasks = [BusyTask(0, 80), BusyTask(100, 200), BusyTask(300, 350), BusyTask(900, 1100)]
    assert blocking(tasks, 50, 1000) == 50 + 50, "what lies before the first paint or after the end does not count"
    assert blocking([], 0, 1000) == 0


@pytest.mark.parametrize(
    ("piece", "gone", "why"),
    [
        ("shifts", {"cls"}, "layout-shift"),
        ("paints", {"lcp_settled_ms"}, "largest-contentful-paint"),
        ("tasks", {"long_task_count", "long_task_ms", "tbt_ms"}, "longtask"),
    ],
)
def test_what_a_browser_does_not_have_is_absent_and_no_zero(piece: str, gone: set[str], why: str) -> None:
    every = set(measures(of(TOLD)))
    without = of(told(**{piece: None}))
    assert set(measures(without)) == every - gone
    assert all(f"no entries of type {why}" in without.absent[name] for name in gone)
    full = of(told(**{piece: {**TOLD["read"][piece], "dropped": 3}}))
    assert set(measures(full)) == every - gone
    assert all("and not 3 more" in full.absent[name] for name in gone)


def test_a_page_that_paints_nothing_has_neither_paint_nor_blocking_time() -> None:
    blank = of(told(fcp_ms=None, paints={"dropped": 0, "entries": []}))
    assert blank.absent.keys() == {"lcp_settled_ms", "tbt_ms"}
    assert not {"lcp_settled_ms", "tbt_ms"} & measures(blank).keys()


def test_a_browser_that_does_not_tell_interactions_has_no_latency() -> None:
    untold = {"read": TOLD["read"], "clicked": {"untold": True}}
    assert "interaction" in of(untold).absent["inp_ms"]
    assert "inp_ms" not in measures(of(untold))
    assert of(TOLD, None).interaction is None
    assert of(TOLD, None).absent == {}


@pytest.mark.parametrize("piece", ["loaded_ms", "fcp_ms", "shifts", "paints", "tasks"])
def test_a_piece_that_is_missing_is_an_error(piece: str) -> None:
    data = told()
    del data["read"][piece]
    with pytest.raises(RecordError, match="vitals"):
        of(data)


@pytest.mark.parametrize("piece", ["read", "clicked", "events"])
def test_an_answer_that_is_missing_is_an_error(piece: str) -> None:
    with pytest.raises(RecordError, match="vitals"):
        of({name: value for name, value in TOLD.items() if name != piece})


class Answering:
    """A page that answers as it is told to."""

    def __init__(self, aimed: Mapping[str, Any], events: object = ()) -> None:
        self.aimed, self.events, self.clicks = aimed, events, list[tuple[float, float]]()

    def evaluate(self, expression: str) -> Any:
        if "aim(" in expression:
            return self.aimed
        if "answer(" in expression:
            if isinstance(self.events, BrowserError):
                raise self.events
            return self.events
        return {"loaded_ms": 1.0}

    def click(self, x: float, y: float) -> None:
        self.clicks.append((x, y))


@pytest.mark.parametrize(
    ("page", "words"),
    [
        (Answering({"problem": "matches no element of the page"}), "'#go' matches no element"),
        (Answering({"x": 1, "y": 2}, []), "no interaction after the click on '#go'"),
        (Answering({"x": 1, "y": 2}, BrowserError("the context is gone")), "'#go' left the page: the context"),
    ],
)
def test_a_click_that_cannot_be_measured_fails_the_trial_by_name(page: Answering, words: str) -> None:
    with pytest.raises(BrowserError, match=words) as failed:
        ask(page, VitalsAsked(0, "#go"))
    assert failed.value.reason is Reason.INTERACTION_FAILED


def test_a_browser_that_crashes_under_a_click_has_crashed() -> None:
    page = Answering({"x": 1, "y": 2}, BrowserError("gone", reason=Reason.BROWSER_CRASHED))
    with pytest.raises(BrowserError) as failed:
        ask(page, VitalsAsked(0, "#go"))
    assert failed.value.reason is Reason.BROWSER_CRASHED


def test_nothing_is_clicked_unless_it_is_asked_for() -> None:
    page = Answering({"x": 1, "y": 2, "untold": True})
    assert ask(page, VitalsAsked(0, None)).keys() == {"read"}
    assert ask(page, VitalsAsked(0, "#go")).keys() == {"read", "clicked"}
    assert page.clicks == []


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("true", VitalsOptions()),
        ("off", None),
        ("{}", VitalsOptions()),
        ("{after: 2s}", VitalsOptions(2000)),
        ("{after: 0, click: 'a.menu > b'}", VitalsOptions(0, "a.menu > b")),
    ],
)
def test_the_key_is_a_flag_or_a_mapping(text: str, options: VitalsOptions | None) -> None:
    assert Vitals.read(read_yaml(f"vitals: {text}", "f", "").entries()["vitals"]) == options
    assert Vitals.read(None) is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("maybe", "neither true nor false"),
        ("{after: 11s}", "too long. Write at most 10s"),
        ("{click: ''}", "it is no selector"),
        ("{klick: a}", "Did you mean click"),
    ],
)
def test_what_cannot_be_asked_is_refused(text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        Vitals.read(read_yaml(f"vitals: {text}", "f", "").entries()["vitals"])


def test_a_trial_without_a_page_or_a_load_has_no_vitals(tmp_path: Any) -> None:
    recorder = Vitals(VitalsOptions())
    with pytest.raises(BrowserError, match="no page"):
        recorder.start(Context({}, [], tmp_path, tmp_path))
    with pytest.raises(BrowserError, match="did not load"):
        recorder.stop()
