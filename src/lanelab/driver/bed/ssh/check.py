"""Whether three machines can be a bed: what is looked at, and the verdict. Nothing on them is changed.

`observe` asks the machines; `judge` is pure.
"""

import secrets
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor

from lanelab.driver.base.errors import HostError
from lanelab.driver.base.programs.needs import Program, programs
from lanelab.driver.bed.remote.examine import MachineReport
from lanelab.driver.bed.ssh import cables
from lanelab.driver.bed.ssh.connection import SshConnection
from lanelab.driver.bed.ssh.findings import Find, HostFinding, Observations, Verdict
from lanelab.driver.bed.ssh.hosts import Hosts

PURPOSES = (
    "bed",
    "capture",
    "chromium",
    "apache",
)  # of every bed that loads pages; others are missed when they are called
UML = "linux.uml"
CLOCK_S = 1.0  # certificates and time stamps are made here and used there


def programs_of(node: str) -> list[Program]:
    """What a machine has to have to be this node."""
    return [program for program in programs(*PURPOSES) if node in program.nodes]


def open_all(connections: Mapping[str, SshConnection]) -> dict[str, HostError]:
    """Open all at the same time, and return those that could not be reached, and why."""
    errors: dict[str, HostError] = {}

    def reach(name: str) -> None:
        try:
            connections[name].open()
        except HostError as error:
            errors[name] = error

    with ThreadPoolExecutor(len(connections)) as pool:
        list(pool.map(reach, connections))
    return {name: errors[name] for name in connections if name in errors}


def observe(connections: Mapping[str, SshConnection], hosts: Hosts) -> Observations:
    """Ask the machines, which have been opened. Raises HostError when one goes away."""
    names = {
        name: sorted({command for program in programs_of(name) for command in program.commands} | {UML})
        for name in connections
    }
    with ThreadPoolExecutor(len(connections)) as pool:
        answers = pool.map(lambda name: connections[name].report(names[name]), connections)
        facts = dict(zip(connections, answers, strict=True))
    clocks = {name: connection.clock_offset_s() for name, connection in connections.items()}
    for name, connection in connections.items():
        connection.ask("listen", devices=cables.candidates(facts[name], getattr(hosts, name).interfaces.values()))
    token = secrets.token_hex(8)  # another check at the same time has another one
    for name, connection in connections.items():
        connection.ask("call", token=f"{token}-{name}")
    calls = {}
    for name, connection in connections.items():
        calls_received = connection.ask("heard")
        calls[name] = [
            [ours, who.rpartition("-")[2], theirs]
            for ours, who, theirs in calls_received
            if who.startswith(f"{token}-")
        ]
    return Observations(facts, clocks, calls)


def try_cables(connections: Mapping[str, SshConnection], hosts: Hosts, verdict: Verdict) -> list[HostFinding]:
    """Try what a bed would meet on the chosen interfaces: a driver, or another user of them, may refuse the cables."""
    remedy = "Is it a port of something, or has it ipvlans? Take another interface"
    findings = []
    for name, host in hosts:
        for device in verdict.interfaces[name].values():
            if why := connections[name].ask("refuses-macvlan", device=device):
                what = f"none can be made on {device}: {why}"
                findings.append(HostFinding("gap", "macvlan", what, remedy, node=name, host=host.name))
    return findings


def unreachable(hosts: Hosts, errors: Mapping[str, HostError]) -> list[HostFinding]:
    findings = []
    for name, host in hosts:
        if name in errors:
            error = errors[name]
            what = error.what.removeprefix(f"{host.name} ({name}): ")
            findings.append(HostFinding("gap", "reach", what, error.remedy, node=name, host=host.name))
    return findings


def judge(hosts: Hosts, observed: Observations) -> Verdict:
    """Judge what the machines answered."""
    verdict = Verdict()
    for name, host in hosts:
        facts, find = observed.facts[name], Find(name, host.name, verdict.findings)
        system = (facts["system"], f"kernel {facts['kernel']}", facts["architecture"], f"Python {facts['python']}")
        find("ok", "system", ", ".join(system))
        _rights(facts, find)
        _clock(observed.clocks_s[name], find)
        _programs(name, facts, find)
        _kernel(name, facts, find)
        for device in facts["left"]:
            what = f"those of {device} are not yet as they were before some bed: the next one on it tries again"
            find("note", "offloads", what, f"Run there: ethtool -k {device}")
    verdict.interfaces = cables.interfaces(hosts, observed, verdict.findings)
    return verdict


def _rights(facts: MachineReport, find: Find) -> None:
    if facts["lacks_capabilities"]:
        remedy = "Run sshd outside of the container, or give it CAP_SYS_ADMIN and CAP_NET_ADMIN"
        find("gap", "privileges", "root there lacks capabilities, as in a container", remedy)
    elif facts["no_namespaces"]:
        find("gap", "privileges", facts["no_namespaces"], "A node is made of namespaces: let root make them")
    else:
        find("ok", "privileges", "namespaces can be made")


def _clock(offset_s: float, find: Find) -> None:
    text = f"{abs(offset_s):.2f} s {'ahead' if offset_s > 0 else 'behind'}"
    if abs(offset_s) > CLOCK_S:
        find("gap", "clock", text, "Set it: run an NTP client (systemd-timesyncd, chrony) on all machines")
    else:
        find("ok", "clock", text)


def _programs(name: str, facts: MachineReport, find: Find) -> None:
    have = facts["programs"]
    missing = [
        program.name for program in programs_of(name) if not any(have.get(command) for command in program.commands)
    ]
    if missing:
        find("gap", "programs", f"missing: {', '.join(missing)}", "Run: lanelab hosts prepare INVENTORY")
    else:
        find("ok", "programs", "all that this node needs")


def _kernel(name: str, facts: MachineReport, find: Find) -> None:
    if facts["no_macvlan"]:
        remedy = "A node's cable is a macvlan on the link's interface: use a kernel that has it (modprobe macvlan)"
        find("gap", "macvlan", facts["no_macvlan"], remedy)
    if name == "router":
        _router(facts, find)


def _router(facts: MachineReport, find: Find) -> None:
    lacks_uml = why_no_uml(facts)
    if not facts["no_netem"]:
        find("ok", "router", "its kernel has netem")
    elif not lacks_uml:
        find("ok", "router", f"the UML kernel, since its own has no netem ({facts['no_netem']})")
    else:
        what = f"its kernel has no netem ({facts['no_netem']}), nor can it run the UML kernel: {lacks_uml}"
        find("gap", "router", what, "Run: modprobe sch_netem, or install user-mode-linux there (x86-64)")


def why_no_uml(facts: MachineReport) -> str:
    if facts["architecture"] != "x86_64":
        return f"that is an x86-64 program and this machine is {facts['architecture']}"
    return (
        ""
        if facts["programs"].get(UML) and facts["uml_modules"]
        else "it is not installed (Debian's package user-mode-linux)"
    )
