"""Whether a repeat view took redirects from its cache as a browser does: those that it keeps, and no others, and each
led on to where the site says. Pure.

A permanent redirect that says nothing else is kept for ever, any other is asked for again on each visit. One that was
kept shows in the record as an answer from the cache, and leads on: what it leads to is a request of its own.
"""

from collections import Counter
from collections.abc import Iterator

from lanelab.driver.arm.third_parties import ThirdParties
from lanelab.driver.record.evidence.browser import Request
from lanelab.driver.record.reasons import Failure, Reason
from lanelab.driver.site.redirects import REDIRECTS, leads_to
from lanelab.driver.trial.page_load.judges.judge import Case, Judge, Needs
from lanelab.driver.trial.page_load.requests import address_of, few, is_own_redirect, on_network, target
from lanelab.driver.trial.page_load.second_visit import never_kept

FOLLOWED_BY_SCRIPTS = "Fetch"  # a script may ask for a redirect, and not want to be led on


def _failures(case: Case) -> Iterator[Failure]:
    """Yield what no browser does. A journey goes back to pages as they were left, redirects included."""
    if case.arm.start != "warm" or case.expected.journey:
        return
    requests = _redirects(case)
    shown = [url for url in sorted(never_kept(case.site)) if requests.get(url) and _all_cached(requests[url])]
    if shown:
        yield Failure(Reason.FROM_CACHE, f"{few(shown)} came from the cache, and no browser keeps such a redirect")
    lost = list(_lost(case, requests))
    if len(lost) > case.tolerances.missing:
        yield Failure(Reason.MISSING_OBJECT, few(lost))


def _redirects(case: Case) -> dict[str, list[Request]]:
    """Return address -> the requests that were answered with a redirect before the load event."""
    answered: dict[str, list[Request]] = {}
    for each in on_network(case.record.requests):
        is_redirect = each.status in REDIRECTS and not is_own_redirect(each)
        if is_redirect and each.method == "GET" and each.error is None and each.before_load:
            answered.setdefault(target(each), []).append(each)
    return answered


def _all_cached(requests: list[Request]) -> bool:
    return all(each.from_cache for each in requests)


def _lost(case: Case, answered: dict[str, list[Request]]) -> Iterator[str]:
    """Yield each object of the site that was not asked for, though a redirect to it was answered. Of an address with
    several answers nobody can tell which one it was."""
    absent = ThirdParties.of(case.arm, case.site).is_absent
    requested = {target(each) for each in on_network(case.record.requests)}
    answers = Counter(each.url for each in case.site.objects)
    for each in case.site.objects:
        there = leads_to(f"{each.scheme}://{each.url}", each.status, each.headers)
        led = address_of(there) if there and each.method == "GET" else ""
        if led not in answers or led in requested or absent(led) or answers[each.url] > 1:
            continue
        if any(request.type != FOLLOWED_BY_SCRIPTS for request in answered.get(each.url, ())):
            yield f"{led} (never asked for, though {each.url} led to it)"


JUDGE = Judge(Needs.LOAD, _failures)
