"""`lanelab bench reading`: how long the commands take that read a run, and with another checkout beside: in turns.

Each command is a process of its own, as for who types it. What counts is processor time, so that what else runs on the
machine does not; both checkouts run with the same Python and the same packages.
"""

import os
import statistics
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from lanelab.driver.base.configuration import SOURCES
from lanelab.driver.base.errors import InputError
from tools.bench.command_time import processor_seconds
from tools.bench.figures import Figure

Tell = Callable[[str], None]

ROUNDS, QUICK_ROUNDS = 7, 3
HERE, THERE = "this checkout", "the other one"


def measure_reading(run: Path, *, against: Path | None, quick: bool, tell: Tell) -> list[Figure]:
    """Measure what reads the run in a folder. `against`: another checkout."""
    sources = {HERE: SOURCES} | ({THERE: against / "src"} if against else {})
    for where in sources.values():
        if not (where / "lanelab").is_dir():
            raise InputError(f"{where} has no lanelab", "Name a checkout of lanelab", key="--against")
    figures = []
    with tempfile.TemporaryDirectory(prefix="lanelab-bench-") as scratch:
        for name, words in _commands(run, Path(scratch)).items():
            tell(name)
            taken: dict[str, list[float]] = {checkout: [] for checkout in sources}
            for _ in range(1 + (QUICK_ROUNDS if quick else ROUNDS)):
                for checkout, where in sources.items():
                    taken[checkout].append(_seconds(words, where))
            figures += _figures(name, {checkout: times[1:] for checkout, times in taken.items()})  # the first compiles
    return figures


def _commands(run: Path, scratch: Path) -> Mapping[str, list[str]]:
    folder = str(run)
    return {
        "--version": ["--version"],
        "show": ["show", folder],
        "show --json": ["show", folder, "--json"],
        "export --format csv": ["export", folder, "--format", "csv"],
        "report": ["report", folder, "--output", str(scratch / "report.html")],
        "verify": ["verify", folder],
    }


def _seconds(words: list[str], sources: Path) -> float:
    """Return the processor time of one command."""
    environment = {**os.environ, "PYTHONPATH": str(sources)}
    argv = [sys.executable, "-P", "-m", "lanelab.driver.cli", *words]
    return processor_seconds(f"lanelab {' '.join(words)}", argv, environment)


def _figures(name: str, taken: Mapping[str, list[float]]) -> list[Figure]:
    here = taken[HERE]
    figures = [Figure(f"lanelab {name}", f"{statistics.median(here):.2f} s", "", None, tuple(here))]
    if THERE in taken:
        ratios = tuple(one / other for one, other in zip(here, taken[THERE], strict=True))
        words = f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
        figures.append(Figure(f"lanelab {name}, over {THERE}", words, "", None, ratios))
    return figures
