"""What the nodes of a bed are set to, read back after each load: whatever was asked for, this is what was there."""

import json
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import NotRequired, TypedDict, TypeVar

from lanelab.driver.arm.servers.life import STAGED
from lanelab.driver.base.coded import parsed
from lanelab.driver.base.errors import RecordError
from lanelab.driver.bed.addresses import CLIENT, LINK_NETWORK, SERVER
from lanelab.driver.bed.addresses import Host as BedHost
from lanelab.driver.bed.node import Node
from lanelab.driver.bed.remote import cross
from lanelab.driver.bed.remote.offloads import LENGTHENING
from lanelab.driver.bed.substrate import Substrate
from lanelab.driver.bed.sysctls import SYSCTLS
from lanelab.driver.link.hosts.host import KERNELS_OWN, USUAL_KERNEL, Route, shown_metrics
from lanelab.driver.link.shaping.expected_tc import Queue, shown_queues
from lanelab.driver.link.shaping.shaping import DEVICES
from lanelab.driver.record.evidence.settings import (
    HostSettings,
    RouteSettings,
    Setting,
    SettingsEvidence,
)

NOT_CROSS = f"not sport = :{cross.PORT} not dport = :{cross.PORT}"
# One command for each node, and few programs in it: each costs some milliseconds. What one does not say is missed here.
# The kernel sets the time of a file's last change (ctime) by itself, also where a file with an older time takes the
# place of another. That of a folder changes with the names in it.
PARTS = "\n--\n"
HOST = f"""
device=$1 content=$2
shift 2
ip -j route show dev "$device"; echo; echo --
ip -j -d link show dev "$device"; echo; echo --
ethtool -k "$device"; echo; echo --
if [ -f "$content{STAGED}" ]; then find "$content" -newercm "$content{STAGED}" -printf '%P\\n'
elif [ "$content" ]; then echo "all of it"; fi; echo; echo --
(cd /proc/sys && head -v -n 1 "$@" 2>/dev/null); echo; echo --
ss -H -t -n -i state established src {LINK_NETWORK} dst {LINK_NETWORK} {NOT_CROSS}
"""
ROUTER = """
tc -j qdisc show; echo; echo --
for device; do read -r mtu <"/sys/class/net/$device/mtu"; echo "$device $mtu"; done
"""
SEGMENTING = {"tcp-segmentation-offload", "generic-segmentation-offload"}
NO_CONTROL = ("ts", "sack", "ecn", "ecnseen", "fastopen")  # what `ss` says ahead of it
Kernel = dict[str, str]  # setting -> value
Shown = TypeVar("Shown")


class Device(TypedDict):
    mtu: int
    gso_max_segs: NotRequired[int]


class ReadBack:
    """Reads what a bed is set to. What its kernels were set to when this was made is what they are compared with."""

    def __init__(self, substrate: Substrate, kept: Mapping[tuple[str, str], str] | None = None) -> None:
        """Begin. `kept` is what the hosts had of their own before a link changed it, by node and name."""
        self._substrate = substrate
        self._kept: Mapping[tuple[str, str], str] = {} if kept is None else kept
        self._first = {host.name: _host(self._ask_host(host, ""), host)[2] for host in (CLIENT, SERVER)}

    def read(
        self, content: str, compensation_us: int, clock_step_us: int, queues_changed: tuple[str, ...] | None
    ) -> SettingsEvidence:
        """Read the settings back. `content` is the folder on the server that it answers from. Raises RecordError for
        what cannot be read."""
        with ThreadPoolExecutor(3, "read-back") as threads:
            client = threads.submit(self._ask_host, CLIENT, "")
            server = threads.submit(self._ask_host, SERVER, content)
            router = threads.submit(self._ask, self._substrate.router.node, ["sh", "-c", ROUTER, "sh", *DEVICES])
            answers = {"client": client.result(), "server": server.result()}
            queues, mtus = _split(router.result(), 2, "router")
        ends = {host.name: _host(answers[host.name], host) for host in (CLIENT, SERVER)}
        return SettingsEvidence(
            client=ends["client"][0],
            server=ends["server"][0],
            queues=tuple(shown_queues(_json(Queue, queues, "router"))),
            mtus={device: int(mtu) for device, mtu in _named(mtus).items()},
            compensation_us=compensation_us,
            changed=tuple(each for name, (_, _, now) in ends.items() for each in _changes(name, self._was(name), now)),
            content_changed=ends["server"][1],
            clock_step_us=clock_step_us,
            queues_changed=queues_changed,
        )

    def _was(self, node: str) -> Kernel:
        settings = {name.replace(".", "/"): value for (of, name), value in self._kept.items() if of == node}
        return {**self._first[node], **settings}

    def _ask_host(self, host: BedHost, content: str) -> str:
        argv = ["sh", "-c", HOST, "sh", host.port.device, content, *SYSCTLS]
        return self._ask(self._substrate.node(host.name), argv)

    @staticmethod
    def _ask(node: Node, argv: Sequence[str]) -> str:
        return node.run(argv, check=False).stdout


def _host(answer: str, host: BedHost) -> tuple[HostSettings, tuple[str, ...], Kernel]:
    """Its settings, the files somebody has written to, and what its kernel is set to beyond the link's own."""
    routes, device, features, content, kernel, connections = _split(answer, 6, host.name)
    shown = _json(Device, device, host.name, at_most=1)
    states = (line.strip().partition(": ") for line in features.splitlines())
    on = {name for name, _, value in states if value.startswith("on")}
    if any(each.get("gso_max_segs") == 1 for each in shown):  # on, and without effect: driver/bed/ssh/router.py
        on -= SEGMENTING
    values = _kernel(kernel)
    of_link = {name: values.pop(name.replace(".", "/"), "") for name in USUAL_KERNEL}
    of_link |= {name: values.get(name.replace(".", "/"), "") for name in KERNELS_OWN}
    untold = [name for name, value in of_link.items() if not value]
    if untold:
        raise RecordError(f"the {host.name} does not tell what {', '.join(untold)} is set to", key="settings")
    settings = HostSettings(
        mtu=shown[0]["mtu"] if shown else None,
        routes=tuple(_route(each) for each in _json(Route, routes, host.name) if each["dst"] != "default"),
        kernel=of_link,
        offloads=tuple(name for name in LENGTHENING if name in on),
        used_controls=_controls(connections, host.name),
    )
    return settings, tuple(content.split("\n")) if content else (), values


def _route(shown: Route) -> RouteSettings:
    return RouteSettings(shown["dst"], shown_metrics([shown]))


def _controls(connections: str, node: str) -> tuple[str, ...]:
    """Return what each connection uses that is still there. `ss` has two lines for each: its ends; the rest, from its
    congestion control on."""
    lines = connections.splitlines()
    ends, told = [line for line in lines if line[:1].strip()], [line for line in lines if line[:1].isspace()]
    if len(ends) != len(told):
        raise RecordError(f"the {node} does not tell what its connections use: {connections[:200]!r}", key="settings")
    words = (line.split() for line in told)
    return tuple(next((word for word in each if word not in NO_CONTROL), "") for each in words)


def _named(text: str) -> Kernel:
    """Return lines of a name and its value."""
    pairs = (line.partition(" ") for line in text.splitlines())
    return {name: " ".join(value.split()) for name, _, value in pairs if value.strip()}


def _kernel(text: str) -> Kernel:
    """`head` names each file before its content. (A shell reads byte by byte, which these files do not bear.)"""
    values, name = {}, ""
    for line in text.splitlines():
        if line.startswith("==> "):
            name = line.removeprefix("==> ").removesuffix(" <==")
        elif line.strip():
            values[name] = " ".join(line.split())
    return values


def _changes(node: str, was: Kernel, now: Kernel) -> list[Setting]:
    return [Setting(node, name, was[name], now.get(name, "nothing")) for name in was if now.get(name) != was[name]]


def _split(answer: str, count: int, node: str) -> list[str]:
    parts = [part.strip() for part in f"\n{answer}".split(PARTS)]
    if len(parts) != count:
        raise RecordError(f"the {node} does not tell what it is set to: {answer[:200]!r}", key="settings")
    return parts


def _json(kind: type[Shown], text: str, node: str, at_most: int | None = None) -> list[Shown]:
    """Return a list of these, as `ip -j` and `tc -j` write it."""
    try:
        shown = islice(json.loads(text or "[]"), at_most)
        return [parsed(kind, each, f"what the {node} shows of itself") for each in shown]
    except ValueError as error:
        what = f"the {node} does not tell in JSON what it is set to: {text[:200]!r}"
        raise RecordError(what, key="settings") from error
