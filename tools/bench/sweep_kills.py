"""What a sweep loses when its controller is killed at random moments, and gone on with each time: its
workers sleep in threads of the controller's process, and end with it."""

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from lanelab.analysis.statistics import KNOWN
from lanelab.driver.base.errors import BedError
from lanelab.driver.run.events import Event
from lanelab.driver.run.folder import format as run_format
from lanelab.driver.run.folder.database import opened_database
from lanelab.driver.run.runner import StopRequest
from lanelab.driver.run.start import begin, resume
from lanelab.driver.run.sweep.controller import Controller, Patience
from lanelab.driver.run.sweep.events import PortionStored
from lanelab.driver.run.this_machine import this_machine
from tools.bench.figures import Figure
from tools.bench.sleeping import TOOLS_ROOT, Sleep, SleepingWorker, registered, sleeping_experiment
from tools.bench.sweep import account
from tools.bench.thread_cluster import ThreadCluster
from tools.bench.trials import Tell

WORKERS, LINKS, SECONDS, BYTES = 16, 8, 0.02, 4096
AFTER_S = (0.0, 0.6)  # since the first portion was stored, or nothing was left
SEED = 5
START = "import sys; sys.path.insert(0, sys.argv[1]); from tools.bench.sweep_kills import main; main()"


def measure_sweep_kills(folder: Path, kills: int, trials: int, tell: Tell) -> Figure:
    """Kill a sweep so many times, in a folder that is not there. All trials that were acknowledged have to be stored
    each time, and in the end each trial is there once."""
    chance = random.Random(SEED)  # noqa: S311 - not for secrets
    acknowledged = forgotten = killed = 0
    for _ in range(kills):
        before = _stored(folder)
        count, was_killed = _kill_once(folder, trials, chance.uniform(*AFTER_S))
        killed += was_killed
        acknowledged += count
        forgotten += max(before + count - _stored(folder), 0)
    tell(f"sweep: killed {killed} times, {acknowledged} trials were acknowledged until then")
    _finish(folder, trials)
    wanted = len(sleeping_experiment(trials, LINKS).cells) * -(-trials // (LINKS * 4))
    lost, twice = account(folder, wanted)
    text = f"{lost} lost, {twice} duplicated, {forgotten} acknowledged and lost, of {wanted}"
    return Figure(
        f"trials of a sweep after {killed} random kill -9 and resumes", text, "0", not (lost or twice or forgotten),
        (lost, twice, forgotten, killed),
    )  # fmt: skip


def _kill_once(folder: Path, trials: int, after_s: float) -> tuple[int, bool]:
    """Return how many trials were acknowledged, and whether the sweep was still under way."""
    process = _session(folder, trials)
    out = process.stdout
    first = out.readline() if out else ""
    time.sleep(after_s)
    was_killed = process.poll() is None
    process.send_signal(signal.SIGKILL)
    rest, _ = process.communicate()
    return sum(int(line) for line in (first + rest).splitlines(keepends=True) if line.endswith("\n")), was_killed


def _finish(folder: Path, trials: int) -> None:
    process = _session(folder, trials)
    process.communicate()
    if process.returncode != 0:
        raise BedError("the killed sweep could not be finished", f"Its errors are above, its folder is {folder}")


def _session(folder: Path, trials: int) -> "subprocess.Popen[str]":
    argv = [sys.executable, "-I", "-c", START, str(TOOLS_ROOT), str(folder), str(trials)]
    return subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)


def _stored(folder: Path) -> int:
    if not (folder / run_format.DATABASE).is_file():
        return 0
    with opened_database(folder) as database:
        (count,) = database.execute("SELECT count(*) FROM trials").fetchone()
    return int(count)


def main() -> None:
    """Be one session of the sweep; says for each portion how many trials of it are stored."""
    folder, trials = Path(sys.argv[2]), int(sys.argv[3])
    with registered():
        if (folder / run_format.DATABASE).is_file():
            begun = resume(folder)
        else:
            begun = begin(sleeping_experiment(trials, LINKS), "simulation", folder, 1, {})
        begun.store.begin_session({"simulated": True}, this_machine())
        sleep, place = Sleep(SECONDS, BYTES), folder.with_name(f"{folder.name}-workers")
        workers = {f"w{n}": SleepingWorker(f"{n}", "simulated", sleep, place / f"{n}") for n in range(WORKERS)}
        cluster = ThreadCluster(workers)
        Controller(begun, cluster, _say, StopRequest(), KNOWN, Patience(60, 60)).run()
        cluster.close()
        begun.store.close()


def _say(event: Event) -> None:
    if isinstance(event, PortionStored):
        print(event.trials, flush=True)
