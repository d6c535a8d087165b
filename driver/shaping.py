"""Link in, exact `ip` and `tc` lines out. Pure: nothing here runs anything.

One direction through the router (the other is its mirror image):

    in ──ingress──▶ redirect ──▶ [ queue_down: the bottleneck ] ──▶ routing ──▶ [ to_client: the way there ] ──▶ out
                                  netem rate R limit N                           netem delay, jitter, loss …

The queue and the delay are apart, so that a queue of 100 packets is one: netem counts what is under way in its delay
against its limit, and an AQM would see the delay as a standing queue. The queue comes first and the loss after it,
as on a real path. A queue in packets is netem's own, whose clock gives each packet its exact time on the wire.
Queues in bytes, fq_codel and cake are paced by a shaper that lets the packet after an idle spell go at once; there
the rate stands in the second netem as well, which then adds the time on the wire and smooths the shaper's bursts.

Rates are those of Ethernet frames without preamble and checksum: MTU + 14 bytes for a full packet.
"""

from __future__ import annotations

from dataclasses import dataclass

from driver import topology
from driver.link import HEADER, Direction, GilbertElliott, Host, Link, RandomLoss
from driver.topology import CLIENT, QUEUE_DOWN, QUEUE_UP, SERVER
from driver.units import Duration, Ratio

TO_CLIENT, TO_SERVER = CLIENT.router_port.device, SERVER.router_port.device
DEVICES = (QUEUE_DOWN, QUEUE_UP, TO_CLIENT, TO_SERVER)
SMALLEST_FRAME = 60
ROUTER_MAX_BPS = 1_200_000_000  # what can enter a delay when no rate is set
UNSHAPED_QUEUE_PACKETS = 1000
SHAPER_BURST_MS = 2
CAKE_BYTES_PER_PACKET = 2304  # cake's memory limit counts kernel memory: that of a full-size packet
ORDER_KEEPING_BPS = 100_000_000_000  # netem with a rate never lets a packet overtake another


@dataclass(frozen=True, slots=True)
class Shaping:
    """Everything that makes a link: lines for `ip -batch` and `tc -batch`."""

    router_ip: tuple[str, ...]
    router_tc: tuple[str, ...]
    client_ip: tuple[str, ...]
    server_ip: tuple[str, ...]


def shape(link: Link, compensation: Duration) -> Shaping:
    """The lines for a link on an unshaped router. `compensation` is what the router itself adds to each direction's
    delay by waking late; it is taken off the delay that netem is asked for."""
    down = _direction_lines(link.down, link, (QUEUE_DOWN, TO_SERVER, TO_CLIENT), compensation)
    up = _direction_lines(link.up, link, (QUEUE_UP, TO_CLIENT, TO_SERVER), compensation)
    return Shaping(
        router_ip=tuple(f"link set dev {device} mtu {link.mtu} up" for device in DEVICES),
        router_tc=(*down, *up),
        client_ip=_host_lines(CLIENT, link.client, link.mtu),
        server_ip=_host_lines(SERVER, link.server, link.mtu),
    )


def unshape_lines() -> tuple[str, ...]:
    """Removes whatever `shape` may have made. Lines for things that are not there fail, and may."""
    return (
        *(f"qdisc del dev {device} root" for device in DEVICES),
        *(f"qdisc del dev {device} ingress" for device in (TO_CLIENT, TO_SERVER)),
    )


def _host_lines(host: topology.Host, settings: Host, mtu: int) -> tuple[str, ...]:
    """TCP's settings as properties of the routes: they need no sysctl, which containers forbid, and they can name a
    congestion control that the administrator reserves, which a sysctl of an unprivileged namespace cannot."""
    tcp = f"congctl {settings.congestion_control} initcwnd {settings.initial_window}"
    return (f"link set dev {host.port.device} mtu {mtu}", *topology.route_lines(host, tcp))


def _direction_lines(way: Direction, link: Link, devices: tuple[str, str, str], compensation: Duration) -> list[str]:
    queue, enter, leave = devices
    lines = []
    if way.rate:
        lines += [
            *(f"qdisc add dev {queue} {text}" for text in _bottleneck(way, link.mtu)),
            f"qdisc add dev {enter} handle ffff: ingress",
            f"filter add dev {enter} parent ffff: protocol all pref 1 matchall "
            f"action mirred egress redirect dev {queue}",
        ]
    lines.append(f"qdisc add dev {leave} root handle 1: {_way_there(way, compensation)}")
    return lines


def is_exact(way: Direction) -> bool:
    """Whether netem itself is the bottleneck, and no shaper is needed."""
    return way.discipline == "fifo" and way.queue_packets is not None


def _bottleneck(way: Direction, mtu: int) -> list[str]:
    assert way.rate is not None  # noqa: S101 - the caller has asked
    rate, frame = f"{way.rate.bps}bit", mtu + HEADER
    if is_exact(way):
        return [f"root handle 1: netem rate {rate} limit {way.queue_packets}"]
    packets = way.queue_packets or -(-(way.queue_bytes or 0) // frame)
    if way.discipline == "cake":
        memory = max(packets, 4) * CAKE_BYTES_PER_PACKET
        return [f"root handle 1: cake bandwidth {rate} besteffort triple-isolate rtt 100ms memlimit {memory}b"]
    burst = frame + way.rate.bps * SHAPER_BURST_MS // 8000
    if way.discipline == "fq_codel":
        child = f"fq_codel limit {packets} flows 1024 quantum {frame} target 5ms interval 100ms ecn"
        return [
            f"root handle 1: tbf rate {rate} burst {burst}b limit {packets * frame}b",
            f"parent 1: handle 2: {child}",
        ]
    return [
        f"root handle 1: tbf rate {rate} burst {burst}b limit {way.queue_bytes}b",
        f"parent 1: handle 2: bfifo limit {way.queue_bytes}b",
    ]


def _way_there(way: Direction, compensation: Duration) -> str:
    words = []
    if way.delay:
        words.append(f"delay {_microseconds(compensated(way.delay, compensation))}us")
        words += _jitter_words(way)
    words += _loss_words(way)
    if way.duplicate:
        words.append(f"duplicate {_percent(way.duplicate)}")
    if way.reorder:
        words.append(f"reorder {_percent(way.reorder)}")
        if way.reorder_correlation:
            words.append(_percent(way.reorder_correlation))
    smoothed = way.rate is not None and not is_exact(way)
    if not words and not smoothed:
        return f"pfifo limit {UNSHAPED_QUEUE_PACKETS}"
    pace = _pace_words(way, smoothed=smoothed)
    return " ".join(["netem", f"limit {held_packets(way)}", *words, *pace])


def compensated(delay: Duration, compensation: Duration) -> Duration:
    """Never less than half of what was asked: a delay of one direction may be as short as the user likes."""
    return delay - compensation if delay.ns > 2 * compensation.ns else Duration(delay.ns // 2)


def _pace_words(way: Direction, *, smoothed: bool) -> list[str]:
    if way.jitter and way.jitter_reorders:
        return []
    if smoothed and way.rate:
        return [f"rate {way.rate.bps}bit"]
    return [f"rate {ORDER_KEEPING_BPS}bit"] if way.jitter else []


def _jitter_words(way: Direction) -> list[str]:
    if not way.jitter:
        return []
    correlation = [_percent(way.jitter_correlation)] if way.jitter_correlation else []
    # tc knows uniform as the absence of a distribution
    shape = [] if way.jitter_distribution == "uniform" else [f"distribution {way.jitter_distribution}"]
    return [f"{_microseconds(way.jitter)}us", *correlation, *shape]


def _loss_words(way: Direction) -> list[str]:
    if isinstance(way.loss, GilbertElliott):
        # tc's words for the last two are 1-h and 1-k: the chance to be lost in the bad and in the good state
        loss = way.loss
        numbers = (loss.p, loss.r, loss.bad, loss.good)
        return ["loss gemodel " + " ".join(_percent(number) for number in numbers)]
    if isinstance(way.loss, RandomLoss) and way.loss.ratio:
        return [f"loss random {_percent(way.loss.ratio)}"]
    return []


def held_packets(way: Direction) -> int:
    """How many packets can be under way in the delay: its limit, so that it never drops. Even when all are small."""
    rate_bps = way.rate.bps if way.rate else ROUTER_MAX_BPS
    longest_ns = way.delay.ns + 4 * way.jitter.ns
    small = rate_bps * longest_ns // (8 * SMALLEST_FRAME * 1_000_000_000)
    burst = rate_bps * SHAPER_BURST_MS // (8000 * SMALLEST_FRAME)
    return small + burst + UNSHAPED_QUEUE_PACKETS


def _microseconds(duration: Duration) -> int:
    return round(duration.ns / 1000)


def _percent(ratio: Ratio) -> str:
    return f"{ratio.percent:.7f}".rstrip("0").rstrip(".") + "%"
