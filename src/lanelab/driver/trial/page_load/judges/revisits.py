"""Whether a repeat view had a first one: most of what that left was not asked for as if nobody had it. And whether it
took what it kept for as old as the arm says: what has expired was asked for again, most of what is fresh was not
fetched again, and answers said their age. That what has expired was asked for at all is judged with the objects.
Pure."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from datetime import datetime

from lanelab.driver.record.evidence.browser import Request
from lanelab.driver.record.reasons import Failure, Flag, FlagName, Reason
from lanelab.driver.site.freshness import MOST_GUESSED, MOST_GUESSED_S, directives, kept_for_s, values, varies_by
from lanelab.driver.site.prepare.ages import AGE
from lanelab.driver.site.redirects import REDIRECTS, redirect_for_s
from lanelab.driver.trial.page_load.judges.judge import Case, Judge, Needs
from lanelab.driver.trial.page_load.judges.objects import NOT_MODIFIED
from lanelab.driver.trial.page_load.requests import (
    asked_for_a_part,
    fetched,
    few,
    host,
    is_conditional,
    is_own_redirect,
    on_network,
    target,
)
from lanelab.driver.trial.page_load.second_visit import (
    KEEPS_REDIRECTS,
    OK,
    SERVED_STALE,
    SPARE_S,
    VARIES_BY_NOTHING,
    expired,
    fresh,
)

LEAST_KEPT = 3  # objects that tell whether there was a cache: some, as a service worker's script, are fetched past it
MOST_AGAIN = 0.5  # of them that a visit with a cache may have over the network
VALIDATORS = ("etag", "last-modified")


def _failures(case: Case) -> Iterator[Failure]:
    if case.arm.start == "warm" and not case.expected.journey:  # which has pages that were not visited before
        yield from _first_visits(case)
    if case.arm.revisit_s:
        yield from _of_another_age(case)


def _of_another_age(case: Case) -> Iterator[Failure]:
    answers = _answers(case)
    ageless = [url for url, requests in answers.items() if not all(_has_age(each, case) for each in requests)]
    if ageless:
        yield Failure(
            Reason.FROM_CACHE, f"{few(ageless)} came without the age by which a browser counts {_since(case)}"
        )
    has_expired, most_guessed_s = expired(case.site, case.arm), MOST_GUESSED[case.arm.browser]
    shown = [
        url
        for url, requests in answers.items()
        if all(each.from_cache for each in requests)
        and (url in has_expired or _least_left_s(requests, case, most_guessed_s) < -SPARE_S)
    ]
    if shown:
        yield Failure(Reason.FROM_CACHE, f"{few(shown)} came from the cache, and has expired {_since(case)}")


def _first_visits(case: Case) -> Iterator[Failure]:
    """Yield where most of what the browser had was not used: then this was one more first visit. Single objects may be
    fetched past the cache, and are flagged."""
    had = fresh(case.site, case.arm)
    again = had & {target(each) for each in fetched(case.record.requests) if each.method == "GET"}
    left = _left(case)
    anew = {url for url, requests in left.items() if requests and all(map(_is_anew, requests))}
    if _are_most(again, had):
        what = f"of {len(had)} objects that are still fresh {_since(case)} {len(again)} came over the network again"
        yield Failure(Reason.WARM_IGNORED, f"{what}: {few(sorted(again))}")
    elif _are_most(anew, left):
        what = f"of {len(left)} objects that a first visit leaves {len(anew)} were asked for as if there had been none"
        yield Failure(Reason.WARM_IGNORED, f"{what}: {few(sorted(anew))}")


def _are_most(some: Collection[str], of: Collection[str]) -> bool:
    return len(of) >= LEAST_KEPT and len(some) > MOST_AGAIN * len(of)


def _left(case: Case) -> dict[str, list[Request]]:
    """Return address -> its requests, of what a first visit leaves in the cache, to be shown again or asked about. What
    was not asked for counts as left. The page itself is not among them, nor what a visit may do without."""
    site, now = case.site, datetime.fromisoformat(case.record.started_utc).timestamp()
    answers, page = Counter(each.url for each in site.objects), site.entry_host + site.entry_path
    needed = (each for each in site.objects if (each.method, each.status, each.late) == ("GET", OK, False))
    of_url: dict[str, list[Request]] = {each.url: [] for each in needed if answers[each.url] == 1 and each.url != page}
    for each in on_network(case.record.requests):
        if each.method == "GET" and (requests := of_url.get(target(each))) is not None:
            requests.append(each)
    return {url: requests for url, requests in of_url.items() if all(_stays(each, now) for each in requests)}


def _stays(each: Request, now: float) -> bool:
    """Return whether such an answer is kept, and is fresh for a while or can be asked about."""
    headers = each.response_headers
    if each.status == NOT_MODIFIED:  # which need not say again by what it can be
        return True
    if "no-store" in directives(headers) or not varies_by(headers) <= VARIES_BY_NOTHING:
        return False
    return any(values(headers, name) for name in VALIDATORS) or _left_s(each, now, MOST_GUESSED_S) > SPARE_S


def _is_anew(each: Request) -> bool:
    """Return whether it was asked for, and came, as to a browser that does not have it. What no connection carried came
    from the browser itself, as from a service worker."""
    asked_about = is_conditional(each) or asked_for_a_part(each)
    came = each.status == OK and each.error is None and each.before_load
    return came and each.connection is not None and not each.from_cache and not asked_about


def _flags(case: Case) -> Iterator[Flag]:
    if not case.arm.revisit_s:
        return
    again = [
        url
        for url, requests in _answers(case).items()
        if not any(each.from_cache for each in requests)
        and _least_left_s(requests, case, MOST_GUESSED_S) > SPARE_S
        and _is_kept(requests, case)
    ]
    if again:
        yield Flag(FlagName.FETCHED_TWICE, f"{few(again)}, still fresh {_since(case)}")


def _is_kept(requests: Iterable[Request], case: Case) -> bool:
    return case.arm.browser in KEEPS_REDIRECTS or not any(each.status in REDIRECTS for each in requests)


def _answers(case: Case) -> dict[str, list[Request]]:
    """Return address -> requests that were answered in full, from the cache or by the server, of the addresses that the
    site has one answer for."""
    known, hosts = Counter(each.url for each in case.site.objects), case.site.hosts
    answers: dict[str, list[Request]] = {}
    for each in on_network(case.record.requests):
        is_whole = (each.method, each.error) == ("GET", None) and each.status in (OK, *REDIRECTS)
        if is_whole and host(each) in hosts and not is_own_redirect(each):
            answers.setdefault(target(each), []).append(each)
    return {url: requests for url, requests in answers.items() if known[url] == 1}


def _least_left_s(requests: Iterable[Request], case: Case, most_guessed_s: float) -> float:
    """Return for how many seconds an answer is fresh in this visit. 0, which says nothing, where it does not say how
    long, or may be shown while it is asked for again."""
    now = datetime.fromisoformat(case.record.started_utc).timestamp()
    left_s = [0.0 if _is_served_stale(each) else _left_s(each, now, most_guessed_s) for each in requests]
    return min(left_s, key=abs)


def _left_s(each: Request, now: float, most_guessed_s: float) -> float:
    if each.status not in REDIRECTS:
        return kept_for_s(each.response_headers, now, most_guessed_s) or 0.0
    life_s = redirect_for_s(each.status, each.response_headers)
    ages = [int(value) for value in values(each.response_headers, AGE.lower()) if value.isdecimal()]
    return 0.0 if life_s is None else life_s - max(ages, default=0)


def _is_served_stale(each: Request) -> bool:
    return any(SERVED_STALE in value for value in values(each.response_headers, "cache-control"))


def _has_age(each: Request, case: Case) -> bool:
    ages = values(each.response_headers, AGE.lower())
    return any(value.isdecimal() and int(value) >= case.arm.revisit_s for value in ages)


def _since(case: Case) -> str:
    return f"{case.arm.revisit_after} after the first visit"


JUDGE = Judge(Needs.LOAD, _failures, _flags)
