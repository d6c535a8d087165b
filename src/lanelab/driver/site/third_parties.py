"""What an arm does to third parties: which addresses it means, and what becomes of those. Pure.

An address is written as host and path, without a scheme, since arms decide that. A host alone means all that is there.
`*` stands for any characters, and no other character for anything but itself.
"""

import functools
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from http import HTTPStatus
from typing import Literal, TypeVar

from lanelab.driver.base.errors import InputError
from lanelab.driver.base.settings.kinds import near_miss
from lanelab.driver.site.site import Headers, Site, SiteObject, StoredObject

OTHERS = "default"  # of a mapping: all that no other entry means
# Settings of arms:
RECORDED: Literal["recorded"] = "recorded"  # delays: as long as servers thought when the site was recorded
BLOCK, UNREACHABLE, ANSWER_DELAY, ANSWER = "block", "unreachable", "answer_delay", "answer"
ALLOWED_EMPTY = (200, 204)  # statuses of answers without a body
# What lets a page see an answer of another origin: without it the browser would tell of another error.
_KEPT = ("access-control-", "cross-origin-resource-policy", "timing-allow-origin")
_PATTERN = re.compile(r"(?:https?://)?(?P<host>[a-z0-9*_-]+(?:\.[a-z0-9*_-]+)*)(?P<path>/\S*)?", re.IGNORECASE)
Value = TypeVar("Value")
Pairs = tuple[tuple[str, Value], ...]


def read_pattern(text: str, key: str) -> str:
    """Return a pattern in one form: the host in small letters, no scheme. Raises InputError."""
    match = _PATTERN.fullmatch(text.strip())
    if match is None:
        what = f"{text[:80]!r} is neither a host nor an address"
        raise InputError(what, "Write one like ads.example, *.ads.example or ads.example/*.js", key=key)
    return match["host"].lower() + (match["path"] or "")


def is_host(pattern: str) -> bool:
    """Return whether it means all of a host, or of several."""
    return "/" not in pattern


def means(pattern: str, url: str) -> bool:
    """Return whether a pattern means this address, host and path."""
    return bool(_regex(pattern).fullmatch(url.partition("/")[0] if is_host(pattern) else url))


@functools.lru_cache(maxsize=4096)
def _regex(pattern: str) -> re.Pattern[str]:
    return re.compile(".*".join(map(re.escape, pattern.split("*"))), re.DOTALL)


def meant(patterns: Iterable[str], url: str) -> str | None:
    """Return the pattern that says most of those that mean this address: an address before a host, one without `*`
    before one with it, the longer before the shorter, and `default` last."""
    fitting = [each for each in patterns if each == OTHERS or means(each, url)]
    return max(fitting, key=_weight, default=None)


def _weight(pattern: str) -> tuple[bool, bool, bool, int]:
    return pattern != OTHERS, not is_host(pattern), "*" not in pattern, len(pattern)


def values_at(pairs: Pairs[Value], url: str) -> Value | None:
    """Return the value of the entry that means this address."""
    chosen = meant([pattern for pattern, _ in pairs], url)
    return None if chosen is None else dict(pairs)[chosen]


def hosts_of(patterns: Iterable[str], site: Site) -> tuple[str, ...]:
    """Return the hosts of a site that are meant as a whole."""
    whole = [each for each in patterns if is_host(each)]
    return tuple(host for host in site.hosts if any(means(each, host) for each in whole))


def require_some(patterns: Sequence[str], site: Site, key: str) -> None:
    """Raises InputError where a pattern means nothing of the site."""
    urls = [each.url for each in site.objects]
    for pattern in patterns:
        if pattern == OTHERS or any(means(pattern, url) for url in (*urls, *site.hosts)):
            continue
        known = site.hosts if is_host(pattern) else urls
        listed = (
            f"Its hosts are {', '.join(site.hosts[:8])}" if is_host(pattern) else f"See lanelab site show {site.name}"
        )
        what = f"{site.name} has {'no host' if is_host(pattern) else 'nothing'} like {pattern}"
        raise InputError(what, near_miss(pattern, known) + listed, key=key)


def answered(each: SiteObject, wishes: Pairs[int]) -> StoredObject | None:
    """Return the other answer that is wished for of an object; None: it stays as it is."""
    status = values_at(wishes, each.url)
    return None if status is None else _answer(each, status)


def _answer(each: SiteObject, status: int) -> StoredObject:
    """Return an empty one of the same kind, or an error with its name for a body."""
    phrase = HTTPStatus(status).phrase if status in list(HTTPStatus) else "Error"
    mime = each.mime if status in ALLOWED_EMPTY else "text/plain"
    kept: Headers = tuple(pair for pair in each.headers if pair[0].lower().startswith(_KEPT))
    headers = (*((("Content-Type", mime),) if status != ALLOWED_EMPTY[1] else ()), *kept)
    body = b"" if status in ALLOWED_EMPTY else f"{phrase}\n".encode()
    new = replace(each, status=status, reason=phrase, mime=mime, headers=headers, compressed=None)
    return StoredObject(new, body)
