"""`lanelab bench trials`: what a trial costs, how much page load times vary, and how near to the bound they come. Every
figure is of real runs of `lanelab run`, in folders under build/bench."""

import json
import math
import os
import shutil
import statistics
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from lanelab.analysis.results.model import Run, Trial
from lanelab.analysis.results.run_folder import read_run
from lanelab.driver.base import paths
from lanelab.driver.base.errors import BedError
from tools.bench.figures import Figure

Tell = Callable[[str], None]

BEYOND_TARGET_S = {"fresh-context": 0.25, "fresh-process": 0.4}
DEVIATION_TARGET = 0.016

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


@dataclass(frozen=True, slots=True)
class Options:
    """Settings of the runs of the benchmark."""

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


def measure_trials(options: Options, *, quick: bool, tell: Tell) -> list[Figure]:
    """Make every measurement, one after the other: they would disturb each other."""
    bench = paths.build_folder() / "bench"
    bench.mkdir(parents=True, exist_ok=True)
    deep_trials, default_trials, grid_trials = (5, 5, 1) if quick else (12, 8, 2)
    texts = {
        DEEP: NOISE.format(trials=deep_trials, queue=DEEP),
        DEFAULT: NOISE.format(trials=default_trials, queue=DEFAULT),
        "grid": GRID.format(trials=grid_trials),
    }
    expected_s = sum(_expected_s(begin(bench / name, text)) for name, text in texts.items())
    tell(f"this takes about {math.ceil(expected_s / 60)} min on an idle machine")
    tell("cost and noise of trials: the dummy page, 10 Mbit/s, 40 ms")
    deep, default = (play(options, bench / queue, texts[queue]) for queue in (DEEP, DEFAULT))
    figures = [figure for start in BEYOND_TARGET_S for figure in _cost_and_noise(deep, start)]
    figures += [_noise(default, start, DEFAULT, None) for start in BEYOND_TARGET_S]
    tell("page load times against the physical bound")
    figures += _against_bound(play(options, bench / "grid", texts["grid"]))
    return figures


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(paths.SOURCES), "LANELAB_BUILD": str(paths.build_folder())}


def begin(folder: Path, text: str) -> Path:
    """Write the experiment's file beside its run folder, which is removed; returns where it is."""
    shutil.rmtree(folder, ignore_errors=True)
    file = folder.with_suffix(".yaml")
    file.write_text(text)
    return file


def _expected_s(file: Path) -> float:
    """Return what `lanelab plan` expects of an experiment."""
    argv = [sys.executable, "-P", "-m", "lanelab.driver.cli", "plan", str(file), "--json"]
    done = subprocess.run(argv, env=environment(), capture_output=True, text=True, check=True)
    seconds: float = json.loads(done.stdout)["seconds"]["most"]
    return seconds


def play(options: Options, folder: Path, text: str, *words: str) -> Run:
    """Return the run of an experiment, in a folder that is made anew; `words`: further ones for `lanelab run`."""
    file = begin(folder, text)
    argv = options.argv(str(file), "--out", str(folder), *words)
    done = subprocess.run(argv, env=environment(), capture_output=True, text=True, check=False)
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
