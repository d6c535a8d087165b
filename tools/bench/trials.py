"""`lanelab bench trials`: what a trial costs, how much page load times vary, how near to the bound they come, and what
a run loses when it is killed. Every figure is of real runs of `lanelab run`, in folders under build/bench."""

import json
import math
import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from lanelab.analysis.results.model import Run, Trial
from lanelab.analysis.results.run_folder import read_run
from lanelab.driver.base import paths
from lanelab.driver.base.errors import BedError
from tools.bench.figures import Figure

Tell = Callable[[str], None]

BEYOND_TARGET_S = {"fresh-context": 0.5, "fresh-process": 0.8}
DEVIATION_TARGET = 0.016
KILL_SEED = 3
KILL_AFTER_S = (0.2, 12.0)  # since the run began
KILL_COST_S = 7.0  # the mean of these, and what it takes to begin
RESUME_LIMIT_S = 600

# In the deep queue TCP loses nothing, so what varies is this machine. The default one overflows in slow start: there
# page load times depend on which packets were lost.
DEEP, DEFAULT = "1000p", "100p"
NOISE = """\
sites: [dummy]
links: {{rate: 10mbit, rtt: 40ms, queue: {queue}}}
arms:
  fresh-process: {{start: fresh-process}}
  fresh-context: {{start: fresh-context}}
trials: {trials}
seed: 1
"""
GRID = """\
sites: [dummy]
links:
  - {{label: slow, rate: 2mbit, rtt: 60ms, queue: 1000p}}
  - {{label: far, rate: 10mbit, rtt: 120ms, queue: 1000p}}
  - {{label: fast, rate: 50mbit, rtt: 20ms, queue: 1000p}}
defaults: {{start: fresh-context}}
arms:
  no-keepalive: {{keepalive: false}}
  keepalive: {{}}
trials: {trials}
seed: 1
"""
KILLED = """\
sites: [dummy]
links: {{rate: 50mbit, rtt: [10ms, 30ms]}}
defaults: {{start: fresh-context}}
arms:
  http: {{}}
  h2: {{protocol: h2, tls: "1.3"}}
trials: {trials}
seed: 1
"""


@dataclass(frozen=True, slots=True)
class Options:
    """Says how the runs of the benchmark are made."""

    router: str
    pins: Sequence[str]

    def argv(self, *words: str) -> list[str]:
        pins = [word for pin in self.pins for word in ("--pin", pin)]
        return [
            sys.executable,
            "-P",
            "-m",
            "lanelab.driver.cli",
            "run",
            "--json",
            "--router",
            self.router,
            *pins,
            *words,
        ]


def measure_trials(options: Options, *, kills: int, quick: bool, tell: Tell) -> list[Figure]:
    """Make every measurement, one after the other: they would disturb each other."""
    bench = paths.build_folder() / "bench"
    bench.mkdir(parents=True, exist_ok=True)
    deep_trials, default_trials, grid_trials = (5, 5, 1) if quick else (12, 8, 2)
    texts = {
        DEEP: NOISE.format(trials=deep_trials, queue=DEEP),
        DEFAULT: NOISE.format(trials=default_trials, queue=DEFAULT),
        "grid": GRID.format(trials=grid_trials),
    }
    expected_s = sum(_expected_s(_begin(bench / name, text)) for name, text in texts.items())
    more = f"; the {kills} kills about {math.ceil(kills * KILL_COST_S / 60)} min more" if kills else ""
    tell(f"this takes about {math.ceil(expected_s / 60)} min on an idle machine{more}")
    tell("cost and noise of trials: the dummy page, 10 Mbit/s, 40 ms")
    deep, default = (play(options, bench / queue, texts[queue]) for queue in (DEEP, DEFAULT))
    figures = [figure for start in BEYOND_TARGET_S for figure in _cost_and_noise(deep, start)]
    figures += [_noise(default, start, DEFAULT, None) for start in BEYOND_TARGET_S]
    tell("page load times against the physical bound")
    figures += _against_bound(play(options, bench / "grid", texts["grid"]))
    if kills:
        figures.append(_kills(options, bench / "killed", kills, tell))
    return figures


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(paths.SOURCES), "LANELAB_BUILD": str(paths.build_folder())}


def _begin(folder: Path, text: str) -> Path:
    """Return the experiment's file beside its new run folder."""
    shutil.rmtree(folder, ignore_errors=True)
    file = folder.with_suffix(".yaml")
    file.write_text(text)
    return file


def _expected_s(file: Path) -> float:
    """Return what `lanelab plan` expects of an experiment."""
    argv = [sys.executable, "-P", "-m", "lanelab.driver.cli", "plan", str(file), "--json"]
    done = subprocess.run(argv, env=_environment(), capture_output=True, text=True, check=True)
    seconds: float = json.loads(done.stdout)["seconds"]["most"]
    return seconds


def play(options: Options, folder: Path, text: str, *words: str) -> Run:
    """Return the run of an experiment, in a folder that is made anew; `words`: further ones for `lanelab run`."""
    file = _begin(folder, text)
    argv = options.argv(str(file), "--out", str(folder), *words)
    done = subprocess.run(argv, env=_environment(), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BedError(f"the benchmark's run failed: {done.stderr.strip()}", f"Run it by hand: lanelab run {file}")
    return read_run(folder)


def _cost_and_noise(run: Run, start: str) -> list[Figure]:
    trials = [trial for trial in run.trials if trial.ok and trial.cell.arm.name == start]
    beyond = [trial.wall_s - _plt_ms(trial) / 1000 for trial in trials]
    target, median = BEYOND_TARGET_S[start], statistics.median(beyond)
    return [
        Figure(
            f"{start}: wall time of a trial beyond its PLT, median of {len(trials)}",
            f"{median:.2f} s ({min(beyond):.2f} to {max(beyond):.2f})",
            f"<= {target:g} s",
            median <= target,
            tuple(beyond),
        ),
        _noise(run, start, DEEP, DEVIATION_TARGET),
    ]


def _noise(run: Run, start: str, queue: str, target: float | None) -> Figure:
    plts = [_plt_ms(trial) for trial in run.trials if trial.ok and trial.cell.arm.name == start]
    deviation = statistics.stdev(plts) / statistics.fmean(plts)
    return Figure(
        f"{start}, queue {queue}: standard deviation of the PLT, {len(plts)} trials",
        f"{deviation:.1%} (median {statistics.median(plts):.0f} ms, {min(plts):.0f} to {max(plts):.0f})",
        f"<= {target:.1%}" if target else "",
        deviation <= target if target else None,
        tuple(plts),
    )


def _plt_ms(trial: Trial) -> float:
    return trial.measures["plt_ms"]


def _against_bound(run: Run) -> list[Figure]:
    figures = []
    for cell in run.cells:
        trials = [trial for trial in run.trials if trial.ok and trial.cell is cell]
        ratios = [_plt_ms(trial) / (trial.measures["bound_ms"] or 1) for trial in trials]
        if not ratios:
            continue
        plt = statistics.median(_plt_ms(trial) for trial in trials)
        bound = statistics.median(trial.measures["bound_ms"] for trial in trials)
        figures.append(
            Figure(
                f"{cell.link.label}, {cell.arm.name}: PLT / bound, median of {len(ratios)}",
                f"{statistics.median(ratios):.3f} ({plt:.0f} of {bound:.0f} ms)",
                "",
                None,
                tuple(ratios),
            )
        )
    return figures


def _kills(options: Options, folder: Path, kills: int, tell: Tell) -> Figure:
    """Kill the run at random moments, and go on each time. Every trial that was reported as stored has to be there
    once, and in the end there are as many as were asked for."""
    trials = max(kills // 3, 3)  # enough that the last kill still meets a run
    file = _begin(folder, KILLED.format(trials=trials))
    chance = random.Random(KILL_SEED)  # noqa: S311 - not for secrets
    reported: set[int] = set()
    for number in range(kills):
        words = ["--resume", str(folder)] if (folder / "run.sqlite").exists() else [str(file), "--out", str(folder)]
        shutil.rmtree(folder, ignore_errors=True) if "--out" in words else None
        seen, ended = _kill_once(options.argv(*words), chance.uniform(*KILL_AFTER_S))
        reported |= seen
        tell(f"kill {number + 1} of {kills}: {len(reported)} trials stored so far")
        if ended:
            break
    done = subprocess.run(
        options.argv("--resume", str(folder)), env=_environment(), capture_output=True, text=True, check=False,
        timeout=RESUME_LIMIT_S,
    )  # fmt: skip
    if done.returncode != 0:
        raise BedError(f"the killed run could not be finished: {done.stderr.strip()}", f"Its folder: {folder}")
    return _account(read_run(folder), reported, trials, kills)


def _account(run: Run, reported: set[int], trials: int, kills: int) -> Figure:
    stored = {trial.number for trial in run.trials}
    counted = [(trial.cell.id, trial.round) for trial in run.trials if trial.ok]
    lost = len(reported - stored) + max(trials * len(run.cells) - len(counted), 0)
    twice = len(counted) - len(set(counted)) + max(len(counted) - trials * len(run.cells), 0)
    folders = {int(path.name) for path in (run.folder / "trials").iterdir()}
    half = len(folders ^ stored)
    text = f"{lost} lost, {twice} duplicated, {half} half there, of {trials * len(run.cells)}"
    return Figure(f"trials after {kills} random kill -9 and resumes", text, "0", not (lost or twice or half), ())


def _kill_once(argv: list[str], after_s: float) -> tuple[set[int], bool]:
    """Return the trials that were reported as stored before the kill, and whether the run had ended by itself."""
    process = subprocess.Popen(argv, env=_environment(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    time.sleep(after_s)
    ended = process.poll() is not None
    process.send_signal(signal.SIGKILL)
    output, _ = process.communicate()
    events = [json.loads(line) for line in output.splitlines() if line.endswith("}")]
    return {event["trial"] for event in events if event["event"] == "trial"}, ended
