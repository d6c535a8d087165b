"""`lanelab bench reading`: how long the commands take that read a run, and with another checkout beside: in turns.

Each command is a process of its own, as for who types it. What counts is processor time, so that what else runs on the
machine does not; both checkouts run with the same Python and the same packages.
"""

import functools
import os
import statistics
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from tools.bench.checkouts import HERE, THERE, in_turns, ratio, sources_with
from tools.bench.command_time import processor_seconds
from tools.bench.figures import Figure

Tell = Callable[[str], None]


def measure_reading(run: Path, *, against: Path | None, quick: bool, tell: Tell) -> list[Figure]:
    """Measure what reads the run in a folder. `against`: another checkout."""
    sources = sources_with(against)
    figures = []
    with tempfile.TemporaryDirectory(prefix="lanelab-bench-") as scratch:
        for name, words in _commands(run, Path(scratch)).items():
            tell(name)
            figures += _figures(name, in_turns(sources, functools.partial(_seconds, words), quick=quick))
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
        figures.append(ratio(f"lanelab {name},", here, taken[THERE]))
    return figures
