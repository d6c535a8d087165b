"""The settings of an arm that are about its browser, and how their values are written."""

from __future__ import annotations

import re

from driver.browser.browser import USUAL_VIEWPORT
from driver.browser.registry import BROWSERS, DEFAULT
from model.errors import InputError
from model.settings.kinds import Kind, choice, lines, one_line
from model.settings.setting import Setting

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
_FLAGS = lines("flag", r".+", "--disable-quic")  # each browser has its own form of them

# fmt: off
SETTINGS = (
    Setting("browser", choice("NAME", *BROWSERS), DEFAULT, "the browser that loads the pages", "chromium"),
    Setting("start", choice("HOW", "fresh-process", "fresh-context", "warm"), "fresh-process",
            "how cold the browser is: a new process and profile for each trial, a new context in the same process "
            "(faster, nearly as cold), or a repeat view with a full cache", "fresh-context"),
    Setting("display", choice("HOW", "headless", "headful"), "headless",
            "without a screen, or with one that nobody sees (Xvfb)", "headful", aliases=("headless",)),
    Setting("user_agent", _USER_AGENT, "default", "what the browser says it is; by default what the site was recorded "
            "with, if anything", "Mozilla/5.0 (Windows Phone)"),
    Setting("viewport", _VIEWPORT, "site", "size of the page's view; `site`: as the site was recorded, else "
            "{}x{}".format(*USUAL_VIEWPORT),
            "412x823"),
    Setting("scripts", choice("HOW", "repeatable", "as-is"), "repeatable",
            "whether clock and random numbers are the same in each load of a recorded site", "as-is"),
    Setting("browser_flags", _FLAGS, "", "further flags for the browser", "--blink-settings=imagesEnabled=false",
            default_words="none", aliases=("flags",)),
)
# fmt: on
