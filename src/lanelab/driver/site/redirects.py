"""Redirects: which answers are some, where one leads, and for how long a browser keeps it. Pure."""

import math
from urllib.parse import urljoin, urlsplit

from lanelab.driver.record.evidence.browser import Headers
from lanelab.driver.site.freshness import NEVER, directives, told_for_s, values

PERMANENT, TEMPORARY, SEE_OTHER = (301, 308), (302, 303, 307), 303
REDIRECTS = (*PERMANENT, *TEMPORARY)
FOLLOWED = (300, *REDIRECTS)  # the first by Firefox alone
LOCATION = "location"


def leads_to(url: str, status: int | None, headers: Headers) -> str | None:
    """Return the address, without a fragment, that a browser asks for after this answer from `url`. None: the answer is
    no redirect, or leads nowhere."""
    locations = [each for each in values(headers, LOCATION) if each] if status in FOLLOWED else []
    if not locations:
        return None
    try:
        there = urljoin(url, locations[0]).partition("#")[0]
        _ = urlsplit(there).port
    except ValueError:  # a site may have been recorded with anything in it
        return None
    return there


def redirect_for_s(status: int, headers: Headers) -> float | None:
    """Return for how many seconds a browser may keep a redirect: as long as it says; where it says nothing of it for
    ever if it is permanent, else not at all. None: browsers differ."""
    told_s = told_for_s(headers)
    if told_s is not None:
        return None if told_s and status == SEE_OTHER else told_s
    if "must-revalidate" in directives(headers) or values(headers, "expires") or values(headers, "last-modified"):
        return None
    return math.inf if status in PERMANENT else NEVER
