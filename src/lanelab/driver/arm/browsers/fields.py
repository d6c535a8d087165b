"""The settings of an arm that are about its browser, and how their values are written."""

import re
from dataclasses import dataclass, field

from lanelab.driver.arm.browsers.devices import DEVICES
from lanelab.driver.arm.wire import OwnSettings, WireSettings
from lanelab.driver.base.errors import InputError
from lanelab.driver.base.settings.kinds import FLAG, NUMBER, Kind, choice, lines, one_line
from lanelab.driver.base.settings.setting import ROW, DefaultBy, Setting, Values, rows_of

USUAL_VIEWPORT = (1366, 768)  # our own default
SMALLEST_SIDE, LARGEST_SIDE = 100, 10_000


def _user_agent(value: object, key: str) -> str | None:
    if value is None or value == "default":
        return None
    text = one_line(value, key, "user agent")
    if not text.isascii():
        raise InputError("a user agent has ASCII characters only", "Write it as browsers send it", key=key)
    return text


def _viewport(value: object, key: str) -> tuple[int, int] | None:
    if value is None or value == "site":
        return None
    match = re.fullmatch(r"([0-9]{1,6})x([0-9]{1,6})", str(value).strip())
    if not match:
        raise InputError(f"{str(value)[:60]!r} is no viewport", "Write width and height, like 1366x768", key=key)
    width, height = int(match[1]), int(match[2])
    if not all(SMALLEST_SIDE <= side <= LARGEST_SIDE for side in (width, height)):
        what = f"{width}x{height} cannot be shown"
        raise InputError(what, f"Write sides from {SMALLEST_SIDE} to {LARGEST_SIDE} pixels", key=key)
    return width, height


_USER_AGENT = Kind("TEXT", "one line; `default` is the browser's own", _user_agent, {"type": ["string", "null"]})
_VIEWPORT = Kind(
    "WxH",
    "width x height in pixels; `site`: see there",
    _viewport,
    {"type": ["string", "null"], "pattern": "^([0-9]+x[0-9]+|site)$"},
)


def _factor(lowest: float, highest: float, what: str) -> Kind:
    def parse(value: object, key: str) -> float:
        text = str(value).strip()
        if isinstance(value, bool) or not re.fullmatch(NUMBER, text) or not lowest <= float(text) <= highest:
            raise InputError(f"{text[:30]!r} is no {what}", f"Write a number from {lowest:g} to {highest:g}", key=key)
        return float(text)

    return Kind("FACTOR", f"{lowest:g} to {highest:g}", parse, {"type": ["number", "string"]}, numeric=True)


NO_DEVICE = "none"
_RATIO = _factor(0.5, 5, "pixel ratio")
_SLOWDOWN = _factor(1, 20, "slowdown")


def _by_device(without: str, **values: str) -> DefaultBy:
    """Return a default that the device says."""
    return DefaultBy("device", {NO_DEVICE: without, **values})


def _of_devices(name: str) -> dict[str, str]:
    return {each.name: f"{getattr(each, name):g}" for each in DEVICES}


_VIEWS = {each.name: "x".join(map(str, each.viewport)) for each in DEVICES}
_NAMES = {each.name: each.user_agent or "default" for each in DEVICES}
_TOUCH = {each.name: str(each.touch).lower() for each in DEVICES}
_AS_DEVICE = "that of `device`, else `{}`"
_FLAGS = lines("flag", r".+", "--disable-quic")  # each browser has its own form of them


@dataclass(frozen=True, kw_only=True)
class BrowserSettings(WireSettings):
    """The settings that a browser reads of an arm: those that only it has, and what it is to speak. With the gateway,
    the wire is the gateway's affair."""

    # fmt: off
    start: str = field(metadata={ROW: Setting(
        "start", choice("HOW", "fresh-process", "fresh-context", "warm"), "fresh-process",
        "how cold the browser is: a new process and profile for each trial, a new context in the same process "
        "(faster, nearly as cold), or a repeat view with a full cache", "fresh-context")})
    display: str = field(metadata={ROW: Setting(
        "display", choice("HOW", "headless", "headful"), "headless",
        "without a screen, or with one that nobody sees (Xvfb)", "headful", aliases=("headless",))})
    device: str = field(metadata={ROW: Setting(
        "device", choice("NAME", NO_DEVICE, *(each.name for each in DEVICES)), NO_DEVICE,
        "a [well-known device](devices.md): its user agent, view, pixel ratio, touch and slowdown, where the arm "
        "says no others", "pixel")})
    user_agent: str | None = field(metadata={ROW: Setting(
        "user_agent", _USER_AGENT, _by_device("default", **_NAMES), "what the browser says it is; by default what "
        "the site was recorded with, if anything", "Mozilla/5.0 (Windows Phone)",
        default_words=_AS_DEVICE.format("default"))})
    viewport: tuple[int, int] | None = field(metadata={ROW: Setting(
        "viewport", _VIEWPORT, _by_device("site", **_VIEWS), "size of the page's view; `site`: as the site was "
        "recorded, else {}x{}".format(*USUAL_VIEWPORT), "412x823", default_words=_AS_DEVICE.format("site"))})
    pixel_ratio: float = field(metadata={ROW: Setting(
        "pixel_ratio", _RATIO, _by_device("1", **_of_devices("pixel_ratio")), "pixels of the screen for one of the "
        "page, each way", "2", default_words=_AS_DEVICE.format("1"))})
    touch: bool = field(metadata={ROW: Setting(
        "touch", FLAG, _by_device("false", **_TOUCH), "whether the screen is one to touch: pages are laid out as "
        "on a phone, and told so", "true", default_words=_AS_DEVICE.format("false"))})
    cpu_slowdown: float = field(metadata={ROW: Setting(
        "cpu_slowdown", _SLOWDOWN, _by_device("1", **_of_devices("cpu_slowdown")), "how many times slower the "
        "page's own thread is than the machine at hand; [measured](devices.md#how-slow-it-really-was) in each "
        "trial", "4", default_words=_AS_DEVICE.format("1"), aliases=("cpu", "cpu_throttling", "slowdown"))})
    scripts: str = field(metadata={ROW: Setting(
        "scripts", choice("HOW", "repeatable", "as-is"), "repeatable",
        "whether clock and random numbers are the same in each load of a recorded site", "as-is")})
    browser_flags: tuple[str, ...] = field(metadata={ROW: Setting(
        "browser_flags", _FLAGS, "", "further flags for the browser; for "
        "[Firefox](firefox.md#settings) preferences, as `name=value`", "--blink-settings=imagesEnabled=false",
        default_words="none", aliases=("flags",))})
    # fmt: on


def without_arm(**changes: object) -> BrowserSettings:
    """Return what a browser reads that no arm starts: the defaults, with `changes`. It speaks to servers by itself."""
    usual = {setting.name: setting.default_value() for setting in rows_of(BrowserSettings)}
    values: Values = {**usual, "via": "browser", "server": "", "of_server": OwnSettings(), **changes}
    return BrowserSettings(**values)
