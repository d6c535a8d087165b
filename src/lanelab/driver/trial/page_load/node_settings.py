"""What the nodes of a bed are set to, read back after each load: whatever was asked for, this is what was there."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import NotRequired, TypedDict

from lanelab.driver.base.coded import parsed
from lanelab.driver.base.errors import NodeError, RecordError
from lanelab.driver.bed.addresses import LINK_NETWORK
from lanelab.driver.bed.addresses import Host as BedHost
from lanelab.driver.bed.batch_program import IP, TC, BatchProgram
from lanelab.driver.bed.line_program import LineProgram, Program
from lanelab.driver.bed.node import Node
from lanelab.driver.bed.remote import connections, cross, settings_reader, tc_netlink
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

READER = Program(settings_reader, (connections, tc_netlink))
SEGMENTING = {"tcp-segmentation-offload", "generic-segmentation-offload"}
Kernel = Mapping[str, str]  # setting -> value


class Device(TypedDict):
    """A device in `ip -json -details link show`."""

    ifname: str
    mtu: int
    gso_max_segs: NotRequired[int]


class HostAnswer(TypedDict):
    """The program that reads settings answers this of a host."""

    controls: Sequence[str]
    features: Sequence[str]  # that are on
    kernel: Kernel
    written_to: Sequence[str]


@dataclass(frozen=True, slots=True)
class ShownHost:
    """A host is read as this: its program's answer, and its routes and devices as ip shows them."""

    answer: HostAnswer
    routes: Sequence[Route]
    devices: Sequence[Device]


class HostReader:
    """Reads the settings of one host. Where its program has failed another one takes its place."""

    def __init__(self, substrate: Substrate, host: BedHost) -> None:
        self._node, self._host = substrate.node(host.name), host
        self._ip = BatchProgram(self._node, IP)
        self._program = self._start()

    def _start(self) -> LineProgram:
        words = (self._host.port.device, LINK_NETWORK, cross.PORT, *SYSCTLS)
        title = f"the program that reads the settings of the {self._host.name}"
        return LineProgram(self._node, READER, title, NodeError, *words)

    def read(self, content: str) -> ShownHost:
        """Read all. `content` is the folder that the host answers from."""
        if self._program.failed:
            self._program.close()
            self._program = self._start()
        answer = self._program.ask_for(HostAnswer, content)  # first of all: connections do not last
        device, whose = self._host.port.device, f"what ip shows of the {self._host.name}"
        routes = parsed(list[Route], self._ip.show(f"route show dev {device}"), whose)
        return ShownHost(answer, routes, parsed(list[Device], self._ip.show(f"link show dev {device}"), whose))


class RouterReader:
    """Reads the settings of the router."""

    def __init__(self, node: Node) -> None:
        self._tc, self._ip = BatchProgram(node, TC), BatchProgram(node, IP)

    def read(self) -> tuple[Sequence[Queue], Mapping[str, int]]:
        """Return its queueing disciplines, and the MTU of each of its devices."""
        queues = parsed(list[Queue], self._tc.show("qdisc show"), "what tc shows of the router's queues")
        devices = parsed(list[Device], self._ip.show("link show"), "what ip shows of the router")
        return queues, {each["ifname"]: each["mtu"] for each in devices if each["ifname"] in DEVICES}


class ReadBack:
    """Reads what a bed is set to. What its kernels were set to when this was made is what they are compared with."""

    def __init__(
        self, client: HostReader, server: HostReader, router: RouterReader, kept: Mapping[tuple[str, str], str]
    ) -> None:
        """Begin. `kept` is what the hosts had of their own before a link changed it, by node and name."""
        self._router, self._kept = router, kept
        self._hosts = {"client": client, "server": server}
        self._first = {name: _host(host.read(""), name)[2] for name, host in self._hosts.items()}

    def read(
        self, content: str, compensation_us: int, clock_step_us: int, queues_changed: tuple[str, ...] | None
    ) -> SettingsEvidence:
        """Read the settings back. `content` is the folder on the server that it answers from. Raises RecordError for
        what is not told."""
        with ThreadPoolExecutor(2, "read-back") as threads:
            server = threads.submit(self._hosts["server"].read, content)
            router = threads.submit(self._router.read)
            answers = {"client": self._hosts["client"].read(""), "server": server.result()}
            queues, mtus = router.result()
        ends = {name: _host(answers[name], name) for name in answers}
        return SettingsEvidence(
            client=ends["client"][0],
            server=ends["server"][0],
            queues=tuple(shown_queues(queues)),
            mtus=mtus,
            compensation_us=compensation_us,
            changed=tuple(each for name, (_, _, now) in ends.items() for each in _changes(name, self._was(name), now)),
            content_changed=ends["server"][1],
            clock_step_us=clock_step_us,
            queues_changed=queues_changed,
        )

    def _was(self, node: str) -> Kernel:
        settings = {name.replace(".", "/"): value for (of, name), value in self._kept.items() if of == node}
        return {**self._first[node], **settings}


def _host(shown: ShownHost, name: str) -> tuple[HostSettings, tuple[str, ...], Kernel]:
    """Return its settings, the files somebody has written to, and what its kernel is set to beyond the link's own."""
    answer = shown.answer
    on = set(answer["features"])
    if any(each.get("gso_max_segs") == 1 for each in shown.devices):  # on, and without effect: bed/ssh/router.py
        on -= SEGMENTING
    values = dict(answer["kernel"])
    of_link = {each: values.pop(each.replace(".", "/"), "") for each in USUAL_KERNEL}
    of_link |= {each: values.get(each.replace(".", "/"), "") for each in KERNELS_OWN}
    untold = [each for each, value in of_link.items() if not value]
    if untold:
        raise RecordError(f"the {name} does not tell what {', '.join(untold)} is set to", key="settings")
    if not all(answer["controls"]):
        raise RecordError(f"the {name} does not tell what its connections use", key="settings")
    settings = HostSettings(
        mtu=shown.devices[0]["mtu"] if shown.devices else None,
        routes=tuple(_route(each) for each in shown.routes if each["dst"] != "default"),
        kernel=of_link,
        offloads=tuple(each for each in LENGTHENING if each in on),
        used_controls=tuple(answer["controls"]),
    )
    return settings, tuple(answer["written_to"]), values


def _route(shown: Route) -> RouteSettings:
    return RouteSettings(shown["dst"], shown_metrics([shown]))


def _changes(node: str, was: Kernel, now: Kernel) -> list[Setting]:
    return [Setting(node, name, was[name], now.get(name, "nothing")) for name in was if now.get(name) != was[name]]
