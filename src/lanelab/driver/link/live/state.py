"""The link of a running bed: changed as a whole or not at all, and tested."""

import statistics
import time
from collections.abc import Mapping
from dataclasses import replace

from lanelab.driver.base.errors import CommandFailed, InputError, LanelabError, LinkError
from lanelab.driver.base.units import Duration
from lanelab.driver.bed.substrate import NO_DIRECT, Substrate
from lanelab.driver.link import Link, selftest
from lanelab.driver.link.hosts.host import FORGETS
from lanelab.driver.link.live.operations import LinkChange, Pinged, Transfer, Way
from lanelab.driver.link.live.player import LinkPlayer
from lanelab.driver.link.live.shaper import Shaper
from lanelab.driver.link.results import SelfTest, shown
from lanelab.driver.link.selftest import traffic
from lanelab.driver.link.selftest.effort import USUAL, Effort
from lanelab.driver.link.selftest.plan import Pings
from lanelab.driver.link.shaping.shaping import Shaping, played, shape

DRAIN_LIMIT_S, DRAIN_LOOKS, DRAIN_PAUSE_S = 0.5, 2, 0.02
ORPHANS_S = 1.5  # what was thrown away is sent once more, by a kernel that does not know that nobody waits for it
UNSHAPED = Link.parse({})
WIRE_PINGS = Pings(40, 2000)
FORGET = ["ip", "tcp_metrics", "flush"]


class LinkState:
    """Knows which link the bed has. While it changes, and after a change that could be neither made nor undone, the
    router forwards nothing: no packet ever crosses half a link."""

    def __init__(self, substrate: Substrate) -> None:
        self._substrate = substrate
        self._link: Link | None = None
        self._broken = ""
        self._shaper = Shaper(substrate)
        self.player: LinkPlayer | None = None  # of a link that moves
        # The round trip without any link, where there is more than the router on the way.
        self._wire_ms = self._measure_wire() if substrate.traits.wire else None

    @property
    def kept(self) -> Mapping[tuple[str, str], str]:
        """Return what hosts had of their own before a link changed it: (node, setting) -> value."""
        return self._shaper.kept

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
        self._shaper.forward(on=False)
        self._end_player()
        try:
            self._shaper.apply(shaping)
            self._start_player(link)
        except Exception as error:  # whatever it was, no half link may stay
            why = error.what if isinstance(error, LanelabError) else repr(error)
            self._restore(why)
            raise LinkError(f"this link was refused: {why}", "The previous link is back") from error
        self._link = link
        self._shaper.forward(on=not link.direct)
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
                self._shaper.apply(self._shape(self._link or UNSHAPED))  # new queues are empty ones
                self._start_player(self._link or UNSHAPED)
                time.sleep(ORPHANS_S)
                return
            if empty:
                time.sleep(DRAIN_PAUSE_S)  # what is between two queues is in neither
            empty = 0 if any(queue["qlen"] for queue in self._shaper.queues()) else empty + 1

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
        with traffic.probes(client, server) as both:
            return Transfer(tuple(traffic.tcp(both.of(way), seconds)))

    def _shape(self, link: Link) -> Shaping:
        return shape(link, Duration(self.compensation_us * 1000))

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
            self._shaper.apply(self._shape(link))
            self._start_player(link)
            self._shaper.forward(on=not link.direct)
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
            available = self._shaper.congestion_controls(name)
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
