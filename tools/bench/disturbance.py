"""`lanelab bench disturbance`: page loads on one bed of this machine alone, and on several at once, in turns."""

import os
import random
import shutil
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from lanelab.analysis.results.run_folder import read_run
from lanelab.driver.base import paths
from lanelab.driver.base.errors import BedError
from lanelab.driver.run.sweep.disturbance import measure_disturbance
from lanelab.driver.run.sweep.processors import divided_here
from tools.bench.figures import Figure

Tell = Callable[[str], None]

BASE, ARM = "http", "h2"
EXPERIMENT = """\
sites: [{site}]
links: {{rate: 10mbit, rtt: 40ms, queue: 1000p}}
arms: {{http: {{}}, h2: {{protocol: h2, tls: "1.3"}}}}
trials: {trials}
"""
RESAMPLES, CHANCE_SEED = 2000, 1
LOW, HIGH = 0.025, 0.975
START_ON = (
    "import os, sys; os.sched_setaffinity(0, map(int, sys.argv[1].split(','))); os.execv(sys.argv[2], sys.argv[2:])"
)


@dataclass(frozen=True, slots=True)
class Plan:
    site: str
    beds: int
    blocks: int  # of each kind
    trials: int  # rounds of a block on each bed


@dataclass(frozen=True, slots=True)
class Block:
    """What one bed made in one block: load times by round, of both arms."""

    base_ms: tuple[float, ...]
    arm_ms: tuple[float, ...]

    @property
    def changes(self) -> list[float]:
        return [arm / base - 1 for base, arm in zip(self.base_ms, self.arm_ms, strict=True)]


def measure_page_loads(plan: Plan, tell: Tell) -> list[Figure]:
    """Measure in turns blocks of one bed alone and of all at once, so that what else the machine does hits both alike.
    Which bed is alone takes turns, too, and it has the same processors in both."""
    division = divided_here(plan.beds)
    disturbance = measure_disturbance(division)
    folder = paths.build_folder() / "bench" / "disturbance"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    file = folder / "disturbance.yaml"
    file.write_text(EXPERIMENT.format(site=plan.site, trials=plan.trials))
    alone: list[Block] = []
    together: list[Block] = []
    for number in range(plan.blocks):
        tell(f"block {number + 1} of {plan.blocks}: one bed alone, then {plan.beds} at once")
        bed = number % plan.beds
        alone += _block(file, {bed: division[bed]}, folder / f"{number + 1}-alone")
        together += _block(file, dict(enumerate(division)), folder / f"{number + 1}-together")
    fixed = [_of_fixed_work(disturbance.worst, disturbance.words)] if disturbance else []
    return [*fixed, *figures(alone, together)]


def _of_fixed_work(worst: float, words: str) -> Figure:
    return Figure("fixed work, all at once / alone, worst bed", f"{worst:.3f} ({words})", "", None, (worst,))


def _block(file: Path, beds: dict[int, list[int]], folder: Path) -> list[Block]:
    """Measure a block on each of these beds; all work at the same time."""
    with ExitStack() as stack:
        running = {
            bed: stack.enter_context(_run(file, processors, folder.with_name(f"{folder.name}-{bed + 1}")))
            for bed, processors in beds.items()
        }
        for process in running.values():
            _, errors = process.communicate()
            if process.returncode:
                what = f"a run of the benchmark failed: {errors.strip()}"
                raise BedError(what, f"Run it by hand: lanelab run {file}")
    return [_read(folder.with_name(f"{folder.name}-{bed + 1}")) for bed in beds]


@contextmanager
def _run(file: Path, processors: Sequence[int], folder: Path) -> Iterator[subprocess.Popen[str]]:
    environment = {**os.environ, "PYTHONPATH": str(paths.SOURCES), "LANELAB_BUILD": str(paths.build_folder())}
    lanelab = [sys.executable, "-P", "-m", "lanelab.driver.cli", "run", "--json", str(file), "--out", str(folder)]
    argv = [sys.executable, "-I", "-c", START_ON, ",".join(map(str, processors)), *lanelab]
    process = subprocess.Popen(
        argv, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    try:
        yield process
    finally:
        if process.poll() is None:  # another one failed; its beds end with it
            process.terminate()
            process.communicate()


def _read(folder: Path) -> Block:
    """Read the rounds in which both arms count."""
    changes: dict[str, dict[int, float]] = {BASE: {}, ARM: {}}
    for trial in read_run(folder).trials:
        if trial.ok:
            changes[trial.cell.arm.name][trial.round] = trial.measures["plt_ms"]
    rounds = sorted(changes[BASE].keys() & changes[ARM].keys())
    if not rounds:
        raise BedError(f"in {folder} no round has both arms", f"Look at it: lanelab results {folder}")
    return Block(tuple(changes[BASE][each] for each in rounds), tuple(changes[ARM][each] for each in rounds))


# --- what came of it. Pure


def figures(alone: Sequence[Block], together: Sequence[Block]) -> list[Figure]:
    """Return ratios with 95% intervals. Whole blocks are resampled, because trials of one bed are alike."""
    return [
        _absolute(
            f"load time of {BASE}, beds at once / one alone", [b.base_ms for b in alone], [b.base_ms for b in together]
        ),
        _absolute(
            f"load time of {ARM}, beds at once / one alone", [b.arm_ms for b in alone], [b.arm_ms for b in together]
        ),
        _of_changes(alone, together),
    ]


def _absolute(what: str, alone: Sequence[tuple[float, ...]], together: Sequence[tuple[float, ...]]) -> Figure:
    def ratio(one: Sequence[Sequence[float]], other: Sequence[Sequence[float]]) -> float:
        return _median(other) / _median(one) - 1

    value, low, high = _interval(ratio, alone, together)
    medians = f"{_median(alone):.1f} -> {_median(together):.1f} ms"
    return Figure(what, f"{value:+.2%} ({low:+.2%} to {high:+.2%}; {medians})", "", None, (value, low, high))


def _of_changes(alone: Sequence[Block], together: Sequence[Block]) -> Figure:
    def difference(one: Sequence[Sequence[float]], other: Sequence[Sequence[float]]) -> float:
        return 100 * (_median(other) - _median(one))

    of_one, of_all = [block.changes for block in alone], [block.changes for block in together]
    value, low, high = _interval(difference, of_one, of_all)
    changes = f"{_median(of_one):+.2%} alone, {_median(of_all):+.2%} at once"
    text = f"{value:+.2f} points ({low:+.2f} to {high:+.2f}; {changes})"
    return Figure(f"paired change of {ARM} against {BASE}, at once - alone", text, "", None, (value, low, high))


def _median(blocks: Sequence[Sequence[float]]) -> float:
    return statistics.median(value for block in blocks for value in block)


def _interval(
    of: Callable[[Sequence[Sequence[float]], Sequence[Sequence[float]]], float],
    alone: Sequence[Sequence[float]],
    together: Sequence[Sequence[float]],
) -> tuple[float, float, float]:
    chance = random.Random(CHANCE_SEED)  # noqa: S311 - not for secrets
    drawn = sorted(
        of(chance.choices(alone, k=len(alone)), chance.choices(together, k=len(together))) for _ in range(RESAMPLES)
    )
    return of(alone, together), drawn[int(LOW * RESAMPLES)], drawn[int(HIGH * RESAMPLES)]
