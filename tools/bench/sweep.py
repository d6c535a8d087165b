"""`lanelab bench sweep`: what a sweep costs beside its trials. Workers that sleep, a real scheduler, the real messages,
controller and store."""

import json
import os
import shutil
import sqlite3
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from lanelab.driver.base import paths
from lanelab.driver.base.coded import Coded
from lanelab.driver.base.errors import BedError
from lanelab.driver.experiment.schedule.stopping import Statistics
from lanelab.driver.run.events import Event
from lanelab.driver.run.folder import format as run_format
from lanelab.driver.run.runner import StopRequest
from lanelab.driver.run.start import begin
from lanelab.driver.run.sweep.cluster import Cluster
from lanelab.driver.run.sweep.controller import Controller, Patience
from lanelab.driver.run.sweep.events import (
    ClusterAway,
    PortionBegun,
    PortionStored,
    PortionUndone,
    WorkerLeft,
    WorkerRefused,
)
from lanelab.driver.run.this_machine import this_machine
from tools.bench.figures import Figure
from tools.bench.sleeping import TOOLS_ROOT, Sleep, SleepingWorker, registered, sleeping_experiment
from tools.bench.thread_cluster import ThreadCluster

Tell = Callable[[str], None]

EFFICIENCY_TARGET = 0.9
FLAT_KIB = 1024  # growth of the controller per 10,000 trials that is still called flat
SETTLED = 0.2  # of the trials, after which memory is looked at
MANY = 10_000
WORKERS_OF_A_HOST = 16
SAMPLE_S = 1.0
TELL_S = 20.0
START = "import sys; sys.path.insert(0, sys.argv[1]); from tools.bench.sweep_host import main; main()"


@dataclass(frozen=True, slots=True)
class Simulation:
    workers: int
    trials: int
    seconds: float  # of a trial
    artifact_bytes: int = 4096
    links: int = 32  # of the grid; a portion is the four arms over one of them
    dask: bool = True  # False: workers are threads of the controller's process


@dataclass(slots=True)
class Watch:
    """Counts what happens during the sweep, and what that costs."""

    tell: Tell
    began: float = 0.0  # of the first portion
    ended: float = 0.0  # of the last
    stored: int = 0
    portions: int = 0
    cpu_began: float = 0.0
    cpu_ended: float = 0.0
    lost: list[str] = field(default_factory=list)
    memory: list[tuple[int, int, int]] = field(default_factory=list)  # trials, KiB of the controller, of the scheduler
    told: float = 0.0

    def note(self, event: Event) -> None:
        match event:
            case PortionBegun() if not self.began:
                self.began, self.cpu_began = time.monotonic(), time.process_time()
            case PortionStored():
                self.stored, self.portions = self.stored + event.trials, self.portions + 1
                self.ended, self.cpu_ended = time.monotonic(), time.process_time()
                if self.ended - self.told > TELL_S:
                    self.told = self.ended
                    self.tell(f"{self.stored} trials, {self.stored / max(self.ended - self.began, 1e-9):.0f}/s")
            case PortionUndone() | WorkerLeft() | WorkerRefused() | ClusterAway():
                self.lost.append(f"{event.kind}: {event.why}")


def measure_sweep(simulation: Simulation, known: Statistics, tell: Tell, folder: Path | None = None) -> list[Figure]:
    """Run the simulation in a folder that is emptied before; None: one under build/bench."""
    folder = folder or paths.build_folder() / "bench" / "sweep"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    watch = Watch(tell)
    with registered():
        experiment = sleeping_experiment(simulation.trials, simulation.links)
        begun = begin(experiment, "simulation", folder / "run", 1, {})
        try:
            begun.store.begin_session({"simulated": True}, this_machine())
            with _cluster(simulation, folder, tell) as (cluster, scheduler), _sampled(watch, scheduler):
                patience = Patience(60, 60)
                Controller(begun, cluster, watch.note, StopRequest(), known, patience).run()
        finally:
            begun.store.close()
    wanted = len(experiment.cells) * (experiment.repeat.trials or 0)
    return _figures(simulation, watch, folder / "run", wanted)


@contextmanager
def _cluster(simulation: Simulation, folder: Path, tell: Tell) -> Iterator[tuple[Cluster, int | None]]:
    """Start the workers. Yields them, and the process of their scheduler where that is not this one."""
    sleep = Sleep(simulation.seconds, simulation.artifact_bytes)
    if simulation.dask:
        with _dask(simulation, sleep, folder, tell) as made:
            yield made
        return
    places = {f"simulated/{number}": folder / "workers" / str(number) for number in range(1, simulation.workers + 1)}
    cluster = ThreadCluster({name: SleepingWorker(name, "simulated", sleep, place) for name, place in places.items()})
    try:
        yield cluster, None
    finally:
        cluster.close()


@contextmanager
def _dask(simulation: Simulation, sleep: Sleep, folder: Path, tell: Tell) -> Iterator[tuple[Cluster, int | None]]:
    from lanelab.driver.run.sweep import dask_cluster, own_scheduler  # noqa: PLC0415
    from tools.bench.sweep_host import HostSettings  # noqa: PLC0415 - only this wants Dask

    with ExitStack() as stack:
        scheduler = stack.enter_context(own_scheduler.start(folder / "cluster", "simulation"))
        hosts: list[_Host] = []
        for first in range(1, simulation.workers + 1, WORKERS_OF_A_HOST):
            count = min(WORKERS_OF_A_HOST, simulation.workers + 1 - first)
            place = folder / "workers" / str(first)
            machine = f"simulated-{len(hosts) + 1}"
            hosts.append(_Host(HostSettings(scheduler.where, first, count, machine, sleep, place)))
            stack.callback(hosts[-1].end)
        for host in hosts:
            host.await_ready()
        tell(f"{simulation.workers} workers in {len(hosts)} processes are there")
        cluster = dask_cluster.connect(scheduler.where)
        stack.callback(cluster.close)
        yield cluster, scheduler.pid


class _Host:
    """A process of tools/bench/sweep_host.py."""

    def __init__(self, settings: Coded) -> None:
        argv = [sys.executable, "-I", "-c", START, str(TOOLS_ROOT)]
        self._process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        self._settings = settings

    def await_ready(self) -> None:
        to, back = self._process.stdin, self._process.stdout
        if to and back:
            with suppress(BrokenPipeError):
                to.write(json.dumps(self._settings.to_json()).encode() + b"\n")
            if back.readline() == b"ready\n":
                return
        raise BedError("a process of simulated workers ended before they had joined", "Its errors are above")

    def end(self) -> None:
        self._process.kill()
        self._process.communicate()


@contextmanager
def _sampled(watch: Watch, scheduler: int | None) -> Iterator[None]:
    """Watch the memory while the block runs."""
    over = threading.Event()

    def look() -> None:
        while not over.wait(SAMPLE_S):
            watch.memory.append((watch.stored, _resident_kib(os.getpid()), _resident_kib(scheduler)))

    thread = threading.Thread(target=look, name="memory", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _resident_kib(pid: int | None) -> int:
    """Return the memory; 0 where there is no such process."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except OSError:
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE") >> 10


def slope(points: list[tuple[int, int]]) -> float:
    """Return the slope of the straight line through them, by the median of pairs' slopes; 0 where there are not two
    different ones."""
    step = max(1, len(points) // 200)
    few = points[::step]
    slopes = [(b[1] - a[1]) / (b[0] - a[0]) for at, a in enumerate(few) for b in few[at + 1 :] if b[0] != a[0]]
    return statistics.median(slopes) if slopes else 0.0


def _figures(simulation: Simulation, watch: Watch, run: Path, wanted: int) -> list[Figure]:
    wall_s = max(watch.ended - watch.began, 1e-9)
    efficiency = watch.stored * simulation.seconds / (simulation.workers * wall_s)
    cpu_ms = 1000 * (watch.cpu_ended - watch.cpu_began) / max(watch.stored, 1)
    whole = "the controller" if simulation.dask else "this process, workers and all"
    size = sum(path.stat().st_size for path in run.rglob("*") if path.is_file())
    text = f"{efficiency:.3f} ({watch.stored} trials of {simulation.seconds:g} s in {wall_s:.1f} s)"
    lost, twice = account(run, wanted)
    return [
        Figure(f"efficiency of {simulation.workers} workers", text, f">= {EFFICIENCY_TARGET:g}",
               efficiency >= EFFICIENCY_TARGET, (efficiency,)),
        Figure("trials lost, doubled", f"{lost} and {twice} of {wanted}", "0", lost == twice == 0, (lost, twice)),
        Figure("trials stored per second", f"{watch.stored / wall_s:.1f}", "", None, (watch.stored / wall_s,)),
        Figure(f"processor time of {whole}, a trial", f"{cpu_ms:.2f} ms", "", None, (cpu_ms,)),
        *_of_memory(watch, whole),
        Figure("run folder, a trial", f"{size / max(watch.stored, 1) / 1024:.1f} KiB", "", None, (float(size),)),
        Figure("portions begun anew, workers that left", "; ".join([str(len(watch.lost)), *watch.lost[:1]]), "", None,
               (float(len(watch.lost)),)),
    ]  # fmt: skip


def _of_memory(watch: Watch, whole: str) -> list[Figure]:
    settled = [sample for sample in watch.memory if sample[0] >= SETTLED * watch.stored]
    if not settled:
        return []
    figures = []
    for name, place in ((whole, 1), ("the scheduler", 2)):
        points = [(sample[0], sample[place]) for sample in settled]
        if not any(kib for _, kib in points):
            continue
        growth = slope(points) * MANY
        last, most = points[-1][1] / 1024, max(kib for _, kib in points) / 1024
        text = f"{growth / 1024:+.2f} MiB (at the end {last:.0f}, at most {most:.0f} MiB)"
        is_enough = watch.stored >= MANY
        target = f"<= {FLAT_KIB / 1024:g} MiB" if is_enough else ""
        met = growth <= FLAT_KIB if is_enough else None
        figures.append(Figure(f"memory of {name}, growth in 10,000 trials", text, target, met, (growth,)))
    return figures


def account(run: Path, wanted: int) -> tuple[int, int]:
    """Count trials that are lost or lack their artifacts, and those that are stored twice or left artifacts alone."""
    with closing(sqlite3.connect(run / run_format.DATABASE)) as database:
        (different, all_of_them) = database.execute(
            "SELECT count(DISTINCT cell || ' ' || round), count(*) FROM trials WHERE status = 'ok'"
        ).fetchone()
        known = {f"{trial:06d}" for (trial,) in database.execute("SELECT trial FROM trials")}
    folders = {path.name for path in (run / run_format.ARTIFACTS).iterdir()}
    return wanted - different + len(known - folders), all_of_them - different + len(folders - known)
