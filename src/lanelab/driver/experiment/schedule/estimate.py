"""What a run will cost: time, disk and self-tests. Pure."""

import heapq
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lanelab.driver.arm.arm import Arm
from lanelab.driver.arm.gateway.browser_side import holds_back
from lanelab.driver.arm.quic_stacks import H3
from lanelab.driver.arm.third_parties import GIVES_UP_AFTER
from lanelab.driver.experiment.model import Cell, Experiment
from lanelab.driver.experiment.schedule.blocks import beds_used
from lanelab.driver.experiment.schedule.portions import portions_of_round, require_portions
from lanelab.driver.link import Link
from lanelab.driver.link.live.cross_flows import settles_s as cross_settles_s
from lanelab.driver.site.site import SiteObject
from lanelab.driver.site.third_parties import RECORDED
from lanelab.driver.trial.fetch.settings import FetchSettings
from lanelab.driver.trial.recorders.registry import RECORDERS
from lanelab.driver.trial.recorders.tcpdump import HEADERS

BED_S, SELF_TEST_S, AGAIN_S, BROWSER_S = 2.5, 2.0, 1.5, 0.15  # a link is measured again after its trials
FETCH_OVERHEAD_S = 0.4
# Beside a load, by six studies: to begin it and to end it, and for each request to read what all witnesses have of it.
OVERHEAD_S, REQUEST_S = {"fresh-process": 1.0, "fresh-context": 0.7, "warm": 0.7}, 0.0015
PORTION_S = 0.5  # to give a bed its next portion, and to fetch what it made of the last
RTO_S, LEAST_RTT_S = 0.2, 0.001  # by which Linux waits longer than a round trip before it sends again
SEGMENT, FRAME = 1448, 1514  # bytes: of TCP's payload, on the wire
LOADED_PER_S, LOAD_OVERHEAD_S, LOAD_BYTES, SECOND_BYTES = 8000, 0.5, 20_000, 1300  # of a server under load
RECORD_BYTES, HAR_BYTES = 4000, 500  # per request: in the database, and in the compressed HAR


@dataclass(frozen=True, slots=True)
class SiteLoad:
    """Says how much one load of a site is."""

    objects: int
    hosts: int
    bytes: int
    has_many_hosts_images: bool = False  # more, of hosts beside the page's, than Chromium asks for at once

    @classmethod
    def of(cls, objects: Sequence[SiteObject], page_host: str) -> "SiteLoad":
        """Return the load of a whole site, each object once."""
        others = Counter(each.host for each in objects if each.host != page_host and each.mime.startswith("image/"))
        return cls(
            len(objects),
            len({each.host for each in objects}),
            sum(each.size for each in objects),
            holds_back(others.values()),
        )


@dataclass(frozen=True, slots=True)
class CellEstimate:
    cell: Cell
    plt_s: float
    trial_s: float
    disk_bytes: int
    load: SiteLoad


@dataclass(frozen=True, slots=True)
class Estimate:
    """The time and disk that a run will take: with the fewest trials, and (with `until`) with the most."""

    trials: int
    most_trials: int
    beds: int
    most_beds: int
    seconds: float
    most_seconds: float
    disk_bytes: int
    most_disk_bytes: int
    self_tests: int  # on each bed
    cells: tuple[CellEstimate, ...]


def estimate(experiment: Experiment, loads: Mapping[str, SiteLoad]) -> Estimate:
    """Time and disk. Roughly: page load times are worked out from round trips, rates and losses. `loads`: of each site
    of the experiment."""
    cells = tuple(_estimate_cell(experiment, cell, loads[cell.site]) for cell in experiment.cells)
    self_tests = len({cell.link.link for cell in experiment.cells})
    bed_s = BED_S + self_tests * (SELF_TEST_S + AGAIN_S)
    seconds, disk = sum(one.trial_s for one in cells), sum(one.disk_bytes for one in cells)
    fewest, most = experiment.repeat.looks[0].trials, experiment.repeat.max
    return Estimate(
        trials=fewest * len(cells),
        most_trials=most * len(cells),
        beds=beds_used(experiment, fewest),
        most_beds=beds_used(experiment, most),
        seconds=beds_used(experiment, fewest) * bed_s + fewest * seconds,
        most_seconds=beds_used(experiment, most) * bed_s + most * seconds,
        disk_bytes=fewest * disk,
        most_disk_bytes=most * disk,
        self_tests=self_tests,
        cells=cells,
    )


@dataclass(frozen=True, slots=True)
class SpreadEstimate:
    """The time that a run on several beds at once will take."""

    workers: int
    portions: int  # with the fewest trials
    most_portions: int
    seconds: float
    most_seconds: float


def estimate_spread(experiment: Experiment, estimate: Estimate, workers: int) -> SpreadEstimate:
    """Time where `workers` beds, all like this one, make portions at the same time. Each bed has its self-tests, and a
    portion is never divided. Raises InputError where the experiment cannot be spread."""
    require_portions(experiment)
    trial_s = {one.cell.id: one.trial_s for one in estimate.cells}
    first = portions_of_round(experiment, 0, 1, 1)  # each round has the same ones, in another order
    lengths = [sum(trial_s[cell.id] for cell in portion.cells) + PORTION_S for portion in first]
    fewest, most = experiment.repeat.looks[0].trials, experiment.repeat.max

    def seconds(rounds: int) -> float:
        portions = len(lengths) * rounds
        beds = min(beds_used(experiment, rounds), math.ceil(portions / workers))  # of each worker
        bed_s = BED_S + estimate.self_tests * (SELF_TEST_S + AGAIN_S)
        return beds * bed_s + _spread_s(lengths, rounds, min(workers, portions))

    return SpreadEstimate(workers, len(lengths) * fewest, len(lengths) * most, seconds(fewest), seconds(most))


def _spread_s(lengths: Sequence[float], rounds: int, beds: int) -> float:
    """Return the seconds until the last portion is made, where each free worker takes the next one."""
    free_at = [0.0] * beds
    for _ in range(rounds):
        for length in lengths:
            heapq.heapreplace(free_at, free_at[0] + length)
    return max(free_at)


def _estimate_cell(experiment: Experiment, cell: Cell, load: SiteLoad) -> CellEstimate:
    settle_s = cross_settles_s(cell.link.link)
    if cell.fetch:
        fetch_s = min(expected_fetch(load, cell.link.link, cell.arm, cell.fetch), experiment.timeout.seconds)
        passes = 2 if cell.fetch.warm else 1
        of_recorders = sum(RECORDERS[name].disk_bytes(options, load) for name, options in experiment.recorders.items())
        disk = passes * of_recorders + load.objects * (RECORD_BYTES + HAR_BYTES)
        return CellEstimate(cell, fetch_s, passes * fetch_s + FETCH_OVERHEAD_S + settle_s, round(disk), load)
    if cell.link.load:
        load_s = cell.link.load.duration_s or cell.link.load.requests / LOADED_PER_S
        of_recorders = sum(RECORDERS[name].second_bytes for name in experiment.recorders)
        points = LOAD_BYTES + round(load_s * (SECOND_BYTES + of_recorders))
        return CellEstimate(cell, load_s, load_s + LOAD_OVERHEAD_S + settle_s, points, load)
    expected_s = expected_plt(load, cell.link.link, cell.arm) + held_up_s(cell.arm)
    plt_s = min(expected_s, experiment.timeout.seconds)
    settle_s += sum(step.think.seconds for step in cell.journey[1:])
    trial_s = plt_s + OVERHEAD_S[cell.arm.start] + load.objects * REQUEST_S + settle_s
    recorded = sum(RECORDERS[name].disk_bytes(options, load) for name, options in experiment.recorders.items())
    disk = recorded + load.objects * (RECORD_BYTES + HAR_BYTES)
    return CellEstimate(cell, plt_s, trial_s, round(disk), load)


def expected_plt(load: SiteLoad, link: Link, arm: Arm) -> float:
    """Estimate seconds: the first response, then the longer of what round trips and the rate allow for the rest."""
    rtt = link.rtt.seconds
    connect = {"off": 1, "1.3": 2, "1.2": 3}[arm.tls] + (arm.dns == "resolver")
    others = max(load.objects - 1, 0)
    parallel = min(arm.connections_per_host * load.hosts, max(others, 1))
    if arm.multiplexed:
        waves, flows = 1.0 + (connect if load.hosts > 1 else 0), load.hosts
    elif arm.keepalive:
        ahead = math.ceil(others / (parallel * arm.pipelining))
        waves, flows = connect + ahead + (arm.pipelining_policy != "eager"), parallel  # those try a host first
    else:
        each = math.log2(1 + load.bytes / max(load.objects, 1) / (link.server.initial_window * SEGMENT))
        waves, flows = math.ceil(others / parallel) * (connect + 1 + each), 0
    growth = math.log2(1 + load.bytes / (flows * link.server.initial_window * SEGMENT)) if flows else 0.0
    carried = (load.bytes + HEADERS * load.objects) * FRAME / SEGMENT
    transfer = carried * 8 / link.down.rate.bps if link.down.rate else 0.0
    recovered = lossy_transfer_s(load.bytes, link, arm, flows or parallel)
    return BROWSER_S + (connect + 1) * rtt + max((waves + growth) * rtt, transfer, recovered)


def expected_fetch(load: SiteLoad, link: Link, arm: Arm, settings: FetchSettings) -> float:
    """Estimate seconds: round trips after one another, then slow start and bytes at the link's rate, or what losses let
    through where that takes longer."""
    rtt = link.rtt.seconds
    connect = {"off": 1, "1.3": 2, "1.2": 3}[arm.tls]
    turns = math.ceil(load.objects / settings.at_once)
    opened = turns if not arm.keepalive else 0 if settings.warm else 1
    growth = math.log2(1 + load.bytes / (settings.at_once * link.server.initial_window * SEGMENT))
    carried = (load.bytes + HEADERS * load.objects) * FRAME / SEGMENT
    transfer = carried * 8 / link.down.rate.bps if link.down.rate else 0.0
    connections = load.hosts * (1 if arm.multiplexed else arm.connections_per_host)
    recovered = lossy_transfer_s(load.bytes, link, arm, min(settings.at_once, connections))
    return (opened * connect + turns) * rtt + max(growth * rtt + transfer, recovered)


def held_up_s(arm: Arm) -> float:
    """Return how long third parties hold a page up, as the arm asks: as if one object of each kind were on its way."""
    waits = [] if arm.answer_delay == RECORDED else [wait.seconds for _, wait in arm.answer_delay]
    return max([*waits, GIVES_UP_AFTER.seconds if arm.unreachable else 0.0])


def lossy_transfer_s(size: int, link: Link, arm: Arm, flows: int) -> float:
    """Return how long so many bytes take, divided over so many connections, where packets on their way down are lost:
    by the model of Padhye, Firoiu, Towsley and Kurose (PFTK), for Reno and long transfers. CUBIC and short pages are
    faster. BBR goes by what arrives and not by what is lost, but no server here has it for HTTP/3."""
    lost = link.down.loss.mean_loss
    heedless = link.server.congestion_control == "bbr" and arm.protocol != H3
    if not lost or not size or heedless:
        return 0.0
    rtt = max(link.rtt.seconds, LEAST_RTT_S)
    timeout_s = max(rtt + RTO_S, 2 * rtt)
    timeouts = min(1.0, 3 * math.sqrt(3 * lost / 8)) * lost * (1 + 32 * lost * lost)
    return size / SEGMENT * (rtt * math.sqrt(2 * lost / 3) + timeout_s * timeouts) / flows
