"""`lanelab bench distances`: how far each of thirty hosts is, by pings and by captures of page loads, beside what was
asked for."""

import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path

from lanelab.analysis.results.model import Run
from lanelab.driver.base import paths
from lanelab.driver.base.errors import BedError
from lanelab.driver.bed.addresses import origin_addresses
from lanelab.driver.bed.node import Command, Stdio
from lanelab.driver.bed.substrate import BedSettings
from lanelab.driver.cli.bed_options import cpus_of
from lanelab.driver.link import Link
from lanelab.driver.run.channel.client import Bed
from lanelab.driver.run.folder.trial_records import read_record
from lanelab.driver.run.site_distances import link_as_recorded
from lanelab.driver.site.load import load_site
from tools.bench.figures import Figure
from tools.bench.trials import Options, play

SITE = "thirty-hosts"  # over a link without a rate: what waits in a queue says nothing of a distance
TOLERATED_MS = 0.5
PINGS, APART_S = 40, 0.02
WORDS = f"within {TOLERATED_MS} ms"
_LEAST = re.compile(r"rtt min/avg/max/mdev = ([0-9.]+)/")
LOADS = """\
sites: {site}
links: {{distances: recorded}}
arms: {{one: {{addresses: per-origin}}}}
trials: {trials}
"""


def measure_distances(options: Options, *, trials: int, tell: Callable[[str], None]) -> list[Figure]:
    """Measure each host's round trip: the quickest ping, and the quickest handshake in the captures of page loads."""
    site = load_site(SITE)
    link = link_as_recorded(Link.parse({}), site, site.hosts)
    addresses = origin_addresses(site.hosts, "per-origin", link.distance_to)
    tell(f"{PINGS} pings of each of {len(addresses)} hosts")
    with (
        paths.bed_folder() as folder,
        Bed(BedSettings(folder=folder, router=options.router, cpus=cpus_of(tuple(options.pins)))) as bed,
    ):
        bed.set_link(link)
        pinged = {name: _quickest_ping_ms(bed, address) for name, address in addresses.items()}
    tell(f"{trials} page loads")
    target = paths.build_folder() / "bench" / "distances"
    target.parent.mkdir(parents=True, exist_ok=True)
    text = LOADS.format(site=SITE, trials=trials)
    shaken = _quickest_handshakes_ms(play(options, target, text, "--accept-links"), target)
    wanted = {name: link.to_host(name).rtt.milliseconds for name in addresses}
    nearest_first = sorted(addresses, key=lambda name: wanted[name])
    figures = [
        _figure(f"{name}, asked {wanted[name]:g} ms, {how}", measured, wanted[name])
        for name in nearest_first
        for how, measured in (("ping", pinged[name]), ("captures", shaken.get(addresses[name])))
    ]
    return [*figures, _all("pings", pinged, wanted), _all("captures", _by_name(addresses, shaken), wanted)]


def _quickest_ping_ms(bed: Bed, address: str) -> float:
    with os.fdopen(os.memfd_create("ping"), "w+b") as output:
        argv = ["ping", "-q", "-n", "-c", str(PINGS), "-i", str(APART_S), address]
        status = bed.exec("client", Command(argv), Stdio(None, output.fileno(), output.fileno())).wait()
        output.seek(0)
        words = output.read().decode(errors="replace")
    least = _LEAST.search(words)
    if status or least is None:
        raise BedError(f"{' '.join(argv)} failed: {words.strip()[-200:]}", "Run: ./lanelab doctor")
    return float(least[1])


def _quickest_handshakes_ms(run: Run, folder: Path) -> dict[str, float]:
    """Return that of each address, of all trials."""
    quickest: dict[str, float] = {}
    for trial in run.trials:
        evidence = read_record(folder, trial.number).page_load
        packets = evidence.packets.get("client") if evidence else None
        for each in packets.by_connection if packets else ():
            if each.handshake_rtt_us is not None:
                shaken = each.handshake_rtt_us / 1000
                quickest[each.server] = min(quickest.get(each.server, shaken), shaken)
    return quickest


def _by_name(addresses: Mapping[str, str], values: Mapping[str, float]) -> dict[str, float]:
    return {name: values[address] for name, address in addresses.items() if address in values}


def _figure(what: str, measured: float | None, wanted: float) -> Figure:
    if measured is None:
        return Figure(what, "nothing", WORDS, False, ())
    off = measured - wanted
    return Figure(what, f"{measured:.2f} ms ({off:+.2f})", WORDS, abs(off) <= TOLERATED_MS, (measured,))


def _all(what: str, measured: Mapping[str, float], wanted: Mapping[str, float]) -> Figure:
    off = [measured[name] - wanted[name] for name in wanted if name in measured]
    right = sum(abs(each) <= TOLERATED_MS for each in off)
    text = f"{right} of {len(wanted)} (at most {max(map(abs, off), default=0):.2f} ms off)"
    return Figure(f"all {what}", text, f"{len(wanted)} {WORDS}", right == len(wanted), tuple(off))
