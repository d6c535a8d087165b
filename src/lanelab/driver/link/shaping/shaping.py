"""Link in, exact `ip` and `tc` lines out. Pure: nothing here runs anything.

One direction through the router (the other is its mirror image):

    in ──ingress──▶ redirect ──▶ [ queue_down: the bottleneck ] ──▶ routing ──▶ [ to_client: the way there ] ──▶ out
                                  netem rate R limit N                           netem delay, jitter, loss …

The queue and the delay are apart, so that a queue of 100 packets is one: netem counts what is under way in its delay
against its limit, and an AQM would see the delay as a standing queue. The queue comes first and the loss after it,
as on a real path. The words for the bottleneck are in bottleneck.py, those for each impairment in its class. Where
hosts are not equally far, distances.py has the words for the way there.

Rates are those of Ethernet frames without preamble and checksum: MTU + 14 bytes for a full packet. The packet that is
being sent counts as waiting. Lines are for tc of iproute2 5.15 and later, which reads times in whole microseconds.
"""

from dataclasses import dataclass
from typing import NamedTuple

from lanelab.driver.base.units import NS_PER_S, PPB, Duration
from lanelab.driver.bed.addresses import CLIENT, OTHER, QUEUE_DOWN, QUEUE_UP, SERVER, direct_route_lines, route_lines
from lanelab.driver.bed.addresses import Host as BedHost
from lanelab.driver.bed.remote.player import Settings
from lanelab.driver.link import Direction, Host, Link
from lanelab.driver.link.impairments.impairment import Words, tc_time
from lanelab.driver.link.shaping.bottleneck import SHAPER_BURST, bottleneck, pace_bps
from lanelab.driver.link.shaping.distances import distance_lines
from lanelab.driver.link.shaping.moving import moving_lines, player_settings

TO_CLIENT, TO_SERVER = CLIENT.router_port.device, SERVER.router_port.device
DEVICES = (QUEUE_DOWN, QUEUE_UP, TO_CLIENT, TO_SERVER)
SMALLEST_FRAME = 60
ROUTER_MAX_BPS = 1_200_000_000  # what can enter a delay when no rate is set
UNSHAPED_QUEUE_PACKETS = 1000
ORDER_KEEPING_BPS = 100_000_000_000  # netem with a rate never lets a packet overtake another


@dataclass(frozen=True, slots=True)
class Shaping:
    """The commands that make a link: lines for `ip -batch` and `tc -batch`."""

    router_ip: tuple[str, ...]
    router_tc: tuple[str, ...]
    client_ip: tuple[str, ...]
    server_ip: tuple[str, ...]
    client_kernel: tuple[str, ...]  # `net.ipv4.name=value`: what is not as KERNEL has it
    server_kernel: tuple[str, ...]


class _Side(NamedTuple):
    """The devices that one direction passes, and its name in plain words."""

    queue: str
    enter: str
    leave: str
    towards: str
    match: str  # which address of its packets is the server's


_DOWN = _Side(QUEUE_DOWN, TO_SERVER, TO_CLIENT, "the client", "src")
_UP = _Side(QUEUE_UP, TO_CLIENT, TO_SERVER, "the server", "dst")


def shape(link: Link, compensation: Duration) -> Shaping:
    """Return the lines for a link on an unshaped router. `compensation` is what the router itself adds to each
    direction's delay by waking late; it is taken off the delay that netem is asked for."""
    return Shaping(
        router_ip=_texts(_device_lines(link)),
        router_tc=_texts(_tc_lines(link, compensation)),
        client_ip=_texts(_host_lines(CLIENT, link.client, link)),
        server_ip=_texts(_host_lines(SERVER, link.server, link)),
        client_kernel=_texts(link.client.kernel()),
        server_kernel=_texts(link.server.kernel()),
    )


def explain(link: Link, compensation: Duration) -> list[Words]:
    """Return each line of `shape` as one would type it, with one sentence for it, in the order in which they are
    applied."""
    parts = (
        ("In the router", "ip", _device_lines(link)),
        ("In the router", "tc", _tc_lines(link, compensation)),
        ("On the client", "ip", _host_lines(CLIENT, link.client, link)),
        ("On the server", "ip", _host_lines(SERVER, link.server, link)),
        ("On the client", "sysctl -w", link.client.kernel()),
        ("On the server", "sysctl -w", link.server.kernel()),
    )
    return [
        Words(f"{program} {line.text}", f"{where}: {line.meaning}.")
        for where, program, lines in parts
        for line in lines
    ]


def played(link: Link, compensation: Duration) -> Settings:
    """Return what the player in the router needs to know of a link that moves."""
    ways = {"down": (link.down, _DOWN), "up": (link.up, _UP)}
    return player_settings(
        link,
        {name: (side.queue, side.leave) for name, (_, side) in ways.items()},
        {name: compensated(way.delay, compensation).ns if way.delay else 0 for name, (way, _) in ways.items()},
    )


def unshape_lines() -> tuple[str, ...]:
    """Removes whatever `shape` may have made. Lines for things that are not there fail, and may."""
    return (
        *(f"qdisc del dev {device} root" for device in DEVICES),
        *(f"qdisc del dev {device} ingress" for device in (TO_CLIENT, TO_SERVER)),
    )


def _texts(lines: list[Words]) -> tuple[str, ...]:
    return tuple(line.text for line in lines)


def device_of(host: BedHost, link: Link) -> str:
    """Return the interface that carries what a host sends over this link."""
    return host.direct_port.device if link.direct else host.port.device


def _device_lines(link: Link) -> list[Words]:
    if link.direct:
        return []
    words = {
        QUEUE_DOWN: "the device where packets for the client wait",
        QUEUE_UP: "the device where packets for the server wait",
        TO_CLIENT: "the interface to the client",
        TO_SERVER: "the interface to the server",
    }
    return [
        Words(f"link set dev {device} mtu {link.mtu} up", f"{words[device]} takes IP packets of up to {link.mtu} bytes")
        for device in DEVICES
    ]


def _host_lines(host: BedHost, settings: Host, link: Link) -> list[Words]:
    tcp, meaning = settings.route()
    routes = direct_route_lines(host, tcp) if link.direct else route_lines(host, tcp)
    if link.direct:
        meaning += f"; it leads to the {OTHER[host].name} without the router, which forwards nothing meanwhile"
    return [
        Words(f"link set dev {device_of(host, link)} mtu {link.mtu}", f"IP packets have up to {link.mtu} bytes"),
        *(Words(text, meaning) for text in routes),
    ]


def _tc_lines(link: Link, compensation: Duration) -> list[Words]:
    if link.direct:
        return []
    trips = link.far
    at = [link.at(trip) for trip in trips]
    far_down, far_up = [each.down for each in at], [each.up for each in at]
    return [
        *_queue_lines(link.down, link.mtu, _DOWN),
        *_leave_lines(link.down, list(zip(trips, far_down, strict=True)), _DOWN, compensation),
        *_queue_lines(link.up, link.mtu, _UP),
        *_leave_lines(link.up, list(zip(trips, far_up, strict=True)), _UP, compensation),
    ]


def _leave_lines(
    way: Direction, far: list[tuple[Duration, Direction]], side: _Side, compensation: Duration
) -> list[Words]:
    """Return the lines behind the bottleneck: one delay, or one for each distance."""
    usual = _way_there(way, compensation)
    if not far:
        return [
            Words(f"qdisc add dev {side.leave} root handle 1: {usual.text}", f"towards {side.towards}, {usual.meaning}")
        ]
    others = [(trip, _way_there(each, compensation)) for trip, each in far]
    return distance_lines(side.leave, side.match, side.towards, usual, others)


def _queue_lines(way: Direction, mtu: int, side: _Side) -> list[Words]:
    lines: list[Words] = []
    if way.rate:
        usual = bottleneck(way, way.rate, mtu)
        lines = [
            *(
                moving_lines(side.queue, way, way.rate, mtu, usual)
                if way.moves
                else (Words(f"qdisc add dev {side.queue} {text}", why) for text, why in usual)
            ),
            Words(
                f"qdisc add dev {side.enter} handle ffff: ingress",
                "makes a place for the next line, where packets come in",
            ),
            Words(
                f"filter add dev {side.enter} parent ffff: protocol all pref 1 matchall "
                f"action mirred egress redirect dev {side.queue}",
                f"sends every packet for {side.towards} through {side.queue} first",
            ),
        ]
    return lines


def _way_there(way: Direction, compensation: Duration) -> Words:
    """Return the second qdisc: the delay, the impairments in their order, and the rate where it is needed."""
    varying = [words for each in way.impairments if each.VARIES_DELAY for words in each.netem()]
    others = [words for each in way.impairments if not each.VARIES_DELAY for words in each.netem()]
    parts = [*_delay(way, compensation), *varying, *others]
    pace = pace_bps(way)
    if pace:
        parts.append(Words(f"rate {pace}bit", "spaces packets as the rate does, and adds each one's time on the wire"))
    elif (way.jitter and not way.jitter_reorders) or (way.moves and not way.jitter):
        parts.append(Words(f"rate {ORDER_KEEPING_BPS}bit", "keeps their order (a rate this high does nothing else)"))
    if not parts:
        return Words(f"pfifo limit {UNSHAPED_QUEUE_PACKETS}", "adds nothing")
    limit = held_packets(way)
    return Words(
        " ".join(["netem", f"limit {limit}", *(part.text for part in parts)]),
        "; ".join(
            [*(part.meaning for part in parts), f"{limit} packets can be on their way, more than there ever are"]
        ),
    )


def _delay(way: Direction, compensation: Duration) -> list[Words]:
    if not way.delay:
        return []
    corrected = compensated(way.delay, compensation)
    less = " less what the router adds by itself" if corrected != way.delay else ""
    return [Words(f"delay {tc_time(corrected)}", f"delays packets by {way.delay}{less}")]


def compensated(delay: Duration, compensation: Duration) -> Duration:
    """Never less than half of what was asked: a delay of one direction may be as short as the user likes."""
    return delay - compensation if delay.ns > 2 * compensation.ns else Duration(delay.ns // 2)


def held_packets(way: Direction) -> int:
    """Return how many packets can be under way in the delay: its limit, so that it never drops. Even when all are
    small."""
    rate_bps = way.fastest.bps if way.fastest else ROUTER_MAX_BPS
    longest_ns = way.delay.ns + way.extra_delay.ns + way.later.ns + SHAPER_BURST.ns
    small = rate_bps * longest_ns // (8 * SMALLEST_FRAME * NS_PER_S)
    return small * (PPB + way.copies.ppb) // PPB + UNSHAPED_QUEUE_PACKETS
