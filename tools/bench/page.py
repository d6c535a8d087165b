"""`lanelab bench page`: how long `lanelab serve` takes for the first view of a folder's list and of its runs, and with
another checkout beside: in turns.

Each view is made in a process of its own, after its programs are loaded, as by a server that has just begun. Files are
in the memory of the machine, where the first of the rounds puts them.
"""

import functools
import os
import statistics
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from lanelab.driver.base.errors import BedError
from tools.bench.checkouts import HERE, THERE, in_turns, ratio, sources_with
from tools.bench.figures import Figure

Tell = Callable[[str], None]

TARGET_S = {"list": 0.3, "run": 1.0}  # of 500 runs, of 5,000 trials
VIEW = """
import sys, time
from pathlib import Path
from lanelab.driver.page import app, library, run_view, shelf
kept = shelf.Shelf(Path(sys.argv[1]))
begin, busy = time.perf_counter(), time.process_time()
if sys.argv[2:]:
    run_view.run_page(kept.run(sys.argv[2]).data)
else:
    library.library(kept.lines(), library.Wanted())
print(time.process_time() - busy, time.perf_counter() - begin)
"""


def measure_page(folder: Path, runs: Sequence[str], *, against: Path | None, quick: bool, tell: Tell) -> list[Figure]:
    """Measure the first view of the list of runs in `folder`, and of those that are named. `against`: another
    checkout."""
    sources = sources_with(against)
    figures = []
    for name in ("", *runs):
        what = f"first view of {name}" if name else "first view of the list"
        tell(what)
        figures += _figures(what, in_turns(sources, functools.partial(_seconds, folder, name), quick=quick))
    return figures


def _seconds(folder: Path, run: str, sources: Path) -> tuple[float, float]:
    """Return the processor time of one view, and how long it took."""
    argv = [sys.executable, "-P", "-c", VIEW, str(folder), *filter(None, [run])]
    done = subprocess.run(
        argv, env={**os.environ, "PYTHONPATH": str(sources)}, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise BedError(f"the page could not be made: {done.stderr.strip().splitlines()[-1]}")
    busy, wall = map(float, done.stdout.split())
    return busy, wall


def _figures(what: str, taken: Mapping[str, Sequence[tuple[float, float]]]) -> list[Figure]:
    target = TARGET_S["list" if what.endswith("list") else "run"]
    busy, wall = zip(*taken[HERE], strict=True)
    middle = statistics.median(wall)
    figures = [
        Figure(what, f"{middle:.2f} s", f"< {target:g} s", middle < target, wall),
        Figure(f"{what}, processor time", f"{statistics.median(busy):.2f} s", "", None, busy),
    ]
    if THERE in taken:
        there, _ = zip(*taken[THERE], strict=True)
        figures.append(ratio(f"{what}, processor time", busy, there))
    return figures
