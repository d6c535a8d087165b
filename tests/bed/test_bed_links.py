"""What a link does by itself while a user's command runs in `lanelab bed`: traces, outages, a radio, cross traffic."""

import itertools
import json
import re
from pathlib import Path

from tests.kit.handles import LanelabCommand

TRANSFER = Path(__file__).resolve().parents[1] / "kit" / "transfer.py"
MEASURE = f"""#!/bin/sh
since=$(date +%s.%N)
node server python3 {TRANSFER} send 5000 "$1" & node client python3 {TRANSFER} receive server 5000 "$since"
"""
SQUARE = "seconds,mbit\n0,12\n2,2\n4,end\n"
LINK = ("--rtt", "20ms", "--rate", "10mbit")


def transferred(lanelab: LanelabCommand, folder: Path, seconds: int, *link: str) -> list[tuple[float, int]]:
    """(seconds since the script began, bytes so far) of a transfer to the client."""
    script = folder / "measure.sh"
    script.write_text(MEASURE)
    script.chmod(0o755)
    done = lanelab.run("bed", "run", *link, "--", str(script), str(seconds))
    assert done.returncode == 0, done.stderr
    return [(at, size) for at, size in json.loads(done.stdout)]


def bytes_between(points: list[tuple[float, int]], begin_s: float, end_s: float) -> int:
    before = [size for at, size in points if at < begin_s]
    until = [size for at, size in points if at < end_s]
    return until[-1] - before[-1]


def test_a_script_meets_the_rates_of_a_trace(lanelab: LanelabCommand, tmp_path: Path) -> None:
    (tmp_path / "square.csv").write_text(SQUARE)
    points = transferred(
        lanelab, tmp_path, 9, "--rtt", "20ms", "--rate-trace", str(tmp_path / "square.csv"), "--queue", "30p"
    )
    # The first second belongs to slow start. A second of the fast half has six times what one of the slow half has.
    fast, slow = bytes_between(points, 4.2, 5.2), bytes_between(points, 6.3, 7.3)
    assert fast > 2 * slow, (fast, slow)


def test_a_script_meets_outages(lanelab: LanelabCommand, tmp_path: Path) -> None:
    points = transferred(lanelab, tmp_path, 6, *LINK, "--outage", "1s every 3s")
    silences = [at for (at, _), (later, _) in itertools.pairwise(points) if later - at > 0.8]
    assert any(1 < at % 3 < 2.9 for at in silences), (silences, points[-1])


def test_the_first_packet_of_a_command_waits_for_the_radio(lanelab: LanelabCommand) -> None:
    done = lanelab.run(
        "bed", "exec", "client", *LINK, "--radio", "3g", "--", "ping", "-c", "2", "-i", "3", "-W", "9", "server"
    )
    first, second = (float(each) for each in re.findall(r"time=([0-9.]+)", done.stdout))
    assert first > 2000 > second, (first, second)


def test_cross_traffic_flows_while_a_command_runs(lanelab: LanelabCommand) -> None:
    done = lanelab.run(
        "bed", "exec", "server", *LINK, "--cross", "2 reno down", "--", "ss", "-Htni", "state", "established",
        "dport", "=", ":7015",
    )  # fmt: skip
    lines = done.stdout.splitlines()
    assert sum("10.10.1" in line for line in lines) == 2, done.stdout + done.stderr
    assert done.stdout.count("reno") == 2, done.stdout
