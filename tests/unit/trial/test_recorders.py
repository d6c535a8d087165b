"""Recorders of a trial: their order, what happens when one fails, and what travels to the bed."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest

from lanelab.driver.arm.browsers.browser import NETLOG
from lanelab.driver.arm.browsers.failures import BrowserError
from lanelab.driver.base.coded import Coded
from lanelab.driver.base.errors import BedError, RecordError
from lanelab.driver.base.settings.setting import Setting
from lanelab.driver.record.reasons import Failure, Reason
from lanelab.driver.record.record import RECORDINGS, STEP_VITALS
from lanelab.driver.trial.recorders import trial_recorders
from lanelab.driver.trial.recorders.cross_traffic import Cross
from lanelab.driver.trial.recorders.machine import MachineOptions
from lanelab.driver.trial.recorders.recorder import Context, Recorder, Recording, Weight
from lanelab.driver.trial.recorders.registry import RECORDERS, NetlogOptions, options_from_json, packed, wishes
from lanelab.driver.trial.recorders.screenshot import ScreenshotOptions
from lanelab.driver.trial.recorders.server_series import ServerSeriesOptions
from lanelab.driver.trial.recorders.tcpdump import CaptureOptions
from lanelab.driver.trial.recorders.trace import TraceOptions
from lanelab.driver.trial.recorders.trial_recorders import TrialRecorders
from lanelab.driver.trial.recorders.vitals import VitalsOptions


@dataclass(frozen=True, slots=True)
class NoOptions(Coded):
    """None."""


class Noted(Recorder[NoOptions]):
    """Notes when it is called; fails where a test says so."""

    options_type = NoOptions
    setting: ClassVar[Setting]
    calls: ClassVar[list[str]]
    fails: ClassVar[Mapping[str, Exception]]

    @classmethod
    def disk_bytes(cls, options: NoOptions, weight: Weight) -> float:
        raise NotImplementedError

    def note(self, call: str) -> None:
        self.calls.append(f"{self.name} {call}")
        if error := self.fails.get(f"{self.name} {call}"):
            raise error

    def start(self, context: Context) -> None:  # noqa: ARG002
        self.note("start")

    def load_begins(self) -> None:
        self.note("begins")

    def load_ended(self) -> None:
        self.note("ended")

    def stop(self) -> Recording:
        self.note("stop")
        return Recording(files=(self.name,))

    def close(self) -> None:
        self.note("close")


class First(Noted):
    name = "first"


class Second(Noted):
    name = "second"
    reason = Reason.CAPTURE_LOST_PACKETS


def noted(monkeypatch: pytest.MonkeyPatch, **fails: Exception) -> TrialRecorders:
    monkeypatch.setattr(Noted, "calls", [], raising=False)
    monkeypatch.setattr(Noted, "fails", {name.replace("_", " "): error for name, error in fails.items()}, raising=False)
    monkeypatch.setattr(trial_recorders, "RECORDERS", {"first": First, "second": Second})
    return TrialRecorders({"second": NoOptions(), "first": NoOptions()})


def run(recorders: TrialRecorders, *, loaded: bool = True) -> dict[str, Recording]:
    recorders.start(Context({}, [], Path("/run"), Path("/run")))
    recorders.load_begins()
    recorders.load_ended()
    return recorders.stop(loaded=loaded)


def test_the_last_to_start_is_the_first_to_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    recorders = noted(monkeypatch)
    assert {name: each.files for name, each in run(recorders).items()} == {"first": ("first",), "second": ("second",)}
    assert Noted.calls == [
        *("first start", "second start", "first begins", "second begins", "second ended", "first ended"),
        *("second stop", "second close", "first stop", "first close"),
    ]
    assert recorders.failures == []


def test_what_needs_no_page_starts_ahead_and_once(monkeypatch: pytest.MonkeyPatch) -> None:
    recorders = noted(monkeypatch, second_start=BedError("no room"))
    monkeypatch.setattr(Second, "starts_ahead", True)
    recorders.start_ahead(Context({}, [], Path("/run"), Path("/run")))
    assert Noted.calls == ["second start"]
    assert set(run(recorders)) == {"first"}
    assert Noted.calls.count("second start") == Noted.calls.count("first start") == 1
    assert recorders.failures == [Failure(Reason.CAPTURE_LOST_PACKETS, "no room")]


@pytest.mark.parametrize("call", ["start", "begins", "ended", "stop"])
def test_one_that_fails_fails_the_trial_with_its_reason_and_no_other_recorder(
    monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    recorders = noted(monkeypatch, **{f"second_{call}": BedError("no room")})
    assert set(run(recorders)) == {"first"}
    assert recorders.failures == [Failure(Reason.CAPTURE_LOST_PACKETS, "no room")]
    assert [words for words in Noted.calls if words.startswith("second")][-2:] == [f"second {call}", "second close"]


def test_what_only_a_loaded_page_can_show_is_no_failure_more(monkeypatch: pytest.MonkeyPatch) -> None:
    error = BrowserError("the tab crashed", reason=Reason.BROWSER_CRASHED)
    after_failure = noted(monkeypatch, first_stop=error)
    assert set(run(after_failure, loaded=False)) == {"second"}
    assert after_failure.failures == []
    recorders = noted(monkeypatch, first_stop=error)
    run(recorders)
    assert recorders.failures == [Failure(Reason.BROWSER_CRASHED, "the tab crashed")]


def test_a_trial_that_ends_early_closes_every_recorder(monkeypatch: pytest.MonkeyPatch) -> None:
    recorders = noted(monkeypatch)
    recorders.start(Context({}, [], Path("/run"), Path("/run")))
    recorders.close()
    assert Noted.calls[-2:] == ["second close", "first close"]


ALL: dict[str, Coded] = {
    "capture": CaptureOptions(("client", "server"), 96),
    "machine": MachineOptions(),
    "netlog": NetlogOptions(),
    "screenshot": ScreenshotOptions(),
    "server_series": ServerSeriesOptions(),
    "trace": TraceOptions(filmstrip=True),
    "vitals": VitalsOptions(2000, "#more"),
}


def test_options_travel_as_json() -> None:
    assert set(ALL) == set(RECORDERS)
    assert options_from_json({name: options.to_json() for name, options in ALL.items()}) == ALL


@pytest.mark.parametrize(
    ("data", "words"),
    [({"video": {}}, "no recorder 'video'"), ({"capture": {"nodes": ["client"]}}, "snaplen is missing")],
)
def test_options_that_nobody_knows_are_refused(data: dict[str, Any], words: str) -> None:
    with pytest.raises(RecordError, match=words):
        options_from_json(data)


def test_only_a_netlog_asks_something_of_the_browser_and_texts_are_packed() -> None:
    assert wishes(ALL) == {NETLOG}
    assert wishes({"machine": MachineOptions()}) == frozenset()
    assert packed(ALL) == ("netlog.json", "trace.json", "filmstrip.json")


@pytest.mark.parametrize("name", RECORDERS)
def test_a_recorder_is_called_as_its_key(name: str) -> None:
    recorder = RECORDERS[name]
    assert recorder.name == recorder.setting.name == name


def test_evidence_is_of_recorders_that_there_are() -> None:
    assert set(RECORDINGS) - {Cross.name, "journey", "spoken", STEP_VITALS} <= set(RECORDERS)
