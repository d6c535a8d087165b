"""lanelab bench: measures lanelab itself."""

from itertools import chain
from pathlib import Path

import click
from rich.text import Text

from lanelab.analysis.statistics import KNOWN
from lanelab.driver.base.programs import needs
from lanelab.driver.base.programs.install import prepare
from lanelab.driver.cli.bed_options import cpus_of, here_options
from lanelab.driver.cli.common import json_option
from lanelab.driver.cli.output import console, note, print_json, table
from tools.bench.bed import measure_bed
from tools.bench.browsertime import measure_against_browsertime
from tools.bench.captures import measure_captures
from tools.bench.direct import measure_direct
from tools.bench.distances import measure_distances
from tools.bench.disturbance import Plan, measure_page_loads
from tools.bench.figures import Figure
from tools.bench.kills import measure_kills
from tools.bench.load import measure_load
from tools.bench.page import measure_page
from tools.bench.reading import measure_reading
from tools.bench.replay import measure_replay
from tools.bench.servers import measure_servers
from tools.bench.sweep import Simulation, measure_sweep
from tools.bench.trials import Options, measure_trials
from tools.bench.trials_against import measure_trials_against
from tools.bench.verdicts import measure_verdicts
from tools.bench.viewers import measure_viewers
from tools.simulations import arms as simulation
from tools.simulations import claims as of_claims
from tools.simulations import machines as simulation_of_machines
from tools.simulations import targets as simulation_of_targets


@click.group("bench")
def group() -> None:
    """Measure lanelab itself: how fast, and how exact. Figures, never a verdict: docs/reference/bench.md"""


@group.command("bed")
@click.option(
    "--kills", metavar="N", default=20, show_default=True, help="How often a bed is killed to see what it leaves"
)
@click.option("--quick", is_flag=True, help="Fewer repetitions")
@click.option(
    "--against",
    metavar="FOLDER",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Another checkout, whose beds, links and self-tests are timed in turns with these",
)
@here_options
@json_option
def bench_bed(
    *, kills: int, quick: bool, against: Path | None, router: str, pins: tuple[str, ...], as_json: bool
) -> None:
    """Bring-up time, time of self-tests, exactness of delay and rate, throughput, and what is left after kills."""

    prepare(needs.programs(*needs.BED))
    figures = measure_bed(
        router=router, cpus=cpus_of(pins), kills=kills, quick=quick, against=against and against.resolve(), tell=note
    )
    _print_figures(figures, as_json=as_json)


@group.command("direct")
@click.option("--quick", is_flag=True, help="Fewer repetitions")
@json_option
def bench_direct(*, quick: bool, as_json: bool) -> None:
    """Throughput of a link without a router: client and server on one processor and on two, TCP cut early and late."""

    prepare(needs.programs(*needs.BED))
    _print_figures(measure_direct(quick=quick, tell=note), as_json=as_json)


@group.command("distances")
@click.option("--trials", metavar="N", default=5, show_default=True, help="Page loads whose captures are read")
@here_options
@json_option
def bench_distances(*, trials: int, router: str, pins: tuple[str, ...], as_json: bool) -> None:
    """How far each of thirty hosts is, by pings and by captures of page loads, beside what was asked for."""

    prepare(needs.programs(*needs.BROWSING))
    figures = measure_distances(Options(router, pins), trials=trials, tell=note)
    _print_figures(figures, as_json=as_json)


@group.command("disturbance")
@click.option("--beds", metavar="N", default=2, show_default=True, type=click.IntRange(2), help="Beds at once")
@click.option("--site", metavar="NAME", default="dummy", show_default=True, help="The site whose page is loaded")
@click.option(
    "--blocks",
    metavar="N",
    default=4,
    show_default=True,
    type=click.IntRange(2),
    help="Of beds at once, and of one alone",
)
@click.option("--trials", metavar="N", default=6, show_default=True, type=click.IntRange(2), help="Rounds of a block")
@json_option
def bench_disturbance(*, beds: int, site: str, blocks: int, trials: int, as_json: bool) -> None:
    """Page loads on one bed of this machine alone and on several at once, in turns: what company changes of load times,
    and of changes between two arms."""

    prepare(needs.programs(*needs.PAGE_LOAD))
    _print_figures(measure_page_loads(Plan(site, beds, blocks, trials), tell=note), as_json=as_json)


@group.command("viewers")
@click.option("--viewers", metavar="N", default=30, show_default=True, type=click.IntRange(1), help="Who watch")
@click.option("--pairs", metavar="N", default=40, show_default=True, type=click.IntRange(1), help="Pairs of rounds")
@json_option
def bench_viewers(*, viewers: int, pairs: int, as_json: bool) -> None:
    """Page loads that others watch in `lanelab serve` against the same that nobody watches, in pairs of rounds."""

    prepare(needs.programs(*needs.PAGE_LOAD))
    _print_figures(measure_viewers(viewers, pairs, note), as_json=as_json)


@group.command("sweep")
@click.option(
    "--workers", metavar="N", default=64, show_default=True, type=click.IntRange(1), help="Workers that sleep"
)
@click.option("--trials", metavar="N", default=100_000, show_default=True, type=click.IntRange(1), help="Trials in all")
@click.option(
    "--seconds",
    metavar="S",
    default=1.0,
    show_default=True,
    type=click.FloatRange(0),
    help="How long each trial sleeps",
)
@click.option("--quick", is_flag=True, help="2,000 trials")
@json_option
def bench_sweep(*, workers: int, trials: int, seconds: float, quick: bool, as_json: bool) -> None:
    """What a sweep costs beside its trials, by simulation: workers that sleep, with a real scheduler and controller."""

    simulation = Simulation(workers, 2000 if quick else trials, seconds)
    _print_figures(measure_sweep(simulation, KNOWN, note), as_json=as_json)


@group.command("statistics")
@click.option(
    "--runs",
    metavar="N",
    default=3500,
    show_default=True,
    type=click.IntRange(100),
    help="Simulated runs for each figure",
)
def bench_statistics(*, runs: int) -> None:
    """How often intervals hold, changes are told, and runs and verdicts on claims mislead, by simulation: the tables of
    docs/statistics.md."""

    every = (simulation, simulation_of_targets, simulation_of_machines, of_claims)
    for each in chain.from_iterable(one.tables(runs) for one in every):
        click.echo(each.markdown())


@group.command("kills")
@click.option("--kills", metavar="N", default=30, show_default=True, help="How often a run is killed and resumed")
@here_options
@json_option
def bench_kills(*, kills: int, router: str, pins: tuple[str, ...], as_json: bool) -> None:
    """What runs of page loads and of server loads lose when they are killed at random moments and resumed."""

    prepare(needs.programs(*needs.PAGE_LOAD, "ab"))
    cpus_of(pins)
    _print_figures(measure_kills(Options(router, pins), kills=kills, tell=note), as_json=as_json)


@group.command("trials")
@click.option("--quick", is_flag=True, help="Fewer repetitions")
@click.option(
    "--against",
    metavar="FOLDER",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Another checkout, whose trials are made in turns with these; then nothing else is measured",
)
@click.option("--rounds", metavar="N", default=6, show_default=True, help="How many turns each of the two has")
@here_options
@json_option
def bench_trials(
    *, quick: bool, against: Path | None, rounds: int, router: str, pins: tuple[str, ...], as_json: bool
) -> None:
    """Cost and noise of trials, and page load times against the physical bound."""

    prepare(needs.programs(*needs.PAGE_LOAD))
    cpus_of(pins)
    options = Options(router, pins)
    if against:
        figures = measure_trials_against(against.resolve(), options, rounds, note)
    else:
        figures = measure_trials(options, quick=quick, tell=note)
    _print_figures(figures, as_json=as_json)


@group.command("verdicts")
@click.option("--trials", metavar="N", default=200, show_default=True, help="How many sound trials of each experiment")
@here_options
@json_option
def bench_verdicts(*, trials: int, router: str, pins: tuple[str, ...], as_json: bool) -> None:
    """False alarms: what the verdicts say, by name, of trials with which nothing is wrong."""

    prepare(needs.programs(*needs.PAGE_LOAD))
    cpus_of(pins)
    _print_figures(measure_verdicts(Options(router, pins), trials=trials, tell=note), as_json=as_json)


@group.command("browsertime")
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--trials", metavar="N", default=10, show_default=True, help="How often each of the two loads the page")
@here_options
@json_option
def bench_browsertime(folder: Path, *, trials: int, router: str, pins: tuple[str, ...], as_json: bool) -> None:
    """The same page loads by lanelab and by Browsertime, in turns. FOLDER is where Browsertime was installed:

    \b
      CHROMEDRIVER_SKIP_DOWNLOAD=1 npm install --prefix FOLDER browsertime
    """

    prepare(needs.programs(*needs.PAGE_LOAD))
    figures = measure_against_browsertime(folder, trials=trials, router=router, pins=cpus_of(pins), tell=note)
    _print_figures(figures, as_json=as_json)


@group.command("load")
@click.option("--quick", is_flag=True, help="Fewer repetitions")
@json_option
def bench_load(*, quick: bool, as_json: bool) -> None:
    """What k6 as a load generator costs and adds, and its transport for HTTP/1.1 against k6's own, in turns."""

    prepare(needs.programs("nginx"))

    _print_figures(measure_load(quick=quick, tell=note), as_json=as_json)


@group.command("servers")
@click.option("--quick", is_flag=True, help="Fewer repetitions")
@json_option
def bench_servers(*, quick: bool, as_json: bool) -> None:
    """Requests and bytes per second of Apache's mod_spdy against its mod_http2, in turns, by one client."""

    prepare(needs.programs(*needs.BED, "apache", "module"))
    _print_figures(measure_servers(quick=quick, tell=note), as_json=as_json)


@group.command("replay")
@click.option("--quick", is_flag=True, help="Fewer repetitions")
@json_option
def bench_replay(*, quick: bool, as_json: bool) -> None:
    """Requests per second and first bytes of Apache's mod_replay against the same Apache with plain files, in turns."""

    prepare(needs.programs("apache", "module"))
    _print_figures(measure_replay(quick=quick, tell=note), as_json=as_json)


@group.command("captures")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--pyshark", type=click.Path(exists=True, path_type=Path), metavar="PYTHON", help="A Python that has pyshark"
)
@click.option("--quick", is_flag=True, help="Fewer repetitions")
@json_option
def bench_captures(file: Path, *, pyshark: Path | None, quick: bool, as_json: bool) -> None:
    """Packets per second that lanelab reads of FILE, a trial's capture, beside tshark and pyshark, in turns."""

    _print_figures(measure_captures(file, pyshark=pyshark, quick=quick, tell=note), as_json=as_json)


@group.command("page")
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.argument("runs", nargs=-1)
@click.option(
    "--against",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="CHECKOUT",
    help="Another checkout of lanelab, which has its turns",
)
@click.option("--quick", is_flag=True, help="Fewer repetitions")
@json_option
def bench_page(folder: Path, runs: tuple[str, ...], *, against: Path | None, quick: bool, as_json: bool) -> None:
    """Measure the first view of the list of runs in FOLDER by `lanelab serve`, and of runs of these names."""
    _print_figures(measure_page(folder, runs, against=against, quick=quick, tell=note), as_json=as_json)


@group.command("reading")
@click.argument("run", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option(
    "--against",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="CHECKOUT",
    help="Another checkout of lanelab, which has its turns",
)
@click.option("--quick", is_flag=True, help="Fewer repetitions")
@json_option
def bench_reading(run: Path, *, against: Path | None, quick: bool, as_json: bool) -> None:
    """Measure processor time of the commands that read the run in folder RUN, beside another checkout, in turns."""
    _print_figures(measure_reading(run, against=against, quick=quick, tell=note), as_json=as_json)


def _print_figures(figures: list[Figure], *, as_json: bool) -> None:
    if as_json:
        print_json([figure.to_json() for figure in figures])
        return
    rows = ((f.what, f.figure, f.target, Text(f.verdict, style="" if f.met else "bold red")) for f in figures)
    console().print(table(("what", "measured", "target", ""), rows, right=("measured",)))
