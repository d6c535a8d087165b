"""Trials of this checkout and of another one in turns: what each costs beyond its load, and whether load times are the
same. One run of each in every round, and whoever began the last round comes second in the next."""

import itertools
import statistics
import subprocess
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from lanelab.analysis.results.model import Run, Trial
from lanelab.analysis.results.run_folder import read_run
from lanelab.analysis.statistics.paired import compare
from lanelab.driver.base import paths
from lanelab.driver.base.errors import BedError
from tools.bench.figures import Figure
from tools.bench.trials import BEYOND_TARGET_S, DEEP, NOISE, Options, Tell, begin, environment

TRIALS = 6  # of each start in a run
HERE, THERE = "here", "there"


@dataclass
class Times:
    """What one checkout's runs of one start have shown, by round."""

    beyond_s: dict[int, list[float]] = field(default_factory=dict)  # from the end of a load to the next one's begin
    plts_ms: dict[int, list[float]] = field(default_factory=dict)
    flags: Counter[str] = field(default_factory=Counter)
    failed: int = 0

    def add(self, number: int, run: Run, start: str) -> None:
        mine = [trial for trial in run.trials if trial.cell.arm.name == start]
        counted = [trial for trial in mine if trial.ok]
        self.failed += len(mine) - len(counted)
        self.flags.update(flag.name for trial in counted for flag in trial.flags)
        self.plts_ms[number] = [trial.measures["plt_ms"] for trial in counted]
        order = sorted(run.trials, key=lambda trial: trial.started)
        self.beyond_s[number] = [
            _between_s(before, after) for before, after in itertools.pairwise(order) if after in counted
        ]

    def medians(self, values: Mapping[int, list[float]]) -> dict[int, float]:
        return {number: statistics.median(each) for number, each in values.items() if each}


def measure_trials_against(other: Path, options: Options, rounds: int, tell: Tell) -> list[Figure]:
    checkouts = {HERE: paths.PROJECT, THERE: other}
    times = {(name, start): Times() for name in checkouts for start in BEYOND_TARGET_S}
    for number in range(1, rounds + 1):
        for name in (HERE, THERE) if number % 2 else (THERE, HERE):
            tell(f"trials in {checkouts[name]}: round {number} of {rounds}")
            run = _play(options, checkouts[name], number)
            for start in BEYOND_TARGET_S:
                times[name, start].add(number, run, start)
    return [figure for start in BEYOND_TARGET_S for figure in _figures(start, times[HERE, start], times[THERE, start])]


def _play(options: Options, checkout: Path, number: int) -> Run:
    """Return the run of a checkout, with its own code and what it has built for itself."""
    folder = paths.build_folder() / "bench" / f"against-{number}"
    folder.parent.mkdir(parents=True, exist_ok=True)
    file = begin(folder, NOISE.format(trials=TRIALS, queue=DEEP))
    settings = {**environment(), "PYTHONPATH": str(checkout / "src"), "LANELAB_BUILD": str(checkout / "build")}
    argv = options.argv(str(file), "--out", str(folder), "--seed", str(number))
    done = subprocess.run(argv, env=settings, cwd=checkout, capture_output=True, text=True, check=False)
    if done.returncode:
        raise BedError(f"a run of {checkout} failed: {(done.stderr.strip().splitlines() or ['it said nothing'])[-1]}")
    return read_run(folder)


def _between_s(before: Trial, after: Trial) -> float:
    """Return the time from the end of a load to the begin of the next one."""
    return (after.started - before.started).total_seconds() - before.measures.get("plt_ms", 0.0) / 1000


def _figures(start: str, here: Times, there: Times) -> list[Figure]:
    return [
        *(_beyond(start, name, each) for name, each in (("here", here), ("there", there))),
        _ratio(f"{start}: beyond the load, here to there", there.medians(there.beyond_s), here.medians(here.beyond_s)),
        _ratio(f"{start}: page load time, here to there", there.medians(there.plts_ms), here.medians(here.plts_ms)),
        *(_spread(start, name, each) for name, each in (("here", here), ("there", there))),
    ]


def _beyond(start: str, name: str, times: Times) -> Figure:
    values = [value for each in times.beyond_s.values() for value in each]
    median = statistics.median(values)
    text = f"{median:.2f} s (least {min(values):.2f}, {len(values)} of them)"
    what = f"{start}: from the end of a load to the next, {name}"
    if name == "there":
        return Figure(what, text, "", None, tuple(values))
    return Figure(what, text, f"<= {BEYOND_TARGET_S[start]:g} s", median <= BEYOND_TARGET_S[start], tuple(values))


def _ratio(what: str, there: Mapping[int, float], here: Mapping[int, float]) -> Figure:
    """Return how the medians of rounds differ."""
    difference = compare(there, here)
    if difference is None:
        return Figure(what, "no round has both", "", None, ())
    low, high = difference.ratio.low, difference.ratio.high
    interval = f" ({low:.4f} to {high:.4f})" if low is not None and high is not None else ""
    values = tuple(here[number] / there[number] for number in here.keys() & there.keys())
    return Figure(what, f"{difference.ratio.value:.4f}{interval}, {difference.n} rounds", "", None, values)


def _spread(start: str, name: str, times: Times) -> Figure:
    """Return how much load times vary within a run, and what is flagged."""
    shares = [statistics.stdev(each) / statistics.fmean(each) for each in times.plts_ms.values() if len(each) > 1]
    flags = ", ".join(f"{flag} {count}" for flag, count in sorted(times.flags.items())) or "none"
    spread = f"{statistics.median(shares):.1%}" if shares else "unknown"
    text = f"{spread}; flags: {flags}; {times.failed} failed"
    return Figure(f"{start}: standard deviation of the PLT in a run, {name}", text, "", None, tuple(shares))
