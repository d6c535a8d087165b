"""Traces of the browser: the main thread's stretches, long tasks, pictures and what follows from them."""

import base64
import io
import json
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from lanelab.driver.base.errors import RecordError
from lanelab.driver.record.evidence.trace import Frame
from lanelab.driver.trial.recorders.registry import RECORDERS
from lanelab.driver.trial.recorders.trace import TraceOptions, TraceRecorder
from lanelab.driver.trial.recorders.trace_events import TraceEvents
from lanelab.driver.trial.recorders.visual import progress, speed_index, visually_complete

PAGE = {"pid": 7, "tid": 1}
ZERO = 5_000_000


def task(begin_ms: float, length_ms: float, name: str = "RunTask", **of: int) -> Any:
    span = {"ts": ZERO + begin_ms * 1000, "dur": length_ms * 1000}
    return {"name": name, "cat": "disabled-by-default-devtools.timeline", "ph": "X", **PAGE, **span, **of}


def mark(name: str, at_ms: float, frame: str = "page", **data: object) -> Any:
    return {"name": name, "ph": "R", **PAGE, "ts": ZERO + at_ms * 1000, "args": {"data": data, "frame": frame}}


def picture(colour: tuple[int, int, int], width: int = 16) -> bytes:
    """White but for a stripe of that colour."""
    image = Image.new("RGB", (16, 16), (255, 255, 255))
    image.paste(colour, (0, 0, width, 16))
    file = io.BytesIO()
    image.save(file, "PNG")
    return file.getvalue()


def shot(at_ms: float, data: bytes) -> Any:
    return {"name": "Screenshot", "ph": "O", "pid": 1, "tid": 1, "ts": ZERO + at_ms * 1000, "args": {
        "snapshot": base64.b64encode(data).decode()}}  # fmt: skip


def trace(*events: Any) -> TraceEvents:
    begin = mark("navigationStart", 0, documentLoaderURL="http://a.test/", isLoadingMainFrame=True)
    blank = mark("navigationStart", -3, documentLoaderURL="", isLoadingMainFrame=True)
    return TraceEvents({"traceEvents": [blank, *events, begin, mark("loadEventEnd", 500)]})


def test_tasks_that_follow_each_other_are_one_stretch_until_the_load_event() -> None:
    events = trace(
        task(10, 5), task(15.2, 4.8), task(30, 0.2), task(100, 20, pid=8), task(110, 9, tid=2), task(480, 60),
        task(-10, 12),
    )  # fmt: skip
    assert events.main_thread() == ((0, 2), (10, 20), (480, 500)), "not those of others, nor what is short"


def test_a_long_task_is_named_by_what_took_most_of_it() -> None:
    events = trace(task(10, 80), task(12, 60, "EvaluateScript"), task(75, 5, "Layout"), task(200, 49), task(600, 90))
    (long,) = events.long_tasks()
    assert (long.from_ms, long.to_ms, long.what) == (10, 90, "EvaluateScript")


def test_a_trace_without_a_navigation_is_not_taken_for_an_idle_browser() -> None:
    with pytest.raises(RecordError, match="navigationStart"):
        TraceEvents({"traceEvents": [task(1, 2)]})


def test_the_load_of_a_frame_within_the_page_is_not_its_own() -> None:
    inside = mark("loadEventEnd", 100, "inside")
    shots = [shot(at, picture((0, 0, 0), width)) for width, at in enumerate((0, 90, 150, 490))]
    events = trace(inside, task(10, 60), task(200, 70), *shots)
    assert len(events.long_tasks()) == 2
    assert events.main_thread() == ((10, 70), (200, 270))
    assert [each.at_ms for each in events.pictures()] == [0, 90, 150, 490]


def test_pictures_begin_with_what_was_there_and_leave_out_repetitions() -> None:
    white, half = picture((255, 255, 255)), picture((0, 0, 0), 8)
    events = trace(shot(-50, half), shot(-5, white), shot(100, half), shot(150, half), shot(220, white))
    assert [each.at_ms for each in events.pictures()] == [0, 100, 220]
    assert events.pictures()[0].jpeg == white


@pytest.mark.parametrize(
    ("at", "kept"),
    [
        ((0, 100, 300), [0, 100, 300]),  # nothing after the load, which ends at 500
        ((0, 100, 520, 540), [0, 100, 520]),  # the first frame after it shows what it had led to
        ((0, 100, 700), [0, 100]),  # that is another change
        ((0, 700, 720), [0, 700]),  # nothing was shown until then
        ((0,), [0]),
    ],
)
def test_pictures_end_with_what_the_load_had_led_to(at: tuple[float, ...], kept: list[float]) -> None:
    shots = [shot(each, picture((0, 0, 0), width)) for width, each in enumerate(at)]
    assert [each.at_ms for each in trace(*shots).pictures()] == kept


def test_visual_progress_is_the_share_of_the_colours_that_are_there() -> None:
    pictures = [picture((0, 0, 0), width) for width in (0, 4, 12, 16)]
    assert progress(pictures) == [0, 0.25, 0.75, 1]
    moved = [picture((255, 255, 255)), picture((9, 9, 9), 4), picture((9, 9, 9), 4)]
    assert progress(moved) == [0, 1, 1]
    yellow = [picture((255, 255, 0), width) for width in (0, 8, 16)]
    assert progress(yellow) == [0, 0.5, 1], "colours that do not change are no progress"
    assert progress([]) == []
    assert progress([picture((0, 0, 0))]) == [0], "nothing was seen to change"


def test_the_speed_index_is_the_mean_time_until_a_pixel_is_right() -> None:
    frames = [Frame(0, 0, 1), Frame(100, 0.25, 1), Frame(300, 0.75, 1), Frame(1000, 1, 1)]
    assert speed_index(frames) == pytest.approx(0.25 * 100 + 0.5 * 300 + 0.25 * 1000)
    assert visually_complete(frames) == 1000


def test_complete_is_what_stays_complete() -> None:
    frames = [Frame(0, 0, 1), Frame(100, 1, 1), Frame(200, 0.5, 1), Frame(300, 1, 1), Frame(400, 1, 1)]
    assert visually_complete(frames) == 300


def test_the_key_has_three_values() -> None:
    recorder = RECORDERS["trace"]
    assert recorder.read(None) is None
    assert recorder.options_type().to_json() == {"filmstrip": False}


class Ended:
    """A trace of which the browser gave this."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    def stop(self) -> None:
        pass

    def read(self) -> bytes:
        return self.data

    def close(self) -> None:
        pass


@pytest.mark.parametrize(("shots", "measures"), [(1, set()), (2, {"speed_index_ms", "visually_complete_ms"})])
def test_without_a_change_on_screen_there_is_no_speed_index(tmp_path: Path, shots: int, measures: set[str]) -> None:
    pictures = [shot(-5 + 100 * at, picture((0, 0, 0), at)) for at in range(shots)]
    recorder = TraceRecorder(TraceOptions(filmstrip=True))
    recorder._folder = tmp_path
    loaded = [BEGIN, task(1, 2), mark("loadEventEnd", 500)]
    recorder._trace = Ended(json.dumps({"traceEvents": [*loaded, *pictures]}).encode())
    assert set(recorder.stop().measures) == measures
    recorder._trace = Ended(json.dumps({"traceEvents": [*loaded[:2], *pictures]}).encode())
    assert recorder.stop().measures == {}, "what never ended has no last frame"


BEGIN = mark("navigationStart", 0, documentLoaderURL="http://a.test/")
WITHOUT_TIMES = {"traceEvents": [BEGIN, {"name": "RunTask", "ph": "X", **PAGE}]}
WITHOUT_TASKS = {"traceEvents": [BEGIN, mark("loadEventEnd", 500)]}


@pytest.mark.parametrize(
    "data",
    [
        b'{"traceEvents": [',
        b"[]",
        json.dumps(WITHOUT_TIMES).encode(),
        json.dumps(WITHOUT_TASKS).encode(),
    ],
)
def test_a_trace_that_cannot_be_read_fails_its_trial_by_name(tmp_path: Path, data: bytes) -> None:
    recorder = TraceRecorder(TraceOptions())
    recorder._folder, recorder._trace = tmp_path, Ended(data)
    with pytest.raises(RecordError, match="trace"):
        recorder.stop()
