"""What a second visit has to ask for again, and what it may take from the browser's cache, by what the site's answers
say of themselves. A record has nothing of what a browser took without asking, so this is not read from a record. Pure.
"""

from collections import Counter

from lanelab.driver.arm.arm import Arm
from lanelab.driver.site.freshness import NEVER, told_for_s, values, varies_by
from lanelab.driver.site.redirects import REDIRECTS, redirect_for_s
from lanelab.driver.site.site import Headers, Site, SiteObject

OK = 200
SPARE_S = 60.0  # by which an answer has to be fresh or expired: a trial takes some time itself
SERVED_STALE = "stale-while-revalidate"
KEEPS_REDIRECTS = ("chromium",)  # from one process to the next; Firefox asks for each of them again
VARIES_BY_NOTHING = {"", "accept-encoding"}  # that is another on a second visit


def expired(site: Site, arm: Arm) -> frozenset[str]:
    """Return the addresses that a page can have no more without asking. Empty where no time lies between visits."""
    return frozenset(url for url, left_s in _left_s(site, arm).items() if left_s < -SPARE_S)


def fresh(site: Site, arm: Arm) -> frozenset[str]:
    """Return the addresses that the browser has from its first visit, and may use without asking. The page itself is
    not among them: browsers may ask for what was navigated to."""
    left_s = _left_s(site, arm)
    others = () if arm.browser in KEEPS_REDIRECTS else REDIRECTS
    alike = {
        each.url for each in site.objects if varies_by(each.headers) <= VARIES_BY_NOTHING and each.status not in others
    }
    page = site.entry_host + site.entry_path
    return frozenset(url for url, left in left_s.items() if left > SPARE_S and url in alike and url != page)


def never_kept(site: Site) -> frozenset[str]:
    """Return the addresses with redirects that no browser keeps: each visit asks for them again, also one at once."""
    lives = _lives_s(site)
    redirects = {each.url for each in site.objects if each.status in REDIRECTS}
    return frozenset(url for url, life_s in lives.items() if url in redirects and life_s == NEVER)


def _left_s(site: Site, arm: Arm) -> dict[str, float]:
    """Return for how many seconds more each address with one answer is fresh, where that is known. The site is as the
    arm has it served, so answers that have a lifetime say it without a date, and their age."""
    if not arm.revisit_s:
        return {}
    lives = _lives_s(site)
    ages = {each.url: max(_ages_s(each.headers), default=arm.revisit_s) for each in site.objects if each.url in lives}
    return {url: life_s - ages[url] for url, life_s in lives.items()}


def _lives_s(site: Site) -> dict[str, float]:
    """Return for how many seconds each address with one answer is fresh, where that is known without a date."""
    answers = Counter(each.url for each in site.objects)
    lives = {each.url: _life_s(each) for each in site.objects if answers[each.url] == 1 and not each.late}
    return {url: life_s for url, life_s in lives.items() if life_s is not None}


def _life_s(each: SiteObject) -> float | None:
    if each.method != "GET" or any(SERVED_STALE in value for value in values(each.headers, "cache-control")):
        return None
    if each.status in REDIRECTS:
        return redirect_for_s(each.status, each.headers)
    return told_for_s(each.headers) if each.status == OK else None


def _ages_s(headers: Headers) -> list[int]:
    return [int(value) for value in values(headers, "age") if value.isdecimal()]
