"""The bottleneck of a direction whose rate changes, and what the player in the router needs to know. Pure.

    tbf: a gate ──▶ htb: the rate ──▶ the queue

HTB decides when a packet goes at the moment when it could, so a new rate holds for packets that wait already; netem
gives each packet its time when it comes. The gate is open but in outages. Class 2:20 is the player's own: what it sends
there makes the kernel look again whether something may go.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from model.link import HEADER, Direction, Link
from model.link.bottleneck import FIFO
from model.link.impairments.impairment import Words
from model.units import Duration, Rate

GATE_OPEN = "8gbit"
GATE_BURST = 1_000_000
BURST = Duration.parse("20ms")  # by how much HTB may wake late and still keep its rate
# Where there are outages: what HTB let pass at once comes out when nothing is to pass any more.
BURST_WITH_OUTAGES = Duration.parse("10ms")


def burst_packets(way: Direction, rate: Rate, frame: int) -> int:
    """Beyond one, how many HTB may let pass at once; they wait in the second netem, and are a part of the queue."""
    depth = way.queue_packets or (way.queue_bytes or 0) // frame
    burst = BURST_WITH_OUTAGES if way.rates and not way.rates.least else BURST
    return int(min(rate.carries(burst).bytes // frame, depth // 8))


def moving_lines(device: str, way: Direction, rate: Rate, mtu: int, usual: Sequence[Words]) -> list[Words]:
    """Whole `tc` lines. `usual`: those of a link that stands still, of which the queue is taken."""
    frame = mtu + HEADER
    extra = burst_packets(way, rate, frame)
    burst = frame * (1 + extra)
    speed = f"rate {rate.bps}bit ceil {rate.bps}bit burst {burst}b cburst {burst}b quantum {frame} prio 1"
    kind, why = _queue(way, frame, extra, usual)
    return [
        Words(
            f"qdisc add dev {device} root handle 1: tbf rate {GATE_OPEN} burst {GATE_BURST}b limit {1 << 30}b",
            "a gate that is open but in outages",
        ),
        Words(f"qdisc add dev {device} parent 1: handle 2: htb default 10", "behind it, what keeps the rate"),
        Words(
            f"class add dev {device} parent 2: classid 2:10 htb {speed}",
            f"the bottleneck: {rate} until the player changes it; what waits gets the new rate at once",
        ),
        Words(
            f"class add dev {device} parent 2: classid 2:20 htb rate {GATE_OPEN} quantum {frame} prio 0",
            "for the player's own packets, which go nowhere",
        ),
        Words(f"qdisc add dev {device} parent 2:10 handle 10: {kind}", why),
    ]


def _queue(way: Direction, frame: int, extra: int, usual: Sequence[Words]) -> tuple[str, str]:
    if way.discipline != FIFO:
        text, why = usual[-1]
        return text.partition("handle 2: ")[2], why
    if way.queue_packets is not None:
        waits = max(1, way.queue_packets - extra)
        return f"pfifo limit {waits}", f"where {way.queue_packets} packets wait, {extra} of them behind it"
    waits = max(frame, (way.queue_bytes or 0) - extra * frame)
    return f"bfifo limit {waits}b", f"where {way.queue_bytes} bytes wait, {extra * frame} of them behind it"


def player_settings(
    link: Link, devices: Mapping[str, tuple[str, str]], delays_ns: Mapping[str, int], paces: Mapping[str, int | None]
) -> dict[str, Any]:
    """What the player is told: of each direction its devices, its steps, and what holds when it does not play.
    `paces`: the rate of the second netem in bits per second; None: none that follows the trace."""
    frame = link.mtu + HEADER
    ways = {}
    for name, (queue, leave) in devices.items():
        way: Direction = getattr(link, name)
        if not way.moves:
            continue
        rates, delays = way.rates, way.delay_trace
        ways[name] = {
            "queue": queue if rates else None,
            "leave": leave,
            "rate_bps": way.rate.bps if way.rate else None,
            "pace_bps": paces[name],
            "delay_ns": delays_ns[name],
            "rates": [list(step) for step in rates.steps] if rates else [],
            "rates_us": rates.length_us if rates else 0,
            "delays": [[at, (us - delays.least) * 1000] for at, us in delays.steps] if delays else [],
            "delays_us": delays.length_us if delays else 0,
            "extra": burst_packets(way, way.rate, frame) if way.rate else 0,
        }
    radio = link.radio
    return {
        "frame": frame,
        "ways": ways,
        "radio": None
        if radio is None
        else {
            "promotion_ns": radio.promotion.ns, "resume_ns": radio.resume.ns,
            "inactive_ns": radio.inactive.ns, "release_ns": radio.release.ns,
        },
    }  # fmt: skip
