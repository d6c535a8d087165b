"""From an experiment to ordered rounds, and what these will cost. Pure.

A run goes through the phases of its experiment; in each, rounds follow one another until no cell needs more. The order
within a round depends on the seed and the round's number alone, so a run that goes on after a crash finds it again.
"""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from driver.experiment.arm import Arm
from driver.experiment.model import Cell, Experiment, Repeat
from model.link import Link
from model.site.site import read_site_manifest

FEW_TRIALS = 5  # below this the interval of a median says next to nothing

BED_S, SELF_TEST_S, BROWSER_S = 3.0, 4.0, 0.15
OVERHEAD_S = {"fresh-process": 1.0, "fresh-context": 0.5, "warm": 0.5}
SEGMENT, FRAME, PACKET_RECORD = 1448, 1514, 16  # bytes: of TCP's payload, on the wire, of a record's head in a capture
HEADERS = 800  # of a request and its response together
RECORD_BYTES, HAR_BYTES = 4000, 500  # per request: in the database, and in the compressed HAR
SCREENSHOT_BYTES = 300_000
NETLOG_BYTES, NETLOG_REQUEST_BYTES = 150_000, 10_000


@dataclass(frozen=True, slots=True)
class PlannedTrial:
    cell: Cell
    round: int  # the first is 1


@dataclass(frozen=True, slots=True)
class SiteLoad:
    """What loading a site comes to."""

    objects: int
    hosts: int
    bytes: int


@dataclass(frozen=True, slots=True)
class CellEstimate:
    cell: Cell
    plt_s: float
    trial_s: float
    disk_bytes: int
    load: SiteLoad


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a run will take: with the fewest trials, and (with `until`) with the most."""

    trials: int
    most_trials: int
    seconds: float
    most_seconds: float
    disk_bytes: int
    most_disk_bytes: int
    self_tests: int
    cells: tuple[CellEstimate, ...]


def phases(experiment: Experiment) -> list[tuple[Cell, ...]]:
    """Cells whose rounds run together: all of them, or one after the other."""
    if experiment.order == "sequential":
        return [(cell,) for cell in experiment.cells]
    return [experiment.cells]


def round_order(
    experiment: Experiment,
    seed: int,
    round: int,  # noqa: A002 - its name in everything else here
    phase: Sequence[Cell] | None = None,
) -> list[PlannedTrial]:
    """Every cell of the phase once, in the order of that round."""
    cells = list(experiment.cells if phase is None else phase)
    chance = random.Random(f"{seed}/{round}")  # noqa: S311 - an order, not a secret
    if experiment.order == "random":
        chance.shuffle(cells)
    elif experiment.order == "interleaved":
        groups: dict[tuple[str, str], list[Cell]] = {}
        for cell in cells:
            groups.setdefault((cell.site, cell.link.label), []).append(cell)
        order = list(groups.values())
        chance.shuffle(order)
        for group in order:
            chance.shuffle(group)
        cells = [cell for group in order for cell in group]
    return [PlannedTrial(cell, round) for cell in cells]


Interval = Callable[[Sequence[float]], tuple[float, float]]


def undecided(plts_by_cell: Mapping[str, Sequence[float]], repeat: Repeat, interval: Interval) -> list[str]:
    """The cells that need more trials. `interval` gives the confidence interval of a sample's median."""
    return [cell for cell, plts in plts_by_cell.items() if _needs_more(plts, repeat, interval)]


def needs_more(plts_by_cell: Mapping[str, Sequence[float]], repeat: Repeat, interval: Interval) -> bool:
    """Whether another round is needed. It then has every cell, so that arms stay paired by round."""
    return bool(undecided(plts_by_cell, repeat, interval))


def _needs_more(plts: Sequence[float], repeat: Repeat, interval: Interval) -> bool:
    if len(plts) < repeat.min:
        return True
    if repeat.ci is None or len(plts) >= repeat.max:
        return False
    low, high = interval(plts)
    median = statistics.median(plts)
    return max(high - median, median - low) > repeat.ci.fraction * median


def _same_but_for_the_way(experiment: Experiment) -> bool:
    """Whether the run measures what the gateway costs."""
    settings = [{**cell.arm.settings(), "via": ""} for cell in experiment.cells if cell.arm.via == "browser"]
    return any({**cell.arm.settings(), "via": ""} in settings for cell in experiment.cells if cell.arm.via == "gateway")


def _never_ahead(one: CellEstimate) -> bool:
    """Whether a pipelined arm has a connection for each object, so that none is asked for ahead of an answer."""
    return one.cell.arm.pipelining > 1 and one.load.objects <= one.cell.arm.connections_per_host


def _brotli_with_tls_only(experiment: Experiment) -> bool:
    """Whether TLS and compression differ together. The gateway takes brotli without TLS too."""
    schemes = {cell.arm.scheme for cell in experiment.cells}
    with_brotli = {cell.arm.scheme for cell in experiment.cells if cell.arm.compression == "brotli"}
    return with_brotli == {"https"} and "http" in schemes


def site_load(name: str) -> SiteLoad:
    """From the site's manifest."""
    objects = read_site_manifest(name).objects
    return SiteLoad(len(objects), len({each.host for each in objects}), sum(each.size for each in objects))


def estimate(experiment: Experiment, loads: Mapping[str, SiteLoad] | None = None) -> Estimate:
    """Time and disk. Roughly: page load times are worked out from round trips and rates, without losses."""
    if loads is None:
        loads = {site: site_load(site) for site in {cell.site for cell in experiment.cells}}
    cells = tuple(_estimate_cell(experiment, cell, loads[cell.site]) for cell in experiment.cells)
    self_tests = len({cell.link.link.wire() for cell in experiment.cells})
    fixed = BED_S + self_tests * SELF_TEST_S
    seconds, disk = sum(one.trial_s for one in cells), sum(one.disk_bytes for one in cells)
    fewest, most = experiment.repeat.min, experiment.repeat.max
    return Estimate(
        trials=fewest * len(cells),
        most_trials=most * len(cells),
        seconds=fixed + fewest * seconds,
        most_seconds=fixed + most * seconds,
        disk_bytes=fewest * disk,
        most_disk_bytes=most * disk,
        self_tests=self_tests,
        cells=cells,
    )


def _estimate_cell(experiment: Experiment, cell: Cell, load: SiteLoad) -> CellEstimate:
    plt_s = min(expected_plt(load, cell.link.link, cell.arm), experiment.timeout.seconds)
    trial_s = plt_s + OVERHEAD_S[cell.arm.start]
    carried = load.bytes + HEADERS * load.objects
    kept = experiment.capture.snaplen or FRAME
    packets = carried / SEGMENT * 1.5  # half as many acknowledgements as segments
    full = carried + packets * (FRAME - SEGMENT + PACKET_RECORD)
    captured = min(full, packets * (kept + PACKET_RECORD))
    disk = len(experiment.capture.nodes) * captured + load.objects * (RECORD_BYTES + HAR_BYTES)
    if experiment.screenshot:
        disk += SCREENSHOT_BYTES
    if experiment.netlog:
        disk += NETLOG_BYTES + NETLOG_REQUEST_BYTES * load.objects
    return CellEstimate(cell, plt_s, trial_s, round(disk), load)


def expected_plt(load: SiteLoad, link: Link, arm: Arm) -> float:
    """Seconds: the first response, then the longer of what round trips and what the rate allow for the rest."""
    rtt = link.rtt.seconds
    connect = {"off": 1, "1.3": 2, "1.2": 3}[arm.tls] + (link.dns == "resolver")
    others = max(load.objects - 1, 0)
    parallel = min(arm.connections_per_host * load.hosts, max(others, 1))
    if arm.multiplexed:
        waves, flows = 1.0 + (connect if load.hosts > 1 else 0), load.hosts
    elif arm.keepalive:
        waves, flows = connect + math.ceil(others / (parallel * arm.pipelining)), parallel
    else:
        each = math.log2(1 + load.bytes / max(load.objects, 1) / (link.server.initial_window * SEGMENT))
        waves, flows = math.ceil(others / parallel) * (connect + 1 + each), 0
    growth = math.log2(1 + load.bytes / (flows * link.server.initial_window * SEGMENT)) if flows else 0.0
    carried = (load.bytes + HEADERS * load.objects) * FRAME / SEGMENT
    transfer = carried * 8 / link.down.rate.bps if link.down.rate else 0.0
    return BROWSER_S + (connect + 1) * rtt + max((waves + growth) * rtt, transfer)


def warnings(experiment: Experiment, made: Estimate) -> list[str]:
    """What is allowed, and yet may not be what is wanted."""
    found = []
    repeat = experiment.repeat
    if repeat.max < FEW_TRIALS:
        trials = "1 trial" if repeat.max == 1 else f"{repeat.max} trials"
        found.append(f"{trials} in each cell: enough to look, too few for an interval that means something")
    if experiment.order == "sequential" and len(experiment.cells) > 1:
        found.append("order: sequential lets drift of the machine look like a difference between cells")
    each_own = [one for one in made.cells if one.cell.link.link.addresses == "per-origin"]
    alone = sorted({one.cell.site for one in each_own if one.load.hosts == 1})
    if alone:
        found.append(f"addresses: per-origin changes nothing for {', '.join(alone)}, which has one origin")
    slow = [one for one in made.cells if one.plt_s > experiment.timeout.seconds / 2]
    if slow:
        worst = max(slow, key=lambda one: one.plt_s)
        found.append(f"{worst.cell.label} may take {worst.plt_s:.0f} s or more, and timeout is {experiment.timeout}")
    if len({cell.arm.start for cell in experiment.cells}) > 1:
        found.append("arms differ in start: that makes a difference to page load times by itself")
    if _brotli_with_tls_only(experiment):
        found.append("brotli is in arms with TLS only: those without it move more bytes")
    alone = sorted({one.cell.arm.name for one in made.cells if _never_ahead(one)})
    if alone:
        what = f"pipelining can do nothing in {', '.join(alone)}: the page has no more objects than"
        found.append(f"{what} connections_per_host allows connections, and a free one is taken first")
    if len({cell.arm.via for cell in experiment.cells}) > 1 and not _same_but_for_the_way(experiment):
        found.append(
            "some arms go through the gateway and others do not: what it costs is part of their difference. Write "
            "via: gateway for all, or measure it with arms that differ in via alone"
        )
    return found
