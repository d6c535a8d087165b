"""The bottleneck of a direction whose rate changes, and what the player in the router needs to know. Pure.

    tbf: a gate ──▶ htb: the rate ──▶ the queue

HTB decides when a packet goes at the moment when it could, so a new rate holds for packets that wait already; netem
gives each packet its time when it comes. The gate is open but in outages. The player has a class of its own: what it
sends there makes the kernel look again whether something may go.

The numbers below go into the lines for `tc` and, by `player_settings`, to the player, so that a link is again what `tc`
made when the player has closed and opened the gate.
"""

from collections.abc import Mapping, Sequence

from lanelab.driver.base.units import Duration, Rate
from lanelab.driver.bed.remote.player import Settings, WaySettings
from lanelab.driver.link import HEADER, Direction, Link
from lanelab.driver.link.bottleneck import FIFO
from lanelab.driver.link.impairments.impairment import Words
from lanelab.driver.link.shaping.bottleneck import pace_ppb

GATE, TRAFFIC, PLAYER = "1:", "2:10", "2:20"  # handles: of the gate, and of HTB's classes
TRAFFIC_PRIORITY = 1
GATE_OPEN = Rate.parse("8gbit")
GATE_BURST_BYTES = 1_000_000
GATE_LIMIT_BYTES = 1 << 30  # more than ever waits: the queue behind the gate has the limit of the link
BURST = Duration.parse("20ms")  # by how much HTB may wake late and still keep its rate
# Where there are outages: what HTB let pass at once comes out when nothing is to pass any more.
BURST_WITH_OUTAGES = Duration.parse("10ms")


def burst_packets(way: Direction, rate: Rate, frame: int) -> int:
    """Beyond one, how many HTB may let pass at once; they wait in the second netem, and are a part of the queue."""
    depth = way.queue_packets or (way.queue_bytes or 0) // frame
    return int(min(rate.carries(_burst(way)).bytes // frame, depth // 8))


def _burst(way: Direction) -> Duration:
    return BURST_WITH_OUTAGES if way.rates and not way.rates.least else BURST


def moving_lines(device: str, way: Direction, rate: Rate, mtu: int, usual: Sequence[Words]) -> list[Words]:
    """Return whole `tc` lines. `usual` are those of a link that stands still, from which the queue is taken."""
    frame = mtu + HEADER
    extra = burst_packets(way, rate, frame)
    burst = frame * (1 + extra)
    speed = f"rate {rate.bps}bit ceil {rate.bps}bit burst {burst}b cburst {burst}b quantum {frame}"
    kind, why = _queue(way, frame, extra, usual)
    return [
        Words(
            f"qdisc add dev {device} root handle {GATE} tbf rate {GATE_OPEN} burst {GATE_BURST_BYTES}b "
            f"limit {GATE_LIMIT_BYTES}b",
            "a gate that is open but in outages",
        ),
        Words(f"qdisc add dev {device} parent {GATE} handle 2: htb default 10", "behind it, what keeps the rate"),
        Words(
            f"class add dev {device} parent 2: classid {TRAFFIC} htb {speed} prio {TRAFFIC_PRIORITY}",
            f"the bottleneck: {rate} until the player changes it; what waits gets the new rate at once",
        ),
        Words(
            f"class add dev {device} parent 2: classid {PLAYER} htb rate {GATE_OPEN} quantum {frame} prio 0",
            "for the player's own packets, which go nowhere",
        ),
        Words(f"qdisc add dev {device} parent {TRAFFIC} handle 10: {kind}", why),
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


def handle_number(text: str) -> int:
    """Return a handle as the kernel has it."""
    major, _, minor = text.partition(":")
    return int(major, 16) << 16 | int(minor or "0", 16)


def player_settings(link: Link, devices: Mapping[str, tuple[str, str]], delays_ns: Mapping[str, int]) -> Settings:
    """Return what the player is told: of each direction its devices, its steps, and what holds when it does not
    play."""
    frame = link.mtu + HEADER
    ways: dict[str, WaySettings] = {}
    for name, (queue, leave) in devices.items():
        way: Direction = getattr(link, name)
        if not way.moves:
            continue
        rates, delays = way.rates, way.delay_trace
        ways[name] = {
            "queue": queue if rates else None,
            "leave": leave,
            "rate_bps": way.rate.bps if way.rate else None,
            # None: the second netem has no rate that follows the trace
            "pace_ppb": pace_ppb(way) if rates else None,
            "delay_ns": delays_ns[name],
            "rates": list(rates.steps) if rates else [],
            "rates_us": rates.length_us if rates else 0,
            "delays": [(at, (us - delays.least) * 1000) for at, us in delays.steps] if delays else [],
            "delays_us": delays.length_us if delays else 0,
            "extra": burst_packets(way, way.rate, frame) if way.rate else 0,
            "burst_ns": _burst(way).ns,
        }
    radio = link.radio
    return {
        "frame": frame,
        "gate": {
            "handle": handle_number(GATE), "open_bytes_per_s": GATE_OPEN.bps // 8, "burst_bytes": GATE_BURST_BYTES,
            "limit_bytes": GATE_LIMIT_BYTES,
        },
        "classes": {
            "traffic": handle_number(TRAFFIC), "player": handle_number(PLAYER), "traffic_priority": TRAFFIC_PRIORITY,
        },
        "ways": ways,
        "radio": None
        if radio is None
        else {
            "promotion_ns": radio.promotion.ns, "resume_ns": radio.resume.ns,
            "inactive_ns": radio.inactive.ns, "release_ns": radio.release.ns,
        },
    }  # fmt: skip
