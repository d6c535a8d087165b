"""`lanelab bench kills`: what a run loses when it is killed at random moments and resumed each time, for page loads and
for loads of a server, which are runs of `lanelab run`, and for a simulated sweep. All in folders under build/bench."""

import json
import math
import random
import shutil
import signal
import subprocess
import time
from pathlib import Path

from lanelab.analysis.results.model import Run
from lanelab.analysis.results.run_folder import read_run
from lanelab.driver.base import paths
from lanelab.driver.base.errors import BedError
from tools.bench.figures import Figure
from tools.bench.sweep_kills import measure_sweep_kills
from tools.bench.trials import Options, Tell, begin, environment, play

SEED = 3
AFTER_S = (0.2, 12.0)  # since the run began
COST_S = 7.0  # the mean of these, and what it takes to begin
RESUME_LIMIT_S = 600
TRIALS_OF_SWEEP = 128  # for each kill: the last one still meets a sweep

# By workload: an experiment of four cells, whose trials are short enough that each kill may meet any part of one.
EXPERIMENTS = {
    "page loads": """\
sites: [dummy]
links: {{rate: 50mbit, rtt: [10ms, 30ms]}}
defaults: {{start: fresh-context}}
arms:
  http: {{}}
  h2: {{protocol: h2, tls: "1.3"}}
trials: {trials}
seed: 1
""",
    "server loads": """\
workload: {{kind: load, generator: ab, connections: [1, 10], requests: 500}}
sites: [ten-kilobytes]
links: {{rate: 50mbit, rtt: 10ms}}
arms:
  http: {{}}
  tls: {{tls: "1.3"}}
trials: {trials}
seed: 1
""",
}


def measure_kills(options: Options, *, kills: int, tell: Tell) -> list[Figure]:
    """Kill a run of each workload so many times, and count what is lost."""
    bench = paths.build_folder() / "bench"
    bench.mkdir(parents=True, exist_ok=True)
    minutes = math.ceil(kills * COST_S / 60) * len(EXPERIMENTS)
    tell(f"this takes about {minutes} min on an idle machine")
    sweep = bench / "killed-sweep"
    shutil.rmtree(sweep, ignore_errors=True)
    return [
        measure_sweep_kills(sweep, kills, TRIALS_OF_SWEEP * kills, tell),
        *(
            _kills(options, bench / f"killed-{workload.replace(' ', '-')}", workload, kills, tell)
            for workload in EXPERIMENTS
        ),
    ]


def _kills(options: Options, folder: Path, workload: str, kills: int, tell: Tell) -> Figure:
    """Kill the run at random moments, and resume it each time. Every trial that was reported as stored has to be there
    once, and in the end there are as many as were asked for."""
    trials = max(kills // 3, 3)  # enough that the last kill still meets a run
    play(options, folder, EXPERIMENTS[workload].format(trials=1))  # what is to be built is built, and is not killed
    file = begin(folder, EXPERIMENTS[workload].format(trials=trials))
    chance = random.Random(SEED)  # noqa: S311 - not for secrets
    reported: set[int] = set()
    for number in range(kills):
        words = ["--resume", str(folder)] if (folder / "run.sqlite").exists() else [str(file), "--out", str(folder)]
        if "--out" in words:
            shutil.rmtree(folder, ignore_errors=True)
        stored, ended = _kill_once(options.argv(*words), chance.uniform(*AFTER_S))
        reported |= stored
        tell(f"{workload}: kill {number + 1} of {kills}: {len(reported)} trials stored so far")
        if ended:
            kills = number + 1
            break
    done = subprocess.run(
        options.argv("--resume", str(folder)), env=environment(), capture_output=True, text=True, check=False,
        timeout=RESUME_LIMIT_S,
    )  # fmt: skip
    if done.returncode != 0:
        raise BedError(f"the killed run could not be finished: {done.stderr.strip()}", f"Its folder: {folder}")
    return _account(read_run(folder), workload, reported, trials, kills)


def _account(run: Run, workload: str, reported: set[int], trials: int, kills: int) -> Figure:
    stored = {trial.number for trial in run.trials}
    counted = [(trial.cell.id, trial.round) for trial in run.trials if trial.ok]
    lost = len(reported - stored) + max(trials * len(run.cells) - len(counted), 0)
    twice = len(counted) - len(set(counted)) + max(len(counted) - trials * len(run.cells), 0)
    folders = {int(path.name) for path in (run.folder / "trials").iterdir()}
    half = len(folders ^ stored)
    text = f"{lost} lost, {twice} duplicated, {half} half there, of {trials * len(run.cells)}"
    return Figure(
        f"trials of {workload} after {kills} random kill -9 and resumes", text, "0", not (lost or twice or half), ()
    )


def _kill_once(argv: list[str], after_s: float) -> tuple[set[int], bool]:
    """Return the trials that were reported as stored before the kill, and whether the run had ended by itself."""
    process = subprocess.Popen(argv, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    time.sleep(after_s)
    ended = process.poll() is not None
    process.send_signal(signal.SIGKILL)
    output, _ = process.communicate()
    events = [json.loads(line) for line in output.splitlines() if line.endswith("}")]
    return {event["trial"] for event in events if event["event"] == "trial"}, ended
