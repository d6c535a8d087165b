"""Workers, scheduler and controller as processes of real Dask: who comes, who goes, and what is told of it."""

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import distributed
import pytest

from lanelab.driver.base.errors import ClusterAway, ClusterError, InputError
from lanelab.driver.base.paths import PROJECT, SOURCES, build_folder
from lanelab.driver.run.events import Event, Notice
from lanelab.driver.run.sweep import children, dask_cluster, own_scheduler
from lanelab.driver.run.sweep.address import SchedulerAddress, address_of
from lanelab.driver.run.sweep.cluster import Away, Finished, Happening, Joined, Left, WorkerEvent
from lanelab.driver.run.sweep.dask_cluster import DaskCluster
from lanelab.driver.run.sweep.keys import make_keys
from lanelab.driver.run.sweep.own_scheduler import OwnScheduler
from lanelab.driver.run.sweep.probe import require_scheduler
from lanelab.driver.run.sweep.supervisor import Lent, Supervisor
from tests.kit.dask_jobs import Order
from tests.kit.wait import wait_until

JOBS = "tests.kit.dask_jobs"
PATIENCE_S = 90.0  # of a busy machine; nothing here waits so long otherwise
Kind = TypeVar("Kind", Joined, Left, Finished, WorkerEvent, Away)
# A scheduler as a user has one who has no lanelab.
STRANGER = f"""
import sys
sys.path = [each for each in sys.path if each != {str(SOURCES)!r}]
try:
    import lanelab
except ImportError:
    from distributed.cli.dask_scheduler import main
    sys.argv[1:] = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", sys.argv[1]]
    main()
"""


@dataclass
class Watched:
    """A cluster, and what happened in it that no test has asked for yet."""

    cluster: DaskCluster
    seen: list[Happening] = field(default_factory=list)

    def next(self, kind: type[Kind], want: Callable[[Kind], bool] = lambda _each: True) -> Kind:
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            self.seen += self.cluster.wait(0.5)
            for each in self.seen:
                if isinstance(each, kind) and want(each):
                    self.seen.remove(each)
                    return each
        raise AssertionError(f"no {kind.__name__} in {PATIENCE_S:g} s, but {self.seen}")

    def do(self, worker: str, **payload: Any) -> Finished:
        number = self.cluster.start(worker, "play", Order(payload))
        return self.next(Finished, lambda each: each.job == number)


@pytest.fixture(scope="module", autouse=True)
def _workers_find_the_tests() -> Iterator[None]:
    """Their jobs are in the project, and a worker looks for modules in the package alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(children, "START", f"import sys; sys.path.append({str(PROJECT)!r}); {children.START}")
        yield


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnScheduler]:
    with own_scheduler.start(tmp_path_factory.mktemp("run") / "cluster", "of tests") as own:
        yield own


@pytest.fixture(scope="module")
def lent(scheduler: OwnScheduler) -> Iterator[Supervisor]:
    processors = sorted(os.sched_getaffinity(0))
    with Supervisor(scheduler.where, Lent(machine="rack", jobs=JOBS), processors=[processors[:1]]) as supervisor:
        yield supervisor


@pytest.fixture
def watched(scheduler: OwnScheduler) -> Iterator[Watched]:
    with dask_cluster.connect(scheduler.where) as cluster:
        yield Watched(cluster)


@pytest.mark.usefixtures("lent")
def test_a_worker_does_jobs_and_says_how_they_went(watched: Watched) -> None:
    joined = watched.next(Joined)
    assert joined.name == "rack/1"
    about: Any = watched.do(joined.worker, do="about").value
    assert about["name"] == "rack/1"
    assert about["processors"] == sorted(os.sched_getaffinity(0))[:1]
    assert about["allowed"] == []
    assert watched.do(joined.worker, do="bytes", size=5_000_000).value == bytes(5_000_000)
    assert watched.do(joined.worker, x=[1, None, "ä"]).value == {"echo": {"x": [1, None, "ä"]}}
    wrong = watched.do(joined.worker, do="fail").error
    assert isinstance(wrong, InputError)
    assert (wrong.what, wrong.remedy, wrong.key) == ("that is wrong", "Do it right", "rtt")
    broken = watched.do(joined.worker, do="break").error
    assert isinstance(broken, ClusterError)
    assert "ZeroDivisionError" in str(broken)
    assert "rack/1" in str(broken)


@pytest.mark.usefixtures("lent")
def test_jobs_of_one_worker_are_done_one_after_the_other_in_order(watched: Watched) -> None:
    worker = watched.next(Joined).worker
    numbers = [watched.cluster.start(worker, "play", Order({"x": number})) for number in range(20)]
    assert [watched.next(Finished).job for _ in numbers] == numbers


@pytest.mark.usefixtures("lent")
def test_events_reach_the_controller_whose_job_it_is_and_no_other(watched: Watched, scheduler: OwnScheduler) -> None:
    with dask_cluster.connect(scheduler.where) as cluster:
        other = Watched(cluster)
        other.next(Joined)
        worker = watched.next(Joined).worker
        watched.do(worker, do="tell")
        assert watched.next(WorkerEvent) == WorkerEvent(worker, Notice("seven"))
        other.do(worker, do="about")
        assert not [each for each in other.seen if isinstance(each, WorkerEvent)]


@pytest.mark.usefixtures("lent")
def test_halting_reaches_a_job_under_way_and_those_that_wait(watched: Watched) -> None:
    worker = watched.next(Joined).worker
    numbers = [watched.cluster.start(worker, "play", Order({"do": "until-halted"})) for _ in range(2)]
    watched.cluster.halt()
    assert {watched.next(Finished).job for _ in numbers} == set(numbers)


@pytest.mark.usefixtures("lent")
def test_a_job_whose_controller_is_gone_is_halted_and_the_next_controller_is_not(scheduler: OwnScheduler) -> None:
    with dask_cluster.connect(scheduler.where) as cluster:
        first = Watched(cluster)
        cluster.start(first.next(Joined).worker, "play", Order({"do": "until-halted"}))
    with dask_cluster.connect(scheduler.where) as cluster:
        second = Watched(cluster)
        worker = second.next(Joined).worker
        assert second.do(worker, x=1).value == {"echo": {"x": 1}}


def test_a_worker_that_is_killed_has_left_once_and_another_one_comes(lent: Supervisor, watched: Watched) -> None:
    worker = watched.next(Joined).worker
    watched.cluster.start(worker, "play", Order({"do": "until-halted"}))
    pid = watched_pid(lent)
    os.kill(pid, signal.SIGKILL)
    left = watched.next(Left)
    assert left.worker == worker
    again = watched.next(Joined).worker
    assert again != worker
    about: Any = watched.do(again, do="about").value
    assert about["pid"] != pid
    assert not [each for each in watched.seen if isinstance(each, Finished | Left)]


def watched_pid(supervisor: Supervisor) -> int:
    return supervisor.pids[1]


def test_a_scheduler_that_is_killed_comes_back_and_its_workers_join_again(tmp_path: Path) -> None:
    with (
        own_scheduler.start(tmp_path / "cluster", "of tests") as own,
        dask_cluster.connect(own.where) as cluster,
        Supervisor(own.where, Lent(jobs=JOBS), processors=[sorted(os.sched_getaffinity(0))]),
    ):
        watched = Watched(cluster)
        worker = watched.next(Joined).worker
        cluster.start(worker, "play", Order({"do": "until-halted"}))
        os.kill(own.pid, signal.SIGKILL)
        watched.next(Away)
        again = watched.next(Joined).worker
        assert watched.do(again, x=2).value == {"echo": {"x": 2}}
        assert not [each for each in watched.seen if isinstance(each, Finished)]


def test_a_run_that_goes_on_has_the_same_address_and_keys_which_others_cannot_read(tmp_path: Path) -> None:
    folder = tmp_path / "cluster"
    with own_scheduler.start(folder, "of tests") as first:
        before = first.where
    with own_scheduler.start(folder, "of tests") as second:
        assert second.where == before
        assert address_of(str(second.invitation)) == before
    assert folder.stat().st_mode & 0o077 == 0
    assert all(each.stat().st_mode & 0o077 == 0 for each in folder.iterdir())


def test_other_keys_are_refused_and_so_is_talk_without_them(scheduler: OwnScheduler) -> None:
    address = scheduler.where.address
    with pytest.raises(ClusterError, match="keys of another run"):
        dask_cluster.connect(SchedulerAddress(address, make_keys("another")))
    with pytest.raises(ClusterError, match="without TLS"):
        dask_cluster.connect(SchedulerAddress(address.replace("tls://", "tcp://"), None))


def test_what_is_no_scheduler_is_called_by_its_name(scheduler: OwnScheduler, tmp_path: Path) -> None:
    keys = scheduler.where.keys
    with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as silent:
        port = silent.getsockname()[1]
        with pytest.raises(ClusterError, match="does not speak"):
            require_scheduler(SchedulerAddress(f"tls://127.0.0.1:{port}", keys))
    with pytest.raises(ClusterAway, match="nothing answers"):
        require_scheduler(SchedulerAddress(f"tls://127.0.0.1:{port}", keys))
    with pytest.raises(InputError, match="cannot listen"), own_scheduler.start(tmp_path, "x", listen="192.0.2.1:1"):
        pass


def test_a_worker_is_no_scheduler(scheduler: OwnScheduler, lent: Supervisor, watched: Watched) -> None:
    assert lent.pids
    address = watched.next(Joined).worker.split()[0]
    with pytest.raises(ClusterError, match="not a Dask scheduler, but a QuietWorker"):
        require_scheduler(SchedulerAddress(address, scheduler.where.keys))


def test_a_scheduler_of_another_version_is_named_with_both(
    scheduler: OwnScheduler, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = distributed.__version__
    monkeypatch.setattr(distributed, "__version__", "2020.1.0")
    with pytest.raises(ClusterError, match=rf"is Dask {own}, and lanelab's is 2020\.1\.0"):
        require_scheduler(scheduler.where)


def test_a_scheduler_without_lanelab_and_a_worker_of_somebody_else_will_do(tmp_path: Path) -> None:
    file = tmp_path / "scheduler"
    guest = [sys.executable, "-m", "distributed.cli.dask_worker", "--no-nanny", "--nthreads", "1", "--no-dashboard"]
    with running([sys.executable, "-I", "-c", STRANGER, str(file)]) as stranger:
        wait_until(lambda: file.exists() or stranger.poll() is not None, PATIENCE_S)
        address = json.loads(file.read_text())["address"]
        environment = {"LANELAB_BUILD": str(build_folder().absolute())}
        local = ["--resources", "bed=1", "--name", "slurm-3", "--local-directory", str(tmp_path)]
        with (
            dask_cluster.connect(address_of(address)) as cluster,
            running([*guest, *local, address], environment),
            running([*guest, address]),  # without a bed: none of ours
        ):
            watched = Watched(cluster)
            joined = watched.next(Joined)
            assert joined.name == "slurm-3"
            answer = watched.do(joined.worker)
            assert answer.error is not None  # the real jobs, which were told of no run; it has arrived
            assert not [each for each in watched.seen if isinstance(each, Joined)]


def test_a_supervisor_that_is_killed_leaves_no_worker(scheduler: OwnScheduler, watched: Watched) -> None:
    program = [sys.executable, "-c", SUPERVISOR, str(scheduler.invitation)]
    with running(program, stdout=subprocess.PIPE) as supervisor:
        assert supervisor.stdout
        pids = json.loads(supervisor.stdout.readline())
        names = {watched.next(Joined, lambda each: each.name.startswith("dying/")).name for _ in pids}
        assert names == {"dying/1", "dying/2"}
        os.kill(supervisor.pid, signal.SIGKILL)
        for _ in pids:
            watched.next(Left)
        for pid in pids:
            wait_for_end(pid)


SUPERVISOR = f"""
import json, sys
from tests.kit.wait import wait_until
from lanelab.driver.run.sweep.address import address_of
from lanelab.driver.run.sweep.supervisor import Lent, Supervisor
import os
processors = [sorted(os.sched_getaffinity(0))] * 2
with Supervisor(address_of(sys.argv[1]), Lent(2, "dying", jobs={JOBS!r}), processors=processors) as supervisor:
    wait_until(lambda: len(supervisor.pids) == 2)
    print(json.dumps(list(supervisor.pids.values())), flush=True)
    supervisor.wait()
"""


def test_ctrl_c_ends_lanelab_worker_and_its_workers(scheduler: OwnScheduler, watched: Watched) -> None:
    program = [sys.executable, "-m", "lanelab.driver.cli", "worker", str(scheduler.invitation), "--machine", "mine"]
    with running(program, stderr=subprocess.PIPE) as process:
        watched.next(Joined, lambda each: each.name == "mine/1")
        process.send_signal(signal.SIGINT)
        watched.next(Left)
        assert process.wait(PATIENCE_S) == 0
        assert process.stderr
        assert "is lent" in process.stderr.read()


def test_the_guides_command_ends_a_worker_and_nothing_else(scheduler: OwnScheduler, watched: Watched) -> None:
    """Its pattern finds the process that `./lanelab worker` becomes, and not the shell that looks for it. `pgrep` looks
    as `pkill` does: the machine may have workers that are none of this test's."""
    guide = (PROJECT / "docs" / "laptop-to-cluster.md").read_text()
    (found,) = re.findall(r"""'pkill -(\w+) -f ("[^"]+")'""", guide)
    assert "-m lanelab.driver.cli " in (PROJECT / "lanelab").read_text()
    program = [sys.executable, "-m", "lanelab.driver.cli", "worker", str(scheduler.invitation), "--machine", "far"]
    with running(program, stderr=subprocess.DEVNULL) as process:
        watched.next(Joined, lambda each: each.name == "far/1")
        look = subprocess.Popen(["sh", "-c", f"pgrep -f {found[1]}; true"], stdout=subprocess.PIPE, text=True)
        pids = look.communicate()[0].split()
        assert str(process.pid) in pids
        assert str(look.pid) not in pids
        process.send_signal(getattr(signal, f"SIG{found[0]}"))
        watched.next(Left)
        assert process.wait(PATIENCE_S) == 0


def test_a_supervisor_waits_for_a_scheduler_that_is_not_there_yet(tmp_path: Path) -> None:
    with own_scheduler.start(tmp_path / "cluster", "of tests") as own:
        where = own.where
    events: list[Event] = []
    with Supervisor(where, Lent(jobs=JOBS), tell=events.append, processors=[sorted(os.sched_getaffinity(0))]):
        wait_until(lambda: events, PATIENCE_S)
        assert [each.kind for each in events] == ["scheduler-away"]
        with (
            own_scheduler.start(tmp_path / "cluster", "of tests") as own,
            dask_cluster.connect(own.where) as cluster,
        ):
            Watched(cluster).next(Joined)


@contextlib.contextmanager
def running(
    argv: list[str], environment: dict[str, str] | None = None, **pipes: int
) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(argv, text=True, cwd=PROJECT, env={**os.environ, **(environment or {})}, **pipes)  # type: ignore[call-overload]
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def wait_for_end(pid: int) -> None:
    """Of a process that is not our child."""

    def has_ended() -> bool:
        with contextlib.suppress(ProcessLookupError, FileNotFoundError):
            return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
        return True

    wait_until(has_ended, PATIENCE_S, lambda: f"the end of process {pid}")
