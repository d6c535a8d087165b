"""What mod_pagespeed believed of a browser by its user agent. `*` stands for anything, `?` for one character."""

import re
from collections.abc import Iterable
from functools import cache

_DATA_URIS = ("*Android*", "*Chrome/*", "*Firefox/*", "*iPad*", "*iPhone*", "*iPod*", "*itouch*", "*MSIE *", "*Opera*")
_DATA_URIS_MORE = ("*Safari*", "*Wget*")
_NO_DATA_URIS = ("*Firefox/1.*", "*Firefox/2.*", "*MSIE 5.*", "*MSIE 6.*", "*MSIE 7.*", "*Opera?5*", "*Opera?6*")

_WEBP = ("*Android *", "*Chrome/*", "*Opera/9.80*Version/??.*", "*Opera???.*")
_NO_WEBP = (
    *(f"*Android {version}.*" for version in range(4)),
    *(f"*Chrome/{version}.*" for version in range(9)),
    *("*Chrome/9.0.*", "*Chrome/14.*", "*Chrome/15.*", "*Chrome/16.*"),
    *("*Opera/9.80*Version/10.*", "*Opera?10.*", "*Opera/9.80*Version/11.0*", "*Opera?11.0*"),
)
_LOSSLESS_WEBP = ("*Chrome/*",)  # from 25 on
_NO_LOSSLESS_WEBP = tuple(f"*Chrome/{version}.*" for version in range(25))

_DEFERRED_SCRIPTS = ("*Chrome/*", "*Firefox/*", "*MSIE *", "*Safari*", "*Wget*")
_NO_DEFERRED_SCRIPTS = ("*Firefox/1.*", "*Firefox/2.*", "*MSIE 5.*", "*MSIE 6.*", "*MSIE 7.*", "*MSIE 8.*")


# What a browser that says nothing else is: the one that lanelab drives.
_CHROMIUM = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36"


def takes_data_uris(user_agent: str) -> bool:
    return _is(user_agent, (*_DATA_URIS, *_DATA_URIS_MORE), _NO_DATA_URIS)


def takes_webp(user_agent: str) -> bool:
    return _is(user_agent, _WEBP, _NO_WEBP)


def takes_lossless_webp(user_agent: str) -> bool:
    return _is(user_agent, _LOSSLESS_WEBP, _NO_LOSSLESS_WEBP)


def takes_deferred_scripts(user_agent: str) -> bool:
    return _is(user_agent, _DEFERRED_SCRIPTS, _NO_DEFERRED_SCRIPTS)


def _is(user_agent: str, allowed: Iterable[str], refused: Iterable[str]) -> bool:
    agent = user_agent or _CHROMIUM
    if any(_pattern(each).fullmatch(agent) for each in refused):
        return False
    return any(_pattern(each).fullmatch(agent) for each in allowed)


@cache
def _pattern(wildcards: str) -> re.Pattern[str]:
    return re.compile(re.escape(wildcards).replace(r"\*", ".*").replace(r"\?", "."), re.IGNORECASE | re.DOTALL)
