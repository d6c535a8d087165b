"""Whether three machines can be a bed: what is looked at, and the verdict. Nothing on them is changed.

`look` asks the machines; `judge` is pure.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from driver.bed.node import NODE_NAMES
from driver.bed.ssh_hosts import INTERFACE_VARIABLES, Hosts
from driver.bed.ssh_line import SshLine
from driver.errors import HostAway, HostError

State = Literal["ok", "note", "gap"]
ENDS = ("ip", "ethtool", "tcpdump", "ping")
PROGRAMS = {
    "client": (*ENDS, "/usr/lib/chromium/chromium|chromium|google-chrome", "chromedriver"),
    "router": ("ip", "tc", "ethtool"),
    "server": (*ENDS, "apache2|httpd"),
}
UML = "linux.uml"
MTU = 1500
CLOCK_S = 1.0  # certificates and time stamps are made here and used there
NOT_CABLES = ("bridge", "wlan", "tun", "ppp", "wwan", "macvlan", "ipvlan", "vxlan")
IN_USE = "in use"  # passes by itself
CABLES = (("client", "router"), ("router", "server"))

Heard = Mapping[str, Sequence[Sequence[str]]]  # node -> [its interface, who called, from which interface]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at on one machine. A gap stops every bed; a note is worth knowing."""

    node: str
    host: str
    state: State
    what: str
    found: str
    remedy: str = ""

    def to_json(self) -> dict[str, str]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Seen:
    """What the machines said."""

    facts: Mapping[str, Mapping[str, Any]]
    clocks_s: Mapping[str, float]  # how far each is ahead of here
    heard: Heard


@dataclass
class Verdict:
    """What was found, and which interface of each node leads to which other one."""

    findings: list[Finding] = field(default_factory=list)
    interfaces: dict[str, dict[str, str]] = field(default_factory=dict)

    @property
    def gaps(self) -> list[Finding]:
        return [finding for finding in self.findings if finding.state == "gap"]

    @property
    def busy(self) -> bool:
        """Whether only other beds are in the way."""
        return bool(self.gaps) and all(gap.what == IN_USE for gap in self.gaps)

    @property
    def passes(self) -> bool:
        """Whether that may mend itself: switches start anew too."""
        return all(gap.what in (IN_USE, "link") for gap in self.gaps)

    def require(self) -> None:
        """Raises HostError with all that is in the way."""
        if self.gaps:
            told = "; ".join(f"{gap.host} ({gap.node}): {gap.what}: {gap.found}" for gap in self.gaps)
            raise (HostAway if self.passes else HostError)(told, self.gaps[0].remedy)


def open_all(lines: Mapping[str, SshLine]) -> dict[str, HostError]:
    """All at the same time; those that could not be reached, and why."""
    errors: dict[str, HostError] = {}

    def reach(name: str) -> None:
        try:
            lines[name].open()
        except HostError as error:
            errors[name] = error

    with ThreadPoolExecutor(len(lines)) as pool:
        list(pool.map(reach, lines))
    return {name: errors[name] for name in lines if name in errors}


def look(lines: Mapping[str, SshLine], hosts: Hosts) -> Seen:
    """Ask the machines, which have been opened. Raises HostError when one goes away."""
    names = {name: sorted({each for wanted in PROGRAMS[name] for each in wanted.split("|")} | {UML}) for name in lines}
    with ThreadPoolExecutor(len(lines)) as pool:
        facts = dict(
            zip(lines, pool.map(lambda name: lines[name].ask("facts", programs=names[name]), lines), strict=True)
        )
    clocks = {name: line.clock_offset_s() for name, line in lines.items()}
    for name, line in lines.items():
        line.ask("listen", devices=_candidates(facts[name], getattr(hosts, name).interfaces.values()))
    token = secrets.token_hex(8)  # another check at the same time has another one
    for name, line in lines.items():
        line.ask("call", token=f"{token}-{name}")
    heard = {}
    for name, line in lines.items():
        told = line.ask("heard")
        heard[name] = [
            [ours, who.rpartition("-")[2], theirs] for ours, who, theirs in told if who.startswith(f"{token}-")
        ]
    return Seen(facts, clocks, heard)


def try_cables(lines: Mapping[str, SshLine], hosts: Hosts, verdict: Verdict) -> list[Finding]:
    """What a bed would meet on the interfaces that were found: a driver, or whoever has them, may refuse the cables."""
    remedy = "Is it a port of something, or has it ipvlans? Take another interface"
    found = []
    for name, host in hosts:
        for device in verdict.interfaces[name].values():
            if why := lines[name].ask("refuses-macvlan", device=device):
                found.append(Finding(name, host.name, "gap", "macvlan", f"none can be made on {device}: {why}", remedy))
    return found


def _candidates(facts: Mapping[str, Any], named: Iterable[str]) -> list[str]:
    """The interfaces that a cable of the link may hang on."""
    given = set(named)
    return [each["name"] for each in facts["interfaces"] if each["name"] in given or (not given and not _why_not(each))]


def _why_not(interface: Mapping[str, Any]) -> str:
    """Why an interface can carry no link."""
    if interface["management"]:
        return "carries the address that ssh comes to: the link would be the management path"
    if interface["wire_of_management"]:
        return f"lies on {interface['wire_of_management']}, as what ssh comes through does: they would share a wire"
    if interface["kind"] in NOT_CABLES:
        return f"is a {interface['kind']} device"
    if interface["enslaved"]:
        return "is a port of a bond or a bridge"
    if not interface["up"]:
        return "is down"
    return ""


def unreachable(hosts: Hosts, errors: Mapping[str, HostError]) -> list[Finding]:
    found = []
    for name, host in hosts:
        if name in errors:
            error = errors[name]
            what = error.what.removeprefix(f"{host.name} ({name}): ")
            found.append(Finding(name, host.name, "gap", "reach", what, error.remedy))
    return found


class Find:
    """Adds what is found on one machine."""

    def __init__(self, node: str, host: str, findings: list[Finding]) -> None:
        self._node, self._host, self._findings = node, host, findings

    def __call__(self, state: State, what: str, found: str, remedy: str = "") -> None:
        self._findings.append(Finding(self._node, self._host, state, what, found, remedy))


def judge(hosts: Hosts, seen: Seen) -> Verdict:
    """Pure."""
    verdict = Verdict()
    for name, host in hosts:
        facts, find = seen.facts[name], Find(name, host.name, verdict.findings)
        system = (facts["system"], f"kernel {facts['kernel']}", facts["architecture"], f"Python {facts['python']}")
        find("ok", "system", ", ".join(system))
        _rights(facts, find)
        _clock(seen.clocks_s[name], find)
        _programs(name, facts, find)
        _kernel(name, facts, find)
        for device in facts["left"]:
            what = f"those of {device} are not yet as they were before some bed: the next one on it tries again"
            find("note", "offloads", what, f"Run there: ethtool -k {device}")
    verdict.interfaces = _interfaces(hosts, seen, verdict.findings)
    return verdict


def _rights(facts: Mapping[str, Any], find: Find) -> None:
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


def _programs(name: str, facts: Mapping[str, Any], find: Find) -> None:
    have = facts["programs"]
    lacking = [wanted.split("|")[0] for wanted in PROGRAMS[name] if not any(have.get(one) for one in wanted.split("|"))]
    if lacking:
        find("gap", "programs", f"missing: {', '.join(lacking)}", "Run: lanelab hosts prepare INVENTORY")
    else:
        find("ok", "programs", "all that this node needs")


def _kernel(name: str, facts: Mapping[str, Any], find: Find) -> None:
    if facts["no_macvlan"]:
        remedy = "A node's cable is a macvlan on the link's interface: use a kernel that has it (modprobe macvlan)"
        find("gap", "macvlan", facts["no_macvlan"], remedy)
    if name == "router":
        _router(facts, find)


def _router(facts: Mapping[str, Any], find: Find) -> None:
    lacks_uml = why_no_uml(facts)
    if not facts["no_netem"]:
        find("ok", "router", "its kernel has netem")
    elif not lacks_uml:
        find("ok", "router", f"the UML kernel, since its own has no netem ({facts['no_netem']})")
    else:
        what = f"its kernel has no netem ({facts['no_netem']}), nor can it run the UML kernel: {lacks_uml}"
        find("gap", "router", what, "Run: modprobe sch_netem, or install user-mode-linux there (x86-64)")


def why_no_uml(facts: Mapping[str, Any]) -> str:
    if facts["architecture"] != "x86_64":
        return f"that is an x86-64 program and this machine is {facts['architecture']}"
    return (
        "" if facts["programs"].get(UML) and facts["uml_modules"] else "it is not installed (package user-mode-linux)"
    )


# --- interfaces


def _interfaces(hosts: Hosts, seen: Seen, findings: list[Finding]) -> dict[str, dict[str, str]]:
    """For each node: the other one -> its interface that leads there. What is in the way is added to the findings."""
    found: dict[str, dict[str, str]] = {name: {} for name in NODE_NAMES}
    named = [_named_gap(name, host.name, host.interfaces, seen.facts[name]) for name, host in hosts]
    gaps = [gap for each in named for gap in each]
    for one, other in () if gaps else CABLES:
        pairs = sorted(_neighbours(one, other, hosts, seen))
        if len(pairs) == 1:
            found[one][other], found[other][one] = pairs[0]
        else:
            gaps.append(_not_neighbours(one, other, hosts, seen, pairs))
    if not gaps:
        gaps += _unfit(hosts, seen, found)
    findings += gaps
    if not gaps:
        for name, host in hosts:
            told = ", ".join(f"{device} leads to the {other}" for other, device in found[name].items())
            findings.append(Finding(name, host.name, "ok", "link", told))
    return found


def _named_gap(name: str, title: str, named: Mapping[str, str], facts: Mapping[str, Any]) -> list[Finding]:
    """What is wrong with interfaces that the inventory names."""
    there = {each["name"]: each for each in facts["interfaces"]}
    gaps = []
    for other, device in named.items():
        variable = INTERFACE_VARIABLES[name][other]
        remedy = f"Set {variable} to one of: {', '.join(_candidates(facts, ())) or 'none is fit'}"
        if device not in there:
            gaps.append(Finding(name, title, "gap", "link", f"there is no Ethernet interface {device}", remedy))
        elif why := _why_not(there[device]):
            remedy = f"Run there: ip link set {device} up" if why == "is down" else remedy
            gaps.append(Finding(name, title, "gap", "link", f"{device} {why}", remedy))
    if len(named) > 1 and len(set(named.values())) == 1:
        device = next(iter(named.values()))
        what = f"{device} is named for both sides of the router, which needs two"
        gaps.append(
            Finding(name, title, "gap", "link", what, f"Set {' and '.join(INTERFACE_VARIABLES[name].values())}")
        )
    return gaps


def _neighbours(one: str, other: str, hosts: Hosts, seen: Seen) -> set[tuple[str, str]]:
    """The pairs of interfaces, as far as the inventory leaves a choice, that hear each other."""
    mine, theirs = getattr(hosts, one).interfaces.get(other), getattr(hosts, other).interfaces.get(one)
    there = {(ours, far) for ours, who, far in map(tuple, seen.heard[one]) if who == other}
    back = {(far, ours) for ours, who, far in map(tuple, seen.heard[other]) if who == one}
    return {(a, b) for a, b in there & back if mine in (None, a) and theirs in (None, b)}


def _not_neighbours(one: str, other: str, hosts: Hosts, seen: Seen, pairs: Sequence[tuple[str, str]]) -> Finding:
    title = getattr(hosts, one).name
    variables = f"{INTERFACE_VARIABLES[one][other]} of the {one} and {INTERFACE_VARIABLES[other][one]} of the {other}"
    if pairs:
        told = ", ".join(f"{a} to {b}" for a, b in pairs)
        return Finding(one, title, "gap", "link", f"more than one way leads to the {other}: {told}", f"Set {variables}")
    tried = [
        "/".join(_candidates(seen.facts[name], getattr(hosts, name).interfaces.values())) or "none"
        for name in (one, other)
    ]
    what = f"{one} and {other} are not neighbours: no Ethernet frame passes between {tried[0]} and {tried[1]}"
    remedy = f"Connect them with a cable or one switch, apart from the network that ssh uses; or set {variables}"
    return Finding(one, title, "gap", "link", what, remedy)


def _unfit(hosts: Hosts, seen: Seen, found: Mapping[str, Mapping[str, str]]) -> list[Finding]:
    gaps = []
    for name, host in hosts:
        there = {each["name"]: each for each in seen.facts[name]["interfaces"]}
        devices = list(found[name].values())
        if len(set(devices)) < len(devices):
            what = f"{devices[0]} leads to both client and server: the router needs an interface for each side"
            gaps.append(Finding(name, host.name, "gap", "link", what, "Connect its second interface"))
        for device in dict.fromkeys(devices):
            if there[device]["mtu"] < MTU:
                remedy = f"Run there: ip link set {device} mtu {MTU}"
                gaps.append(
                    Finding(name, host.name, "gap", "link", f"{device} has an MTU of {there[device]['mtu']}", remedy)
                )
            for wire in there[device]["wires"]:
                if wire in seen.facts[name]["in_use"]:
                    what = f"another bed uses {wire}"
                    gaps.append(Finding(name, host.name, "gap", IN_USE, what, "Wait until it has ended"))
    return gaps
