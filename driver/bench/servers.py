"""`lanelab bench servers`: what Apache's mod_spdy serves, against what its mod_http2 does, by one client in one node.

It is a run like any other, of the workload `server_load`: its folder can be shown, resumed and exported. Where h2load
is installed it loads mod_http2 too, so that one sees how much of a figure is the client's.
"""

from __future__ import annotations

import contextlib
import datetime
import os
import statistics
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from analysis.model import Run
from analysis.run_folder import read_run
from driver.bench.figures import Figure
from model.errors import EXIT_INCOMPLETE, EXIT_INTERRUPTED, BedError, Interrupted
from model.paths import PROJECT, build_folder
from model.site.site import SiteObject
from sites.load import load_site

Tell = Callable[[str], None]

ROUNDS, QUICK_ROUNDS = 7, 2
REQUESTS, QUICK_REQUESTS = 20_000, 4_000
LARGE_ANSWERS, QUICK_LARGE_ANSWERS = 2_000, 400
PLACES = {"clear": "off", "TLS": "1.3"}
MB = 1_000_000
OURS, H2LOAD = "spdy-load", "h2load"
MEASURES = {OURS: "requests_per_s", H2LOAD: "h2load_requests_per_s"}
EXPERIMENT = """\
# Written by lanelab bench servers
name: servers
description: mod_spdy against mod_http2, by one client on the server's own loopback
workload: server_load
load: {{requests: {requests}, most: {most}B}}
sites: [{sites}]
links: {{label: loopback}}
arms:
{arms}
trials: {rounds}
"""


@dataclass(frozen=True, slots=True)
class Load:
    """What is asked for."""

    what: str
    object: SiteObject
    unit: str

    @property
    def site(self) -> str:
        """What the run calls it."""
        return f"dummy{self.object.path}"

    def figure(self, requests_per_s: float) -> float:
        return requests_per_s if self.unit == "requests/s" else requests_per_s * self.object.size / MB


def measure_servers(*, quick: bool, tell: Tell) -> list[Figure]:
    """Every round loads each server once, so that whatever the machine does hits all alike."""
    loads = _loads()
    file = build_folder() / "bench" / "servers.yaml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(experiment_text(loads, quick=quick))
    stamp = datetime.datetime.now(datetime.UTC).strftime("%Y%m%dT%H%M%SZ")
    folder = Path("runs") / f"{stamp}-servers"
    argv = [sys.executable, "-P", "-m", "driver.cli", "run", str(file), "--out", str(folder)]
    environment = {**os.environ, "PYTHONPATH": str(PROJECT)}
    remedy = f"Go on with: lanelab run --resume {folder}"
    status = _status(subprocess.Popen(argv, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL))
    if status == EXIT_INTERRUPTED:
        raise Interrupted("stopped; every load that was finished is stored", remedy)
    if status not in (0, EXIT_INCOMPLETE):
        raise BedError("the benchmark's run failed", remedy if folder.is_dir() else "The line above says why")
    tell(f"all numbers: lanelab show {folder}")
    return figures(read_run(folder), loads)


def _status(run: subprocess.Popen[bytes]) -> int:
    """How the run ended. Ctrl-C reaches it as well: it ends by itself, when its trial is stored."""
    while True:
        with contextlib.suppress(KeyboardInterrupt):
            return run.wait()


def experiment_text(loads: list[Load], *, quick: bool) -> str:
    """The experiment that the benchmark runs."""
    arms = [
        f"  {server} {place}: {{via: gateway, mpm: event, protocol: {protocol}, tls: {tls}}}"
        for place, tls in PLACES.items()
        for server, protocol in (("mod_http2", "h2"), ("mod_spdy", "spdy/3.1"))
    ]
    most = (QUICK_LARGE_ANSWERS if quick else LARGE_ANSWERS) * max(load.object.size for load in loads)
    return EXPERIMENT.format(
        requests=QUICK_REQUESTS if quick else REQUESTS,
        most=most,
        sites=", ".join(load.site for load in loads),
        arms="\n".join(arms),
        rounds=QUICK_ROUNDS if quick else ROUNDS,
    )


def _loads() -> list[Load]:
    objects = sorted(load_site("dummy").objects, key=lambda each: each.size)
    return [Load("small answers", objects[0], "requests/s"), Load("large answers", objects[-1], "MB/s")]


def figures(run: Run, loads: list[Load]) -> list[Figure]:
    """What one server does against the other, of each load, place and client."""
    clients = [client for client, name in MEASURES.items() if any(name in trial.measures for trial in run.ok)]
    made = (_figure(run, load, place, client) for load in loads for place in PLACES for client in clients)
    return [figure for figure in made if figure]


def _figure(run: Run, load: Load, place: str, client: str) -> Figure | None:
    """None where no round has both servers."""
    numbers = {cell.arm.name: cell.number for cell in run.cells if cell.site == load.site}
    spdy = run.values(MEASURES[OURS])[numbers[f"mod_spdy {place}"]]
    http2 = run.values(MEASURES[client])[numbers[f"mod_http2 {place}"]]
    rounds = sorted(spdy.keys() & http2.keys())
    if not rounds:
        return None
    ratios = [spdy[number] / http2[number] for number in rounds]
    medians = [load.figure(statistics.median(rates[number] for number in rounds)) for rates in (spdy, http2)]
    figure = f"{statistics.median(ratios):.2f} ({medians[0]:,.0f} and {medians[1]:,.0f} {load.unit})"
    what = f"{load.what} of {load.object.size:,} bytes in {place}: mod_spdy / mod_http2 loaded by {client}"
    return Figure(what, figure, "", None, tuple(ratios))
