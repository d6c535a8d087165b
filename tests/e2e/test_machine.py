"""A trial on a machine that has no time for it."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from lanelab.driver.record.evidence.browser import Slowdown
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
    # That the page's thread was slowed down is seen all the same: by its processor time.
    assert "device-ignored" not in played.reasons("starved")
    slowdown = Slowdown.from_json(records[0]["evidence"]["browser"]["slowdown"])
    assert slowdown.cpu_factor == pytest.approx(4, rel=0.3)
