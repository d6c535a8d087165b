"""Vitals of a journey's steps: what belongs to which, with numbers worked out by hand, and what is absent and why."""

import copy
from typing import Any, cast

import pytest

from lanelab.driver.arm.browsers.vitals import Begun, StepTold, begin_step, end_step, interactions
from lanelab.driver.base.errors import RecordError
from lanelab.driver.record.evidence.step_vitals import StepVitals, StepVitalsEvidence
from lanelab.driver.record.metrics import OF_SOFT_NAVIGATIONS, OF_VITALS, metric_named, of_step
from lanelab.driver.trial.recorders.recorder import Context
from lanelab.driver.trial.recorders.step_vitals_measures import step_measures, step_vitals, untold
from lanelab.driver.trial.recorders.vitals import Vitals, VitalsOptions

AFTER_MS = 500
SHIFT = {"value": 0.1, "after_input": False, "moved": ["div#a"]}
THING = {"size": 9000.0, "tag": "p", "element": "p.b", "url": None, "text": "Words"}
CLICK = {"name": "pointerdown", "interaction": 7, "element": "a#next", "at_ms": 5010.0, "begun_ms": 5014.0,
         "done_ms": 5020.0, "duration_ms": 40}  # fmt: skip
# A click on a page that has been there for five seconds: 1 s later the step ends.
IN_PAGE: dict[str, Any] = {
    "step": "second",
    "read": {
        "loaded_ms": 6000.0,
        "since_ms": 5000.0,
        "same": True,
        "fcp_ms": 200.0,
        "shifts": {"dropped": 0, "entries": [{**SHIFT, "at_ms": at} for at in (300.0, 5100.0, 6400.0, 6600.0)]},
        "paints": {"dropped": 0, "entries": [{**THING, "at_ms": 250.0}]},
        "tasks": {"dropped": 0, "entries": [
            {"from_ms": 100.0, "to_ms": 400.0}, {"from_ms": 5200.0, "to_ms": 5330.0}]},
        "soft": {
            "navigations": {"dropped": 0, "entries": [
                {"at_ms": 900.0, "interaction": 3, "url": "http://a.test/old", "kind": "push", "fcp_ms": 60.0},
                {"at_ms": 5010.0, "interaction": 7, "url": "http://a.test/new", "kind": "push", "fcp_ms": 48.0}]},
            "paints": {"dropped": 0, "entries": [
                {**THING, "at_ms": 960.0, "interaction": 3},
                {**THING, "at_ms": 5058.0, "interaction": 7},
                {**THING, "at_ms": 5400.0, "size": 40_000.0, "interaction": 7},
                {**THING, "at_ms": 5500.0, "size": 10.0, "interaction": 7},
                {**THING, "at_ms": 6700.0, "size": 90_000.0, "interaction": 7}]},
        },
    },
    "heard": {"inputs": 2, "unnumbered": 0, "events": [
        {**CLICK, "element": None}, {**CLICK, "name": "click", "at_ms": 5012.0, "duration_ms": 24},
        {**CLICK, "name": "keydown", "interaction": 8, "at_ms": 5700.0, "begun_ms": 5701.0, "done_ms": 5702.0,
         "duration_ms": 16}]},
}  # fmt: skip
NONE_SOFT = {"navigations": {"dropped": 0, "entries": []}, "paints": {"dropped": 0, "entries": []}}


def loaded() -> dict[str, Any]:
    """A step that loaded its page, whose load event came after 1 s."""
    data = copy.deepcopy(IN_PAGE)
    data["read"] |= {"loaded_ms": 1000.0, "since_ms": 0, "same": False, "soft": NONE_SOFT}
    del data["heard"]
    return data


def of(data: dict[str, Any]) -> StepVitals:
    return step_vitals(cast(StepTold, data), AFTER_MS)


def test_what_happened_in_a_step_is_its_own_and_nothing_else_is() -> None:
    step = of(IN_PAGE)
    assert step_measures(step) == {
        "cls": 0.1,  # the shifts are 1.3 s apart
        "long_task_count": 1,
        "long_task_ms": 130.0,
        "tbt_ms": 80.0,
        "inp_ms": 40.0,
        "inp_censored": 0,
        "soft_navigation_ms": 10.0,
        "soft_fcp_ms": 48.0,
        "soft_lcp_ms": 390.0,
    }
    assert (step.since_ms, step.vitals.until_ms) == (5000.0, 6500.0)
    assert [each.at_ms for each in step.vitals.shifts] == [5100.0, 6400.0]
    assert (step.loaded_ms, step.inputs) == (6000.0, 2)
    assert StepVitalsEvidence.from_json(StepVitalsEvidence((step,)).to_json()).steps == (step,)


def test_a_soft_navigation_has_its_address_and_what_was_painted_for_it() -> None:
    (soft,) = of(IN_PAGE).soft_navigations
    assert (soft.url, soft.kind, soft.at_ms) == ("http://a.test/new", "push", 5010.0)
    assert [(each.at_ms, each.size) for each in soft.paints] == [(5058.0, 9000.0), (5400.0, 40_000.0)]


def test_an_interaction_has_parts_that_add_up() -> None:
    click, key = of(IN_PAGE).interactions
    assert (click.event, click.element, click.latency_ms) == ("pointerdown", "a#next", 40.0)
    assert click.delay_ms + click.processing_ms + click.presentation_ms == click.latency_ms
    assert (key.event, key.at_ms, key.latency_ms) == ("keydown", 5700.0, 16.0)


def test_a_step_that_loads_its_page_counts_from_the_load_on() -> None:
    step = of(loaded())
    assert step_measures(step) == {
        "cls": 0.1, "long_task_count": 1, "long_task_ms": 300.0, "tbt_ms": 150.0, "lcp_settled_ms": 250.0,
    }  # fmt: skip
    assert step.vitals.until_ms == 1500.0
    assert step.vitals.absent.keys() == {"inp_ms", *OF_SOFT_NAVIGATIONS}


def test_each_measure_is_a_metric_of_its_step() -> None:
    for name in (*OF_VITALS, *OF_SOFT_NAVIGATIONS):
        assert metric_named(of_step(name, "second")) is not None


@pytest.mark.parametrize("data", [IN_PAGE, loaded()])
def test_nothing_is_left_out_in_silence(data: dict[str, Any]) -> None:
    assert untold(of(data)) == []


def without(*path: str) -> dict[str, Any]:
    data = copy.deepcopy(IN_PAGE)
    place = data["read"]
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = None
    return data


@pytest.mark.parametrize(
    ("path", "gone", "why"),
    [
        (("shifts",), {"cls"}, "layout-shift"),
        (("tasks",), {"long_task_count", "long_task_ms", "tbt_ms"}, "longtask"),
        (("soft", "navigations"), set(OF_SOFT_NAVIGATIONS), "soft-navigation"),
        (("soft", "paints"), {"soft_lcp_ms"}, "interaction-contentful-paint"),
    ],
)
def test_what_a_browser_does_not_have_is_absent_and_no_zero(path: tuple[str, ...], gone: set[str], why: str) -> None:
    step = of(without(*path))
    assert step_measures(step).keys() == step_measures(of(IN_PAGE)).keys() - gone
    assert all(f"no entries of type {why}" in step.vitals.absent[name] for name in gone)


def changed(**read: object) -> dict[str, Any]:
    return {**copy.deepcopy(IN_PAGE), "read": {**copy.deepcopy(IN_PAGE["read"]), **read}}


def test_a_step_without_an_interaction_or_a_soft_navigation_has_no_number_of_them() -> None:
    step = of({**changed(soft=NONE_SOFT), "heard": {"inputs": 0, "unnumbered": 0, "events": []}})
    assert not {"inp_ms", "inp_censored", *OF_SOFT_NAVIGATIONS} & step_measures(step).keys()
    assert "no interaction" in step.vitals.absent["inp_ms"]
    assert "no soft navigation" in step.vitals.absent["soft_lcp_ms"]


def test_a_browser_that_does_not_tell_interactions_has_no_latency() -> None:
    step = of({**IN_PAGE, "heard": None})
    assert "which events are one interaction" in step.vitals.absent["inp_ms"]
    assert "inp_ms" not in step_measures(step)


QUICK = {**CLICK, "duration_ms": 8}  # of a quick interaction the browser tells where it is the first one of a page


@pytest.mark.parametrize(
    ("inputs", "durations", "latency_ms", "censored"),
    [
        pytest.param(1, [], 16, 1, id="too quick to be told"),
        pytest.param(2, [8], 16, 1, id="the first is told, the other one may be slower"),
        pytest.param(None, [8], 16, 1, id="nobody counts whether there were others"),
        pytest.param(1, [8], 8, 0, id="all that there was is told"),
        pytest.param(5, [24], 24, 0, id="the slowest is told, and so it is known"),
    ],
)
def test_interactions_that_are_too_quick_to_be_told_are_not_left_out(
    inputs: int | None, durations: list[float], latency_ms: float, censored: float
) -> None:
    """Else an arm with few slow ones had the number of those alone."""
    told = [{**QUICK, "duration_ms": each} for each in durations]
    step = of({**IN_PAGE, "heard": {"inputs": inputs, "unnumbered": 0, "events": told}})
    measures = step_measures(step)
    assert (measures["inp_ms"], measures["inp_censored"]) == (latency_ms, censored)
    assert untold(step) == []


def test_where_nobody_counts_inputs_and_none_is_told_there_is_no_number() -> None:
    step = of({**IN_PAGE, "heard": {"inputs": None, "unnumbered": 0, "events": []}})
    assert "inp_ms" not in step_measures(step)
    assert "does not say how many there were" in step.vitals.absent["inp_ms"]


@pytest.mark.parametrize("key", ["inputs", "unnumbered"])
def test_a_number_of_events_that_is_missing_is_an_error(key: str) -> None:
    heard = {each: value for each, value in IN_PAGE["heard"].items() if each != key}
    with pytest.raises(RecordError, match=f"{key} is missing"):
        of({**IN_PAGE, "heard": heard})


@pytest.mark.parametrize(("inputs", "durations"), [(1, []), (None, []), (2, [8])])
def test_where_slow_events_are_of_no_interaction_nobody_knows_how_slow_it_was(
    inputs: int | None, durations: list[float]
) -> None:
    """As of keys that compose a character, in some browsers: "at most 16 ms" would be wrong."""
    told = [{**QUICK, "duration_ms": each} for each in durations]
    step = of({**IN_PAGE, "heard": {"inputs": inputs, "unnumbered": 1, "events": told}})
    assert not {"inp_ms", "inp_censored"} & step_measures(step).keys()
    why = "1 event of keys or pointers took 16 ms or more, and the browser does not say of which interaction"
    assert step.vitals.absent["inp_ms"] == why
    assert untold(step) == []
    assert step_measures(StepVitals.from_json(step.to_json())) == step_measures(step)


@pytest.mark.parametrize(("inputs", "latency_ms"), [(2, 24), (1, 8)])
def test_where_a_slow_interaction_or_each_was_told_other_events_change_nothing(inputs: int, latency_ms: float) -> None:
    told = [{**QUICK, "duration_ms": latency_ms}]
    step = of({**IN_PAGE, "heard": {"inputs": inputs, "unnumbered": 1, "events": told}})
    measures = step_measures(step)
    assert (measures["inp_ms"], measures["inp_censored"]) == (latency_ms, 0)


def test_a_record_of_before_is_read_and_its_quick_interactions_are_not_known() -> None:
    data = of(IN_PAGE).to_json()
    del data["loaded_ms"], data["inputs"]
    step = StepVitals.from_json(data)
    assert (step.loaded_ms, step.inputs) == (None, None)
    assert step_measures(step)["inp_ms"] == 40.0
    del data["since_ms"]
    with pytest.raises(RecordError, match="since_ms is missing"):
        StepVitals.from_json(data)


@pytest.mark.parametrize("number", [None, 0])
def test_a_soft_navigation_of_no_known_interaction_has_none_of_the_paints(number: int | None) -> None:
    soft = copy.deepcopy(IN_PAGE["read"]["soft"])
    for each in (*soft["navigations"]["entries"], *soft["paints"]["entries"]):
        each["interaction"] = number
    step = of(changed(soft=soft))
    assert step.soft_navigations[-1].paints == ()
    assert "soft_lcp_ms" not in step_measures(step)
    assert "which interaction" in step.vitals.absent["soft_lcp_ms"]
    assert step_measures(step)["soft_fcp_ms"] == 48.0
    assert untold(step) == []


def test_a_soft_navigation_that_painted_too_late_has_no_paints() -> None:
    late = {**IN_PAGE["read"]["soft"]["navigations"]["entries"][1], "fcp_ms": 2000.0}
    paints = [{**THING, "at_ms": 7010.0, "interaction": 7}]
    soft = {"navigations": {"dropped": 0, "entries": [late]}, "paints": {"dropped": 0, "entries": paints}}
    step = of(changed(soft=soft))
    assert step_measures(step)["soft_navigation_ms"] == 10.0
    assert not {"soft_fcp_ms", "soft_lcp_ms"} & step_measures(step).keys()
    assert untold(step) == []


def test_a_page_that_was_never_painted_has_no_blocking_time() -> None:
    assert "tbt_ms" not in step_measures(of(changed(fcp_ms=None)))


@pytest.mark.parametrize("piece", ["loaded_ms", "since_ms", "fcp_ms", "shifts", "paints", "tasks", "soft"])
def test_a_piece_that_is_missing_is_an_error(piece: str) -> None:
    data = changed()
    del data["read"][piece]
    with pytest.raises(RecordError, match="vitals"):
        of(data)


class Page:
    """A page that tells what it is told to, and notes what it was asked."""

    def __init__(self) -> None:
        self.asked = list[str]()

    def evaluate(self, expression: str) -> Any:
        self.asked.append(expression)
        if ".begin(" in expression:
            return {"origin": 1000.5, "at_ms": 20.25}
        if ".end(" in expression:
            return IN_PAGE["read"]
        return IN_PAGE["heard"] if ".interactions(" in expression else None

    def click(self, x: float, y: float) -> None:
        raise AssertionError(f"nobody asked for a click at {x}, {y}")


def test_the_end_of_a_step_is_asked_with_its_begin() -> None:
    page = Page()
    begun = begin_step(page, hears=True)
    assert begun == Begun(origin=1000.5, at_ms=20.25)
    told, same = end_step(page, "second", begun, AFTER_MS, by_load=False)
    assert (told["step"], same) == ("second", True)
    assert page.asked[-1] == 'lanelab_vitals.end({"origin": 1000.5, "at_ms": 20.25}, 500, false)'
    assert interactions(page, AFTER_MS) == IN_PAGE["heard"]
    end_step(page, "first", None, AFTER_MS, by_load=True)
    assert page.asked[-1] == "lanelab_vitals.end(null, 500, true)"


class Journey(Page):
    """A page that makes a journey."""

    def watch_steps(self, after_ms: float) -> None:
        self.after_ms = after_ms

    def vitals_of_steps(self) -> list[StepTold]:
        return [cast(StepTold, {**loaded(), "step": "first"}), cast(StepTold, IN_PAGE)]


def test_the_recorder_has_what_each_step_told(tmp_path: Any) -> None:
    recorder, page = Vitals(VitalsOptions()), Journey()
    recorder.start(Context({}, [], tmp_path, tmp_path, cast(Any, page), makes_journey=True))
    assert page.after_ms == AFTER_MS
    recorder.load_ended()
    recording = recorder.stop()
    assert recording.kept_as == "step_vitals"
    assert recording.measures["cls@first"] == recording.measures["cls@second"] == 0.1
    assert recording.measures["soft_lcp_ms@second"] == 390.0
    assert "soft_lcp_ms@first" not in recording.measures
