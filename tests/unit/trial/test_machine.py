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
from lanelab.driver.bed.remote.sampler import Reader
from lanelab.driver.record.evidence.machine import MachineEvidence, MachineUse, Pressure
from lanelab.driver.record.reasons import FlagName, Reason
from lanelab.driver.record.record import RECORDINGS
from lanelab.driver.trial.recorders.machine import Machine, MachineOptions
from lanelab.driver.trial.recorders.machine_use import MachineReport, evidence_of, flags_of, measures_of, series_of
from lanelab.driver.trial.recorders.recorder import Context
from lanelab.driver.trial.recorders.trial_recorders import TrialRecorders
from tests.kit.wait import wait_until

STAT = "cpu  140703 70959 50556 237723 2298 0 1265 256 0 0\ncpu0 61380 36653 23816 129042 397 0 353 126 0 0\n"
CPU_PRESSURE = (
    "some avg10=98.43 avg60=84.23 avg300=72.61 total=974768777\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n"
)
IO_PRESSURE = (
    "some avg10=1.27 avg60=1.93 avg300=1.41 total=34565941\nfull avg10=0.00 avg60=0.09 avg300=0.33 total=17282811\n"
)
UML = (
    "23678 (linux.uml) S 23667 23678 23678 0 -1 4194304 35905 7940 2 0 49 25 6 3 25 5 1 0 250269 542523392 18638 "
    "18446744073709551615 1610616832 1619757968 140735398216016 0 0 0 4096 16781313 402679514 1 0 0 17 0 0 0 0 0 0 0\n"
)
SCHEDSTAT = "749665341 3154698860 26813\n"
CGROUP_1 = "3:cpuset:/\n1:cpu:/\n0::/\n"
CGROUP_2 = "0::/user.slice/bed.scope\n"
CPU_STAT_1 = "nr_periods 0\nnr_throttled 0\nthrottled_time 0\nnr_bursts 0\nburst_time 0\n"
CPU_STAT_2 = (
    "usage_usec 2635391078\nuser_usec 2117088373\nsystem_usec 518302704\nnr_periods 812\nnr_throttled 3\n"
    "throttled_usec 41250\n"
)


class Tree:
    """A /proc and a /sys, of a bed process 23667 below an init 23660."""

    def __init__(self, folder: Path) -> None:
        self.proc, self.system = folder / "proc", folder / "sys"
        self.process(23660, "python3", parent=1)
        self.process(23667, "python3", parent=23660)
        (self.proc / "self").symlink_to("23667")
        self.write("stat", STAT)
        self.write("loadavg", "9.06 7.64 6.76 13/223 25927\n")

    def write(self, name: str, text: str) -> None:
        path = self.proc / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def process(self, pid: int, name: str, parent: int, ticks: str = "0 0 0 0", schedstat: str = "") -> None:
        self.write(f"{pid}/stat", f"{pid} ({name}) S {parent} {pid} {pid} 0 -1 4194304 1 1 0 0 {ticks} 20 0 1 0\n")
        (self.proc / str(pid) / "task" / str(pid)).mkdir(parents=True, exist_ok=True)
        if schedstat:
            self.write(f"{pid}/task/{pid}/schedstat", schedstat)

    def cgroup(self, folder: str, text: str) -> None:
        path = self.system / "fs" / "cgroup" / folder / "cpu.stat"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def reader(self) -> Reader:
        return Reader(self.proc, self.system)


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path)


def test_the_kernels_counts_are_read(tree: Tree) -> None:
    tree.write("pressure/cpu", CPU_PRESSURE)
    tree.write("pressure/io", IO_PRESSURE)
    reading = tree.reader().reading()
    assert reading["total_s"] == pytest.approx(5037.60)
    assert reading["idle_s"] == pytest.approx(2400.21), "waiting for a disk is idle time"
    assert reading["steal_s"] == pytest.approx(2.56)
    assert reading["load"] == 9.06
    assert reading["pressure"] == {
        "cpu": {"some": 974768777, "full": 0},
        "io": {"some": 34565941, "full": 17282811},
        "memory": None,
    }


def test_what_a_kernel_does_not_have_is_none_and_never_0(tree: Tree) -> None:
    tree.write("stat", "intr 0\n")
    reading = tree.reader().reading()
    absent = {key: reading[key] for key in ("total_s", "idle_s", "steal_s", "throttling", "thermal", "frequency")}
    assert set(absent.values()) == {None}
    assert set(reading["pressure"].values()) == {None}
    assert [each["wait_s"] for each in reading["processes"]] == [None]


def test_our_processes_are_those_below_the_beds_parent(tree: Tree) -> None:
    tree.write("23678/stat", UML)
    tree.write("23678/task/23678/schedstat", SCHEDSTAT)
    tree.write("23678/task/23721/schedstat", "30179 1907482 1\n")
    tree.process(23700, "guest) (of it", parent=23678, ticks="3 4 5 6")
    tree.process(500, "compiler", parent=1, ticks="900 0 0 0")
    processes = {each["pid"]: each for each in tree.reader().processes()}
    assert set(processes) == {23667, 23678, 23700}
    assert processes[23678]["names"] == ["linux.uml", "python3"]
    assert processes[23678]["cpu_s"] == pytest.approx(0.74)
    assert processes[23678]["children_s"] == pytest.approx(0.09)
    assert processes[23678]["wait_s"] == pytest.approx(3.156606342)
    assert processes[23700]["names"][0] == "guest) (of it"
    assert processes[23700]["cpu_s"] == pytest.approx(0.07)


def test_limits_of_every_control_group_above_us_count(tree: Tree) -> None:
    tree.write("23667/cgroup", CGROUP_2)
    tree.cgroup("user.slice/bed.scope", CPU_STAT_2)
    tree.cgroup("user.slice", CPU_STAT_2)
    tree.cgroup("elsewhere", CPU_STAT_2)
    tree.cgroup("", "usage_usec 1\n")
    assert tree.reader().throttling() == {"times": 6, "seconds": pytest.approx(0.0825)}


def test_control_groups_of_version_1_count_nanoseconds(tree: Tree) -> None:
    tree.write("23667/cgroup", CGROUP_1)
    tree.cgroup("cpu", CPU_STAT_1.replace("nr_throttled 0", "nr_throttled 2").replace("d_time 0", "d_time 1500000"))
    assert tree.reader().throttling() == {"times": 2, "seconds": pytest.approx(0.0015)}


def test_hot_and_slow_processors_are_seen(tree: Tree) -> None:
    for number, now in ((0, "1200000"), (1, "2400000")):
        folder = tree.system / "devices" / "system" / "cpu" / f"cpu{number}"
        (folder / "cpufreq").mkdir(parents=True)
        (folder / "cpufreq" / "scaling_cur_freq").write_text(now)
        (folder / "cpufreq" / "cpuinfo_max_freq").write_text("2400000")
        (folder / "thermal_throttle").mkdir()
        (folder / "thermal_throttle" / "core_throttle_count").write_text("4\n")
    assert tree.reader().frequency() == pytest.approx(0.75)
    assert tree.reader().thermal() == 8


def process(pid: int, cpu_s: float, *names: str, children_s: float = 0.0, wait_s: float | None = 0.0) -> dict[str, Any]:
    return {"pid": pid, "names": [*names, "python3"], "cpu_s": cpu_s, "children_s": children_s, "wait_s": wait_s}


def reading(at_s: float, total_s: float, idle_s: float, *processes: dict[str, Any], some: int = 0) -> dict[str, Any]:
    pressure = {"cpu": {"some": some, "full": 0}, "io": {"some": 0, "full": 0}, "memory": {"some": 0, "full": 0}}
    return {
        "at_s": at_s,
        "total_s": total_s,
        "idle_s": idle_s,
        "steal_s": 0.0,
        "load": 0.5,
        "pressure": pressure,
        "throttling": {"times": 0, "seconds": 0.0},
        "thermal": 0,
        "frequency": 1.0,
        "processes": list(processes),
    }


def samples(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    between = [
        {"at_s": 10.0, "total_s": 20.0, "idle_s": 8.0, "waited_s": 0.0},
        {"at_s": 10.1, "total_s": 20.2, "idle_s": 8.1, "waited_s": 0.02},
        {"at_s": 10.2, "total_s": 20.4, "idle_s": 8.3, "waited_s": None},
    ]
    read = {"before": before, "after": after, "samples": between, "stopped": []}
    return {**read, "sampling_s": 0.001, "processors": 2}


QUIET = samples(
    reading(10.0, 20.0, 8.0, process(1, 1.0), process(2, 5.0, "apache2"), process(3, 0.5, "linux.uml")),
    reading(
        12.0,
        24.0,
        10.5,
        process(1, 1.1, children_s=0.05),
        process(2, 5.2, "apache2", children_s=0.1),
        process(3, 0.6, "linux.uml", wait_s=0.01),
        process(4, 0.8, "chromium"),
        process(5, 0.1, "chrome_helper", "chromium"),
    ),
)


def recorded(data: dict[str, Any]) -> MachineEvidence:
    return evidence_of([MachineReport.of(("client", "router", "server"), data)])


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
