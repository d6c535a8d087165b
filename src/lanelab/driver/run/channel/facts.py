"""What the nodes of a bed are and how they are set, for the record of a run."""

import json
from typing import Any

from lanelab.driver.bed.addresses import CLIENT, SERVER, Host
from lanelab.driver.bed.node import Node
from lanelab.driver.bed.substrate import Substrate
from lanelab.driver.bed.sysctls import SYSCTLS
from lanelab.driver.link.live.state import LinkState
from lanelab.driver.run.channel.fact_operations import BedReport, DirectReport, FactOperations, HostReport, NameReport

OFFLOADS = (
    "tx-checksumming",
    "rx-checksumming",
    "tcp-segmentation-offload",
    "generic-segmentation-offload",
    "generic-receive-offload",
    "large-receive-offload",
)

# Those that a trial depends on and that say nothing of themselves elsewhere in its record.
PROGRAMS = {"tcpdump": ["tcpdump", "--version"], "ip": ["ip", "-V"], "ethtool": ["ethtool", "--version"]}


class BedFactsHere(FactOperations):
    def __init__(self, substrate: Substrate, link: LinkState) -> None:
        self._substrate, self._link = substrate, link

    def facts(self) -> BedReport:
        report, wire_ms = bed_facts(self._substrate), self._link.wire_ms
        if wire_ms is not None:
            report["wire_rtt_ms"] = wire_ms
        return report

    def tc_state(self) -> tuple[Any, ...]:
        output = self._substrate.router.node.run(["tc", "-s", "-j", "qdisc", "show"], check=False).stdout
        try:
            return tuple(json.loads(output or "[]"))
        except ValueError:
            return (output,)


def bed_facts(substrate: Substrate) -> BedReport:
    """Return the facts of all nodes. What a node does not tell is left out."""
    router = substrate.router
    report: BedReport = {
        "client": _host(substrate, CLIENT),
        "server": _host(substrate, SERVER),
        "router": {
            "kind": router.kind,
            "kernel": router.kernel,
            "programs": {"tc": _first_line(router.node, ["tc", "-V"])},
            "compensation_us": router.compensation_us,
            "proven_bps": router.proven.bps,
        },
    }
    machines = substrate.describe()
    return {"machines": machines, **report} if machines else report


def _host(substrate: Substrate, host: Host) -> HostReport:
    node = substrate.node(host.name)
    direct: DirectReport = {}
    if substrate.traits.direct:
        direct = {"direct_offloads": _offloads(node, host.direct_port.device)}
    name, _, kernel = _output(node, ["uname", "-nr"]).partition(" ")
    unnamed: NameReport = {} if name in ("", host.name) else {"host_name": name}
    return {
        "kernel": kernel,
        "programs": {name: _first_line(node, argv) for name, argv in PROGRAMS.items()},
        "sysctls": _sysctls(node),
        "offloads": _offloads(node, host.port.device),
        **direct,
        **unnamed,
        "routes": _output(node, ["ip", "route"]).splitlines(),
    }


def _sysctls(node: Node) -> dict[str, str]:
    """Settings of the kernel, read by one command: `head` names each file before its content."""
    output = node.run(["head", "-v", "-n", "1", *(f"/proc/sys/{name}" for name in SYSCTLS)], check=False).stdout
    values, name = {}, ""
    for line in output.splitlines():
        if line.startswith("==> "):
            name = line.removeprefix("==> /proc/sys/").removesuffix(" <==").replace("/", ".")
        elif line.strip():
            values[name] = line.strip()
    return values


def _offloads(node: Node, device: str) -> dict[str, str]:
    output = node.run(["ethtool", "-k", device], check=False).stdout
    pairs = (line.partition(":") for line in output.splitlines())
    return {name.strip(): value.strip() for name, _, value in pairs if name.strip() in OFFLOADS}


def _first_line(node: Node, argv: list[str]) -> str:
    return next(iter(_output(node, argv).splitlines()), "")


def _output(node: Node, argv: list[str]) -> str:
    return node.run(argv, check=False).stdout.strip()
