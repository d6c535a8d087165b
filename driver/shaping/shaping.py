"""Link in, exact `ip` and `tc` lines out. Pure: nothing here runs anything.

One direction through the router (the other is its mirror image):

    in ──ingress──▶ redirect ──▶ [ queue_down: the bottleneck ] ──▶ routing ──▶ [ to_client: the way there ] ──▶ out
                                  netem rate R limit N                           netem delay, jitter, loss …

The queue and the delay are apart, so that a queue of 100 packets is one: netem counts what is under way in its delay
against its limit, and an AQM would see the delay as a standing queue. The queue comes first and the loss after it,
as on a real path. A queue in packets is netem's own, whose clock gives each packet its exact time on the wire.
Queues in bytes, fq_codel and cake are paced by a shaper that lets the packet after an idle spell go at once; there
the rate stands in the second netem as well, which then adds the time on the wire and smooths the shaper's bursts.

Rates are those of Ethernet frames without preamble and checksum: MTU + 14 bytes for a full packet. The packet that is
being sent counts as waiting. Lines are for tc of iproute2 5.15 and later, which reads times in whole microseconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from driver.shaping import addresses as topology
from driver.shaping.addresses import CLIENT, QUEUE_DOWN, QUEUE_UP, SERVER
from model.link import HEADER, Direction, GilbertElliott, Host, Link, RandomLoss
from model.units import NS_PER_S, PPB, Duration, Rate, Size

TO_CLIENT, TO_SERVER = CLIENT.router_port.device, SERVER.router_port.device
DEVICES = (QUEUE_DOWN, QUEUE_UP, TO_CLIENT, TO_SERVER)
SMALLEST_FRAME = 60
ROUTER_MAX_BPS = 1_200_000_000  # what can enter a delay when no rate is set
UNSHAPED_QUEUE_PACKETS = 1000
SHAPER_BURST = Duration.parse("2ms")  # by how much a shaper may wake late and still keep its rate
CAKE_BYTES_PER_PACKET = 2304  # cake's memory limit counts kernel memory: that of a packet of any size up to an MTU
FARTHEST_JITTER = 4  # netem's tables end at four times the jitter
ORDER_KEEPING_BPS = 100_000_000_000  # netem with a rate never lets a packet overtake another


@dataclass(frozen=True, slots=True)
class Shaping:
    """Everything that makes a link: lines for `ip -batch` and `tc -batch`."""

    router_ip: tuple[str, ...]
    router_tc: tuple[str, ...]
    client_ip: tuple[str, ...]
    server_ip: tuple[str, ...]


class Line(NamedTuple):
    """A line for one of the two programs, and what it does in plain words."""

    text: str
    meaning: str


class _Side(NamedTuple):
    """The devices that one direction passes, and its name in plain words."""

    queue: str
    enter: str
    leave: str
    towards: str


_DOWN = _Side(QUEUE_DOWN, TO_SERVER, TO_CLIENT, "the client")
_UP = _Side(QUEUE_UP, TO_CLIENT, TO_SERVER, "the server")


def shape(link: Link, compensation: Duration) -> Shaping:
    """The lines for a link on an unshaped router. `compensation` is what the router itself adds to each direction's
    delay by waking late; it is taken off the delay that netem is asked for."""
    return Shaping(
        router_ip=_texts(_device_lines(link)),
        router_tc=_texts(_tc_lines(link, compensation)),
        client_ip=_texts(_host_lines(CLIENT, link.client, link.mtu)),
        server_ip=_texts(_host_lines(SERVER, link.server, link.mtu)),
    )


def explain(link: Link, compensation: Duration) -> list[Line]:
    """Each line of `shape` as one would type it, with one sentence for it, in the order in which they are applied."""
    parts = (
        ("In the router", "ip", _device_lines(link)),
        ("In the router", "tc", _tc_lines(link, compensation)),
        ("On the client", "ip", _host_lines(CLIENT, link.client, link.mtu)),
        ("On the server", "ip", _host_lines(SERVER, link.server, link.mtu)),
    )
    return [
        Line(f"{program} {line.text}", f"{where}: {line.meaning}.") for where, program, lines in parts for line in lines
    ]


def unshape_lines() -> tuple[str, ...]:
    """Removes whatever `shape` may have made. Lines for things that are not there fail, and may."""
    return (
        *(f"qdisc del dev {device} root" for device in DEVICES),
        *(f"qdisc del dev {device} ingress" for device in (TO_CLIENT, TO_SERVER)),
    )


def is_exact(way: Direction) -> bool:
    """Whether netem itself is the bottleneck, and no shaper is needed."""
    return way.discipline == "fifo" and way.queue_packets is not None


def compensated(delay: Duration, compensation: Duration) -> Duration:
    """Never less than half of what was asked: a delay of one direction may be as short as the user likes."""
    return delay - compensation if delay.ns > 2 * compensation.ns else Duration(delay.ns // 2)


def held_packets(way: Direction) -> int:
    """How many packets can be under way in the delay: its limit, so that it never drops. Even when all are small."""
    rate_bps = way.rate.bps if way.rate else ROUTER_MAX_BPS
    longest_ns = way.delay.ns + FARTHEST_JITTER * way.jitter.ns + SHAPER_BURST.ns
    small = rate_bps * longest_ns // (8 * SMALLEST_FRAME * NS_PER_S)
    return small * (PPB + way.duplicate.ppb) // PPB + UNSHAPED_QUEUE_PACKETS


def _texts(lines: list[Line]) -> tuple[str, ...]:
    return tuple(line.text for line in lines)


def _device_lines(link: Link) -> list[Line]:
    words = {
        QUEUE_DOWN: "the device where packets for the client wait",
        QUEUE_UP: "the device where packets for the server wait",
        TO_CLIENT: "the interface to the client",
        TO_SERVER: "the interface to the server",
    }
    return [
        Line(f"link set dev {device} mtu {link.mtu} up", f"{words[device]} takes IP packets of up to {link.mtu} bytes")
        for device in DEVICES
    ]


def _host_lines(host: topology.Host, settings: Host, mtu: int) -> list[Line]:
    """TCP's settings as properties of the routes: they need no sysctl, which containers forbid, and they can name a
    congestion control that the administrator reserves, which a sysctl of an unprivileged namespace cannot."""
    tcp = f"congctl {settings.congestion_control} initcwnd {settings.initial_window}"
    meaning = (
        f"TCP on this route uses {settings.congestion_control} and begins with {settings.initial_window} "
        f"packet{'s' if settings.initial_window > 1 else ''}"
    )
    return [
        Line(f"link set dev {host.port.device} mtu {mtu}", f"IP packets have up to {mtu} bytes"),
        *(Line(text, meaning) for text in topology.route_lines(host, tcp)),
    ]


def _tc_lines(link: Link, compensation: Duration) -> list[Line]:
    return [
        *_direction_lines(link.down, link.mtu, _DOWN, compensation),
        *_direction_lines(link.up, link.mtu, _UP, compensation),
    ]


def _direction_lines(way: Direction, mtu: int, side: _Side, compensation: Duration) -> list[Line]:
    lines = []
    if way.rate:
        lines = [
            *(Line(f"qdisc add dev {side.queue} {text}", why) for text, why in _bottleneck(way, way.rate, mtu)),
            Line(
                f"qdisc add dev {side.enter} handle ffff: ingress",
                "makes a place for the next line, where packets come in",
            ),
            Line(
                f"filter add dev {side.enter} parent ffff: protocol all pref 1 matchall "
                f"action mirred egress redirect dev {side.queue}",
                f"sends every packet for {side.towards} through {side.queue} first",
            ),
        ]
    text, meaning = _way_there(way, compensation)
    return [*lines, Line(f"qdisc add dev {side.leave} root handle 1: {text}", f"towards {side.towards}, {meaning}")]


def _bottleneck(way: Direction, rate: Rate, mtu: int) -> list[Line]:
    speed, frame = f"{rate.bps}bit", mtu + HEADER
    if is_exact(way):
        text = f"root handle 1: netem rate {speed} limit {way.queue_packets}"
        return [Line(text, f"the bottleneck: {rate}, where {_packets(way.queue_packets)} wait and more are dropped")]
    packets = way.queue_packets or -(-(way.queue_bytes or 0) // frame)
    if way.discipline == "cake":
        memory = packets * CAKE_BYTES_PER_PACKET
        text = f"root handle 1: cake bandwidth {speed} besteffort triple-isolate rtt 100ms memlimit {memory}b"
        why = (
            f"the bottleneck: {rate}; cake serves hosts and flows in turn and drops or marks early where a queue "
            f"stands; {_packets(packets)} can wait, which is {memory} bytes of kernel memory"
        )
        return [Line(text, why)]
    if way.discipline == "fq_codel":
        burst = frame + rate.carries(SHAPER_BURST).bytes
        return [
            Line(
                f"root handle 1: tbf rate {speed} burst {burst}b limit {packets * frame}b",
                f"the bottleneck: {rate}; the limit gives way to the queue of the next line",
            ),
            Line(
                f"parent 1: handle 2: fq_codel limit {packets} flows 1024 quantum {frame} "
                "target 5ms interval 100ms ecn",
                f"its queue: fq_codel serves flows in turn and drops or marks early where a queue stands for longer "
                f"than 5ms; {_packets(packets)} can wait",
            ),
        ]
    burst, limit = _bucket(way, rate, frame)
    return [
        Line(
            f"root handle 1: tbf rate {speed} burst {burst}b limit {limit}b",
            f"the bottleneck: {rate}, where {Size(way.queue_bytes or 0)} wait and more are dropped"
            + (f"; {Size(burst)} of them pass here and wait for the way there" if _pace(way) else ""),
        )
    ]


def _bucket(way: Direction, rate: Rate, frame: int) -> tuple[int, int]:
    """How much the shaper may send at once, and how much waits in it. What it sends at once waits in the second netem
    while that sends at the rate, so it is a part of the queue."""
    queue = way.queue_bytes or 0
    burst = frame + min(rate.carries(SHAPER_BURST).bytes, max(0, queue - 2 * frame) // 2)
    return burst, max(queue - burst, frame) if _pace(way) else queue


def _way_there(way: Direction, compensation: Duration) -> Line:
    parts = [*_delay(way, compensation), *_loss(way)]
    if way.duplicate:
        parts.append(Line(f"duplicate {way.duplicate}", f"sends {way.duplicate} of packets twice"))
    if way.reorder:
        parts.append(Line(f"reorder {way.reorder}", f"lets {way.reorder} of packets skip the delay"))
    pace = _pace(way)
    if pace:
        parts.append(Line(f"rate {pace}bit", "spaces packets as the rate does, and adds each one's time on the wire"))
    elif way.jitter and not way.jitter_reorders:
        parts.append(Line(f"rate {ORDER_KEEPING_BPS}bit", "keeps their order (a rate this high does nothing else)"))
    if not parts:
        return Line(f"pfifo limit {UNSHAPED_QUEUE_PACKETS}", "adds nothing")
    limit = held_packets(way)
    return Line(
        " ".join(["netem", f"limit {limit}", *(part.text for part in parts)]),
        "; ".join(
            [*(part.meaning for part in parts), f"{limit} packets can be on their way, more than there ever are"]
        ),
    )


def wire_bps(way: Direction) -> int | None:
    """The rate at which a direction puts a packet on the wire that finds it idle; None where that takes no time: there
    is no rate, or a shaper lets such a packet go at once and the second netem has none. Behind a shaper, copies take
    their time in the second netem too, so its rate must be higher than the bottleneck's, or they would queue. With
    jitter it has none: what one late packet holds up would never drain."""
    if way.rate is None:
        return None
    if is_exact(way):
        return way.rate.bps
    if way.jitter:
        return None
    return -(-way.rate.bps * (PPB + 2 * way.duplicate.ppb) // PPB)


def _pace(way: Direction) -> int | None:
    """The rate of the second netem behind a shaper."""
    return None if is_exact(way) else wire_bps(way)


def _delay(way: Direction, compensation: Duration) -> list[Line]:
    if not way.delay:
        return []
    asked = compensated(way.delay, compensation)
    less = " less what the router adds by itself" if asked != way.delay else ""
    parts = [Line(f"delay {_microseconds(asked)}us", f"delays packets by {way.delay}{less}")]
    if way.jitter:
        text = f"{_microseconds(way.jitter)}us"
        if way.jitter_correlation:
            text += f" {way.jitter_correlation}"
        if way.jitter_distribution != "uniform":  # tc knows uniform as the absence of a distribution
            text += f" distribution {way.jitter_distribution}"
        meaning = f"varies that by {way.jitter} ({way.jitter_distribution})"
        if way.jitter_correlation:
            meaning += f", each variation {way.jitter_correlation} like the one before (netem achieves next to nothing)"
        parts.append(Line(text, meaning))
    return parts


def _loss(way: Direction) -> list[Line]:
    loss = way.loss
    if isinstance(loss, GilbertElliott):
        # tc's words for the last two are 1-h and 1-k: the chance to be lost in the bad and in the good state
        text = f"loss gemodel {loss.p} {loss.r} {loss.bad} {loss.good}"
        return [Line(text, f"loses {loss.mean_loss:.3%} of packets, in bursts of {loss.mean_burst:.4g} on average")]
    if isinstance(loss, RandomLoss) and loss.ratio:
        return [Line(f"loss random {loss.ratio}", f"loses {loss.ratio} of packets")]
    return []


def _packets(count: int | None) -> str:
    return "1 packet" if count == 1 else f"{count} packets"


def _microseconds(duration: Duration) -> int:
    """tc takes no part of one, and what is there must not become nothing."""
    return max(1, round(duration.ns / 1000))
