"""The kernel router: a namespace of this machine, shaped by this machine's own sch_netem."""

import platform

from lanelab.driver.base.errors import NodeError, RouterError
from lanelab.driver.base.units import Rate
from lanelab.driver.bed.addresses import (
    BED_ROUTER_MANAGEMENT,
    HOSTS,
    ROUTER_MANAGEMENT,
    bed_router_lines,
    router_lines,
    router_management_lines,
)
from lanelab.driver.bed.commands import disable_ipv6, disable_offloads, program, run_ip
from lanelab.driver.bed.netns import nodes as netns
from lanelab.driver.bed.node import Node
from lanelab.driver.bed.remote.kernel_probe import ReadOnlySettings, make_netem
from lanelab.driver.bed.routers.lateness import ROUTER_LATENESS
from lanelab.driver.bed.routers.router import Router


def usable() -> str | None:
    """Return None when this machine's kernel has (or can load) netem, else what it lacks. Call inside a bed's
    namespaces."""
    try:
        make_netem(program("tc"))
    except ReadOnlySettings as error:
        return str(error)
    except OSError:
        return "this machine's kernel has no sch_netem, or may not load it (try: sudo modprobe sch_netem)"
    return None


class KernelRouter(Router):
    """Cables are veths from the hosts straight into the router's namespace."""

    kind = "kernel"
    compensation_us = ROUTER_LATENESS["kernel"].ns // 1000
    proven = Rate.parse("10mbit")  # tried inside a UML kernel only

    def __init__(self, hosts: dict[str, netns.NetnsNode], cpus: str = "") -> None:
        self._node = netns.NetnsNode("router", cpus)
        self.kernel = platform.release()
        for host in HOSTS:
            node = hosts[host.name]
            near, far = host.port.device, host.router_port.device
            run_ip(
                [f"link add {far} netns {self._node.network} type veth peer name {near} netns {node.network}"],
                inherited=(*node.descriptors, *self._node.descriptors),
            )

        far = ROUTER_MANAGEMENT.device
        run_ip(
            [
                f"link add {BED_ROUTER_MANAGEMENT.device} type veth peer name {far} netns {self._node.network}",
                *bed_router_lines(),
            ],
            inherited=self._node.descriptors,
        )

    @property
    def node(self) -> Node:
        return self._node

    def finish(self) -> None:
        for host in HOSTS:
            disable_offloads(host.router_port.device, self._node)
        disable_ipv6(self._node)
        run_ip([*router_lines(), *router_management_lines()], node=self._node)
        try:
            self.forward(on=True)
        except NodeError as error:
            raise RouterError(
                f"router 'kernel' cannot forward here: {error.what}", "Use --router uml, or make /proc/sys writable"
            ) from error

    def close(self) -> None:
        self._node.close()
