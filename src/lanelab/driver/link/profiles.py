"""Named links: settings that were published, with where.

A profile is nothing but settings that a user could write; `resolve` lays the user's own over them.
"""

import difflib
from collections.abc import Mapping
from dataclasses import dataclass

from lanelab.driver.base.errors import InputError
from lanelab.driver.base.units import Duration, Rate
from lanelab.driver.link import SETTINGS, Link
from lanelab.driver.link.kinds import DIRECTIONS


@dataclass(frozen=True, slots=True)
class Profile:
    """A named link."""

    name: str
    settings: Mapping[str, str]
    source: str

    @property
    def link(self) -> Link:
        return Link.parse(self.settings)

    def __str__(self) -> str:
        """Return the name, always with its values: names alone mean different things to different tools."""
        return f"{self.name} ({', '.join(f'{key} {value}' for key, value in self.settings.items())})"


def _access(name: str, down: str, up: str, rtt: str, source: str, **more: str) -> Profile:
    rates = {"rate": down} if Rate.parse(down) == Rate.parse(up) else {"rate_down": down, "rate_up": up}
    return Profile(name, {"rtt": rtt, **rates, **more}, source)


_WPT = "WebPageTest, connectivity.ini.sample"
_QUICSAT = "Endres et al., QUIC over geostationary satellite links (arXiv 2202.08228)"
PROFILES: Mapping[str, Profile] = {
    profile.name: profile
    for profile in (
        _access("dial", "49kbit", "30kbit", "120ms", f"{_WPT}: Dial"),
        _access("edge", "240kbit", "200kbit", "840ms", f"{_WPT}: Edge"),
        _access("3g-slow", "400kbit", "400kbit", "400ms", f"{_WPT}: 3GSlow"),
        _access("3g", "1.6mbit", "768kbit", "300ms", f"{_WPT}: 3G"),
        _access("3g-fast", "1.6mbit", "768kbit", "150ms", f"{_WPT}: 3GFast, which Lighthouse calls slow 4G"),
        _access("4g", "9mbit", "9mbit", "170ms", f"{_WPT}: 4G"),
        _access("lte", "12mbit", "12mbit", "70ms", f"{_WPT}: LTE"),
        _access("dsl", "1.5mbit", "384kbit", "50ms", f"{_WPT}: DSL"),
        _access("cable", "5mbit", "1mbit", "28ms", f"{_WPT}: Cable"),
        _access("fiber", "20mbit", "5mbit", "4ms", f"{_WPT}: FIOS"),
        _access("wifi", "30mbit", "15mbit", "2ms", "Firefox network monitor, throttling: Wi-Fi"),
        _access("satellite", "20mbit", "2mbit", "600ms", f"{_QUICSAT}: SAT"),
        _access("satellite-lossy", "20mbit", "2mbit", "600ms", f"{_QUICSAT}: SATL", loss="1%"),
        _access(
            "leo",
            "100mbit",
            "15mbit",
            "50ms",
            "Starlink, rounded: median rates of Ookla (Q1 2025), median RTT of APNIC (28 Nov 2022)",
        ),
        _access("spdy-2012-mobile", "1mbit", "1mbit", "150ms", "SPDY against HTTP (2012), mobile sites, figure 7"),
        _access(
            "spdy-2012-desktop", "10mbit", "10mbit", "150ms", "SPDY against HTTP (2012), non-mobile sites, figure 8"
        ),
        Profile(
            "load-test-2013",
            {"delay_down": "40ms", "delay_up": "45ms"},
            "Load test of a SPDY-enabled Apache (2013); it names no rate",
        ),
        Profile("direct", {"path": "direct"}, "of lanelab: for loads that the router's rate would limit"),
    )
}


def resolve(name: str | None, overrides: Mapping[str, object]) -> Link:
    """Return the link of a profile with some settings changed; without a name, of the settings alone.

    A setting for both sides replaces the profile's for either; one for a single side leaves the other side as the
    profile has it.
    """
    if name is None:
        return Link.parse(overrides)
    profile = PROFILES.get(name)
    if profile is None:
        near = difflib.get_close_matches(name.lower(), PROFILES, n=1)
        remedy = f"Did you mean {near[0]}? " if near else ""
        raise InputError(f"there is no profile {name!r}", f"{remedy}Profiles are {', '.join(PROFILES)}", key="profile")
    base: dict[str, object] = dict(profile.settings)
    if not profile.link.direct and not overrides.keys().isdisjoint({"rtt", "delay_down", "delay_up"}):
        _replace_delays(base, profile.link, overrides)
    overrides = dict(overrides)
    for key in overrides:
        _replace_implied(base, key)
        if key in SETTINGS and not SETTINGS[key].side:
            for replaced in SETTINGS[key].setting.keys:
                base.pop(replaced.name, None)
    return Link.parse(base | dict(overrides))


def _replace_implied(base: dict[str, object], key: str) -> None:
    """A trace takes the place of the profile's rate, or of its delay."""
    name = SETTINGS[key].setting.name if key in SETTINGS else ""
    if not name.endswith("_trace"):
        return
    kind, sides = name.removesuffix("_trace"), [SETTINGS[key].side] if SETTINGS[key].side else DIRECTIONS.words
    if kind == "delay" and "rtt" in base:
        half = Duration(Duration.parse(str(base.pop("rtt"))).ns // 2)
        base |= {"delay_down": half, "delay_up": half}
    if kind in base:
        base |= {f"{kind}_{side}": base[kind] for side in DIRECTIONS.words if f"{kind}_{side}" not in base}
        del base[kind]
    for side in sides:
        base.pop(f"{kind}_{side}", None)


def _replace_delays(base: dict[str, object], link: Link, overrides: Mapping[str, object]) -> None:
    """Drop the profile's rtt: with one delay of the user's it would decide the other one, for which nobody asked."""
    for key in ("rtt", "delay_down", "delay_up"):
        base.pop(key, None)
    if "rtt" not in overrides:
        base |= {"delay_down": link.down.delay, "delay_up": link.up.delay}
