"""`lanelab bench servers`: what Apache's mod_spdy serves, against what its mod_http2 does, by one generator.

It is a run for each number of streams, of the workload `load`: its folder can be shown, resumed and exported. Where
h2load is installed there is another of mod_http2 alone, so that one sees how much of a figure is the generator's.
"""

import contextlib
import datetime
import os
import statistics
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from lanelab.analysis.results.model import Run
from lanelab.analysis.results.run_folder import read_run
from lanelab.driver.base.errors import EXIT_INCOMPLETE, EXIT_INTERRUPTED, BedError, Interrupted
from lanelab.driver.base.paths import SOURCES, build_folder
from lanelab.driver.base.programs.find_program import find
from lanelab.driver.experiment.read import parse_experiment
from lanelab.driver.site.load import load_site, site_folder, site_names
from lanelab.driver.trial.load_settings import LoadSettings
from lanelab.driver.trial.server_load.generators.h2load import NAME as H2LOAD
from lanelab.driver.trial.server_load.generators.spdy_load import NAME as SPDY_LOAD
from lanelab.driver.trial.server_load.targets import requests_wanted
from tools.bench.figures import Figure

Tell = Callable[[str], None]

ROUNDS, QUICK_ROUNDS = 5, 2
CONNECTIONS = 4
REQUESTS, QUICK_REQUESTS = (8000, "800MB"), (2000, "100MB")  # and what their answers may be together
STREAMS = (1, 8, 100)
PLACES = {"clear": "off", "TLS": "1.3"}
SERVERS = {"mod_spdy": "spdy/3.1", "mod_http2": "h2"}
MB = 1_000_000
RECIPE = """\
title: One large object
source: composed for the benchmark of servers
host: large.test
page: {size: 1000}
objects:
  - {type: script, name: large, size: 4000000}
"""
SITE = """\
title: One large object
source: composed for the benchmark of servers
entry: large.test/index.html
licence: 'made by lanelab: no rights of others'
synthetic: true
recipe: recipe.yaml
digest: 198d53e56aca604c23bb14772b60cb90d67dec44fff3e24c3708f8b92ccbe548
composition:
  html: {objects: 1, bytes: 1000}
  script: {objects: 1, bytes: 4000000}
"""
EXPERIMENT = """\
# Written by lanelab bench servers
name: {name}
description: mod_spdy against mod_http2, by {generator} over a direct link
workload: {{kind: load, generator: {generator}, connections: {connections}, streams: {streams}, requests: {requests}, \
most: {most}}}
sites: [{sites}]
links: {{label: direct, path: direct}}
arms:
{arms}
trials: {rounds}
"""


@dataclass(frozen=True, slots=True)
class Load:
    """A site under load: how many objects it has, and how large they are."""

    what: str
    site: str  # what the run calls it
    sizes: tuple[int, ...]  # of the answers
    unit: str

    @property
    def words(self) -> str:
        if len(self.sizes) > 1:
            return f"{self.what}, {min(self.sizes):,} to {max(self.sizes):,} bytes"
        return f"{self.what}, {self.sizes[0]:,} bytes"

    def rate(self, requests_per_s: float) -> float:
        if self.unit == "requests/s":
            return requests_per_s
        return requests_per_s * statistics.fmean(self.sizes) / MB

    def cost(self, seconds: float, requests: int) -> float:
        """Return the processor time: microseconds for each request or megabyte."""
        return seconds * 1e6 / self.rate(requests)


def measure_servers(*, quick: bool, tell: Tell) -> list[Figure]:
    """Measure both servers. Every round loads each once, so that whatever the machine does hits both alike."""
    archive = make_archive()
    loads = made_loads(archive)
    stamp = datetime.datetime.now(datetime.UTC).strftime("%Y%m%dT%H%M%SZ")
    list_of_figures = []
    for streams in STREAMS:
        texts = {SPDY_LOAD: experiment_text(loads, SPDY_LOAD, streams, quick=quick)}
        if find(H2LOAD):
            texts[H2LOAD] = experiment_text(loads, H2LOAD, streams, quick=quick)
        runs = {}
        for generator, text in texts.items():
            name = name_of(generator, streams)
            file, folder = archive.parent / f"{name}.yaml", Path("runs") / f"{stamp}-{name}"
            file.write_text(text)
            _run(file, folder, archive)
            tell(f"all numbers of {streams} streams by {generator}: lanelab show {folder}")
            runs[generator] = read_run(folder)
        settings = settings_of(texts[SPDY_LOAD], archive)
        list_of_figures += figures(runs[SPDY_LOAD], runs.get(H2LOAD), loads, settings)
    return sorted(list_of_figures, key=lambda figure: [load.words in figure.what for load in loads], reverse=True)


def name_of(generator: str, streams: int) -> str:
    return f"servers-{streams}" if generator == SPDY_LOAD else f"servers-{streams}-by-{generator}"


def settings_of(text: str, archive: Path) -> LoadSettings:
    """Return the settings of the load of an experiment, which has one."""
    load = parse_experiment(text, "servers.yaml", site_names(archive)).cells[0].link.load
    if load is None:
        raise TypeError("the benchmark's trials are loads")
    return load


def make_archive() -> Path:
    """Make an archive for this benchmark, since no site of the project has an object of some megabytes."""
    archive = build_folder() / "bench" / "sites"
    (archive / "large").mkdir(parents=True, exist_ok=True)
    (archive / "large" / "recipe.yaml").write_text(RECIPE)
    (archive / "large" / "site.yaml").write_text(SITE)
    dummy = archive / "dummy"
    if not dummy.exists():
        dummy.unlink(missing_ok=True)
        dummy.symlink_to(site_folder("dummy"))
    return archive


def made_loads(archive: Path) -> list[Load]:
    page = load_site("dummy", archive)
    small = min(page.objects, key=lambda each: each.size)
    large = max(load_site("large", archive).objects, key=lambda each: each.size)
    return [
        Load("small", f"dummy{small.path}", (small.size,), "requests/s"),
        Load("mixed", "dummy/*", tuple(each.size for each in page.objects), "MB/s"),
        Load("large", f"large{large.path}", (large.size,), "MB/s"),
    ]


def _run(file: Path, folder: Path, archive: Path) -> None:
    argv = [sys.executable, "-P", "-m", "lanelab.driver.cli", "run", str(file), "--out", str(folder)]
    environment = {**os.environ, "PYTHONPATH": str(SOURCES), "LANELAB_SITES": str(archive)}
    remedy = f"Go on with: LANELAB_SITES={archive} lanelab run --resume {folder}"
    status = _status(subprocess.Popen(argv, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL))
    if status == EXIT_INTERRUPTED:
        raise Interrupted("stopped; every load that was finished is stored", remedy)
    if status not in (0, EXIT_INCOMPLETE):
        raise BedError("the benchmark's run failed", remedy if folder.is_dir() else "The line above says why")


def _status(run: subprocess.Popen[bytes]) -> int:
    """Return how the run ended. Ctrl-C reaches it as well: it ends by itself, when its trial is stored."""
    while True:
        with contextlib.suppress(KeyboardInterrupt):
            return run.wait()


def experiment_text(loads: list[Load], generator: str, streams: int, *, quick: bool) -> str:
    """Return the experiment that the benchmark runs: both servers, or the one that h2load can load."""
    requests, most = QUICK_REQUESTS if quick else REQUESTS
    arms = [
        f"  {server} {place}: {{via: gateway, mpm: event, protocol: {protocol}, tls: {tls}}}"
        for place, tls in PLACES.items()
        for server, protocol in SERVERS.items()
        if generator == SPDY_LOAD or protocol == "h2"
    ]
    return EXPERIMENT.format(
        name=name_of(generator, streams),
        generator=generator,
        connections=CONNECTIONS,
        streams=streams,
        requests=requests,
        most=most,
        sites=", ".join(each.site for each in loads),
        arms="\n".join(arms),
        rounds=QUICK_ROUNDS if quick else ROUNDS,
    )


def figures(run: Run, by_h2load: Run | None, loads: list[Load], settings: LoadSettings) -> list[Figure]:
    """Return what one server does against the other, of each load and place."""
    each_figure = (_figure(run, by_h2load, load, place, settings) for load in loads for place in PLACES)
    return [figure for figure in each_figure if figure]


def _figure(run: Run, by_h2load: Run | None, load: Load, place: str, settings: LoadSettings) -> Figure | None:
    """Return the figure; None where no round has both servers."""
    names = [f"{server} {place}" for server in SERVERS]
    rates = [_values(run, load, name, "requests_per_s") for name in names]
    seconds = [_values(run, load, name, "cpu_server_s") for name in names]
    requests = requests_wanted(settings, load.sizes)
    rounds = sorted(rates[0].keys() & rates[1].keys())
    if not rounds:
        return None
    speed = _compared(rates, rounds, load.rate, load.unit)
    cost = _compared(
        seconds, rounds, lambda each: load.cost(each, requests), "us" if load.unit == "requests/s" else "us/MB"
    )
    others = _values(by_h2load, load, names[1], "requests_per_s") if by_h2load else {}
    second = f"; by h2load {load.rate(statistics.median(others.values())):,.0f}" if others else ""
    ratios = tuple(rates[0][number] / rates[1][number] for number in rounds)
    what = f"{load.words}; {place}; streams: {settings.streams}"
    met = statistics.median(ratios) >= 1
    return Figure(what, f"{speed}{second}; CPU {cost}", "1.00 of mod_http2", met, ratios)


def _values(run: Run, load: Load, arm: str, measure: str) -> dict[int, float]:
    """Return the values of one cell, by round."""
    (cell,) = [cell.number for cell in run.cells if (cell.site, cell.arm.name) == (load.site, arm)]
    return run.values(measure)[cell]


def _compared(values: list[dict[int, float]], rounds: list[int], scale: Callable[[float], float], unit: str) -> str:
    """Return the median ratio of the rounds, and both medians."""
    common = [number for number in rounds if all(number in each for each in values)]
    if not common:
        return "unknown"
    ratio = statistics.median(values[0][number] / values[1][number] for number in common)
    ours, others = (scale(statistics.median(each[number] for number in common)) for each in values)
    return f"{ratio:.2f} ({ours:,.0f} and {others:,.0f} {unit})"
