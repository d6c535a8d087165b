"""The ssh substrate: client, router and server are namespaces on three machines that ssh reaches.

    here                                        on each machine
    bed process ── socket ── ssh ─────── sshd ── keeper ── agent   (driver/bed/remote/keeper.py)

There the bed has namespaces like those of the netns bed, with the same names and addresses in them; its cables are
macvlans on the interfaces between the machines. So all that is above knows no difference, and nothing of the machines'
own addresses, routes, queues and settings is touched. What is, is put back by the guard over there.
"""

import os
import re
import secrets
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor

from lanelab.driver.base.errors import RouterError
from lanelab.driver.base.timeouts import scaled
from lanelab.driver.bed.addresses import HOSTS, host_lines, hosts_file
from lanelab.driver.bed.agent_connection import AgentConnection
from lanelab.driver.bed.commands import disable_ipv6, run_ip, set_kernel
from lanelab.driver.bed.local import enter_bed
from lanelab.driver.bed.node import NODE_NAMES, Node
from lanelab.driver.bed.remote.examine import MachineReport
from lanelab.driver.bed.remote.keeper import Cable, Order
from lanelab.driver.bed.ssh import check
from lanelab.driver.bed.ssh.connection import SshConnection
from lanelab.driver.bed.ssh.findings import Observations, Verdict
from lanelab.driver.bed.ssh.hosts import Hosts
from lanelab.driver.bed.ssh.node import SshNode
from lanelab.driver.bed.ssh.router import SshKernelRouter, SshUmlRouter, settle_cable
from lanelab.driver.bed.substrate import BedSettings, DescribedMachine, Substrate, Traits

BEAT_S = 2.0
# LANELAB_PATIENCE multiplies these.
SILENCE_S = 16.0  # an agent that is silent for so long counts as gone
SILENCE_THERE_S = 20.0  # and for its keeper we do; with all that follows its machine is as before within 30 s
IN_USE_S = 30.0  # a bed that was lost uses its machines for so long at most
LOOK_AGAIN_S = 2.0
END_WITHIN_S = 3.0
HOSTS_OF = {host.name: host for host in HOSTS}


class SshSubstrate(Substrate):
    """Nodes on machines of their own."""

    # Each machine has a clock of its own, and interfaces and switches are between them. They may be slow, or far away.
    traits = Traits(same_machine=False, same_clock=False, wire=True, tolerance=2.0, up_within_s=300.0)

    def __init__(self, hosts: Hosts) -> None:
        self._hosts = hosts
        self._connections: dict[str, SshConnection] = {}
        self._agents: dict[str, AgentConnection] = {}
        self._nodes: dict[str, SshNode] = {}
        self._described: Mapping[str, DescribedMachine] = {}
        self._closing = threading.Event()
        # Other beds on the same switch have the same addresses, but never the same of Ethernet.
        self._prefix = f"02:{':'.join(f'{byte:02x}' for byte in secrets.token_bytes(3))}"

    def enter(self, settings: BedSettings, controller: int | None = None) -> None:
        """ssh starts before: it wants its user's own configuration, agent and /run. It ends with this process."""
        for name, host in self._hosts:
            self._connections[name] = SshConnection(name, host, settings.folder / f"ssh-{name}.log", os.getpid())
        enter_bed(controller)

    def bring_up(self, settings: BedSettings) -> None:
        for error in check.open_all(self._connections).values():
            raise error
        for name, host in self._hosts:
            if host.sets_clock:
                self._connections[name].set_clock()
        observed, verdict = self._judged()
        self._described = {name: _described(observed.facts[name], verdict.interfaces[name]) for name in NODE_NAMES}
        router = self._router_kind(settings.router, observed.facts["router"])
        with ThreadPoolExecutor(len(NODE_NAMES)) as pool:
            list(pool.map(lambda name: self._hold(name, verdict.interfaces[name], router, settings), NODE_NAMES))
        threading.Thread(target=self._notice_silence, name="silence", daemon=True).start()
        facts = observed.facts["router"]
        node = self._nodes["router"]
        if router is SshUmlRouter:
            program = facts["programs"][check.UML]
            self._router = SshUmlRouter(node, program, settings.folder / "router-console.log", self._with_addresses)
        else:
            self._router = SshKernelRouter(node, facts["kernel"], self._with_addresses)
        with ThreadPoolExecutor(len(NODE_NAMES)) as pool:
            list(pool.map(self._set_up, NODE_NAMES))

    def _judged(self) -> tuple[Observations, Verdict]:
        """Judge the machines until they are fit. A bed that uses them may be ours that was lost: it goes later than we
        notice."""
        until = time.monotonic() + scaled(IN_USE_S)
        while True:
            observed = check.observe(self._connections, self._hosts)
            verdict = check.judge(self._hosts, observed)
            if not verdict.busy or time.monotonic() > until:
                verdict.require()
                return observed, verdict
            time.sleep(LOOK_AGAIN_S)

    @staticmethod
    def _router_kind(wanted: str, facts: MachineReport) -> type[SshKernelRouter] | type[SshUmlRouter]:
        """By itself the machine's own kernel: whoever has machines wants them to do the work."""
        if wanted == "kernel" and facts["no_netem"]:
            raise RouterError(f"router 'kernel' cannot run there: {facts['no_netem']}", "Run there: modprobe sch_netem")
        lacks = check.why_no_uml(facts)
        if wanted == "uml" and lacks:
            raise RouterError(f"router 'uml' cannot run there: {lacks}", "Run: lanelab hosts prepare INVENTORY")
        return SshUmlRouter if wanted == "uml" or facts["no_netem"] else SshKernelRouter

    def _hold(
        self,
        name: str,
        interfaces: dict[str, str],
        router: type[SshKernelRouter] | type[SshUmlRouter],
        settings: BedSettings,
    ) -> None:
        if name == "router":
            ports = {other: (router.cables()[other], HOSTS_OF[other].router_port.mac) for other in interfaces}
        else:
            ports = {"router": (HOSTS_OF[name].port.device, HOSTS_OF[name].port.mac)}
        cables: list[Cable] = [
            {"on": device, "name": ports[other][0], "mac": self._with_addresses([ports[other][1]])[0]}
            for other, device in interfaces.items()
        ]
        marker = os.environ.get("LANELAB_BED", "")
        order: Order = {
            "name": name,
            "cables": cables,
            "cpus": _numbers(settings.cpus.get(name, "")),
            "marker": marker,
            "silence_s": scaled(SILENCE_THERE_S),
        }
        agent = self._connections[name].become_agent(order)
        self._agents[name] = agent
        self._nodes[name] = SshNode(name, agent)
        threading.Thread(target=self._keep_beating, args=[agent], name=f"beat-{name}", daemon=True).start()

    def _with_addresses(self, lines: list[str]) -> list[str]:
        """Return lines with this bed's own addresses of Ethernet."""
        return [re.sub(r"\b02:00:0a:0[ab]\b", self._prefix, line) for line in lines]

    def _set_up(self, name: str) -> None:
        node = self._nodes[name]
        node.cover("/etc/hosts", hosts_file())
        disable_ipv6(node)
        node.run(set_kernel("net/ipv4/tcp_no_metrics_save", "1"), check=False)
        if name == "router":
            self.router.finish()
            return
        host = HOSTS_OF[name]
        settle_cable(node, host.port.device)
        lines = [line for line in host_lines(host) if host.management.device not in line]
        run_ip(self._with_addresses(lines), node=node)

    def _keep_beating(self, agent: AgentConnection) -> None:
        """Say that we are here. A thread for each: one that is full of data holds up no other."""
        while not self._closing.wait(BEAT_S) and not agent.lost.is_set():
            agent.ask(op="beat")

    def _notice_silence(self) -> None:
        while not self._closing.wait(BEAT_S):
            for agent in list(self._agents.values()):
                if time.monotonic() - agent.last_message_at > scaled(SILENCE_S) and not agent.lost.is_set():
                    agent.close()

    def node(self, name: str) -> Node:
        return self.router.node if name == "router" else self._nodes[name]

    def addresses(self) -> dict[str, str]:
        """None: nothing but ssh leads to the nodes."""
        return {}

    def describe(self) -> Mapping[str, DescribedMachine]:
        return self._described

    def when_lost(self, callback: Callable[[str], None]) -> None:
        for name, agent in self._agents.items():
            connection = self._connections[name]

            def lost(connection: SshConnection = connection) -> None:
                if not self._closing.is_set():
                    why = f": {connection.last_complaint()}" if connection.last_complaint() else ""
                    callback(f"the connection to {connection.title} was lost{why}")

            agent.when_lost(lost)
        self.router.when_lost(callback)

    def close(self) -> None:
        """Put the machines as they were before, if they are there, and wait for it."""
        self._closing.set()
        if self._router:
            self._router.close()
        until = time.monotonic() + scaled(END_WITHIN_S)
        with ThreadPoolExecutor(len(NODE_NAMES)) as pool:
            list(pool.map(lambda agent: agent.finish(until - time.monotonic()), self._agents.values()))
        for connection in self._connections.values():
            connection.close()
        for connection in self._connections.values():
            connection.await_end(until - time.monotonic())


def _described(facts: MachineReport, interfaces: dict[str, str]) -> DescribedMachine:
    """Return what of a machine belongs to the record of a run."""
    return {
        "system": facts["system"],
        "kernel": facts["kernel"],
        "architecture": facts["architecture"],
        "processors": facts["processors"],
        "memory_mib": facts["memory_mib"],
        "python": facts["python"],
        "interfaces": interfaces,
    }


def _numbers(cpus: str) -> list[int]:
    """Return processors as taskset writes them, each by its number."""
    numbers: list[int] = []
    for part in filter(None, cpus.split(",")):
        first, _, last = part.partition("-")
        numbers += range(int(first), int(last or first) + 1)
    return numbers
