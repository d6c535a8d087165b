"""Which interfaces of three machines are the link's, and what is in their way. Pure."""

from collections.abc import Iterable, Mapping, Sequence

from lanelab.driver.bed.node import NODE_NAMES
from lanelab.driver.bed.remote.examine import Interface, MachineReport
from lanelab.driver.bed.ssh.findings import IN_USE, LINK, HostFinding, Observations
from lanelab.driver.bed.ssh.hosts import INTERFACE_VARIABLES, Hosts

MTU = 1500
NOT_CABLES = ("bridge", "wlan", "tun", "ppp", "wwan", "macvlan", "ipvlan", "vxlan")
CABLES = (("client", "router"), ("router", "server"))


def candidates(facts: MachineReport, named: Iterable[str]) -> list[str]:
    """Return the interfaces that a cable of the link may hang on."""
    names = set(named)
    return [each["name"] for each in facts["interfaces"] if each["name"] in names or (not names and not _why_not(each))]


def _why_not(interface: Interface) -> str:
    """Return why an interface can carry no link."""
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


def interfaces(hosts: Hosts, observed: Observations, findings: list[HostFinding]) -> dict[str, dict[str, str]]:
    """Return for each node which interface leads to which other node. What is in the way is added to the findings."""
    chosen: dict[str, dict[str, str]] = {name: {} for name in NODE_NAMES}
    named = [_named_gap(name, host.name, host.interfaces, observed.facts[name]) for name, host in hosts]
    gaps = [gap for each in named for gap in each]
    for one, other in () if gaps else CABLES:
        pairs = sorted(_neighbours(one, other, hosts, observed))
        if len(pairs) == 1:
            chosen[one][other], chosen[other][one] = pairs[0]
        else:
            gaps.append(_not_neighbours(one, other, hosts, observed, pairs))
    if not gaps:
        gaps += _unfit(hosts, observed, chosen)
    findings += gaps
    if not gaps:
        for name, host in hosts:
            ways = ", ".join(f"{device} leads to the {other}" for other, device in chosen[name].items())
            findings.append(HostFinding("ok", LINK, ways, node=name, host=host.name))
    return chosen


def _named_gap(name: str, title: str, named: Mapping[str, str], facts: MachineReport) -> list[HostFinding]:
    """Return what is wrong with interfaces that the inventory names."""
    devices = {each["name"]: each for each in facts["interfaces"]}
    gaps = []
    for other, device in named.items():
        variable = INTERFACE_VARIABLES[name][other]
        remedy = f"Set {variable} to one of: {', '.join(candidates(facts, ())) or 'none is fit'}"
        if device not in devices:
            gaps.append(_gap(name, title, f"there is no Ethernet interface {device}", remedy))
        elif why := _why_not(devices[device]):
            remedy = f"Run there: ip link set {device} up" if why == "is down" else remedy
            gaps.append(_gap(name, title, f"{device} {why}", remedy))
    if len(named) > 1 and len(set(named.values())) == 1:
        device = next(iter(named.values()))
        what = f"{device} is named for both sides of the router, which needs two"
        gaps.append(_gap(name, title, what, f"Set {' and '.join(INTERFACE_VARIABLES[name].values())}"))
    return gaps


def _neighbours(one: str, other: str, hosts: Hosts, observed: Observations) -> set[tuple[str, str]]:
    """Return the pairs of interfaces, as far as the inventory leaves a choice, that hear each other."""
    mine, theirs = getattr(hosts, one).interfaces.get(other), getattr(hosts, other).interfaces.get(one)
    calls = {(ours, far) for ours, who, far in map(tuple, observed.heard[one]) if who == other}
    back = {(far, ours) for ours, who, far in map(tuple, observed.heard[other]) if who == one}
    return {(a, b) for a, b in calls & back if mine in (None, a) and theirs in (None, b)}


def _not_neighbours(
    one: str, other: str, hosts: Hosts, observed: Observations, pairs: Sequence[tuple[str, str]]
) -> HostFinding:
    title = getattr(hosts, one).name
    variables = f"{INTERFACE_VARIABLES[one][other]} of the {one} and {INTERFACE_VARIABLES[other][one]} of the {other}"
    if pairs:
        ways = ", ".join(f"{a} to {b}" for a, b in pairs)
        return _gap(one, title, f"more than one way leads to the {other}: {ways}", f"Set {variables}")
    tried = [
        "/".join(candidates(observed.facts[name], getattr(hosts, name).interfaces.values())) or "none"
        for name in (one, other)
    ]
    what = f"{one} and {other} are not neighbours: no Ethernet frame passes between {tried[0]} and {tried[1]}"
    remedy = f"Connect them with a cable or one switch, apart from the network that ssh uses; or set {variables}"
    return _gap(one, title, what, remedy)


def _unfit(hosts: Hosts, observed: Observations, chosen: Mapping[str, Mapping[str, str]]) -> list[HostFinding]:
    gaps = []
    for name, host in hosts:
        known = {each["name"]: each for each in observed.facts[name]["interfaces"]}
        devices = list(chosen[name].values())
        if len(set(devices)) < len(devices):
            what = f"{devices[0]} leads to both client and server: the router needs an interface for each side"
            gaps.append(_gap(name, host.name, what, "Connect its second interface"))
        for device in dict.fromkeys(devices):
            if known[device]["mtu"] < MTU:
                remedy = f"Run there: ip link set {device} mtu {MTU}"
                gaps.append(_gap(name, host.name, f"{device} has an MTU of {known[device]['mtu']}", remedy))
            for wire in known[device]["wires"]:
                if wire in observed.facts[name]["in_use"]:
                    what = f"another bed uses {wire}"
                    gaps.append(_gap(name, host.name, what, "Wait until it has ended", IN_USE))
    return gaps


def _gap(node: str, host: str, what_is_wrong: str, remedy: str, what: str = LINK) -> HostFinding:
    return HostFinding("gap", what, what_is_wrong, remedy, node=node, host=host)
