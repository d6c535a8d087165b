"""The states of a cellular radio, which depend on traffic. Pure.

    connected --(no packet for `inactive`)--> low --(no packet for `release` more)--> idle

In `connected` a packet takes the link's delay. In `low` and `idle` the radio has given up resources: the first packet,
in whichever direction, has to wait for `resume` or `promotion`, and so do those behind it. Then the radio is connected.
Figures and where they are from: docs/moving-links.md.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields

from lanelab.driver.base.errors import InputError
from lanelab.driver.base.settings.kinds import Kind, near_miss
from lanelab.driver.base.units import Duration

NONE = "none"
SHORTEST_TIMER, LONGEST_TIMER = Duration.parse("50ms"), Duration.parse("600s")
LONGEST_WAIT = Duration.parse("5s")
_LIKE = "Write radio(promotion=2s, resume=1.5s, inactive=5s, release=12s), or a name: 3g, lte"


@dataclass(frozen=True, slots=True)
class Radio:
    promotion: Duration  # from idle to connected
    resume: Duration  # from low to connected
    inactive: Duration  # from connected to low
    release: Duration  # from low to idle

    def __str__(self) -> str:
        return "radio(" + ", ".join(f"{each.name}={getattr(self, each.name)}" for each in fields(self)) + ")"

    @property
    def longest(self) -> Duration:
        """Return what it may add to a packet's delay."""
        return max(self.promotion, self.resume)

    def note(self) -> str:
        return (
            f"the first packet waits {self.resume} after {self.inactive} without one, and {self.promotion} after "
            f"{Duration(self.inactive.ns + self.release.ns)}"
        )


def _radio(promotion: str, resume: str, inactive: str, release: str) -> Radio:
    return Radio(*(Duration.parse(text) for text in (promotion, resume, inactive, release)))


RADIOS: Mapping[str, Radio] = {
    # Qian et al., Characterizing Radio Resource Allocation for 3G Networks (IMC 2010), carrier 1: timers 5 s and 12 s,
    # promotions 2 s and 1.5 s.
    "3g": _radio("2s", "1.5s", "5s", "12s"),
    # Huang et al., A Close Examination of Performance and Power Characteristics of 4G LTE Networks (MobiSys 2012):
    # promotion 260 ms, DRX after 100 ms with a cycle of 40 ms (of which half on average), tail 11.6 s.
    "lte": _radio("260ms", "20ms", "100ms", "11500ms"),
}


def _parse(value: object, key: str) -> Radio | None:
    if value is None or isinstance(value, Radio):
        return value
    text = str(value).strip()
    if text == NONE:
        return None
    if text in RADIOS:
        return RADIOS[text]
    match = re.fullmatch(r"radio\((.*)\)", text)
    if not match:
        raise InputError(f"{text[:60]!r} is no radio", near_miss(text, RADIOS) + _LIKE, key=key)
    given: dict[str, Duration] = {}
    names = [each.name for each in fields(Radio)]
    for part in match[1].split(","):
        name, _, number = (word.strip() for word in part.partition("="))
        if name not in names or name in given:
            raise InputError(f"{part.strip()[:60]!r} is no part of a radio, or is there twice", _LIKE, key=key)
        given[name] = Duration.parse(number, key=key)
    if missing := [name for name in names if name not in given]:
        raise InputError(f"the radio lacks {', '.join(missing)}", _LIKE, key=key)
    return _checked(Radio(**given), key)


def _checked(radio: Radio, key: str) -> Radio:
    for name in ("inactive", "release"):
        timer: Duration = getattr(radio, name)
        if not SHORTEST_TIMER <= timer <= LONGEST_TIMER:
            what = f"{name} {timer} is not between {SHORTEST_TIMER} and {LONGEST_TIMER}"
            raise InputError(what, _LIKE, key=key)
    if radio.longest > LONGEST_WAIT:
        raise InputError(f"a wait of {radio.longest} is more than {LONGEST_WAIT}", _LIKE, key=key)
    return radio


RADIO = Kind("RADIO", "`3g`, `lte`, `radio(promotion=2s, resume=1.5s, inactive=5s, release=12s)`, `none`", _parse)
