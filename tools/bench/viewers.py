"""`lanelab bench viewers`: what it changes of page loads that others watch them in `lanelab serve`. Arms are compared
with themselves: in half of the rounds the page is watched, in the other half server and viewers stand still."""

import itertools
import json
import os
import random
import re
import shutil
import signal
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from lanelab.analysis.results.model import Run
from lanelab.analysis.results.run_folder import read_run
from lanelab.analysis.statistics import Change, compare
from lanelab.driver.base import paths
from lanelab.driver.base.child_start import start_of
from lanelab.driver.base.errors import BedError
from tools.bench.figures import Figure
from tools.bench.sleeping import TOOLS_ROOT

Tell = Callable[[str], None]

EXPERIMENT = """\
sites: [dummy]
links: {{rate: 10mbit, rtt: [20ms, 100ms], queue: 400p}}
arms: {{HTTP: {{}}, HTTP/2: {{protocol: h2, tls: "1.3"}}}}
trials: {trials}
"""
ORDER_SEED = 1
TARGET = 0.005
LINK = re.compile(r"https?://\S+/enter\?token=\S+")
VIEWERS = "tools.bench.page_viewers"
ENDS_WITHIN_S = 10


@dataclass(frozen=True, slots=True)
class Watching:
    """Which rounds are watched: one of each pair of rounds, by a coin whose seed is fixed."""

    pairs: tuple[tuple[int, int], ...]  # a round that nobody watches, and one that is watched

    @classmethod
    def of(cls, pairs: int) -> "Watching":
        chance = random.Random(ORDER_SEED)  # noqa: S311 - not for secrets
        rounds = [(2 * pair + 1, 2 * pair + 2) for pair in range(pairs)]
        return cls(tuple(both if chance.random() < 0.5 else (both[1], both[0]) for both in rounds))

    def is_watched(self, number: int) -> bool:
        return any(number == watched for _, watched in self.pairs)


def measure_viewers(viewers: int, pairs: int, tell: Tell) -> list[Figure]:
    """Make a run, and watch every round that is to be watched."""
    folder = paths.build_folder() / "bench" / "viewers"
    shutil.rmtree(folder, ignore_errors=True)
    runs = folder / "runs"
    runs.mkdir(parents=True)
    file = folder / "viewers.yaml"
    file.write_text(EXPERIMENT.format(trials=2 * pairs))
    watching = Watching.of(pairs)
    with _started(["lanelab.driver.cli.main", "serve", str(runs)]) as server:
        link = _link(server)
        run = ["lanelab.driver.cli.main", "run", "--json", str(file), "--out", str(runs / "watched")]
        with _started(run) as measuring, _started([VIEWERS, link, "watched", str(viewers)]) as crowd:
            _follow(measuring, [server, crowd], watching, tell)
            _set_running([server, crowd], on=True)
            crowd.terminate()
            views = int(crowd.communicate()[0])
        seconds = _processor_s(server.pid)
    return [*figures(read_run(runs / "watched"), watching), _of_views(views, viewers, seconds)]


@contextmanager
def _started(module_and_arguments: Sequence[str]) -> Iterator[subprocess.Popen[str]]:
    module, *arguments = module_and_arguments
    environment = {**os.environ, "LANELAB_BUILD": str(paths.build_folder())}
    place = paths.SOURCES if module.startswith("lanelab.") else TOOLS_ROOT
    argv = [sys.executable, "-I", "-c", start_of(module), str(place), *arguments]
    pipe = subprocess.PIPE
    process = subprocess.Popen(argv, env=environment, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, text=True)
    try:
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGCONT)
            process.terminate()
            try:
                process.wait(ENDS_WITHIN_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _link(server: subprocess.Popen[str]) -> str:
    line = server.stderr.readline() if server.stderr else ""
    match = LINK.search(line)
    if match is None:
        raise BedError(f"the page was not served: {line.strip()}", "Try it by hand: lanelab serve")
    return match.group()


def _follow(
    measuring: subprocess.Popen[str], watchers: Sequence[subprocess.Popen[str]], watching: Watching, tell: Tell
) -> None:
    """Read the events of the run. Between two rounds, those who watch begin or stand still."""
    _set_running(watchers, on=watching.is_watched(1))
    for line in measuring.stdout or ():
        event = json.loads(line)
        if event["event"] == "round-ended":
            _set_running(watchers, on=watching.is_watched(event["round"] + 1))
            if event["round"] % 10 == 0:
                tell(f"round {event['round']} of {2 * len(watching.pairs)}")
    _, errors = measuring.communicate()
    if measuring.returncode:
        raise BedError(f"the run of the benchmark failed: {errors.strip()}", "Run its experiment by hand")


def _set_running(processes: Sequence[subprocess.Popen[str]], *, on: bool) -> None:
    for process in processes:
        process.send_signal(signal.SIGCONT if on else signal.SIGSTOP)


def _processor_s(pid: int) -> float:
    user, system = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


# --- what came of it. Pure


def figures(run: Run, watching: Watching) -> list[Figure]:
    """Return the change of each cell and of all, and the flags of both halves."""
    values: dict[str, dict[int, float]] = {}
    for trial in run.trials:
        if trial.ok and trial.value is not None:
            values.setdefault(f"{trial.cell.link.label} · {trial.cell.arm.name}", {})[trial.round] = trial.value
    if not values:
        raise BedError(f"no trial of {run.folder} counts", f"Look at it: lanelab show {run.folder}")
    of_cells = [change_of(cell, of_rounds, watching) for cell, of_rounds in values.items()]
    complete = set.intersection(*(set(of_rounds) for of_rounds in values.values()))
    means = {number: statistics.geometric_mean(each[number] for each in values.values()) for number in complete}
    return [change_of("all cells, geometric mean", means, watching), *of_cells, _of_flags(run, watching)]


def change_of(what: str, values: Mapping[int, float], watching: Watching) -> Figure:
    unwatched = {pair: values[one] for pair, (one, _) in enumerate(watching.pairs) if one in values}
    watched = {pair: values[other] for pair, (_, other) in enumerate(watching.pairs) if other in values}
    comparison = compare(unwatched, watched)
    if comparison is None:
        raise BedError(f"no pair of rounds of {what} counts", "Make more pairs")
    ratio = comparison.ratio
    text = f"{ratio.value - 1:+.2%} {_interval(ratio)}, {comparison.n} pairs, {comparison.verdict}"
    target = f"within {TARGET:.1%}"
    return Figure(f"watched / not: {what}", text, target, abs(ratio.value - 1) <= TARGET, (ratio.value - 1,))


def _interval(change: Change) -> str:
    if change.low is None or change.high is None:
        return "(no interval)"
    return f"({change.low - 1:+.2%} to {change.high - 1:+.2%})"


def _of_flags(run: Run, watching: Watching) -> Figure:
    """Return how many trials of each half do not count or have a flag."""
    counts = {watched: [0, 0, 0] for watched in (False, True)}
    for trial in run.trials:
        of_half = counts[watching.is_watched(trial.round)]
        of_half[0] += 1
        of_half[1] += not trial.ok
        of_half[2] += bool(trial.flags)
    words = [f"{trials} trials, {failed} failed, {flagged} flagged" for trials, failed, flagged in counts.values()]
    every = tuple(float(count) for count in itertools.chain(*counts.values()))
    return Figure("not watched; watched", "; ".join(words), "", None, every)


def _of_views(views: int, viewers: int, seconds: float) -> Figure:
    text = f"{views} pages for {viewers} viewers; {seconds:.1f} s of the server's processor time"
    return Figure("seen meanwhile", text, "", None, (float(views), seconds))
