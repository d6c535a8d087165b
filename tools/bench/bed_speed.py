"""How long a bed, a change of its link and a self-test take, here and in another checkout, in turns."""

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from lanelab.driver.base import paths
from lanelab.driver.base.errors import BedError
from tools.bench.figures import Figure

CHANGES, SELF_TESTS = 10, 2  # in each round
LINKS = (
    {"rtt": "40ms", "rate": "10mbit"},
    {"rtt": "200ms", "rate": "10mbit"},
    {"rtt": "10ms", "rate": "50mbit"},
    {"rtt": "100ms", "rate": "10mbit", "loss": "2%"},
    {"rtt": "100ms", "rate": "1mbit"},
)
UP_TARGET_S, CHANGE_TARGET_S, SELF_TEST_TARGET_S = 1.0, 0.1, 1.5
# One round, in a process of its own, with the checkout's own code. It prints lists of seconds, by name.
ROUND = """
import json, sys, time
from lanelab.driver.base import paths
from lanelab.driver.bed.substrate import BedSettings
from lanelab.driver.link import Link
from lanelab.driver.link.selftest.effort import Effort
from lanelab.driver.run.channel.client import Bed

router, changes, tests, links = json.loads(sys.argv[1])
times = {}

def timed(name, do):
    began = time.monotonic()
    answer = do()
    times.setdefault(name, []).append(time.monotonic() - began)
    return answer

with paths.bed_folder() as folder:
    with timed("bed up", lambda: Bed(BedSettings(folder=folder, router=router))) as bed:
        for number in range(changes):
            link = Link.parse({"rtt": f"{20 + number}ms", "rate": "10mbit"})
            timed("first change of a link" if number == 0 else "change of a link", lambda: bed.set_link(link))
        for settings in links:
            bed.set_link(Link.parse(settings))
            for name, brief in (("self-test", False), ("the one after trials", True)):
                for _ in range(tests):
                    what = f"{name}: {', '.join(settings.values())}"
                    timed(what, lambda: bed.test_link(Effort(attempts=1, brief=brief)))
print(json.dumps(times))
"""


def measure_speed(router: str, against: Path | None, rounds: int, tell: Callable[[str], None]) -> list[Figure]:
    """Measure in rounds, in each of which this checkout and the other one have their turns. A self-test's attempts are
    left out: what a busy machine spoils is the machine's."""
    checkouts = {"": paths.PROJECT, **({f" in {against}": against} if against else {})}
    times: dict[tuple[str, str], list[float]] = {}
    for number in range(rounds):
        for name, folder in checkouts.items():
            tell(f"bed, links, self-tests{name}: round {number + 1} of {rounds}")
            for what, seconds in _round(folder, router).items():
                times.setdefault((what, name), []).extend(seconds)
    return [_figure(what, name, seconds) for (what, name), seconds in sorted(times.items())]


def _round(checkout: Path, router: str) -> dict[str, list[float]]:
    done = subprocess.run(
        [sys.executable, "-P", "-c", ROUND, json.dumps([router, CHANGES, SELF_TESTS, LINKS])],
        env={**os.environ, "PYTHONPATH": str(checkout / "src")},
        cwd=checkout,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise BedError(f"a round in {checkout} failed: {(done.stderr.strip().splitlines() or ['it said nothing'])[-1]}")
    times: dict[str, list[float]] = json.loads(done.stdout)
    return times


def _figure(what: str, name: str, seconds: Sequence[float]) -> Figure:
    median = statistics.median(seconds)
    first = what.split(":", maxsplit=1)[0]
    target_s = {"bed up": UP_TARGET_S, "change of a link": CHANGE_TARGET_S, "self-test": SELF_TEST_TARGET_S}.get(first)
    text = f"{median:.3f} s (least {min(seconds):.3f})"
    if target_s is None or name:
        return Figure(f"{what}{name}", text, "", None, tuple(seconds))
    return Figure(what, text, f"<= {target_s:g} s", median <= target_s, tuple(seconds))
