"""What the sampler of the server node reads: a made-up /proc, a made-up scoreboard, and the kernel's own sockets."""

import json
import os
import socket
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from lanelab.driver.bed.remote import connections, server_sampler
from lanelab.driver.bed.remote.node_counters import Counters
from lanelab.driver.bed.remote.role_processes import Roles
from lanelab.driver.bed.remote.scoreboard import FILE, Scoreboard, Unreadable

ADDRESS, PID = 512, 4711
PROCESSES_AT, PROCESS_BYTES, SLOT_BYTES, STATUS_AT = 48, 40, 336, 20
READY, READING, WRITING, KEEPALIVE, CLOSING = 2, 3, 4, 5, 8


class Apache:
    """A folder and a /proc of an httpd with so many processes and threads."""

    def __init__(self, folder: Path, statuses: Sequence[Sequence[int]]) -> None:
        self.folder, self.proc, self.statuses = folder, folder / "proc", statuses
        self.pids, self.quiescing = [100 + each for each in range(len(statuses))], [0] * len(statuses)
        self.limits = len(statuses), len(statuses[0])
        self.told: dict[str, Any] = {
            "pid": PID,
            "address": ADDRESS,
            "server_limit": self.limits[0],
            "thread_limit": self.limits[1],
            "most_workers": self.limits[0] * self.limits[1],
            "processes_at": PROCESSES_AT,
            "process_bytes": PROCESS_BYTES,
            "pid_at": 0,
            "quiescing_at": 8,
            "slots_at": PROCESSES_AT + PROCESS_BYTES * self.limits[0],
            "slot_bytes": SLOT_BYTES,
            "status_at": STATUS_AT,
            "statuses": 11,
        }
        self.memory = folder / "proc" / str(PID) / "mem"
        self.memory.parent.mkdir(parents=True)

    def write(self, cut: int = 0) -> Scoreboard:
        data = struct.pack("=ii", *self.limits).ljust(PROCESSES_AT, b"\xee")
        for pid, quiescing in zip(self.pids, self.quiescing, strict=True):
            data += struct.pack("=iib", pid, 0, quiescing).ljust(PROCESS_BYTES, b"\xee")
        for status in (each for process in self.statuses for each in process):
            data += (b"\xee" * STATUS_AT + bytes([status])).ljust(SLOT_BYTES, b"\xee")
        self.memory.write_bytes(b"\xff" * ADDRESS + data[: len(data) - cut])
        (self.folder / FILE).write_text(json.dumps(self.told))
        return Scoreboard(self.folder, self.proc)


@pytest.fixture
def apache(tmp_path: Path) -> Apache:
    return Apache(tmp_path, [[READY, READING, WRITING], [KEEPALIVE, KEEPALIVE, CLOSING]])


def test_workers_are_counted_by_state(apache: Apache) -> None:
    counted = apache.write().read()
    assert counted == {"busy": 5, "idle": 1, "keepalive": 2, "reading": 1, "writing": 1}


@pytest.mark.parametrize("state", [0, 1, 2, 10])
def test_who_is_dead_starting_waiting_or_ending_is_not_busy(apache: Apache, state: int) -> None:
    apache.statuses = [[state] * 3, [WRITING] * 3]
    counted = apache.write().read()
    assert counted
    assert (counted["busy"], counted["idle"]) == (3, 3 if state == READY else 0)


def test_processes_that_have_ended_or_are_ending_have_no_workers(apache: Apache) -> None:
    apache.pids[1] = 0
    counted = apache.write().read()
    assert counted
    assert counted["busy"] == 2
    apache.pids[1], apache.quiescing[1] = 101, 1
    assert apache.write().read() == counted


def test_an_apache_that_has_ended_has_no_workers_any_more(apache: Apache) -> None:
    board = apache.write()
    apache.memory.write_bytes(b"")
    assert board.read() is None
    board.close()


def test_other_limits_than_apache_says_are_no_scoreboard(apache: Apache) -> None:
    apache.limits = 2, 4
    with pytest.raises(Unreadable, match="its limits are 2 and 4"):
        apache.write().read()


def test_a_state_that_does_not_exist(apache: Apache) -> None:
    apache.statuses = [[READY] * 3, [READY, READY, 11]]
    with pytest.raises(Unreadable, match="state 11"):
        apache.write().read()


def test_entries_of_another_length_are_noticed(apache: Apache) -> None:
    """As with headers of another Apache."""
    apache.told["slot_bytes"] = SLOT_BYTES - 8
    with pytest.raises(Unreadable):
        apache.write().read()


def test_a_negative_process(apache: Apache) -> None:
    apache.pids[0] = -5
    with pytest.raises(Unreadable, match="-5"):
        apache.write().read()


def test_one_that_is_cut_off(apache: Apache) -> None:
    with pytest.raises(Unreadable, match="it ends after"):
        apache.write(cut=1).read()


@pytest.mark.parametrize(
    "change",
    [
        {"address": "1"}, {"slots_at": -1}, {"slot_bytes": True}, {"more": 1}, {"fault": "no table"}, {"statuses": 12},
        {"slot_bytes": 20}, {"most_workers": 7}, {"most_workers": 0}, {"process_bytes": 8}, {"slots_at": 60},
        {"server_limit": 0}, {"thread_limit": 1 << 40}, {"pid": 4712},
    ],
)  # fmt: skip
def test_what_apache_tells_of_it_may_be_wrong(apache: Apache, change: dict[str, Any]) -> None:
    apache.told |= change
    with pytest.raises(Unreadable):
        apache.write()


# --- connections

TCP = """  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 00000000:0050 00000000:0000 0A 00000000:00000158 00:00000000 00000000     0        0 1 1 0 100 0 0 10 0
   1: 02020A0A:0050 02010A0A:9C40 01 00000000:00000000 00:00000000 00000000     0        0 2 1 0 20 4 0 10 -1
   2: 02020A0A:0050 02010A0A:9C41 01 00000000:0000004E 00:00000000 00000000     0        0 3 1 0 20 4 0 10 -1
   3: 02020A0A:0050 02010A0A:9C42 06 00000000:00000000 03:00000F47 00000000     0        0 0 3 0
   4: 02020A0A:0050 02010A0A:9C43 08 00000000:00000001 00:00000000 00000000     0        0 4 1 0 20 4 0 10 -1
   5: 02020A0A:1F90 02010A0A:9C44 01 00000000:00000000 00:00000000 00000000     0        0 5 1 0 20 4 0 10 -1
"""


def test_connections_of_a_made_up_proc(tmp_path: Path) -> None:
    (tmp_path / "net").mkdir()
    (tmp_path / "net" / "tcp").write_text(TCP)
    counted = connections.counted({80}, tmp_path, diagnosis=False)
    assert counted == {"established": 2, "closing": 1, "waiting": 344, "behind": 0}


@pytest.mark.parametrize("family", [socket.AF_INET, socket.AF_INET6])
@pytest.mark.parametrize("diagnosis", [True, False])
def test_connections_of_the_kernel(family: socket.AddressFamily, diagnosis: bool) -> None:
    if diagnosis and not connections.has_diagnosis():
        pytest.skip("this kernel tells of no sockets")
    if family == socket.AF_INET6 and not Path("/proc/net/tcp6").exists():
        pytest.skip("this kernel has no IPv6")
    opened: list[socket.socket] = []
    try:
        listener = socket.create_server(("::1" if family == socket.AF_INET6 else "127.0.0.1", 0), family=family)
        opened.append(listener)
        port = listener.getsockname()[1]
        opened += [socket.create_connection(listener.getsockname()[:2]) for _ in range(3)]
        assert connections.counted({port}, diagnosis=diagnosis) == {
            "established": 3,
            "closing": 0,
            "waiting": 3,
            "behind": 0,
        }
        accepted = listener.accept()[0]
        opened.append(accepted)
        assert connections.counted({port}, diagnosis=diagnosis) == {
            "established": 3,
            "closing": 0,
            "waiting": 2,
            "behind": 0,
        }
        accepted.shutdown(socket.SHUT_WR)
        counted = connections.counted({port}, diagnosis=diagnosis)
        assert counted == {"established": 2, "closing": 1, "waiting": 2, "behind": 0}
    finally:
        for each in opened:
            each.close()


# --- processes


class Proc:
    """A /proc with processes that work in folders."""

    def __init__(self, proc: Path) -> None:
        self.proc = proc

    def process(self, pid: int, works_in: str, ticks: str = "0 0 0 0", state: str = "S", threads: int = 1) -> None:
        folder = self.proc / str(pid)
        (folder / "fd").mkdir(parents=True)
        (folder / "cwd").symlink_to(works_in)
        middle = "1 1 1 0 -1 4194304 1 1 0 0"
        (folder / "stat").write_text(f"{pid} (odd) name) {state} {middle} {ticks} 20 0 {threads} 0 5000 1 1\n")
        rolled = f"5581-7ffd ---p 0 00:00 0  [rollup]\nRss: 9 kB\nPss:   {pid} kB\nPss_Dirty: 1 kB\n"
        (folder / "smaps_rollup").write_text(rolled)


@pytest.fixture
def proc(tmp_path: Path) -> Proc:
    made = Proc(tmp_path)
    made.process(10, "/run/server", "100 20 3 4", threads=5)
    made.process(11, "/run/server", "1 1 0 0", threads=7)
    made.process(12, "/run/server", "2 0 0 0", state="Z")
    made.process(13, "/run/proxy")
    made.process(14, "/")
    (tmp_path / "meminfo").write_text("")
    return made


def roles(proc: Proc) -> Roles:
    return Roles({"server": "/run/server", "proxy": "/run/proxy", "back_end": "/run/back_end"}, proc.proc)


def test_a_process_is_of_the_role_in_whose_folder_it_works(proc: Proc) -> None:
    looking = roles(proc)
    found = {role: sorted(pids) for role, pids in looking.find().items()}
    assert found == {"server": ["10", "11", "12"], "proxy": ["13"], "back_end": []}
    proc.process(15, "/run/back_end")
    assert looking.find()["back_end"] == ["15"]


def test_time_is_that_of_processes_and_their_ended_children(proc: Proc) -> None:
    use = roles(proc).use(["10", "11", "12", "99"])
    assert use["cpu_s"] == pytest.approx(131 / os.sysconf("SC_CLK_TCK"))
    assert (use["processes"], use["threads"]) == (2, 12), "one has ended, and nobody has waited for it"


def test_memory_is_added_up_and_ended_processes_have_none(proc: Proc) -> None:
    (proc.proc / "12" / "smaps_rollup").write_text("")
    assert roles(proc).memory(["10", "11", "12", "99"]) == 21 * 1024


def test_memory_that_the_kernel_does_not_tell(proc: Proc) -> None:
    (proc.proc / "self").mkdir()
    for pid in ("10", "11"):
        (proc.proc / pid / "smaps_rollup").unlink()
    assert roles(proc).memory(["10", "11"]) is None


def test_a_control_group_counts_where_it_is_not_ours(proc: Proc, tmp_path: Path) -> None:
    mounts = tmp_path / "cgroup"
    (mounts / "own").mkdir(parents=True)
    (mounts / "own" / "memory.current").write_text("12345\n")
    for pid, path in (("self", "/bed"), ("10", "/own"), ("11", "/bed")):
        (proc.proc / pid).mkdir(exist_ok=True)
        (proc.proc / pid / "cgroup").write_text(f"0::{path}\n")
    looking = roles(proc)
    assert looking.cgroup_memory(["10"], mounts) == 12345
    assert looking.cgroup_memory(["11"], mounts) is None, "it is the sampler's too"
    assert looking.cgroup_memory([], mounts) is None


def test_open_files_are_counted(tmp_path: Path) -> None:
    with (tmp_path / "one").open("w"), (tmp_path / "two").open("w"):
        looking = Roles({})
        before = looking.files([str(os.getpid())])
        with (tmp_path / "three").open("w"):
            after = looking.files([str(os.getpid())])
    assert before is not None
    assert after == before + 1


# --- counters


def test_counters_of_the_node(tmp_path: Path) -> None:
    (tmp_path / "net").mkdir()
    (tmp_path / "stat").write_text("cpu  100 0 100 700 50 0 0 50 9 9\ncpu0 1 1 1 1 1 1 1 1 1 1\n")
    (tmp_path / "meminfo").write_text("MemTotal: 9 kB\nMemAvailable:   2048 kB\n")
    (tmp_path / "net" / "dev").write_text(
        "Inter-|   Receive  |  Transmit\n face |bytes packets\n"
        "  eth0: 1000 1 0 0 0 0 0 0 2000 2 0 0 0 0 0 0\n mgmt0: 7 1 0 0 0 0 0 0 8 2 0 0 0 0 0 0\n"
    )
    (tmp_path / "net" / "netstat").write_text("TcpExt: A ListenOverflows B\nTcpExt: 1 17 3\nIpExt: C\nIpExt: 4\n")
    (tmp_path / "net" / "sockstat").write_text("sockets: used 5\nTCP: inuse 2 orphan 0 tw 33 alloc 5 mem 1\n")
    read = Counters("10.10.0.0/16", tmp_path, ["eth0"]).read()
    tick = 1 / os.sysconf("SC_CLK_TCK")
    assert read == {
        "total_s": pytest.approx(1000 * tick),
        "idle_s": pytest.approx(750 * tick),
        "available": 2 << 20,
        "received": 1000,
        "sent": 2000,
        "overflows": 17,
        "time_wait": 33,
    }


def test_what_the_kernel_does_not_count_is_none(tmp_path: Path) -> None:
    assert set(Counters("10.10.0.0/16", tmp_path, ["eth0"]).read().values()) == {None}


def answer(state: int, port: int, length: int = 80) -> bytes:
    """One of the kernel's about a socket."""
    head = struct.pack("=IHHII", length, 20, 2, 1, 0) + struct.pack("=BBBB", 2, state, 0, 0)
    return (head + struct.pack(">H", port)).ljust(length, b"\0")


@pytest.mark.parametrize("odd", [False, True])
def test_answers_of_one_length_and_of_several_are_counted_alike(monkeypatch: pytest.MonkeyPatch, odd: bool) -> None:
    class Kernel:
        def __init__(self) -> None:
            many = answer(1, 80) * 500 + answer(4, 80) * 7 + answer(1, 443) * 3
            self.said = [many + (answer(1, 80, 88) if odd else answer(1, 80)), struct.pack("=IHHII", 20, 3, 2, 1, 0)]

        def recv(self, _most: int) -> bytes:
            return self.said.pop(0)

    monkeypatch.setattr(connections, "_of_the_kernel", lambda _ports: connections._answers(Kernel()))  # type: ignore[arg-type]
    assert connections.counted({80}) == {"established": 501, "closing": 7, "waiting": 0, "behind": 0}
    assert connections.counted({443}, behind={80})["behind"] == 501


def test_without_ports_over_tcp_there_are_no_connections_to_count() -> None:
    settings: server_sampler.Settings = {"folders": {}, "ports": [], "ports_behind": [], "network": "10.10.0.0/16"}
    assert server_sampler.Reader(settings).sample(0)["connections"] is None
    counted = server_sampler.Reader({**settings, "ports": [1]}).sample(0)["connections"]
    assert counted is not None
    assert counted["established"] == 0
