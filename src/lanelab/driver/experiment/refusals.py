"""What does not go together in an experiment: keys, arms, links and recorders of which one cannot be beside another.
Every error names the file, the line and the key."""

from collections.abc import Mapping, Sequence

from lanelab.driver.arm.arm import Arm
from lanelab.driver.arm.browsers.registry import BROWSERS
from lanelab.driver.arm.proxies.fields import NONE as NO_PROXY
from lanelab.driver.arm.quic_stacks import over_quic_alone, sending_of_all
from lanelab.driver.arm.servers.registry import SERVERS
from lanelab.driver.arm.servers.server import judged_by_capture, read_in_capture
from lanelab.driver.arm.third_parties import GIVES_UP_AFTER, PATIENCE_WITH_THE_DEAD
from lanelab.driver.base.coded import Coded
from lanelab.driver.base.settings.source import Written
from lanelab.driver.base.units import Duration
from lanelab.driver.experiment.fetch_keys import refuse_what_no_fetch_has
from lanelab.driver.experiment.load_keys import refuse_streams, refuse_third_parties, refuse_ways_to_h3
from lanelab.driver.experiment.model import Cell, LinkCase
from lanelab.driver.record.metrics import FETCH, LOAD, OVER_LINK, PAGE_LOAD
from lanelab.driver.trial.recorders.registry import RECORDERS
from lanelab.driver.trial.recorders.tcpdump import CaptureOptions, Tcpdump

OF_PAGE_LOADS = ("missing", "tolerances")


# --- workloads


def refuse_other_workloads(entries: Mapping[str, Written], arms: Sequence[Arm], workload: str) -> None:
    """Raises InputError for arms and keys of another workload."""
    if workload in OVER_LINK:
        _refuse_servers_of_loads(entries, arms)
    if workload != PAGE_LOAD:
        _refuse_what_is_of_page_loads(entries, workload)
    if workload == LOAD:
        refuse_streams(entries["arms"], arms)
        refuse_third_parties(entries["arms"], arms)
        refuse_ways_to_h3(entries["arms"], arms)
    if workload == FETCH:
        refuse_what_no_fetch_has(entries, arms)


def _refuse_servers_of_loads(entries: Mapping[str, Written], arms: Sequence[Arm]) -> None:
    """Raises InputError for an arm whose server does not say of requests what page loads are judged by."""
    able = [server.name for server in SERVERS.values() if server.for_page_loads]
    for arm in arms:
        for server in (SERVERS[each.server] for each in arm.by_server):
            if not server.for_page_loads:
                why = "it does not say what went over its connections"
                what = f"{arm.name}: page loads with {server.title} cannot be judged: {why}"
                remedy = f"Write workload: {LOAD}, or server: {' or '.join(able)}"
                raise entries["arms"].error(what, remedy)
        if arm.proxy != NO_PROXY:
            what = "page loads through a proxy cannot be judged: lanelab puts servers under load with them"
            raise entries["arms"].error(f"{arm.name}: {what}", f"Write workload: {LOAD}, or leave proxy out")


def _refuse_what_is_of_page_loads(entries: Mapping[str, Written], workload: str) -> None:
    others = [name for name, recorder in RECORDERS.items() if workload not in recorder.workloads]
    for key in (*OF_PAGE_LOADS, *others):
        if key in entries:
            raise entries[key].error(f"it means nothing with workload: {workload}", "Leave it out")


# --- links


def refuse_links(entries: Mapping[str, Written], links: Sequence[LinkCase], workload: str) -> None:
    """Raises InputError for links that trials of the workload cannot have."""
    if workload in OVER_LINK:
        _refuse_direct(entries, links)
    if workload != PAGE_LOAD:
        _refuse_moving(entries, links)


def _refuse_direct(entries: Mapping[str, Written], links: Sequence[LinkCase]) -> None:
    """Raises InputError for links without a router: page loads are judged by what it did, and by packets on a wire."""
    for case in links:
        if case.link.direct:
            where = entries["links"] if "links" in entries else entries["cells"]
            what = f"page loads need a router, and the link {case.label} has none: it is for workload: {LOAD}"
            raise where.error(what, "Write links: {} for a router that adds nothing")


def _refuse_moving(entries: Mapping[str, Written], links: Sequence[LinkCase]) -> None:
    """Raises InputError where a link moves: a trace begins with a page load, and only page loads prove it."""
    for case in links:
        if case.link.moves:
            what = f"the link {case.label!r} changes over time, which only page loads can follow"
            raise entries["links" if "links" in entries else "workload"].error(what, "Take links that stand still")


def refuse_one_address(entries: Mapping[str, Written], cells: Sequence[Cell], workload: str) -> None:
    """Raises InputError for distances where hosts share an address, by which the router tells them."""
    for cell in cells:
        if not cell.link.link.distances:
            continue
        where = next(entries[key] for key in ("distances", "links", "cells") if key in entries)
        if workload != PAGE_LOAD:
            what = f"distances are of a page's hosts, and of no workload: {workload}"
            raise where.error(what, "Leave distances out, and write the rtt")
        if cell.arm.addresses != "per-origin":
            what = f"the router tells hosts by their addresses, and in the arm {cell.arm.name!r} they share one"
            remedy = "Write addresses: per-origin, for all arms under defaults"
            raise entries["arms"].error(f"{what}: it cannot have the distances of {cell.link.label}", remedy)


def refuse_control_of_tcp(entries: Mapping[str, Written], cells: Sequence[Cell]) -> None:
    """Raises InputError for a link whose congestion control nobody would have, since all its arms send by QUIC."""
    arms: dict[str, list[Arm]] = {}
    for cell in cells:
        arms.setdefault(cell.link.label, []).append(cell.arm)
    for case in {cell.link.label: cell.link for cell in cells}.values():
        changed = [name for name in case.link.changed() if name.startswith("congestion_control")]
        if changed and all(over_quic_alone(arm) for arm in arms[case.label]):
            where = next((entries[key] for key in ("links", "cells") if key in entries), entries["arms"])
            stacks = ", ".join(sending_of_all(arms[case.label]))
            what = f"{changed[0]} is TCP's, and all arms on the link {case.label} send with {stacks}"
            raise where.error(what, "Leave it out, or add an arm over TCP")


# --- what page loads are judged by


def require_witnesses(
    entries: Mapping[str, Written], arms: Sequence[Arm], links: Sequence[LinkCase], recorders: Mapping[str, Coded]
) -> None:
    """Raises InputError where page loads would lack what they are judged by, and for what no browser of theirs
    tells."""
    if any(case.link.distances for case in links):
        _require_capture_of_distances(entries, recorders)
    _refuse_recorders_of_others(entries, arms, recorders)
    _require_capture(entries, arms, recorders)


def _captures_client(recorders: Mapping[str, Coded]) -> bool:
    capture = recorders.get(Tcpdump.name)
    return isinstance(capture, CaptureOptions) and "client" in capture.nodes


def _require_capture_of_distances(entries: Mapping[str, Written], recorders: Mapping[str, Coded]) -> None:
    """Raises InputError where no capture would show how far each host was."""
    if not _captures_client(recorders):
        what = "that each host is as far away as its distance is seen in a capture of the client"
        raise entries[Tcpdump.name].error(what, "Leave capture out, or write capture: client")


def _refuse_recorders_of_others(
    entries: Mapping[str, Written], arms: Sequence[Arm], recorders: Mapping[str, Coded]
) -> None:
    """Raises InputError for a recorder that asks what the browser of an arm does not give."""
    for name in recorders:
        for arm in arms:
            browser = BROWSERS[arm.browser]
            if RECORDERS[name].asks - browser.gives:
                what = f"{name} cannot be recorded of {browser.title}, which loads the pages of {arm.name!r}"
                raise entries[name].error(what, f"Leave {name} out, or that arm")


def _require_capture(entries: Mapping[str, Written], arms: Sequence[Arm], recorders: Mapping[str, Coded]) -> None:
    """Raises InputError where neither a server's log nor a capture would have what page loads are judged by."""
    capture, captured = recorders.get(Tcpdump.name), _captures_client(recorders)
    whole = isinstance(capture, CaptureOptions) and not capture.snaplen
    for arm in (each for one in arms for each in one.by_server):
        server = SERVERS[arm.server]
        if arm.unreachable and not captured:
            what = "that packets were dropped is seen in a capture of the client alone"
            raise entries[Tcpdump.name].error(f"{arm.name}: {what}", "Leave capture out, or write capture: client")
        if judged_by_capture(server, arm.protocol) and not captured:
            what = f"page loads with {server.title} are judged by a capture of the client too: its log does not say all"
            remedy = "Leave capture out, or write capture: client"
            raise entries[Tcpdump.name].error(f"{arm.name}: {what}", remedy)
        if read_in_capture(server, arm.protocol) and not whole:
            what = f"the log of {server.title} names no ports: its requests are looked for in the capture's packets"
            raise entries[Tcpdump.name].error(f"{arm.name}: {what}", "Leave snaplen out, or write snaplen: all")


def require_patience(entries: Mapping[str, Written], arms: Sequence[Arm], timeout: Duration) -> None:
    """Raises InputError where a page that waits for a dead host would not be waited for."""
    dead = next((arm for arm in arms if arm.unreachable), None)
    if dead is not None and timeout < PATIENCE_WITH_THE_DEAD:
        what = f"{dead.name}: browsers give an unreachable host up after {GIVES_UP_AFTER}, and timeout is {timeout}"
        remedy = f"Write timeout: {PATIENCE_WITH_THE_DEAD} or more"
        raise (entries.get("timeout") or entries["arms"]).error(what, remedy)
