"""The link of a running bed: changed as a whole or not at all, and tested."""

import json
import statistics
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import TypedDict

from lanelab.driver.base.coded import parsed
from lanelab.driver.base.errors import CommandFailed, InputError, LanelabError, LinkError, RecordError
from lanelab.driver.base.units import Duration
from lanelab.driver.bed.node import Node
from lanelab.driver.bed.substrate import NO_DIRECT, Substrate
from lanelab.driver.link import Link, selftest
from lanelab.driver.link.hosts.host import FORGETS, KERNELS_OWN, USUAL_KERNEL
from lanelab.driver.link.live.operations import LinkChange, Pinged, Transfer, Way
from lanelab.driver.link.live.player import LinkPlayer
from lanelab.driver.link.results import SelfTest, shown
from lanelab.driver.link.selftest import traffic
from lanelab.driver.link.selftest.effort import USUAL, Effort
from lanelab.driver.link.selftest.plan import Pings
from lanelab.driver.link.shaping.shaping import Shaping, played, shape, unshape_lines

DRAIN_LIMIT_S, DRAIN_LOOKS = 0.5, 2
ORPHANS_S = 1.5  # what was thrown away is sent once more, by a kernel that does not know that nobody waits for it
UNSHAPED = Link.parse({})
SET_KERNEL = """
cd /proc/sys
while [ $# -gt 0 ]; do
    [ "$(cat "$1" | tr '\t' ' ')" = "$2" ] || printf %s "$2" >"$1" || exit 1
    shift 2
done
"""
WIRE_PINGS = Pings(40, 2000)
FORGET = ["ip", "tcp_metrics", "flush"]


class _Backlog(TypedDict):
    """A queue in `tc -s -j qdisc show`."""

    qlen: int  # packets


class LinkState:
    """Knows which link the bed has. While it changes, and after a change that could be neither made nor undone, the
    router forwards nothing: no packet ever crosses half a link."""

    def __init__(self, substrate: Substrate) -> None:
        self._substrate = substrate
        self._link: Link | None = None
        self._broken = ""
        # What hosts had of their own before a link changed it: (node, setting) -> value.
        self.kept: dict[tuple[str, str], str] = {}
        self.player: LinkPlayer | None = None  # of a link that moves
        # The round trip without any link, where there is more than the router on the way.
        self._wire_ms = self._measure_wire() if substrate.traits.wire else None

    def require_whole(self) -> None:
        if self._broken:
            raise LinkError(f"this bed's link is broken: {self._broken}", "Start a new bed")

    @property
    def current(self) -> Link:
        return self._link or UNSHAPED

    def set(self, link: Link) -> LinkChange:
        self.require_whole()
        if link.direct and not self._substrate.traits.direct:
            raise InputError(*NO_DIRECT, key="path")
        self._require_congestion_control(link)
        self._require_forgetting(link)
        shaping = self._shape(link)
        router = self._substrate.router
        router.forward(on=False)
        self._end_player()
        try:
            self._apply(shaping)
            self._start_player(link)
        except Exception as error:  # whatever it was, no half link may stay
            why = error.what if isinstance(error, LanelabError) else repr(error)
            self._restore(why)
            raise LinkError(f"this link was refused: {why}", "The previous link is back") from error
        self._link = link
        router.forward(on=not link.direct)
        return LinkChange(tuple(shaping.router_tc), self.compensation_us)

    @property
    def compensation_us(self) -> int:
        """By how much each direction is late without a link: the router's timers, and where the nodes are machines of
        their own, the way between them."""
        return self._substrate.router.compensation_us + round((self._wire_ms or 0.0) * 1000 / 2)

    @property
    def wire_ms(self) -> float | None:
        """A round trip between the nodes without a link. None: no way of their own is between them."""
        return self._wire_ms

    def _measure_wire(self) -> float:
        client, server = self._substrate.node("client"), self._substrate.node("server")
        sent, times_ms = traffic.ping(client, server, WIRE_PINGS)
        if len(times_ms) < sent / 2:
            what = f"of {sent} packets between client and server {len(times_ms)} came back, before there was any link"
            raise LinkError(what, "Is the way between the machines sound?")
        return statistics.median(times_ms)

    def drain(self) -> None:
        """Wait until no packet is on its way, or throw it away: what an earlier trial's server still sends must
        not meet the next trial. And forget what earlier connections learnt of the path."""
        if any(setting == FORGETS for _, setting in self.kept):
            for name in ("client", "server"):
                self._substrate.node(name).run(FORGET)
        if self._link and self._link.direct:
            return  # nothing waits on a cable within a machine
        until, empty = time.monotonic() + DRAIN_LIMIT_S, 0
        while empty < DRAIN_LOOKS:
            if time.monotonic() > until:
                self._end_player()
                self._apply(self._shape(self._link or UNSHAPED))  # new queues are empty ones
                self._start_player(self._link or UNSHAPED)
                time.sleep(ORPHANS_S)
                return
            empty = empty + 1 if self._waiting() == 0 else 0

    def _waiting(self) -> int:
        """Return packets in the router's queues and delays. Raises LinkError where tc does not tell."""
        output = self._substrate.router.node.run(["tc", "-s", "-j", "qdisc", "show"]).stdout
        try:
            shown = parsed(list[_Backlog], json.loads(output), "what tc shows of the router's queues")
        except (ValueError, RecordError) as error:
            raise LinkError(f"the router does not tell what waits in its queues: {error}", "Start a new bed") from error
        return sum(each["qlen"] for each in shown)

    def test(self, effort: Effort = USUAL) -> SelfTest:
        self.require_whole()
        link = self._link or UNSHAPED
        client, server = self._substrate.node("client"), self._substrate.node("server")
        lost_at_input = self._substrate.router.lost_at_input
        measured = selftest.measure(link, client, server, lost_at_input, effort, self._substrate.traits, self.mover())
        if self._wire_ms is not None:
            note = "taken off the delay that is asked of the router"
            without = shown("rtt without link", "ms", self._wire_ms, note)
            measured = replace(measured, results=(without, *measured.results))
        return measured

    def ping(self, pings: Pings) -> Pinged:
        self.require_whole()
        client, server = self._substrate.node("client"), self._substrate.node("server")
        sent, times_ms = traffic.ping(client, server, pings)
        return Pinged(sent, tuple(times_ms))

    def transfer(self, way: Way, seconds: float) -> Transfer:
        self.require_whole()
        client, server = self._substrate.node("client"), self._substrate.node("server")
        with traffic.ends(client, server) as both:
            return Transfer(tuple(traffic.tcp(both.of(way), seconds)))

    def _shape(self, link: Link) -> Shaping:
        return shape(link, Duration(self.compensation_us * 1000))

    def _apply(self, shaping: Shaping) -> None:
        router = self._substrate.router.node
        _batch(router, "tc", unshape_lines(), check=False)
        for program, lines in (("ip", shaping.router_ip), ("tc", shaping.router_tc)):
            if lines:
                _batch(router, program, lines)
        self._verify(router, shaping)
        for name, lines, kernel in (
            ("client", shaping.client_ip, shaping.client_kernel),
            ("server", shaping.server_ip, shaping.server_kernel),
        ):
            _batch(self._substrate.node(name), "ip", lines)
            wanted = dict(line.split("=") for line in kernel)
            _set_kernel(self._substrate.node(name), {**USUAL_KERNEL, **self._kept(name, wanted), **wanted})

    def _kept(self, name: str, asked: Mapping[str, str]) -> dict[str, str]:
        """Return what an earlier link changed of the host's own. What this one is about to change is remembered."""
        for setting in KERNELS_OWN:
            if setting in asked and (name, setting) not in self.kept:
                path = f"/proc/sys/{setting.replace('.', '/')}"
                value = self._substrate.node(name).run(["cat", path]).stdout
                self.kept[name, setting] = " ".join(value.split())
        return {setting: value for (node, setting), value in self.kept.items() if node == name}

    def _verify(self, router: Node, shaping: Shaping) -> None:
        """The kernel holds exactly the qdiscs that were asked for."""
        wanted = sorted(_wanted(line) for line in shaping.router_tc if line.startswith("qdisc add"))
        shown = json.loads(router.run(["tc", "-j", "qdisc", "show"]).stdout or "[]")
        # what a device has by itself shows handle 0:
        present = sorted((entry["dev"], entry["kind"]) for entry in shown if entry["handle"] != "0:")
        if wanted != present:
            raise LinkError(f"the router holds {present} where {wanted} was asked for")

    def mover(self) -> LinkPlayer | None:
        """Return the player of a link that moves; another one where it has ended. Raises LinkError."""
        if self.player and self.player.failed and self._link:
            self._end_player()
            self._start_player(self._link)
        return self.player

    def _start_player(self, link: Link) -> None:
        if link.moves:
            self.player = LinkPlayer(self._substrate.router.node, played(link, Duration(self.compensation_us * 1000)))

    def _end_player(self) -> None:
        player, self.player = self.player, None
        if player:
            player.close()

    def _restore(self, cause: str) -> None:
        try:
            link = self._link or UNSHAPED
            self._apply(self._shape(link))
            self._start_player(link)
            self._substrate.router.forward(on=not link.direct)
        except Exception as error:
            why = error.what if isinstance(error, LanelabError) else repr(error)
            self._broken = f"after '{cause}' the previous link could not be restored either ('{why}')"
            raise LinkError(f"this bed's link is broken: {self._broken}", "Start a new bed") from error

    def _require_congestion_control(self, link: Link) -> None:
        hosts = [("client", link.client.congestion_control, "congestion_control")]
        hosts.append(("server", link.server.congestion_control, "congestion_control"))
        if link.cross:
            hosts.append(("server" if link.cross.way == "down" else "client", link.cross.congestion_control, "cross"))
        for name, wanted, key in hosts:
            node = self._substrate.node(name)
            available = node.run(["cat", "/proc/sys/net/ipv4/tcp_available_congestion_control"]).stdout.split()
            if wanted not in available:
                raise InputError(
                    f"the {name}'s kernel has no congestion control '{wanted}'",
                    f"It has: {', '.join(available)} (others: sudo modprobe tcp_{wanted})",
                    key=key,
                )

    def _require_forgetting(self, link: Link) -> None:
        """See to it that what one trial's connections learnt does not help the next one's."""
        for name, host in (("client", link.client), ("server", link.server)):
            if not host.saved_metrics:
                continue
            try:
                self._substrate.node(name).run(FORGET)
            except CommandFailed as failed:
                raise InputError(
                    f"the {name} of this bed cannot forget what TCP saved, so that trials would learn from each other: "
                    f"{failed.what}",
                    "Only root of the machine itself may make a kernel forget. Take a bed of virtual "
                    "machines or of machines over ssh, or leave saved_metrics out",
                    key="saved_metrics",
                ) from failed


def _wanted(line: str) -> tuple[str, str]:
    words = line.split()
    device = words[words.index("dev") + 1]
    if words[-1] == "ingress":
        return device, "ingress"
    after = "root" if "root" in words else "parent"
    rest = words[words.index(after) + (1 if after == "root" else 2) :]
    return device, rest[2]


def _set_kernel(node: Node, wanted: Mapping[str, str]) -> None:
    """What already is as it should be is left alone: containers let nobody write there."""
    pairs = [word for name, value in wanted.items() for word in (name.replace(".", "/"), value)]
    done = node.run(["sh", "-c", SET_KERNEL, "sh", *pairs], check=False)
    if done.status:
        raise LinkError(f"the {node.name}'s kernel does not let itself be set: {done.stderr.strip() or done.stdout}")


def _batch(node: Node, program: str, lines: tuple[str, ...], *, check: bool = True) -> None:
    """All lines in one call of `ip` or `tc`; without `check`, each is tried whatever became of the one before."""
    force = [] if check else ["-force"]
    try:
        node.run([program, *force, "-batch", "-"], stdin=("\n".join(lines) + "\n").encode(), check=check)
    except CommandFailed as error:
        raise LinkError(f"{error.what} (lines: {'; '.join(lines)})") from error
