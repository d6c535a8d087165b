"""`lanelab bench bed`: how fast a bed is there, how exact its links are, and what is left of it when it is killed."""

import random
import statistics
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from lanelab.driver.base import paths
from lanelab.driver.base.errors import LanelabError
from lanelab.driver.bed.substrate import BedSettings
from lanelab.driver.link import HEADER, Link
from lanelab.driver.link.live.operations import Way
from lanelab.driver.link.selftest.plan import Pings
from lanelab.driver.run.channel.client import Bed
from tools.bench.bed_speed import measure_speed
from tools.bench.figures import Figure
from tools.bench.leftovers import Watch, kill

Tell = Callable[[str], None]

WAYS: tuple[Way, ...] = ("down", "up")
BRING_UPS, BRING_UP_TARGET_S = 7, 1.0
SPEED_ROUNDS = 4
RTTS_MS = (10, 20, 50, 100, 200)
RTT_ERROR_MS, RTT_ERROR, RTT_DEVIATION_MS = 0.5, 0.01, 0.3
PING_SETS, PINGS, PING_GAP_US = 5, 40, 5000
RATES_MBIT = (1, 10, 100)
RATE_ERROR = 0.01
TCP_HEADERS = 20 + 20 + 12  # IPv4, TCP, its time stamps
TCP_S, TCP_LEAD_S = 5.0, 1.5
TCP_QUEUE = "1000p"  # enough that TCP never loses a packet: the link is measured, not cubic
UNSHAPED_TARGET_GBIT = 0.8
KILL_SEED = 1


def measure_bed(
    *, router: str, cpus: Mapping[str, str], kills: int, quick: bool, against: Path | None, tell: Tell
) -> list[Figure]:
    """Make every measurement, one after the other: they would disturb each other. `against`: another checkout, whose
    beds are measured too."""
    figures = [_bring_up(router, cpus, 3 if quick else BRING_UPS, tell)]
    figures += measure_speed(router, against, 1 if quick else SPEED_ROUNDS, tell)
    with paths.bed_folder() as folder, Bed(BedSettings(folder=folder, router=router, cpus=cpus)) as bed:
        tell(f"router {bed.info.router} {bed.info.kernel}")
        for rtt_ms in RTTS_MS:
            tell(f"round trip of {rtt_ms} ms")
            figures += _round_trip(bed, rtt_ms, 2 if quick else PING_SETS)
        for rate_mbit in RATES_MBIT:
            tell(f"goodput at {rate_mbit} Mbit/s")
            figures += [_goodput(bed, rate_mbit, way, TCP_S / 2 if quick else TCP_S) for way in WAYS]
        tell("unshaped throughput")
        figures.append(_unshaped(bed))
    if kills:
        figures.append(_kills(router, cpus, kills, tell))
    return figures


def _bring_up(router: str, cpus: Mapping[str, str], count: int, tell: Tell) -> Figure:
    times = []
    for number in range(count):
        tell(f"bring-up {number + 1} of {count}")
        with paths.bed_folder() as folder:
            started = time.monotonic()
            with Bed(BedSettings(folder=folder, router=router, cpus=cpus)):
                times.append(time.monotonic() - started)
    median = statistics.median(times)
    spread = f"{median:.2f} s ({min(times):.2f} to {max(times):.2f})"
    target = f"<= {BRING_UP_TARGET_S:g} s"
    return Figure(f"bring-up, median of {count}", spread, target, median <= BRING_UP_TARGET_S, tuple(times))


def _round_trip(bed: Bed, rtt_ms: int, count: int) -> list[Figure]:
    """Several sets of pings: a moment in which the machine is busy spoils one of them, and is seen as such."""
    bed.set_link(Link.parse({"rtt": f"{rtt_ms}ms"}))
    sets = [bed.ping(Pings(PINGS, PING_GAP_US)).round_trips_ms for _ in range(count)]
    mean = statistics.median(statistics.fmean(times) for times in sets)
    deviations = [statistics.pstdev(times) for times in sets]
    deviation, error = statistics.median(deviations), mean - rtt_ms
    allowed = max(RTT_ERROR_MS, RTT_ERROR * rtt_ms)
    return [
        Figure(
            f"rtt {rtt_ms} ms, mean ({count} x {PINGS} pings)",
            f"{mean:.3f} ms ({error:+.3f} ms, {error / rtt_ms:+.2%})",
            f"within {allowed:g} ms",
            abs(error) <= allowed,
            tuple(time for times in sets for time in times),
        ),
        Figure(
            f"rtt {rtt_ms} ms, deviation",
            f"{deviation:.3f} ms (worst set {max(deviations):.3f})",
            f"< {RTT_DEVIATION_MS:g} ms",
            deviation < RTT_DEVIATION_MS,
            tuple(deviations),
        ),
    ]


def goodput_bps(marks: Sequence[tuple[float, int]], lead_s: float) -> float:
    """Return the goodput from the first mark after `lead_s` to the last one, so without TCP's slow start."""
    start = next((mark for mark in marks if mark[0] - marks[0][0] >= lead_s), marks[0])
    end = marks[-1]
    return (end[1] - start[1]) * 8 / (end[0] - start[0]) if end[0] > start[0] else 0.0


def _goodput(bed: Bed, rate_mbit: int, way: Way, seconds: float) -> Figure:
    link = Link.parse({"rtt": "40ms", "rate": f"{rate_mbit}mbit", "queue": TCP_QUEUE})
    bed.set_link(link)
    marks = bed.transfer(way, seconds + TCP_LEAD_S).marks
    theory = rate_mbit * (link.mtu - TCP_HEADERS) / (link.mtu + HEADER)
    achieved = goodput_bps(marks, TCP_LEAD_S) / 1e6
    error = achieved / theory - 1
    return Figure(
        f"goodput {way} at {rate_mbit} Mbit/s",
        f"{achieved:.3f} Mbit/s ({error:+.2%} of {theory:.3f})",
        f"within {RATE_ERROR:.0%}",
        abs(error) <= RATE_ERROR,
        (achieved,),
    )


def _unshaped(bed: Bed) -> Figure:
    bed.set_link(Link.parse({}))
    rates = [goodput_bps(bed.transfer("down", 2).marks, 0.3) / 1e9 for _ in range(3)]
    median = statistics.median(rates)
    target = f">= {UNSHAPED_TARGET_GBIT:g} Gbit/s"
    return Figure("unshaped TCP, median of 3", f"{median:.2f} Gbit/s", target, median >= 0.8, tuple(rates))


def _kills(router: str, cpus: Mapping[str, str], count: int, tell: Tell) -> Figure:
    """Kill a random part of a bed at a random moment of its life, and look for what is left."""
    chance = random.Random(KILL_SEED)  # noqa: S311 - not for secrets
    left: list[str] = []
    for number in range(count):
        remains = kill_once(BedSettings(folder=paths.PROJECT, router=router, cpus=cpus), chance, tell)
        tell(f"kill {number + 1} of {count}: {'nothing left' if not remains else '; '.join(remains)}")
        left += remains
    text = f"{len(left)} things left" + (f": {left[0]}" if left else "")
    return Figure(f"after {count} kills", text, "0", not left, (float(len(left)),))


def kill_once(settings: BedSettings, chance: random.Random, tell: Tell) -> list[str]:
    """Make a bed, kill a part of it, and return what is left."""
    watch, when_s, killed = Watch(), chance.uniform(0, 4), threading.Event()

    def strike(pid: int) -> None:
        deadline = time.monotonic() + when_s
        while time.monotonic() < deadline:
            watch.see(pid)
            time.sleep(0.05)
        parts = watch.see(pid)
        if parts:
            victim = chance.choice(parts)
            tell(f"after {when_s:.2f} s: kill -9 {victim.name}")
            kill(victim)
        killed.set()

    with paths.bed_folder() as folder:
        settings_here = replace(settings, folder=folder)
        try:
            with Bed(settings_here, on_start=lambda pid: threading.Thread(target=strike, args=(pid,)).start()) as bed:
                bed.set_link(Link.parse({"rtt": "20ms", "rate": "10mbit"}))
                while not killed.is_set():
                    bed.ping(Pings(20, 5000))
        except LanelabError as error:
            tell(f"the controller saw: {error.what}")
        killed.wait()
        return watch.left(folder.name)
