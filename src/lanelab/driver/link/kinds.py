"""Kinds of values, limits and sides that settings of links share."""

import re

from lanelab.driver.base.amounts import form_for
from lanelab.driver.base.errors import InputError
from lanelab.driver.base.settings.kinds import NUMBER, PERCENT, Kind
from lanelab.driver.base.settings.setting import Sides
from lanelab.driver.base.units import PPB, Duration, Rate, Ratio

MIN_RATE = Rate.parse("8kbit")
MAX_RATE = Rate.parse("500mbit")  # the router carries about 1 Gbit/s unshaped
MIN_RTT = Duration.parse("1ms")  # the router itself takes about 0.3 ms: below this the link would not be what was asked
MAX_DELAY = Duration.parse("10s")  # one way
MIN_MTU, MAX_MTU = 576, 1500
MIN_WINDOW, MAX_WINDOW = 1, 1000
HEADER = 14  # of an Ethernet frame: a full-size packet takes MTU + HEADER on the wire


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


def packets_in_words(count: int | None) -> str:
    return f"{count} {form_for(count, 'packet')}"


_RATES = {"type": "string", "pattern": rf"^\s*(unlimited|{NUMBER}\s*([kKmMgG]?[bB][iI][tT](/[sS])?|[kKMG]?B/s))\s*$"}
RATE = Kind("RATE", "`bit`, `kbit`, `mbit`, `gbit` (or `Mbit/s`), `MB/s`; `unlimited`", _rate, _RATES, numeric=True)
PART = Kind("PERCENT", "`%`, below 100%", _part, PERCENT.schema, numeric=True)
NAME = Kind("NAME", "a name that the kernel knows", _name)
DIRECTIONS = Sides({"down": ", towards the client", "up": ", towards the server"}, ", in each direction")
HOSTS = Sides({"client": ", on the client", "server": ", on the server"}, ", on both hosts")
