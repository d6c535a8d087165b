"""The settings of an arm that are about what is loaded: what becomes of the page, what it tells a browser ahead, and
how its names are found."""

import re
from dataclasses import dataclass, field

from lanelab.driver.arm.streams import PUSH
from lanelab.driver.base.coded import JsonObject
from lanelab.driver.base.errors import InputError
from lanelab.driver.base.settings.kinds import Kind, choice, count
from lanelab.driver.base.settings.setting import ROW, Setting
from lanelab.driver.site.hints import KINDS, LEVELS
from lanelab.driver.site.push_plan import OFF

TELLING = ("chromium",)  # browsers whose log says that a 103 came
_WORDS = [f"{kind}={level}" for kind in KINDS for level in LEVELS]
_TEXTS: JsonObject = {
    "anyOf": [{"type": "string"}, {"type": "boolean"}, {"type": "array", "items": {"type": "string"}}]
}


def _priorities(value: object, key: str) -> str:
    """Return one text for one wish."""
    texts = value if isinstance(value, list | tuple) else [value]
    words = [word for text in texts for word in str(text).replace(",", " ").split()]
    if words in (["off"], ["False"], ["false"], ["no"]):
        return OFF
    wrong = [word for word in words if word not in _WORDS]
    if wrong or not words:
        what = f"{wrong[0]!r} is none of them" if wrong else "it names nothing"
        remedy = f"Write off, or KIND=LEVEL: {', '.join(KINDS)}; {' or '.join(LEVELS)}"
        raise InputError(what, remedy, key=key)
    kinds = [word.partition("=")[0] for word in dict.fromkeys(words)]
    twice = [kind for kind in kinds if kinds.count(kind) > 1]
    if twice:
        raise InputError(f"{twice[0]} is there twice", "Write each kind once", key=key)
    return ",".join(sorted(set(words)))


_LISTED = ", ".join(f"`{kind}`" for kind in KINDS)
FETCHPRIORITY = Kind("WHAT", f"`off`, or a list of {_LISTED}, each with `=high` or `=low`", _priorities, _TEXTS)


def _minify(value: object, key: str) -> str:
    """Return one text for one wish: sets and filters in one order."""
    if value == OFF:
        return OFF
    from lanelab.driver.site.minify.minify_options import SETS, parse_minify  # noqa: PLC0415 - most arms need none of its libraries

    if parse_minify(value, key) is None:
        return OFF
    texts = value if isinstance(value, list | tuple) else [value]
    names = [name for text in texts for name in str(text).replace(",", " ").split()]
    return ",".join(sorted(set(names), key=lambda name: (name not in SETS, name)))


_LISTS: JsonObject = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}
_SPANS_S = {"s": 1, "min": 60, "h": 3600, "d": 86_400}
MOST_AWAY_S = 10 * 365 * 86_400
NO_REVISIT = "0s"


def seconds_of(text: str) -> int:
    """Return the seconds of a span that _span has read."""
    unit = text.lstrip("0123456789")
    return int(text.removesuffix(unit)) * _SPANS_S[unit]


def _span(value: object, key: str) -> str:
    """Return a span of time as it is shortest: days where it is days."""
    text = str(value).strip().lower()
    written = re.fullmatch(r"([0-9]{1,10})\s*(s|min|h|d)", "0s" if text == "0" else text)
    span_s = int(written[1]) * _SPANS_S[written[2]] if written else MOST_AWAY_S + 1
    if span_s > MOST_AWAY_S:
        raise InputError(f"{text[:30]!r} is no time that one is away", "Write it like 30min, 12h or 7d", key=key)
    unit = next((unit for unit, length_s in reversed(_SPANS_S.items()) if span_s and span_s % length_s == 0), "s")
    return f"{span_s // _SPANS_S[unit]}{unit}"


REVISIT_AFTER = Kind(
    "TIME",
    "`s`, `min`, `h`, `d`",
    _span,
    {"anyOf": [{"type": "string", "pattern": r"^\s*[0-9]{1,10}\s*(s|min|h|d)\s*$"}, {"const": 0}]},
)
MINIFY = Kind("SET", "`off`, a set, or a list of filters", _minify, _LISTS)


@dataclass(frozen=True, kw_only=True)
class ContentSettings:
    # fmt: off
    minify: str = field(metadata={ROW: Setting(
        "minify", MINIFY, "off",
        "what [mod_pagespeed](minify.md) would have done to the site: a set (`core-2012`, `page-2012`, `core`) or "
        "a list of its filters", "core-2012", aliases=("pagespeed", "filters"))})
    dns: str = field(metadata={ROW: Setting(
        "dns", choice("HOW", "instant", "resolver"), "instant",
        "how the browser, or the gateway, learns addresses: at once, or from a resolver beyond the link",
        "resolver", aliases=("resolver",))})
    addresses: str = field(metadata={ROW: Setting(
        "addresses", choice("HOW", "shared", "per-origin"), "shared",
        "one address for every host name of the site, or one for each", "per-origin", aliases=("address",))})
    preload: str = field(metadata={ROW: Setting(
        "preload", PUSH, OFF,
        "what the page names in [links that preload](hints.md), first in its head, in the words of `push`",
        "/style/*", aliases=("preloads",))})
    fetchpriority: str = field(metadata={ROW: Setting(
        "fetchpriority", FETCHPRIORITY, OFF,
        "how urgent elements of the page say that they are ([fetchpriority](hints.md)): its first image, images, "
        "scripts and style sheets",
        "first-image=high", aliases=("fetch_priority", "priority_hints"))})
    early_hints: str = field(metadata={ROW: Setting(
        "early_hints", PUSH, OFF,
        "what the server names in [Early Hints](hints.md) (103) ahead of the page, in the words of `push`",
        "critical", aliases=("103", "hints"),
        meaningless_with=tuple(("protocol", each) for each in ("http/1.1", "spdy/3.1", "spdy/3", "spdy/2")))})
    revisit_after: str = field(metadata={ROW: Setting(
        "revisit_after", REVISIT_AFTER, NO_REVISIT,
        "of `start: warm`: how much later the page is loaded again, by what answers say of their age. What has expired "
        "by then [is asked for again](browser.md#second-visits)", "1d", default_words="at once",
        aliases=("revisit", "second_visit", "away"))})
    copy: int = field(metadata={ROW: Setting(
        "copy", count("NUMBER", "a copy", 1, 9), "1",
        "changes nothing: with another number an arm may be there twice, and is compared with itself. What differs "
        "between the two is chance", "2")})
    # fmt: on
