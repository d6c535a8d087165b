"""What the sampler of the machine reads of the kernel: a made-up /proc."""

from pathlib import Path

import pytest

from lanelab.driver.bed.remote.sampler import Reader

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
