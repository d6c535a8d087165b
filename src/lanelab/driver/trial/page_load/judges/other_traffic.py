"""Nothing but the page used the link."""

import ipaddress
from collections.abc import Iterator

from lanelab.driver.arm.servers.server import PORTS
from lanelab.driver.bed.addresses import LINK_NETWORK
from lanelab.driver.record.evidence.packets import Connection, FlowSummary
from lanelab.driver.record.reasons import Failure, Reason
from lanelab.driver.trial.page_load import sockets
from lanelab.driver.trial.page_load.earlier import earlier
from lanelab.driver.trial.page_load.evidence import FAREWELL
from lanelab.driver.trial.page_load.judges.judge import Case, Judge, Needs
from lanelab.driver.trial.page_load.requests import few
from lanelab.driver.trial.page_load.witnesses import WEB_PORTS, Witnesses

MOST_UNKNOWN = 5000  # bytes of packets that are no page's: a kernel looks for routers and neighbours by itself


def _failures(case: Case) -> Iterator[Failure]:
    """Yield what else took the link's time: connections to other ports than the server's and the resolver's, packets
    that are neither, and what the client still sends on connections of the load before."""
    if case.packets is None:
        return
    web = {PORTS[scheme] for scheme in case.arm.ports} | sockets.ports(case.evidence)
    asked_names = case.arm.dns == "resolver"
    ends: list[Connection | FlowSummary] = [*case.packets.by_connection, *case.packets.by_udp_flow]
    sizes = {id(each): each.bytes_up + each.bytes_down for each in ends}
    of_load = {id(each) for each in case.packets.by_connection if each.server_port in web}
    of_load |= {id(each) for each in case.packets.by_udp_flow if each.dns and asked_names}
    of_load |= {id(each) for each in Witnesses.of(case.evidence, case.arm).quic or ()}  # which protocols.py judges
    # Of a load, if not of this one, which may have been by another port: what was lost is said again.
    of_load |= {id(each) for each in earlier(case.packets) if each.server_port in WEB_PORTS}
    others = [each for each in ends if id(each) not in of_load and of_bed(each.server)]
    carried = [f"{sizes[id(each)]} bytes to port {each.server_port}" for each in others]
    unknown = case.packets.bytes - sum(sizes.values())
    carried += [f"{unknown} bytes in other packets"] * (unknown > MOST_UNKNOWN)
    left = sum(sizes[id(each)] for each in earlier(case.packets) if id(each) in of_load and _says_good_bye(each))
    carried += [f"{left} bytes of connections from before the trial"] * (left > MOST_UNKNOWN)
    if carried:
        yield Failure(Reason.CROSS_TRAFFIC, few(carried))


def _says_good_bye(each: Connection | FlowSummary) -> bool:
    """Return whether it brings no more than that; what does is stray (capture.py)."""
    return each.payload_down <= FAREWELL


def of_bed(address: str) -> bool:
    return ipaddress.ip_address(address) in ipaddress.ip_network(LINK_NETWORK)


JUDGE = Judge(Needs.TRIAL, _failures)
