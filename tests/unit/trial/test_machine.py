"""What the recorder `machine` makes of the kernel's own words, and when it flags a trial. The words are real ones."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lanelab.driver.base.errors import RecordError
from lanelab.driver.bed.remote import sampler
from lanelab.driver.record.evidence.machine import MachineEvidence, MachineUse, Pressure
from lanelab.driver.record.reasons import FlagName, Reason
from lanelab.driver.record.record import RECORDINGS
from lanelab.driver.trial.recorders.machine import Machine, MachineOptions
from lanelab.driver.trial.recorders.machine_use import MachineReport, flags_of, measures_of, series_of
from lanelab.driver.trial.recorders.recorder import Context
from lanelab.driver.trial.recorders.trial_recorders import TrialRecorders
from tests.kit.machine_samples import QUIET, recorded
from tests.kit.wait import wait_until


def test_processor_time_is_of_those_who_used_it() -> None:
    measures = measures_of(recorded(QUIET))
    assert measures["cpu_client_s"] == pytest.approx(0.95), "the browser, its children, and what we ran to its end"
    assert measures["cpu_server_s"] == pytest.approx(0.3), "and what children had that have ended"
    assert measures["cpu_router_s"] == pytest.approx(0.1)
    assert measures["cpu_harness_s"] == pytest.approx(0.1)
    assert measures["cpu_other_s"] == pytest.approx(0.05), "the rest of what the machine was busy with"
    assert measures["cpu_busy"] == pytest.approx(1.5 / 4)
    assert measures["router_wait_s"] == pytest.approx(0.01)
    assert "cpu_capture_s" not in measures


def test_a_series_has_shares_over_time_and_nothing_where_nothing_is_known() -> None:
    series = series_of([MachineReport.of(("client", "router", "server"), QUIET)])
    assert series["cpu_busy"].points == ((100.0, 0.5), (200.0, 0.0))
    assert series["pressure_cpu"].points == ((100.0, 0.2),)
    assert series["cpu_busy"].unit == "share"
    of_two = series_of([MachineReport.of((name,), QUIET) for name in ("client", "server")])
    assert set(of_two) == {"cpu_busy_client", "pressure_cpu_client", "cpu_busy_server", "pressure_cpu_server"}


def test_a_quiet_machine_has_no_flag() -> None:
    assert flags_of(recorded(QUIET)) == ()


def quiet() -> MachineUse:
    return recorded(QUIET).machines[0]


NO_PRESSURE = Pressure(0.0, 0.0, 0.0, 0.0, 0.0)
Change = Callable[[MachineUse], MachineUse]
FLAGGED: list[tuple[FlagName, str, Change]] = [
    (
        FlagName.PROCESSORS_CONTENDED,
        "other programs took the time of 0.5 processors, and for 60% of the load's time something waited",
        lambda use: replace(use, cpu_s={**use.cpu_s, "other": 1.0}, pressure=replace(NO_PRESSURE, cpu_some=0.6)),
    ),
    (
        FlagName.PROCESSORS_CONTENDED,
        "other programs took the time of 0.5 processors",
        lambda use: replace(use, cpu_s={**use.cpu_s, "other": 1.0}, pressure=None),
    ),
    (FlagName.PROCESSORS_STOLEN, "other virtual machines took 3%", lambda use: replace(use, steal=0.03)),
    (
        FlagName.PROCESSORS_THROTTLED,
        "stopped programs 2 times, 0.150 s in all",
        lambda use: replace(use, throttled_times=2, throttled_s=0.15),
    ),
    (
        FlagName.PROGRAM_STOPPED,
        "a signal stopped nginx (about 0.4 s)",
        lambda use: replace(use, stopped_s={"nginx": 0.4}),
    ),
    (FlagName.PROCESSORS_THROTTLED, "too hot 1 times", lambda use: replace(use, hot_times=1)),
    (
        FlagName.ROUTER_WAITED,
        "the router waited for a processor for 20% of the load's time",
        lambda use: replace(use, wait_s={"router": 0.4}),
    ),
    (
        FlagName.MEMORY_SHORT,
        "for 5% of the load's time",
        lambda use: replace(use, pressure=replace(NO_PRESSURE, memory_some=0.05)),
    ),
]


@pytest.mark.parametrize(("name", "words", "change"), FLAGGED)
def test_a_starved_machine_is_flagged(name: FlagName, words: str, change: Change) -> None:
    (flag,) = flags_of(MachineEvidence((change(quiet()),), 0.0))
    assert flag.name is name
    assert words in flag.detail
    assert "on the machine" not in flag.detail
    (of_several, *_) = flags_of(MachineEvidence((replace(change(quiet()), nodes=("client",)), quiet()), 0.0))
    assert of_several == replace(flag, detail=f"on the machine of the client, {flag.detail}")


UNFLAGGED: list[Change] = [
    lambda use: replace(use, pressure=replace(NO_PRESSURE, cpu_some=0.9)),  # the browser's threads wait for each other
    lambda use: replace(use, cpu_s={**use.cpu_s, "other": 1.0}, pressure=NO_PRESSURE),  # there were enough processors
]


@pytest.mark.parametrize("change", UNFLAGGED)
def test_a_machine_with_time_for_the_trial_is_not_flagged(change: Change) -> None:
    assert flags_of(MachineEvidence((change(quiet()),), 0.0)) == ()


def test_looks_at_stopped_programs_are_added_up_without_those_of_the_harness() -> None:
    seen = [[0.2, "apache2"], [0.2, "chromium"], [0.2, "apache2"], [0.2, "bash"]]
    (use,) = recorded({**QUIET, "stopped": seen}).machines
    assert use.stopped_s == {"apache2": 0.4, "chromium": 0.2}


def test_a_process_that_a_signal_stopped_is_seen_and_so_are_its_new_children() -> None:
    """Not one that its tracer has stopped."""
    reader = sampler.Reader()
    shell = subprocess.Popen(["sh", "-c", "sleep 60 & wait"])
    try:
        pids = {shell.pid}
        wait_until(lambda: reader.stopped(pids) == [] and len(pids) == 2)
        (child,) = pids - {shell.pid}
        wait_until(lambda: Path(f"/proc/{child}/comm").read_text() == "sleep\n")  # until then it is the shell's copy
        os.kill(child, signal.SIGSTOP)
        wait_until(lambda: reader.stopped(pids) == ["sleep"])
        os.kill(child, signal.SIGCONT)
        wait_until(lambda: reader.stopped(pids) == [])
        os.kill(child, signal.SIGKILL)
        wait_until(lambda: reader.stopped(pids) == [] and pids == {shell.pid})
    finally:
        shell.kill()
        shell.wait()


def test_what_is_not_known_is_said_and_is_no_measure() -> None:
    bare = json.loads(json.dumps(QUIET))
    for side in ("before", "after"):
        bare[side] |= {"total_s": None, "idle_s": None, "steal_s": None, "throttling": None, "thermal": None}
        bare[side] |= {"frequency": None, "load": None, "pressure": dict.fromkeys(sampler.PRESSURES)}
        for each in bare[side]["processes"]:
            each["wait_s"] = None
    evidence = recorded(bare)
    (use,) = evidence.machines
    assert set(use.absent) == {"busy", "wait_s", "pressure", "throttled", "hot", "frequency"}
    assert (use.busy, use.steal, use.pressure, use.throttled_s, use.wait_s) == (None, None, None, None, {})
    assert set(measures_of(evidence)) == {"cpu_client_s", "cpu_server_s", "cpu_router_s", "cpu_harness_s"}
    assert flags_of(evidence) == ()


def test_evidence_is_read_back_as_it_was() -> None:
    evidence = recorded(QUIET)
    assert MachineEvidence.from_json(json.loads(json.dumps(evidence.to_json()))) == evidence


def paths_of(data: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path to every key whose absence must be noticed; keys of mappings by name are data."""
    found: list[tuple[Any, ...]] = []
    if isinstance(data, dict):
        free = path and path[-1] in ("cpu_s", "wait_s", "absent", "pressure") and "machines" in path
        for key, value in data.items():
            found += ([] if free else [(*path, key)]) + paths_of(value, (*path, key))
    elif isinstance(data, list):
        for number, value in enumerate(data):
            found += paths_of(value, (*path, number))
    return found


@pytest.mark.parametrize("path", paths_of(recorded(QUIET).to_json()), ids=lambda path: ".".join(map(str, path)))
def test_evidence_without_one_of_its_keys_is_refused(path: tuple[Any, ...]) -> None:
    data = json.loads(json.dumps(recorded(QUIET).to_json()))
    place = data
    for step in path[:-1]:
        place = place[step]
    del place[path[-1]]
    with pytest.raises(RecordError, match=f"{path[-1]} is missing"):
        MachineEvidence.from_json(data)


class FakeWatch:
    def __init__(self, data: dict[str, Any]) -> None:
        self.data, self.closed = data, False

    def begin(self) -> None: ...
    def end(self) -> None: ...

    def result(self) -> dict[str, Any]:
        return self.data

    def close(self) -> None:
        self.closed = True


def trial_with(monkeypatch: pytest.MonkeyPatch, watch: FakeWatch, tmp_path: Path) -> TrialRecorders:
    def start(recorder: Machine, _: Context) -> None:
        recorder._watches = [(("client",), watch)]

    monkeypatch.setattr(Machine, "start", start)
    recorders = TrialRecorders({"machine": MachineOptions()})
    recorders.start(Context({}, machines=[], scratch=tmp_path, folder=tmp_path))
    return recorders


def test_a_trial_has_what_the_machine_did(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    recorders = trial_with(monkeypatch, FakeWatch(QUIET), tmp_path)
    recorders.load_begins()
    recorders.load_ended()
    recording = recorders.stop(loaded=True)["machine"]
    assert recorders.failures == []
    assert isinstance(recording.evidence, RECORDINGS["machine"])
    assert recording.measures["cpu_client_s"] == pytest.approx(0.95)


@pytest.mark.parametrize("key", ["before", "after", "samples", "processors"])
def test_a_machine_that_does_not_tell_fails_the_trial(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, key: str
) -> None:
    told = {name: value for name, value in QUIET.items() if name != key}
    recorders = trial_with(monkeypatch, FakeWatch(told), tmp_path)
    recorders.load_begins()
    recorders.load_ended()
    assert recorders.stop(loaded=True) == {}
    (failure,) = recorders.failures
    assert failure.reason is Reason.EVIDENCE_MISSING
    assert f"machine.{key} is missing" in failure.detail


def test_a_recorder_that_fails_is_not_asked_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    watch = FakeWatch(QUIET)
    recorders = trial_with(monkeypatch, watch, tmp_path)

    def begin() -> None:
        raise OSError("broken pipe")

    monkeypatch.setattr(watch, "begin", begin)
    recorders.load_begins()
    recorders.load_ended()
    assert recorders.stop(loaded=True) == {}
    assert [failure.reason for failure in recorders.failures] == [Reason.RECORDER_FAILED]
    assert watch.closed


def test_a_trial_that_was_not_loaded_has_no_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    watch = FakeWatch(QUIET)
    recording = trial_with(monkeypatch, watch, tmp_path).stop(loaded=False)["machine"]
    assert recording.evidence is None
    assert watch.closed


def test_as_a_program_it_says_what_this_machine_does() -> None:
    done = subprocess.run(
        [sys.executable, "-I", "-S", sampler.__file__],
        input="begin\nend\n",
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    ready, result = done.stdout.splitlines()
    assert json.loads(ready) == {"ready": True}
    (use,) = recorded(json.loads(result)).machines
    assert use.seconds > 0
    assert "harness" in use.cpu_s, "who started it is ours"
