"""Warnings about an experiment that is allowed, and perhaps not what was meant. Pure."""

from lanelab.analysis.statistics.holm import rounds_to_tell
from lanelab.driver.arm.quic_stacks import over_quic_alone
from lanelab.driver.base.amounts import counted
from lanelab.driver.experiment.model import Cell, Experiment
from lanelab.driver.experiment.schedule.estimate import CellEstimate, Estimate
from lanelab.driver.experiment.schedule.verdicts import claim_warnings, has_enough
from lanelab.driver.link import Link
from lanelab.driver.link.hosts.host import MOST_OFFERED
from lanelab.driver.record.metrics import FETCH, PAGE_LOAD

OVER_TLS = ("brotli", "zstd")  # codings that browsers take over TLS only
CHROMIUMS_DEPTH = 3
HEADERS, STAMPS = 20 + 20, 12  # bytes of IP and TCP, and of TCP's timestamps
FEW_TRIALS = 5  # below this the interval of a median says next to nothing


def warnings(experiment: Experiment, estimate: Estimate) -> list[str]:
    """Return a sentence for each thing that is allowed, and perhaps not what was meant."""
    warned = []
    repeat = experiment.repeat
    if repeat.max < FEW_TRIALS and not has_enough(experiment):
        trials = counted(repeat.max, "trial")
        warned.append(f"{trials} in each cell: enough to look, too few for an interval that means something")
    if experiment.beds == 2:
        warned.append("2 beds: one difference between beds tells next to nothing; write beds: 3 or more")
    warned += _of_first_flights(experiment)
    warned += _of_comparisons(experiment)
    warned += claim_warnings(experiment)
    if experiment.workload in (PAGE_LOAD, FETCH):
        warned += _of_time_outs(experiment, estimate)
    return warned if experiment.workload != PAGE_LOAD else [*warned, *_of_page_loads(experiment, estimate)]


def _of_time_outs(experiment: Experiment, estimate: Estimate) -> list[str]:
    worst = max(estimate.cells, key=lambda one: one.plt_s)
    if worst.plt_s <= experiment.timeout.seconds / 2:
        return []
    return [f"{worst.cell.label} may take {worst.plt_s:.0f} s or more, and timeout is {experiment.timeout}"]


def _of_first_flights(experiment: Experiment) -> list[str]:
    """Warn about initial windows of TCP that are larger than anybody offers to take before a connection is there."""
    over_tcp = [cell.link.link for cell in experiment.cells if not over_quic_alone(cell.arm)]
    warned = []
    for name, windows in (
        ("server", {(link.server.initial_window, _most_at_first(link)) for link in over_tcp}),
        ("client", {(link.client.initial_window, _most_at_first(link)) for link in over_tcp}),
    ):
        for window, most in sorted(each for each in windows if each[0] > each[1]):
            what = f"the {name}'s first flight has {most} packets at most, and not its initial_window of {window}"
            warned.append(f"{what}: no more than 64 KiB are offered before a connection is there")
    return warned


def _most_at_first(link: Link) -> int:
    """Return how many full segments fill what a SYN, or its answer, can offer to take."""
    stamped = link.client.timestamps and link.server.timestamps
    return MOST_OFFERED // (link.mtu - HEADERS - (STAMPS if stamped else 0))


def _of_page_loads(experiment: Experiment, estimate: Estimate) -> list[str]:
    """Warn about browsers and what is between them and the servers."""
    warned = []
    each_own = [one for one in estimate.cells if one.cell.arm.addresses == "per-origin"]
    alone = sorted({one.cell.site for one in each_own if one.load.hosts == 1})
    if alone:
        warned.append(f"addresses: per-origin changes nothing for {', '.join(alone)}, which has one origin")
    if len({cell.arm.start for cell in experiment.cells}) > 1:
        warned.append("arms differ in start: that makes a difference to page load times by itself")
    for coding in OVER_TLS:
        if _with_tls_only(coding, experiment):
            warned.append(f"{coding} is in arms with TLS only: those without it move more bytes")
    alone = sorted({one.cell.arm.name for one in estimate.cells if _never_ahead(one)})
    if alone:
        what = f"pipelining can do nothing in {', '.join(alone)}: the page has no more objects than"
        warned.append(f"{what} connections_per_host allows connections, and a free one is taken first")
    sharing = sorted({one.cell.arm.name for one in estimate.cells if _holds_images_back(one)})
    if sharing:
        what = f"{', '.join(sharing)}: of hosts that share a connection Chromium has 6 images under way at once"
        warned.append(f"{what}, of all 10, as by HTTP/1.1. Write addresses: per-origin, or via: gateway, or mean it")
    deep = sorted({one.cell.arm.name for one in estimate.cells if _deeper_than_chromium(one)})
    if deep:
        warned.append(f"{', '.join(deep)}: Chromium's pipelines were {CHROMIUMS_DEPTH} requests deep at most")
    without_tcp = sorted({cell.arm.name for cell in experiment.cells if _opens_no_window_of_tcp(cell)})
    if without_tcp:
        what = f"initial_receive_window does nothing in {', '.join(without_tcp)}"
        warned.append(f"{what}: it is TCP's, and HTTP/3 alone is spoken there, over QUIC")
    if len({cell.arm.via for cell in experiment.cells}) > 1 and not _same_but_for_the_way(experiment):
        warned.append(
            "some arms go through the gateway and others do not: what it costs is part of their difference. Write "
            "via: gateway for all, or measure it with arms that differ in via alone"
        )
    return warned


def _of_comparisons(experiment: Experiment) -> list[str]:
    number, rounds = len(experiment.pairs.cells), experiment.repeat.max
    if experiment.order == "sequential" and len(experiment.cells) > 1:
        compared = ", so none are compared" if number else ""
        return [f"order: sequential lets drift of the machine look like a difference between cells{compared}"]
    needed = rounds_to_tell(number)
    if not needed > rounds >= FEW_TRIALS:
        return []
    many = f"any of {number} comparisons" if number > 1 else "a comparison"
    what = f"{rounds} rounds are too few to tell {many} from chance"
    return [f"{what}: write trials: {needed} or more, or name the pairs that matter with compare"]


def _same_but_for_the_way(experiment: Experiment) -> bool:
    """Return whether the run measures what the gateway costs."""
    settings = [{**cell.arm.settings(), "via": ""} for cell in experiment.cells if cell.arm.via == "browser"]
    return any({**cell.arm.settings(), "via": ""} in settings for cell in experiment.cells if cell.arm.via == "gateway")


def _opens_no_window_of_tcp(cell: Cell) -> bool:
    """Return whether TCP is to offer a window at first, and all hosts speak HTTP/3 from their first connection on."""
    link = cell.link.link
    windows = [host.initial_receive_window for host in (link.client, link.server)]
    return any(windows) and over_quic_alone(cell.arm)


def _never_ahead(one: CellEstimate) -> bool:
    """Return whether a pipelined arm has a connection for each object, so that none is asked for ahead of an answer."""
    arm = one.cell.arm
    return arm.pipelining > 1 and arm.pipelining_policy != "firefox" and one.load.objects <= arm.connections_per_host


def _holds_images_back(one: CellEstimate) -> bool:
    """Return whether Chromium takes hosts for such of HTTP/1.1, as they come over another's connection of HTTP/2."""
    arm = one.cell.arm
    shares = arm.protocol == "h2" and arm.via == "browser" and arm.addresses != "per-origin"
    return shares and arm.browser == "chromium" and one.load.has_many_hosts_images


def _deeper_than_chromium(one: CellEstimate) -> bool:
    return one.cell.arm.pipelining_policy == "chromium" and one.cell.arm.pipelining > CHROMIUMS_DEPTH


def _with_tls_only(coding: str, experiment: Experiment) -> bool:
    """Return whether TLS and compression differ together. The gateway takes these codings without TLS too."""
    schemes = {cell.arm.scheme for cell in experiment.cells}
    schemes_with = {cell.arm.scheme for cell in experiment.cells if cell.arm.compression == coding}
    return schemes_with == {"https"} and "http" in schemes
