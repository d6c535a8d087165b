"""A trial on a machine that has no time for it."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

import pytest

from lanelab.driver.record.evidence.browser import Slowdown
from lanelab.driver.trial.page_load.judges.device import LEAST_PART
from tests.kit.handles import LanelabCommand

from .runs import play

EXPERIMENT = """\
sites: [dummy]
links: {rate: 20mbit, rtt: 20ms}
arms: {starved: {cpu_slowdown: 4}}
trials: 1
seed: 5
timeout: 600s
"""
HOGS = 2  # on each processor: one of them always waits
MOST_PROCESSORS = 2
LEAST = 1 + (4 - 1) * LEAST_PART  # times the processor time, or the judge refuses the load


@contextmanager
def hogs(processors: list[int]) -> Iterator[None]:
    """Programs that do nothing but use these processors."""
    running: list[subprocess.Popen[bytes]] = []
    try:
        for processor in processors * HOGS:
            program = f"import os; os.sched_setaffinity(0, {{{processor}}}); print(flush=True)\nwhile True: pass"
            running.append(subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE))
        for each in running:
            assert each.stdout is not None
            assert each.stdout.readline()
        yield
    finally:
        for each in running:
            each.kill()
            each.wait()
            if each.stdout:
                each.stdout.close()


@pytest.mark.measures  # it starves whatever else runs on this machine, too
def test_a_trial_on_a_starved_machine_is_flagged_and_says_why(tmp_path: Path) -> None:
    """Whether it counts is up to the rest of its evidence: a flag is no verdict."""
    processors = sorted(os.sched_getaffinity(0))[:MOST_PROCESSORS]
    where = ",".join(map(str, processors))
    pins = [word for node in ("client", "router", "server") for word in ("--pin", f"{node}={where}")]
    lanelab = LanelabCommand(tmp_path / "build")
    with hogs(processors):
        played = play(lanelab, tmp_path, EXPERIMENT, "--allow-missing", *pins, env={"LANELAB_PATIENCE": "6"})
    records = [record for record in played.records("starved") if record["recordings"]]
    assert records, (played.done.stderr, played.reasons("starved"))
    details = {flag["name"]: flag["detail"] for record in records for flag in record["flags"]}
    assert "other programs took the time of" in details["processors-contended"]
    for record in records:
        (machine,) = record["recordings"]["machine"]["machines"]
        assert machine["nodes"] == ["client", "router", "server"]
        assert machine["cpu_s"]["client"] > 0
        assert machine["cpu_s"]["other"] > machine["seconds"] * 0.2
    # Processor time tells all the same whether a page's thread was slowed down: one that was is not refused, and one
    # that was not would be. How much more than was asked for it has depends on how late the browser's own timer comes.
    assert "device-ignored" not in played.reasons("starved")
    for record in records:
        slowdown = Slowdown.from_json(record["evidence"]["browser"]["slowdown"])
        assert slowdown.cpu_factor is not None
        assert median(slowdown.plain_cpu_ms) / min(slowdown.plain_cpu_ms) < LEAST < 4 * 0.7 < slowdown.cpu_factor
