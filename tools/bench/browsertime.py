"""`lanelab bench browsertime`: the same page over the same link, loaded in turns by lanelab and by Browsertime."""

import json
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from lanelab.driver.arm.arm import Arm
from lanelab.driver.base import paths
from lanelab.driver.base.errors import BedError, InputError
from lanelab.driver.base.programs.find_program import find
from lanelab.driver.base.programs.needs import program as wanted
from lanelab.driver.bed.addresses import origin_addresses
from lanelab.driver.bed.node import Command, Stdio
from lanelab.driver.bed.substrate import BedSettings
from lanelab.driver.link import Link
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.run.channel.client import Bed
from lanelab.driver.trial.spec import TrialSpec
from tools.bench.dummy import dummy_trial
from tools.bench.figures import Figure

Tell = Callable[[str], None]

LINK = {"rate": "10mbit", "rtt": "40ms", "queue": "1000p"}
PROGRAM = Path("node_modules/browsertime/bin/browsertime.js")
PLT_TARGET = 0.01
# As it comes, Browsertime loads while its browser is still starting. With time to settle it measures what lanelab does.
SETTLED = ("--timeToSettle", "2000")


def measure_against_browsertime(
    folder: Path, *, trials: int, router: str, pins: dict[str, str], tell: Tell
) -> list[Figure]:
    """Measure in turns, so that whatever the machine does hits both alike. What is compared is navigation timing's
    loadEventEnd, which both read from the browser."""
    program = folder / PROGRAM
    if not program.is_file():
        remedy = "In a folder of your own: npm install browsertime, and name that folder (CHROMEDRIVER_SKIP_DOWNLOAD=1)"
        raise InputError(f"there is no Browsertime in {folder}", remedy, key="FOLDER")
    loads_by: dict[str, list[tuple[float, float]]] = {"lanelab": [], "Browsertime": [], "Browsertime, settled": []}
    with (
        paths.bed_folder() as bed_folder,
        tempfile.TemporaryDirectory(prefix="lanelab-bench-", dir=paths.build_folder()) as scratch,
        Bed(BedSettings(folder=bed_folder, router=router, cpus=pins)) as bed,
    ):
        bed.set_link(Link.parse(LINK))
        spec = dummy_trial(Path(scratch), Arm.parse("plain", {}))
        for number in range(1, trials + 1):
            loads_by["lanelab"].append(_trial(bed, spec))
            loads_by["Browsertime"].append(_iteration(bed, spec, program, Path(scratch)))
            loads_by["Browsertime, settled"].append(_iteration(bed, spec, program, Path(scratch), SETTLED))
            times = ", ".join(f"{name} {loads[-1][0]:.0f} ms" for name, loads in loads_by.items())
            tell(f"{number} of {trials}: {times}")
    return _figures(loads_by)


def _trial(bed: Bed, spec: TrialSpec) -> tuple[float, float]:
    """Return the PLT in ms, and how long the whole trial took in s."""
    shutil.rmtree(spec.folder, ignore_errors=True)
    spec.folder.mkdir()
    started = time.monotonic()
    bed.prepare_trial(spec)
    record = TrialRecord.from_json(bed.run_trial(spec.timeout_s))
    took = time.monotonic() - started
    if record.failures:
        raise BedError(f"the trial failed: {record.failures[0].detail}", "Run: lanelab doctor")
    browser = record.page_load.browser if record.page_load else None
    if browser is None or browser.times.plt_navigation_ms is None:
        raise BedError("the trial has no load time by the browser's clock", "Run: lanelab doctor")
    return browser.times.plt_navigation_ms, took


def _iteration(
    bed: Bed, spec: TrialSpec, program: Path, scratch: Path, options: Sequence[str] = ()
) -> tuple[float, float]:
    """Return the same two times of one iteration of Browsertime, in the client node, against the same server."""
    bed.serve_site(spec)
    results = scratch / "browsertime"
    shutil.rmtree(results, ignore_errors=True)
    address = origin_addresses(spec.site.hosts, spec.arm.addresses)[spec.site.entry_host]
    flags = [f"host-resolver-rules=MAP {spec.site.entry_host} {address}, MAP * ~NOTFOUND", "disable-quic"]
    argv = [
        str(find("node") or "node"), str(program), "-n", "1", "--headless", "--resultDir", str(results),
        "--chrome.binaryPath", str(wanted("chromium").path()),
        "--chrome.chromedriverPath", str(find("chromedriver")), "--video=false", "--visualMetrics=false",
        *options, *(word for flag in flags for word in ("--chrome.args", flag)), spec.site.url("http"),
    ]  # fmt: skip
    log = scratch / "browsertime.log"
    started = time.monotonic()
    with log.open("wb") as out:
        process = bed.exec(
            "client", Command(argv, {"HOME": str(scratch)}, str(scratch)), Stdio(None, out.fileno(), out.fileno())
        )
        status = process.wait()
    took = time.monotonic() - started
    if status != 0:
        last = "; ".join(log.read_text(errors="replace").strip().splitlines()[-5:])
        raise BedError(f"Browsertime ended with status {status}: {last}", "Run it by hand to see why")
    iterations: list[dict[str, Any]] = json.loads((results / "browsertime.json").read_text())
    timings = iterations[0]["browserScripts"][0]["timings"]
    return float(timings["navigationTiming"]["loadEventEnd"]), took


def _figures(loads_by: dict[str, list[tuple[float, float]]]) -> list[Figure]:
    plts = {name: statistics.median(plt for plt, _ in loads) for name, loads in loads_by.items()}
    walls = {name: statistics.median(wall for _, wall in loads) for name, loads in loads_by.items()}
    count = len(loads_by["lanelab"])
    figures = []
    for name in ("Browsertime", "Browsertime, settled"):
        difference = plts["lanelab"] / plts[name] - 1
        text = f"{difference:+.2%} ({plts['lanelab']:.0f} and {plts[name]:.0f} ms)"
        loads = tuple(plt for plt, _ in loads_by[name])
        what = f"PLT against {name}, medians of {count} in turns"
        figures.append(Figure(what, text, f"within {PLT_TARGET:.0%}", abs(difference) <= PLT_TARGET, loads))
    ratio = walls["Browsertime"] / walls["lanelab"]
    text = f"{ratio:.1f} ({walls['Browsertime']:.1f} and {walls['lanelab']:.2f} s)"
    took = tuple(wall for _, wall in loads_by["Browsertime"])
    figures.append(Figure("wall time: an iteration of Browsertime / a trial", text, "", None, took))
    return figures
