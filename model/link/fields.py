"""`SETTINGS` is the table of a link's settings."""

from __future__ import annotations

import re
from typing import Literal

from model.errors import InputError
from model.link.values import Loss, Queue
from model.settings.kinds import DURATION, FLAG, NUMBER, PERCENT, Kind, choice, count
from model.settings.setting import Setting, Sides, Table
from model.units import PPB, Rate, Ratio

MIN_RATE = Rate.parse("8kbit")
MAX_RATE = Rate.parse("500mbit")  # the router carries about 1 Gbit/s unshaped
MIN_MTU, MAX_MTU = 576, 1500
MIN_WINDOW, MAX_WINDOW = 1, 1000
HEADER = 14  # of an Ethernet frame: a full-size packet takes MTU + HEADER on the wire
DEFAULT_QUEUE_PACKETS, SMALLEST_DEFAULT_QUEUE_PACKETS = 100, 4

Side = Literal["down", "up", "client", "server"]


def _name(value: object, key: str) -> str:
    if not isinstance(value, str) or not re.fullmatch(r"[a-z0-9_]{1,15}", value):
        raise InputError(f"{value!r} is no name of a congestion control", "Write one like cubic or bbr", key=key)
    return value


def _rate(value: object, key: str) -> Rate | None:
    if value == "unlimited":
        return None
    rate = Rate.parse(value, key=key)
    if not rate:
        raise InputError("a rate of zero lets nothing through", "Write a rate like 10mbit, or unlimited", key=key)
    if rate > MAX_RATE:
        what = f"{rate} is above what the router can carry reliably ({MAX_RATE})"
        raise InputError(what, f"Write {MAX_RATE} or less, or unlimited for no shaping", key=key)
    if rate < MIN_RATE:
        what = f"{rate} is below {MIN_RATE}: one full-size packet would take over 1.5s"
        raise InputError(what, f"Write {MIN_RATE} or more", key=key)
    return rate


def _part(value: object, key: str) -> Ratio:
    ratio = Ratio.parse(value, key=key)
    if ratio.ppb == PPB:
        raise InputError("100% leaves nothing to chance: every packet would fare alike", "Write less", key=key)
    return ratio


_RATES = {"type": "string", "pattern": rf"^\s*(unlimited|{NUMBER}\s*([kKmMgG]?[bB][iI][tT](/[sS])?|[kKMG]?B/s))\s*$"}
_RATE = Kind(
    "RATE", "`bit`, `kbit`, `mbit`, `gbit` (or `Mbit/s`), `MB/s`; `unlimited`", _rate, (), _RATES, numeric=True
)
_LOSS = Kind("LOSS", "`0.1%`, `random(0.1%)`, `ge(p=1%, r=10%)`", lambda value, key: Loss.parse(value, key=key))
_PART = Kind("PERCENT", "`%`, below 100%", _part, (), PERCENT.schema, numeric=True)
_QUEUE = Kind("QUEUE", "`100p`, `64kB`, `50ms`, `1.5bdp`", lambda value, key: Queue.parse(value, key=key))
_NAME = Kind("NAME", "a name that the kernel knows", _name)
DIRECTIONS = Sides({"down": ", towards the client", "up": ", towards the server"}, ", in each direction")
HOSTS = Sides({"client": ", on the client", "server": ", on the server"}, ", on both hosts")
_OF_ARMS = {
    name: ("it is not a setting of a link but of arms", f"Write {name} in each arm, or under 'defaults' for all arms")
    for name in ("dns", "addresses")
}

# fmt: off
SETTINGS = Table((
    Setting("rtt", DURATION, "0ms", "round trip that the link adds, half in each direction", "100ms",
            aliases=("delay", "latency")),
    Setting("delay", DURATION, "", "one-way delay", "40ms", sides=DIRECTIONS, both_sides=False, aliases=("rtt",),
            default_words="half of `rtt`, or what the other leaves of it"),
    Setting("rate", _RATE, "unlimited", "rate of the bottleneck", "1.5mbit", sides=DIRECTIONS,
            aliases=("bandwidth", "speed")),
    Setting("loss", _LOSS, "0%", "packets that are lost", "ge(p=1%, r=10%)", sides=DIRECTIONS),
    Setting("jitter", DURATION, "0ms", "variation of the delay, at most the delay itself", "5ms", sides=DIRECTIONS),
    Setting("jitter_distribution", choice("NAME", "normal", "uniform", "pareto", "paretonormal"), "normal",
            "how the variation is distributed", "pareto", sides=DIRECTIONS, needs="jitter"),
    Setting("jitter_correlation", _PART, "0%", "how much one variation is like the one before", "25%",
            sides=DIRECTIONS, needs="jitter"),
    Setting("jitter_reorders", FLAG, "false", "whether variation may put packets out of order", "true",
            sides=DIRECTIONS, needs="jitter"),
    Setting("reorder", _PART, "0%", "packets that skip the delay and so overtake others", "1%", sides=DIRECTIONS),
    Setting("duplicate", PERCENT, "0%", "packets that arrive twice", "0.1%", sides=DIRECTIONS),
    Setting("queue", _QUEUE, "", "how much may wait before the bottleneck", "1.5bdp", sides=DIRECTIONS, needs="rate",
            default_words="`1bdp` in full-size packets; at least "
            f"{DEFAULT_QUEUE_PACKETS}, or a second's worth if less"),
    Setting("discipline", choice("NAME", "fifo", "fq_codel", "cake"), "fifo", "how the queue is served", "fq_codel",
            sides=DIRECTIONS, needs="rate"),
    Setting("mtu", count("BYTES", "bytes", MIN_MTU, MAX_MTU), "1500", "largest IP packet", "1400"),
    Setting("congestion_control", _NAME, "cubic", "TCP congestion control", "bbr", sides=HOSTS, aliases=("cc",)),
    Setting("initial_window", count("PACKETS", "packets", MIN_WINDOW, MAX_WINDOW), "10",
            "TCP initial congestion window", "3", sides=HOSTS, aliases=("iw",)),
), noun="setting", all_are="Settings are", elsewhere=_OF_ARMS)
# fmt: on
