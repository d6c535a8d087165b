"""For how long a browser may show an answer again without asking (RFC 9111, 4.2). Pure.

Where nothing says it browsers guess: a tenth of the time since the last change. Chromium has no limit to that, Firefox
takes a week at most.
"""

import math
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

from lanelab.driver.record.evidence.browser import Headers

GUESSED = 10  # times as long it has not changed
MOST_GUESSED_S = 7 * 86_400
MOST_GUESSED: Mapping[str, float] = {"chromium": math.inf, "firefox": MOST_GUESSED_S}  # by browser
GUESSED_STATUSES = (200, 203, 206)  # of answers for which browsers guess
NEVER = 0.0


def kept_for_s(headers: Headers, now: float, most_guessed_s: float = MOST_GUESSED_S) -> float | None:
    """For how many seconds from now on (which is since 1970). 0 or less: it is stale, or may not be kept. None: it says
    nothing of that. `most_guessed_s`: for how long the browser keeps at most what does not say how long."""
    if not may_be_kept(headers):
        return NEVER
    dates_sent = dates(headers)
    if len(dates_sent) < len(values(headers, "date")):
        return NEVER
    date = min(dates_sent, default=now)
    told_s = told_for_s(headers)
    lifetime_s = dated_for_s(headers, date, most_guessed_s) if told_s is None else told_s
    if lifetime_s is None:
        return None
    ages = [int(value) for value in values(headers, "age") if value.isdecimal()]
    return lifetime_s - max(0.0, now - date, *ages)


def may_be_kept(headers: Headers) -> bool:
    """Return whether an answer may be shown again at all without asking."""
    if not {"no-store", "no-cache"}.isdisjoint(directives(headers)):
        return False
    return "no-cache" not in ",".join(values(headers, "pragma")).lower() and "*" not in varies_by(headers)


def told_for_s(headers: Headers) -> float | None:
    """Return for how many seconds an answer is fresh, where it says that without a date. None: it does not."""
    if not may_be_kept(headers):
        return NEVER
    max_age = directives(headers).get("max-age")
    if max_age is None:
        return None
    return float(max_age) if max_age.isdecimal() else NEVER


def dated_for_s(headers: Headers, date: float, most_guessed_s: float) -> float | None:
    """Return for how many seconds an answer of that date is fresh, by the dates in it. None: it has none that say
    it."""
    expires = values(headers, "expires")
    if expires:
        until = [_seconds(value) for value in expires]  # what is no date, as 0 or -1, is past
        return min(NEVER if each is None else each - date for each in until)
    if "must-revalidate" in directives(headers):
        return NEVER
    changed = [_seconds(value) for value in values(headers, "last-modified")]
    if not changed:
        return None
    return min(NEVER if each is None else min((date - each) / GUESSED, most_guessed_s) for each in changed)


def is_guessed(headers: Headers) -> bool:
    """Return whether an answer has a lifetime because browsers guess one, by when it was last changed."""
    if told_for_s(headers) is not None or values(headers, "expires") or "must-revalidate" in directives(headers):
        return False
    return bool(values(headers, "last-modified"))


def dates(headers: Headers) -> list[float]:
    """Return when it was made, since 1970. What is no date is left out."""
    return [each for each in map(_seconds, values(headers, "date")) if each is not None]


def changes(headers: Headers) -> list[float]:
    """Return when it was last changed, since 1970. What is no date is left out."""
    return [each for each in map(_seconds, values(headers, "last-modified")) if each is not None]


def values(headers: Headers, name: str) -> list[str]:
    return [value.strip() for key, value in headers if key.lower() == name]


def varies_by(headers: Headers) -> set[str]:
    """Return headers of the request with which the answer changes."""
    return {name.strip().lower() for value in values(headers, "vary") for name in value.split(",")}


def directives(headers: Headers) -> dict[str, str]:
    """Return the directives of Cache-Control, with their values. Of what is there several times the first."""
    by_name: dict[str, str] = {}
    for part in ",".join(values(headers, "cache-control")).lower().split(","):
        name, _, value = part.partition("=")
        by_name.setdefault(name.strip(), value.strip().strip('"'))
    return by_name


def _seconds(date: str) -> float | None:
    """Return seconds since 1970; None: that is no date."""
    try:
        return parsedate_to_datetime(date).timestamp()
    except (ValueError, OverflowError):
        return None
