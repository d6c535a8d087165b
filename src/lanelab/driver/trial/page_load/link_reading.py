"""From a trial's captures to its evidence of the link, and the measures that follow from it."""

from dataclasses import replace

from lanelab.driver.link import Link
from lanelab.driver.record.evidence.moving import Carried, MovingEvidence
from lanelab.driver.record.evidence.page_load import PageLoadEvidence
from lanelab.driver.trial.packets.crossing import crossing
from lanelab.driver.trial.packets.emulation import emulation_error, is_modelled, runs_lost
from lanelab.driver.trial.packets.link_evidence import frames_of, link_evidence
from lanelab.driver.trial.packets.timeline import Timeline
from lanelab.driver.trial.page_load.captures import Captures

APART_US = 10_000


def carried(timeline: Timeline, began_unix_us: int, *, up: bool) -> Carried:
    """Return what a direction carried. `timeline` is that of the node where this direction's packets arrive. The last
    frame of each stretch of time is told."""
    points: list[tuple[int, int]] = []
    total = 0
    for at_ns, size in frames_of(timeline, up=up):
        total += size
        at_us = at_ns // 1000 - began_unix_us
        if points and at_us // APART_US == points[-1][0] // APART_US:
            points[-1] = (at_us, total)
        else:
            points.append((at_us, total))
    return Carried(tuple(points))


def with_link(evidence: PageLoadEvidence, link: Link, captures: Captures) -> PageLoadEvidence:
    """Return the evidence with what whole captures tell."""
    client = captures.whole_timeline(evidence.packets, "client")
    server = captures.whole_timeline(evidence.packets, "server") if evidence.one_clock else None
    if client is None or not client.connections:
        return evidence
    return replace(
        evidence,
        link=link_evidence(client, server, link),
        moving=_moving(evidence, client, server),
        emulation=emulation_error(client, server, link) if server else None,
    )


def runs_of_losses(evidence: PageLoadEvidence, link: Link, captures: Captures) -> dict[str, float]:
    """Return in how many runs packets were lost, as measures. It takes captures at both ends, and that packets reach
    what loses them in the order in which they left."""
    client = captures.whole_timeline(evidence.packets, "client")
    server = captures.whole_timeline(evidence.packets, "server") if evidence.one_clock else None
    if client is None or server is None or link.cross or link.distances:
        return {}
    measures: dict[str, float] = {}
    for name, way, sender, receiver in (("down", link.down, server, client), ("up", link.up, client, server)):
        up = name == "up"
        crossed = crossing(sender, receiver, up=up) if way.loss.mean_loss and is_modelled(way) else None
        if crossed:
            measures[f"lost_runs_{name}"] = runs_lost(crossed, link, up=up)
    return measures


def _moving(evidence: PageLoadEvidence, client: Timeline, server: Timeline | None) -> MovingEvidence | None:
    moving = evidence.moving
    if moving is None:
        return None
    began = moving.played.began_unix_us
    up = carried(server, began, up=True) if server else None
    return replace(moving, down=carried(client, began, up=False), up=up)


def link_measures(evidence: PageLoadEvidence, link: Link) -> dict[str, float]:
    """Return what stands in tables, figures and exports. What a queue lost that others filled is no loss of the
    link."""
    measures: dict[str, float] = {}
    if evidence.link:
        if evidence.link.round_trips:
            measures["capture_rtt_ms"] = min(each.us for each in evidence.link.round_trips) / 1000
        for way, losses in (("down", evidence.link.losses_down), ("up", evidence.link.losses_up)):
            if link.cross or (not losses.told and _over_quic(evidence)):
                continue  # whose losses cannot be told; 0 would say that there were none
            measures |= {
                f"told_packets_{way}": losses.told,
                f"lost_packets_{way}": losses.lost,
                f"overflowed_packets_{way}": losses.overflowed,
            }
    error = evidence.emulation
    if error and not link.cross and error.median_ms is not None and error.worst_99_ms is not None:
        measures |= {"emulation_error_ms": error.median_ms, "emulation_error_99_ms": error.worst_99_ms}
    return measures


def _over_quic(evidence: PageLoadEvidence) -> bool:
    packets = evidence.packets.get("client")
    return packets is not None and bool(packets.quic)
