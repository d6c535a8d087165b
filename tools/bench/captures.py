"""`lanelab bench captures`: how many packets a second lanelab reads, beside tshark and pyshark.

All read the same file and have their turns in each round, so that whatever the machine does hits all alike. What counts
is processor time, so that what else runs on the machine does not.
"""

import statistics
import time
from collections.abc import Callable
from pathlib import Path

from lanelab.driver.base.errors import BedError
from lanelab.driver.base.programs.find_program import find
from lanelab.driver.trial.packets.formats import classic
from lanelab.driver.trial.packets.packets import summarise
from lanelab.driver.trial.packets.timeline import read_timeline
from tools.bench.command_time import processor_seconds
from tools.bench.figures import Figure

Tell = Callable[[str], None]

ROUNDS, QUICK_ROUNDS = 5, 2
LEAST_S = 0.5  # for which the quick ones read the file again and again
LEAST_PACKETS_PER_S = 850_000
PYSHARK = """
import sys, pyshark
sys.stdout.write(str(sum(1 for _ in pyshark.FileCapture(sys.argv[1], keep_packets=False))))
"""


def measure_captures(file: Path, *, pyshark: Path | None, quick: bool, tell: Tell) -> list[Figure]:
    """Measure how many packets per second each reader reads. `pyshark`: a Python that has it."""
    data = classic(file.read_bytes(), str(file))
    packets = summarise(data).packets
    if not packets:
        raise BedError(f"{file} has no packets", "Name the capture of a trial: trials/NNNNNN/client.pcapng.gz")
    readers: dict[str, Callable[[], float]] = {
        "the summary of each trial": lambda: _ours(lambda: summarise(data)),
        "the timeline of a trial": lambda: _ours(lambda: read_timeline(data, "10.10.1.2")),
    }
    if tshark := find("tshark"):
        readers["tshark"] = lambda: processor_seconds("tshark", [str(tshark), "-n", "-r", str(file)])
    else:
        tell("tshark is not installed: it is not compared")
    if pyshark is not None:
        readers["pyshark"] = lambda: processor_seconds("pyshark", [str(pyshark), "-c", PYSHARK, str(file)])
    taken: dict[str, list[float]] = {name: [] for name in readers}
    for number in range(1, (rounds := QUICK_ROUNDS if quick else ROUNDS) + 1):
        tell(f"round {number} of {rounds}")
        for name, read in readers.items():
            taken[name].append(packets / read())
    return _figures(taken)


def _ours(read: Callable[[], object]) -> float:
    """Return how many seconds one reading takes."""
    began, times = time.process_time(), 0
    while time.process_time() - began < LEAST_S:
        read()
        times += 1
    return (time.process_time() - began) / times


def _figures(taken: dict[str, list[float]]) -> list[Figure]:
    figures = []
    ours = taken["the summary of each trial"]
    for name, rates in taken.items():
        rate = statistics.median(rates)
        own = rates is ours
        target = f"at least {LEAST_PACKETS_PER_S:,}" if own else ""
        met = rate >= LEAST_PACKETS_PER_S if own else None
        figures.append(Figure(f"packets per second of a processor, {name}", f"{rate:,.0f}", target, met, tuple(rates)))
    for name in ("tshark", "pyshark"):
        if name in taken:
            ratios = [one / other for one, other in zip(ours, taken[name], strict=True)]
            text = f"{statistics.median(ratios):,.0f}"
            figures.append(Figure(f"times as fast as {name}: the summary", text, "", None, tuple(ratios)))
    return figures
