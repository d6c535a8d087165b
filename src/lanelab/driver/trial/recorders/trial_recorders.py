"""The recorders of one trial, started and stopped together."""

import functools
from collections.abc import Callable, Mapping
from typing import Any

from lanelab.driver.arm.browsers.failures import BrowserError
from lanelab.driver.base.coded import Coded
from lanelab.driver.base.errors import BedError, RecordError
from lanelab.driver.link import Link
from lanelab.driver.record.reasons import Failure, Reason
from lanelab.driver.trial.recorders.cross_traffic import Cross
from lanelab.driver.trial.recorders.recorder import Context, Recorder, Recording
from lanelab.driver.trial.recorders.registry import RECORDERS


class TrialRecorders:
    """What goes wrong with a recorder is a failure of the trial, and no error."""

    def __init__(self, options: Mapping[str, Coded], link: Link | None = None) -> None:
        """Begin without recording. `options` has those of each recorder that is on. Cross traffic of the `link` begins
        last and is read first."""
        self._recorders = [RECORDERS[name](options[name]) for name in RECORDERS if name in options]
        if link and link.cross:
            self._recorders.append(Cross(link))
        self._waiting = list(self._recorders)  # to be started
        self._failed: set[Recorder[Any]] = set()
        self.failures: list[Failure] = []

    def start_ahead(self, context: Context) -> None:
        """Start those that need no page."""
        for recorder in [each for each in self._waiting if each.starts_ahead]:
            self._start(recorder, context)

    def start(self, context: Context) -> None:
        """Start the others, or all."""
        for recorder in list(self._waiting):
            self._start(recorder, context)

    def _start(self, recorder: Recorder[Any], context: Context) -> None:
        self._waiting.remove(recorder)
        self._try(recorder, functools.partial(recorder.start, context))

    def load_begins(self) -> None:
        for recorder in self._recorders:
            self._try(recorder, recorder.load_begins)

    def load_ended(self) -> None:
        for recorder in reversed(self._recorders):
            self._try(recorder, recorder.load_ended)

    def stop(self, *, loaded: bool) -> dict[str, Recording]:
        """Return what each has, by its name. `loaded`: the page came; else what a browser cannot show is no failure
        more."""
        recordings: dict[str, Recording] = {}
        while self._recorders:
            recorder = self._recorders.pop()

            def stop(recorder: Recorder[Any] = recorder) -> None:
                recordings[recorder.name] = recording = recorder.stop()
                self.failures += recording.failures

            self._try(recorder, stop, needs_page=not loaded)
            recorder.close()
        return recordings

    def close(self) -> None:
        """End what still runs."""
        while self._recorders:
            self._recorders.pop().close()

    def _try(self, recorder: Recorder[Any], do: Callable[[], None], *, needs_page: bool = False) -> None:
        """Once a recorder has failed it is not asked again."""
        if recorder in self._failed:
            return
        try:
            do()
        except RecordError as error:
            self._failed.add(recorder)
            self.failures.append(Failure(Reason.EVIDENCE_MISSING, f"of the recorder {recorder.name}: {error}"))
        except BedError as error:
            self._failed.add(recorder)
            if isinstance(error, BrowserError):
                if not needs_page:
                    self.failures.append(Failure(Reason(error.reason), str(error)))
            else:
                self.failures.append(Failure(recorder.reason, str(error)))
