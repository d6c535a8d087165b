"""What a second visit has to ask for again, and what it may take from the browser's cache, by what the site's answers
say of themselves. A record has nothing of what a browser took without asking, so this is not read from a record. Pure.
"""

from collections import Counter

from lanelab.driver.arm.arm import Arm
from lanelab.driver.site.freshness import told_for_s, values, varies_by
from lanelab.driver.site.site import Headers, Site

OK = 200
SPARE_S = 60.0  # by which an answer has to be fresh or expired: a trial takes some time itself
SERVED_STALE = "stale-while-revalidate"
VARIES_BY_NOTHING = {"", "accept-encoding"}  # that is another on a second visit


def expired(site: Site, arm: Arm) -> frozenset[str]:
    """Return the addresses that a page can have no more without asking. Empty where no time lies between visits."""
    return frozenset(url for url, left_s in _left_s(site, arm).items() if left_s < -SPARE_S)


def fresh(site: Site, arm: Arm) -> frozenset[str]:
    """Return the addresses that the browser has from its first visit, and may show without asking. The page itself is
    not among them: browsers may ask for what was navigated to."""
    left_s = _left_s(site, arm)
    alike = {each.url for each in site.objects if varies_by(each.headers) <= VARIES_BY_NOTHING}
    page = site.entry_host + site.entry_path
    return frozenset(url for url, left in left_s.items() if left > SPARE_S and url in alike and url != page)


def _left_s(site: Site, arm: Arm) -> dict[str, float]:
    """Return for how many seconds more each address with one answer is fresh, where it says so. The site is as the arm
    has it served, so answers that have a lifetime say it without a date, and their age."""
    if not arm.revisit_s:
        return {}
    answers = Counter(each.url for each in site.objects)
    left_s = {}
    for each in site.objects:
        is_shown = (each.method, each.status) == ("GET", OK) and not each.late and answers[each.url] == 1
        told_s = told_for_s(each.headers) if is_shown else None
        if told_s is not None and not any(SERVED_STALE in value for value in values(each.headers, "cache-control")):
            left_s[each.url] = told_s - max(_ages_s(each.headers), default=arm.revisit_s)
    return left_s


def _ages_s(headers: Headers) -> list[int]:
    return [int(value) for value in values(headers, "age") if value.isdecimal()]
