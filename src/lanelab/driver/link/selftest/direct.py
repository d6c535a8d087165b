"""The self-test of a direct link: what it carries, which nobody asked for and so has no target; that no packet passes
the router; and what the hosts are set to."""

import json
import statistics
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from lanelab.driver.base.coded import parsed
from lanelab.driver.bed.addresses import CLIENT, LINK_NETWORK, SERVER
from lanelab.driver.bed.addresses import Host as BedHost
from lanelab.driver.bed.node import Node
from lanelab.driver.link import Host, Link
from lanelab.driver.link.hosts.host import KERNELS_OWN, USUAL_KERNEL, Route, shown_metrics
from lanelab.driver.link.results import Result, SelfTest, at_most, failed, shown, within
from lanelab.driver.link.selftest import traffic
from lanelab.driver.link.selftest.plan import Pings
from lanelab.driver.link.shaping.shaping import device_of

PINGS = Pings(200, 1000)
TRANSFER_S, TRANSFER_THOROUGH_S = 1.0, 5.0
STATE = """
ip -j route show exact "$1"; echo; shift
cat "/sys/class/net/$1/mtu"; shift
cat "/sys/class/net/$1/statistics/tx_packets"; shift
cd /proc/sys && cat "$@"
"""


def measure(link: Link, client: Node, server: Node, *, thorough: bool, brief: bool) -> SelfTest:
    """A second or two; `brief` leaves TCP out. Where a host is not set to what it should be nothing is sent: there may
    be no way."""
    started = time.monotonic()
    hosts = ((CLIENT, client, link.client), (SERVER, server, link.server))
    set_to = [settings(host.name, link, wanted, _state(node, host, link)) for host, node, wanted in hosts]
    if any(result.verdict == "out" for result in set_to):
        return SelfTest(tuple(set_to), time.monotonic() - started)
    sent = _to_router(client, server, link)
    with traffic.probes(client, server) as both:
        results = _round_trip(link, both)
        if not brief:
            seconds = TRANSFER_THOROUGH_S if thorough else TRANSFER_S
            results += [throughput(name, traffic.tcp(both.of(name), seconds)) for name in ("down", "up")]
    passed = _to_router(client, server, link) - sent
    results.append(at_most("sent to the router", "packets", passed, 0))
    return SelfTest((*results, *set_to), time.monotonic() - started)


def _round_trip(link: Link, both: traffic.Probes) -> list[Result]:
    pinged = traffic.ping_ways(both, PINGS, link.mtu)
    trips_ms = pinged.round_trips_ms
    if len(trips_ms) < pinged.sent / 2:
        return [failed("rtt", "ms", None, f"of {pinged.sent} packets {len(trips_ms)} came back")]
    mtu = within("mtu", "bytes", link.mtu, pinged.mtu or 0, 0, "the longest packet that passes unbroken")
    return [
        shown("rtt", "ms", statistics.median(trips_ms), f"median of {len(trips_ms)}; nothing is added"),
        shown("rtt deviation", "ms", statistics.pstdev(trips_ms)),
        mtu,
    ]


def throughput(name: str, marks: Sequence[tuple[float, int]]) -> Result:
    """Return what one TCP connection carried, by what its receiver had when: (s, bytes)."""
    what = f"throughput {name}"
    if len(marks) < 2 or marks[-1][0] <= marks[0][0]:
        return failed(what, "Gbit/s", None, "nothing came through, or it was over at once")
    (began, first), (ended, last) = marks[0], marks[-1]
    rate = (last - first) * 8 / (ended - began) / 1e9
    return shown(what, "Gbit/s", rate, "of one TCP connection, as these processors carry it now")


@dataclass(frozen=True, slots=True)
class State:
    """The settings of a host as they are."""

    device: str  # of its route to the other side
    mtu: int  # there
    to_router: int  # packets that it sent there
    metrics: Mapping[str, str]  # of the route
    kernel: Mapping[str, str]  # its settings, by their names


def _state(node: Node, host: BedHost, link: Link) -> State:
    names = [name.replace(".", "/") for name in (*USUAL_KERNEL, *KERNELS_OWN)]
    argv = ["sh", "-c", STATE, "sh", LINK_NETWORK, device_of(host, link), host.port.device, *names]
    routes, mtu, to_router, *kernel = (line for line in node.run(argv).stdout.splitlines() if line.strip())
    listed = parsed(list[Route], json.loads(routes), f"the routes of the {host.name}")
    return State(
        device=", ".join(each.get("dev", "") for each in listed),
        mtu=int(mtu),
        to_router=int(to_router),
        metrics=shown_metrics(listed),
        kernel=dict(zip((*USUAL_KERNEL, *KERNELS_OWN), kernel, strict=True)),
    )


def _to_router(client: Node, server: Node, link: Link) -> int:
    return sum(_state(node, host, link).to_router for host, node in ((CLIENT, client), (SERVER, server)))


def settings(name: str, link: Link, asked: Host, state: State) -> Result:
    """Return whether a host is set to what its link says."""
    wrong = "; ".join(_differences(name, link, asked, state))
    words = f"{asked.congestion_control}, initial window {asked.initial_window}, mtu {link.mtu}"
    return Result(f"settings {name}", "", None, None, None, None, "out" if wrong else "ok", wrong or words)


def _differences(name: str, link: Link, asked: Host, state: State) -> Iterator[str]:
    host = CLIENT if name == CLIENT.name else SERVER
    for what, wanted, actual in (
        ("route", device_of(host, link), state.device),
        ("mtu", link.mtu, state.mtu),
    ):
        if wanted != actual:
            yield f"{what} is {actual} instead of {wanted}"
    yield from asked.route_differences(state.metrics)
    yield from asked.kernel_differences(state.kernel)
