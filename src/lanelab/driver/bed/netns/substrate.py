"""The netns substrate: a whole bed in namespaces of one process tree, without root.

Launcher, init and bed process: driver/bed/remote/enclosure.py. The kernel removes everything when the init ends, and
nothing here writes outside the bed's own /run.
"""

from collections.abc import Iterator
from pathlib import Path

from lanelab.driver.base.errors import BedError, RouterError
from lanelab.driver.base.programs.finding import Finding
from lanelab.driver.bed.addresses import HOSTS, ROUTER_MANAGEMENT, bed_lines, direct_lines, host_lines, hosts_file
from lanelab.driver.bed.commands import cut_late, disable_ipv6, disable_offloads, run_ip, set_kernel
from lanelab.driver.bed.local import enter_bed
from lanelab.driver.bed.netns import nodes as netns
from lanelab.driver.bed.netns.findings import findings
from lanelab.driver.bed.node import Node
from lanelab.driver.bed.remote import namespaces
from lanelab.driver.bed.remote.enclosure import BED_STATE
from lanelab.driver.bed.routers import kernel as kernel_router
from lanelab.driver.bed.routers import uml
from lanelab.driver.bed.routers.router import Router
from lanelab.driver.bed.substrate import BedSettings, Given, NodeSettings, Remedy, Substrate, SubstrateKind, Traits

STATE = Path(BED_STATE)


class NetnsSubstrate(Substrate):
    """Client and server are namespaces; the router is one too, or a UML kernel between two of them. A second cable goes
    past it."""

    traits = Traits(direct=True)

    def __init__(self) -> None:
        self._hosts: dict[str, netns.NetnsNode] = {}

    def enter(self, settings: BedSettings, controller: int | None = None) -> None:  # noqa: ARG002 - same for all so far
        enter_bed(controller)

    def bring_up(self, settings: BedSettings) -> None:
        self._name_nodes()
        for host in HOSTS:
            self._hosts[host.name] = netns.NetnsNode(host.name, settings.cpus.get(host.name, ""))
        self._router = self._start_router(settings)
        self._manage()
        self._join()
        for host in HOSTS:
            node = self._hosts[host.name]
            disable_ipv6(node)
            # What TCP remembers of earlier connections would shape the next one's first window. (Best effort: where a
            # container's /proc/sys is read-only it goes on remembering.)
            node.run(set_kernel("net/ipv4/tcp_no_metrics_save", "1"), check=False)
            disable_offloads(host.port.device, node)
            cut_late(host.direct_port.device, node)
            run_ip([*host_lines(host), *direct_lines(host)], node=node)
        run_ip(bed_lines())
        self.meanwhile()
        self._router.finish()

    def _name_nodes(self) -> None:
        names = STATE / "hosts"
        names.write_text(hosts_file())
        if not Path("/etc/hosts").exists():
            raise BedError("there is no /etc/hosts on this machine to put the nodes' names over", "Create an empty one")
        namespaces.mount(str(names), "/etc/hosts", flags=namespaces.MS_BIND)

    def _start_router(self, settings: BedSettings) -> Router:
        lacks_uml, cpus = uml.installed(), settings.cpus.get("router", "")
        if settings.router == "uml" and lacks_uml:
            raise RouterError(f"router 'uml' cannot run here: {lacks_uml}", "Run: ./lanelab doctor")
        if settings.router in ("auto", "uml") and not lacks_uml:
            return uml.UmlRouter(STATE, settings.folder / "router-console.log", self._hosts, cpus)
        lacks_kernel = kernel_router.usable()
        if lacks_kernel:
            also = f"; nor 'uml': {lacks_uml}" if settings.router == "auto" else ""
            raise RouterError(f"router 'kernel' cannot run here: {lacks_kernel}{also}", "Run: ./lanelab doctor")
        return kernel_router.KernelRouter(self._hosts, cpus)

    def _manage(self) -> None:
        """Lay a veth from each host to here, beside the link."""
        for host in HOSTS:
            node = self._hosts[host.name]
            far = f"peer name {host.management.device} netns {node.network}"
            run_ip(
                [f"link add {host.bed_management.device} type veth {far}"],
                inherited=node.descriptors,
            )

    def _join(self) -> None:
        """Lay a veth from client to server, for links without a router."""
        client, server = (self._hosts[host.name] for host in HOSTS)
        near, far = (host.direct_port.device for host in HOSTS)
        run_ip(
            [f"link add {near} netns {client.network} type veth peer name {far} netns {server.network}"],
            inherited=[*client.descriptors, *server.descriptors],
        )

    def node(self, name: str) -> Node:
        return self.router.node if name == "router" else self._hosts[name]

    def addresses(self) -> dict[str, str]:
        return {**{host.name: host.management.address for host in HOSTS}, "router": ROUTER_MANAGEMENT.address}

    def close(self) -> None:
        for node in self._hosts.values():
            node.close()
        if self._router:
            self._router.close()


class NetnsKind(SubstrateKind[NodeSettings]):
    """Namespaces of this machine: as many beds as it has memory for, without root."""

    name = "netns"
    help = "namespaces of this machine"
    nodes = NodeSettings
    traits = NetnsSubstrate.traits

    def findings(self, remedy: Remedy) -> Iterator[Finding]:
        return findings(remedy)

    def settings(self, options: Given) -> NodeSettings:  # noqa: ARG002 - it has none
        return NodeSettings()

    def make(self, settings: NodeSettings) -> NetnsSubstrate:  # noqa: ARG002
        return NetnsSubstrate()
