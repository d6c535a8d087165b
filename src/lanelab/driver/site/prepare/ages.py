"""Answers that say that they are older than they are, by the header Age (RFC 9111, 5.1): on its next visit a browser
takes what it kept for as old, though no time has passed.

What says by dates alone how long it is fresh would be judged by the day on which a run is made. So such an answer says
it in seconds: as they were on the day of its first visit, which is that of its recording. What was old then, as it came
from a cache on the way, has that age besides. Pure.
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from lanelab.driver.site.freshness import (
    GUESSED_STATUSES,
    MOST_GUESSED,
    changes,
    dated_for_s,
    dates,
    is_guessed,
    told_for_s,
    values,
)
from lanelab.driver.site.site import Headers, Site, SiteObject

AGE, DATE, CONTROL = "Age", "Date", "Cache-Control"
REPLACED = (AGE.lower(), DATE.lower())  # a date of the recording would make everything as old as the recording is
OK = 200
# Of a site without a date: how long after its last change it is visited first. Browsers guess 36.5 days then.
UNCHANGED_S = 365 * 86_400
MOST_AGE_S = 2**31  # what is larger counts as that (RFC 9111, 1.2.2)


def aged(site: Site, age_s: int, browser: str) -> Iterator[SiteObject]:
    """Yield the site's objects, each answer to a GET older by that time than it was recorded, and with a lifetime that
    needs no calendar. `browser`: which guesses lifetimes."""
    visited = first_visit(site)
    for each in site.objects:
        if each.method == "GET":
            yield replace(each, headers=_aged(each, age_s + _own_age_s(each), visited, browser))
        else:
            yield each


def first_visit(site: Site) -> float:
    """Return when the site is visited for the first time, in seconds since 1970: when it was recorded, else a year
    after its last change. It is the same on each day."""
    if site.recorded_ms is not None:
        return site.recorded_ms / 1000
    return max((when for each in site.objects for when in changes(_headers(each))), default=0.0) + UNCHANGED_S


@dataclass(frozen=True, slots=True)
class Kept:
    """An answer that a browser may show again for so many seconds after the first visit without asking. None: nothing
    says for how long."""

    url: str
    seconds: float | None
    guessed: bool  # by the browser, from when it was last changed


def kept_answers(site: Site, browser: str, added_s: int = 0) -> list[Kept]:
    """Return that of each address with an answer that pages show. `added_s`: by which its answers are served older than
    they were recorded, where they are so already."""
    visited = first_visit(site)
    shown = {each.url: each for each in site.objects if (each.method, each.status) == ("GET", OK)}
    return [_kept(each, _own_age_s(each) - added_s, visited, browser) for each in shown.values()]


def expire_by(kept: Iterable[Kept], age_s: int) -> list[Kept]:
    """Return those that are fresh after the first visit, and no more so after that time."""
    return [each for each in kept if each.seconds is not None and 0 < each.seconds <= age_s]


def _kept(each: SiteObject, own_s: int, visited: float, browser: str) -> Kept:
    headers = _headers(each)
    told_s = told_for_s(headers)
    fresh_s = _dated_s(each, visited, browser) if told_s is None else told_s
    return Kept(each.url, None if fresh_s is None else fresh_s - own_s, is_guessed(headers))


def _own_age_s(each: SiteObject) -> int:
    """Return how old an answer was already when it was recorded: a cache on the way says it by Age (RFC 9111, 5.1)."""
    return max((int(value) for value in values(_headers(each), AGE.lower()) if value.isdecimal()), default=0)


def _aged(each: SiteObject, age_s: int, visited: float, browser: str) -> Headers:
    headers = _headers(each)
    dated_s = _dated_s(each, visited, browser) if told_for_s(headers) is None else None
    kept = tuple((name, value) for name, value in headers if name.lower() not in REPLACED)
    lifetime = () if dated_s is None else ((CONTROL, f"max-age={math.floor(max(dated_s, 0))}"),)
    return (*kept, *lifetime, (AGE, str(min(age_s, MOST_AGE_S))))


def _dated_s(each: SiteObject, visited: float, browser: str) -> float | None:
    """Return for how many seconds an answer is fresh by dates alone; None: no date says it."""
    headers = _headers(each)
    if not values(headers, "expires") and not (is_guessed(headers) and each.status in GUESSED_STATUSES):
        return None
    return dated_for_s(headers, min(dates(headers), default=visited), MOST_GUESSED[browser])


def _headers(each: SiteObject) -> Headers:
    return each.headers or (("Content-Type", each.mime), *each.file_headers)
