"""The recorder `trace`: what the browser's main thread did, and with `filmstrip` how the page looked meanwhile."""

import base64
import contextlib
import json
from dataclasses import dataclass

from lanelab.driver.arm.browsers.browser import TRACE, Trace
from lanelab.driver.arm.browsers.failures import BrowserError
from lanelab.driver.base.coded import Coded
from lanelab.driver.base.errors import RecordError
from lanelab.driver.base.settings.kinds import choice
from lanelab.driver.base.settings.setting import Setting
from lanelab.driver.base.settings.source import Written
from lanelab.driver.record.evidence.trace import Frame, TraceEvidence
from lanelab.driver.record.reasons import Reason
from lanelab.driver.trial.recorders.recorder import Context, Recorder, Recording, Weight
from lanelab.driver.trial.recorders.trace_events import Picture, TraceEvents
from lanelab.driver.trial.recorders.visual import progress, speed_index, visually_complete

FILE, FILMSTRIP = "trace.json", "filmstrip.json"
BYTES, FILMSTRIP_BYTES = 300_000, 200_000  # compressed


@dataclass(frozen=True, slots=True)
class TraceOptions(Coded):
    filmstrip: bool = False


class TraceRecorder(Recorder[TraceOptions]):
    name = "trace"
    options_type = TraceOptions
    setting = Setting(
        "trace",
        choice("TRACE", "off", "on", "filmstrip", also={"true": "on", "false": "off", "yes": "on"}),
        "off",
        "trace the browser: its main thread; `filmstrip`: how the page looked too. [Costs load time](trace.md)",
        "filmstrip",
    )
    reason = Reason.BROWSER_FAILED
    packed = (FILE, FILMSTRIP)
    asks = frozenset({TRACE})

    def __init__(self, options: TraceOptions) -> None:
        super().__init__(options)
        self._trace: Trace | None = None

    @classmethod
    def read(cls, written: Written | None) -> TraceOptions | None:
        if written is None:
            return None
        with written.placed({}):
            value = cls.setting.read(written.text())
        return None if value == "off" else TraceOptions(value == "filmstrip")

    @classmethod
    def has(cls, options: TraceOptions, wanted: Coded | None) -> bool:
        return isinstance(wanted, TraceOptions) and options.filmstrip >= wanted.filmstrip

    @classmethod
    def disk_bytes(cls, options: TraceOptions, weight: Weight) -> float:  # noqa: ARG003
        return BYTES + (FILMSTRIP_BYTES if options.filmstrip else 0)

    def start(self, context: Context) -> None:
        if context.page is None:
            raise BrowserError("this trial has no browser that could be traced")
        self._folder = context.folder
        self._trace = context.page.trace(screenshots=self.options.filmstrip)

    def load_ended(self) -> None:
        """Go on while there are pictures to come: what the page has painted is on screen a frame or two later. The
        reading of its measures waits for that."""
        if self._trace and not self.options.filmstrip:
            self._trace.stop()

    def stop(self) -> Recording:
        if self._trace is None:
            raise BrowserError("the browser was not traced")
        trace, self._trace = self._trace, None
        if self.options.filmstrip:
            trace.stop()
        data = trace.read()
        (self._folder / FILE).write_bytes(data)
        try:
            events = TraceEvents(json.loads(data))
            pictures = events.pictures() if self.options.filmstrip else []
            frames = _frames(pictures)
            evidence = TraceEvidence(events.main_thread(), events.long_tasks(), tuple(frames))
        except (AttributeError, KeyError, TypeError, ValueError, OSError) as error:
            raise RecordError(f"the browser's trace cannot be read: {error!r}", key="trace") from error
        files = [FILE]
        measures = {}
        if frames:
            (self._folder / FILMSTRIP).write_text(json.dumps(_filmstrip(frames, pictures)))
            files.append(FILMSTRIP)
        if len(frames) > 1 and events.has_loaded:  # else there is no change, or no end, to measure progress by
            measures = {"speed_index_ms": speed_index(frames), "visually_complete_ms": visually_complete(frames)}
        return Recording(files=tuple(files), measures=measures, evidence=evidence)

    def close(self) -> None:
        if self._trace:
            with contextlib.suppress(BrowserError):
                self._trace.close()
            self._trace = None


def _frames(pictures: list[Picture]) -> list[Frame]:
    complete = progress([each.jpeg for each in pictures])
    return [Frame(each.at_ms, share, len(each.jpeg)) for each, share in zip(pictures, complete, strict=True)]


def _filmstrip(frames: list[Frame], pictures: list[Picture]) -> dict[str, object]:
    """Return a filmstrip that is readable by itself: every picture with its moment."""
    return {
        "frames": [
            {"at_ms": frame.at_ms, "complete": frame.complete, "jpeg": base64.b64encode(picture.jpeg).decode()}
            for frame, picture in zip(frames, pictures, strict=True)
        ]
    }
