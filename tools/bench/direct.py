"""`lanelab bench direct`: what a link without a router carries, with both ends on one processor and on two, and with
each way of cutting what TCP sends."""

import itertools
import statistics
from collections.abc import Mapping

from lanelab.driver.base import paths
from lanelab.driver.base.errors import BedError
from lanelab.driver.bed.addresses import HOSTS
from lanelab.driver.bed.node import Command, Stdio
from lanelab.driver.bed.placement import processors_here
from lanelab.driver.bed.substrate import BedSettings
from lanelab.driver.link.profiles import PROFILES
from lanelab.driver.run.channel.client import Bed
from tools.bench.bed import Tell, goodput_bps
from tools.bench.figures import Figure

ROUNDS, QUICK_ROUNDS = 5, 2
TRANSFER_S, LEAD_S = 2.0, 0.2
# Features of the cable as ethtool has them; the first is how lanelab sets it.
OFFLOADS: Mapping[str, Mapping[str, str]] = {
    "GSO on, GRO off": {"tso": "on", "gso": "on", "gro": "off"},
    "both off": {"tso": "off", "gso": "off", "gro": "off"},
    "GSO off, GRO on": {"tso": "off", "gso": "off", "gro": "on"},
}


def measure_direct(*, quick: bool, tell: Tell) -> list[Figure]:
    """Measure Gbit/s of one TCP connection to the client. Every case has its turn in each round, so that whatever the
    machine does hits all alike."""
    processors = processors_here()
    places = {"same processor": {host.name: str(processors[0]) for host in HOSTS}}
    if len(processors) > 1:
        apart = {"client": str(processors[0]), "server": str(processors[-1])}
        places = {"own processors": apart, **places}
    else:
        tell("there is one processor: both ends share it")
    rates: dict[tuple[str, str], list[float]] = {case: [] for case in itertools.product(places, OFFLOADS)}
    for number in range(1, (rounds := QUICK_ROUNDS if quick else ROUNDS) + 1):
        tell(f"round {number} of {rounds}")
        for where, cpus in places.items():
            with paths.bed_folder() as folder, Bed(BedSettings(folder=folder, cpus=cpus)) as bed:
                bed.set_link(PROFILES["direct"].link)
                for how in OFFLOADS:
                    rates[where, how].append(_throughput(bed, how))
    return [
        Figure(f"direct, {where}, {how}: median of {rounds}", _text(values), "", None, tuple(values))
        for (where, how), values in rates.items()
    ]


def _throughput(bed: Bed, how: str) -> float:
    words = [word for pair in OFFLOADS[how].items() for word in pair]
    for host in HOSTS:
        argv = ["ethtool", "-K", host.direct_port.device, *words]
        if bed.exec(host.name, Command(argv), Stdio()).wait():
            raise BedError(f"on the {host.name}, '{' '.join(argv)}' failed", "Run: ./lanelab doctor")
    return goodput_bps(bed.transfer("down", TRANSFER_S + LEAD_S).marks, LEAD_S) / 1e9


def _text(rates: list[float]) -> str:
    return f"{statistics.median(rates):.1f} Gbit/s ({min(rates):.1f} to {max(rates):.1f})"
