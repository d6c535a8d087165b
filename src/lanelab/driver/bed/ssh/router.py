"""Routers on a machine that ssh reaches: that machine's own kernel, or the UML kernel in its namespaces."""

import json
import os
import select
import signal
import socket
from collections.abc import Callable
from pathlib import Path

from lanelab.driver.base.errors import NodeError, RouterError
from lanelab.driver.base.timeouts import scaled
from lanelab.driver.bed.addresses import BED_ROUTER_MANAGEMENT, HOSTS, bed_router_lines, router_lines
from lanelab.driver.bed.agent_connection import AgentConnection
from lanelab.driver.bed.commands import disable_offloads, run_ip
from lanelab.driver.bed.node import Command, Node, Stdio
from lanelab.driver.bed.remote import uml_boot
from lanelab.driver.bed.remote.enclosure import BED_STATE
from lanelab.driver.bed.remote_files import remote_files
from lanelab.driver.bed.routers import uml
from lanelab.driver.bed.routers.kernel import KernelRouter
from lanelab.driver.bed.routers.router import Router
from lanelab.driver.bed.ssh.node import FarNode, SshNode

STATE = f"{BED_STATE}/uml"
BOOTED_WITHIN_S = 75.0
LOSSES_WITHIN_S = 10.0  # LANELAB_PATIENCE multiplies it: a self-test asks after each measurement
Lines = Callable[[list[str]], list[str]]  # with addresses of Ethernet that are this bed's alone


class SshKernelRouter(Router):
    """The machine's own kernel, in the node's namespace."""

    kind = "kernel"
    compensation_us = KernelRouter.compensation_us
    proven = KernelRouter.proven

    def __init__(self, node: SshNode, kernel: str, with_addresses: Lines) -> None:
        self._node = node
        self.kernel = kernel
        self._with_addresses = with_addresses

    @staticmethod
    def cables() -> dict[str, str]:
        """Return what an interface that leads to a host is called in the node."""
        return {host.name: host.router_port.device for host in HOSTS}

    @property
    def node(self) -> Node:
        return self._node

    def finish(self) -> None:
        run_ip(self._with_addresses(router_lines()), node=self._node)
        for host in HOSTS:
            settle_cable(self._node, host.router_port.device)
        try:
            self.forward(on=True)
        except NodeError as error:
            raise RouterError(f"the router cannot forward: {error.what}", "Make its /proc/sys writable") from error

    def close(self) -> None:
        """It ends with the node."""


class SshUmlRouter(Router):
    """The UML kernel, whose interfaces are packet sockets on the node's cables."""

    kind = "uml"
    compensation_us = uml.UmlRouter.compensation_us
    proven = uml.UmlRouter.proven

    def __init__(self, node: SshNode, program: str, log: Path, with_addresses: Lines) -> None:
        self._outer, self._program, self._log, self._with_addresses = node, program, log, with_addresses
        self._inner: FarNode | None = None
        self._agent: AgentConnection | None = None
        self.kernel = ""
        self._stderr = -1

    @staticmethod
    def cables() -> dict[str, str]:
        return {host.name: f"to-{host.name}" for host in HOSTS}

    @property
    def node(self) -> Node:
        if self._inner is None:
            raise RouterError("the UML router has not booted")
        return self._inner

    @property
    def machine(self) -> Node:
        return self._outer

    def finish(self) -> None:
        self._plug()
        settings: uml_boot.Settings = {
            "state": STATE,
            "kernel": self._program,
            "devices": [*self.cables().values(), "to-router"],
            "address": BED_ROUTER_MANAGEMENT.address,
            "inside": {"ip_lines": self._with_addresses(uml.inside_lines())},
        }
        files = remote_files()
        folders = sorted({f"{STATE}/router/{Path(name).parent}" for name in files})
        self._outer.run(["mkdir", "-p", *folders])
        for name, path in files.items():
            self._outer.put(path, f"{STATE}/router/{name}")
        self._outer.write(f"{STATE}/settings.json", json.dumps(settings).encode())
        boot = self._outer.program_of_ours(Path(uml_boot.__file__))
        ours, theirs = socket.socketpair()
        self._stderr, writing = os.pipe()
        try:
            command = Command([*self._outer.python, boot, f"{STATE}/settings.json"])
            self._process = self._outer.spawn(command, Stdio(theirs.fileno(), theirs.fileno(), writing))
        finally:
            theirs.close()
            os.close(writing)
        self._agent = AgentConnection("router", ours)
        try:
            self.kernel = self._agent.await_hello(BOOTED_WITHIN_S)["kernel"]
        except (TimeoutError, NodeError) as error:
            raise self._failed(error) from error
        self._inner = FarNode("router", self._agent)
        self.forward(on=True)

    def _plug(self) -> None:
        """Plug in what the sockets need: the cables up, and a veth to this node for the agent inside."""
        ours = BED_ROUTER_MANAGEMENT.device
        lines = ["link set dev lo up", f"link add to-router type veth peer name {ours}", "link set dev to-router up"]
        run_ip([*lines, *self._with_addresses(bed_router_lines())], node=self._outer)
        disable_offloads("to-router", self._outer)
        disable_offloads(ours, self._outer)
        for device in self.cables().values():
            run_ip([f"link set dev {device} up"], node=self._outer)
            settle_cable(self._outer, device)

    def _failed(self, error: Exception) -> RouterError:
        try:
            console = self._outer.read(f"{STATE}/console.log").decode(errors="replace")
            self._log.write_text(console)
        except NodeError:
            console = ""
        os.set_blocking(self._stderr, False)
        try:
            output = os.read(self._stderr, 4096).decode(errors="replace").strip()
        except BlockingIOError:
            output = ""
        last = (output or console).strip().splitlines()
        why = last[-1] if last else str(error) or "it said nothing"
        return RouterError(f"the UML router did not boot on the router's machine: {why}", f"Its console: {self._log}")

    def when_lost(self, callback: Callable[[str], None]) -> None:
        if self._agent:
            self._agent.when_lost(lambda: callback("the UML router ended by itself"))

    def lost_at_input(self) -> int:
        self._process.signal(signal.SIGUSR1)
        ready, _, _ = select.select([self._stderr], [], [], scaled(LOSSES_WITHIN_S))
        numbers = os.read(self._stderr, 4096).split() if ready else []
        if not numbers or not numbers[-1].isdigit():
            raise RouterError("the UML router does not say what its input lost")
        return int(numbers[-1])

    def close(self) -> None:
        if self._agent:
            self._agent.when_lost(lambda: None)


def settle_cable(node: Node, device: str) -> None:
    """Show each packet as it is on the wire, also where this device is the only one that knows of a longer one. (A
    macvlan keeps some offloads on in spite of ethtool: what is longer is cut where it leaves, but a capture would show
    it whole.)"""
    disable_offloads(device, node)
    run_ip([f"link set dev {device} gso_max_segs 1"], node=node)
