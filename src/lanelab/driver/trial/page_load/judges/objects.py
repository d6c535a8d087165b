"""The verdict on a site's objects: each was loaded, whole and over the network. Pure."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from lanelab.driver.arm.arm import Arm
from lanelab.driver.arm.third_parties import NOTHING, ThirdParties
from lanelab.driver.record.evidence.browser import Request
from lanelab.driver.record.reasons import Failure, Reason
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.site.hints import hints
from lanelab.driver.site.push_plan import OFF
from lanelab.driver.site.site import Site, SiteObject
from lanelab.driver.trial.page_load.judges.judge import Case, Judge, Needs
from lanelab.driver.trial.page_load.requests import (
    RequestKey,
    asked_for,
    asked_for_a_part,
    asked_of,
    encoding,
    few,
    inexact_targets,
    on_network,
    path_of,
    target,
)
from lanelab.driver.trial.page_load.second_visit import expired
from lanelab.driver.trial.tolerances import Tolerances

OK, PARTIAL, NOT_MODIFIED, BAD_REQUEST, BAD_GATEWAY = 200, 206, 304, 400, 502
NOT_TOLD = -1
PREFLIGHT = "OPTIONS"  # a browser may remember the answer, and tells little of the request
# The browser's own ruling on an image, say, that turns out to be HTML: a page must not have it. That an answer is such
# is its media type's; it was so while the site was recorded, too.
RULED_OUT = ("net::ERR_BLOCKED_BY_ORB",)
# By the browser: when the page was left, and where a script does not read an answer that has no body, as those to what
# counts visits, or that the arm makes an error: a script, say, of which no byte is read then.
GIVEN_UP = "net::ERR_ABORTED"
WITHOUT_BODY = (204, 205)
NEVER_RULED_OUT = ("image/", "audio/", "video/", "font/", "text/css", "text/javascript", "application/javascript")


@dataclass(frozen=True, slots=True)
class Faults:
    """The faults that speak against a load, each with words on why: by method and address."""

    broken: dict[RequestKey, str]
    missing: dict[RequestKey, str]
    cached: list[RequestKey]


@dataclass(frozen=True, slots=True)
class Objects:
    record: TrialRecord
    arm: Arm
    site: Site
    tolerances: Tolerances
    third_parties: ThirdParties = NOTHING
    held: frozenset[RequestKey] = frozenset()  # what the browser may have of earlier steps of a journey

    def failures(self) -> Iterator[Failure]:
        faults = self.faults()
        broken, missing = (_words(each) for each in (faults.broken, faults.missing))
        if broken:
            yield Failure(Reason.FAILED_OBJECT, few(broken))
        if len(missing) > self.tolerances.missing:
            yield Failure(Reason.MISSING_OBJECT, few(missing))
        if faults.cached:
            yield Failure(Reason.FROM_CACHE, few([url for _, url in faults.cached]))

    def faults(self) -> Faults:
        """Return what is wrong with the objects, also where it is tolerated."""
        requests_of: dict[RequestKey, list[Request]] = {key: [] for key in self._recorded}
        for request in on_network(self.record.requests):
            requests_of.get(asked_of(request), []).append(request)
        faults = Faults({}, {}, [])
        excused = self._excused()
        has_expired = expired(self.site, self.arm)
        for key, wanted in self._recorded.items():
            url, requests = wanted[0].url, requests_of[key]
            if self.third_parties.is_absent(url):
                continue  # as the arm asks; third_parties.py looks at these
            why = next((why for request in requests if (why := self._unlike_all(request, wanted))), None)
            due = len({_answer(each) for each in wanted if _is_due(each)})
            may_be_had = self.warm or key in self.held
            stale = url in has_expired and key not in self.held
            lacking = self._lacking(requests, due, may_be_had=may_be_had and not stale)
            stood_for = min(excused[path_of(url)], lacking)
            excused[path_of(url)] -= stood_for
            if why:
                faults.broken[key] = why
            elif lacking > stood_for:
                since = f", and has expired {self.arm.revisit_after} after the first visit" if stale else ""
                faults.missing[key] = self._how_missing(requests, due) + since
            if any(each.status != NOT_MODIFIED for each in wanted) and not may_be_had and self._cached(requests):
                faults.cached.append(key)
        return faults

    @property
    def _recorded(self) -> dict[RequestKey, list[SiteObject]]:
        """Return the recorded objects by request. One request has several, each with its own answer, where a page posts
        several things to one address, or where its address in clear leads to the same one with TLS."""
        objects: dict[RequestKey, list[SiteObject]] = {}
        for each in self.site.objects:
            objects.setdefault(asked_for(each), []).append(each)
        return objects

    def _excused(self) -> Counter[str]:
        """Count by address without query how often it was asked for in another way than recorded. Each time may stand
        for one object."""
        evidence = self.record.page_load
        return Counter(path_of(each) for each in inexact_targets(evidence)) if evidence else Counter()

    @property
    def warm(self) -> bool:
        return self.arm.start == "warm"

    def _unlike_all(self, request: Request, wanted: list[SiteObject]) -> str | None:
        """Return why its answer is none of the recorded ones; None: it is one of them."""
        whys = [self._broken(request, each) for each in wanted]
        return None if None in whys else whys[0]

    def _broken(self, request: Request, wanted: SiteObject) -> str | None:
        ruled_out = request.error in RULED_OUT and not wanted.mime.startswith(NEVER_RULED_OUT)
        if ruled_out and request.status == wanted.status:
            return None
        if request.error is not None:
            given_up = wanted.late and request.status is None
            useless = wanted.status in WITHOUT_BODY or self.third_parties.answers.get(wanted.url, 0) >= BAD_REQUEST
            unread = request.status == wanted.status and useless
            return None if request.error == GIVEN_UP and (given_up or unread) else request.error
        as_asked = request.status == PARTIAL and wanted.status == OK and asked_for_a_part(request)
        if request.status in (None, NOT_MODIFIED) or as_asked:
            return None  # never answered: missing; the browser had it: from-cache
        if request.status != wanted.status:
            instead = "" if wanted.status == OK else f" instead of {wanted.status}"
            return f"status {request.status}{instead}{self._gateway_says(request)}"
        if self._is_whole(request, wanted) and request.body_bytes != wanted.size:
            return f"{request.body_bytes} bytes instead of {wanted.size}"
        return None

    def _is_whole(self, request: Request, wanted: SiteObject) -> bool:
        """Return whether the browser shows a whole body, as long as the site's. It shows none of a redirect, only the
        beginning of a picture that is no picture, and in Firefox none that comes with an error."""
        if request.type == "Image" and not wanted.mime.startswith("image/") and request.body_bytes < wanted.size:
            return False
        if wanted.status >= BAD_REQUEST and request.body_bytes == NOT_TOLD:
            return False
        complete = request.ended_ms is not None and not request.from_cache and request.method != "HEAD"
        return complete and encoding(request) is None and not wanted.encoding and not 300 <= wanted.status < 400

    def _gateway_says(self, request: Request) -> str:
        """Return why it could not get what the browser wanted."""
        gateway = self.record.page_load.gateway if self.record.page_load else None
        carried = gateway.requests if gateway else ()
        errors = [each.error for each in carried if each.url == target(request) and each.error]
        return f": {errors[0]}" if errors and request.status == BAD_GATEWAY else ""

    def _lacking(self, requests: list[Request], due: int, *, may_be_had: bool) -> int:
        """Return how many of the objects did not come in time. A repeated view may do without asking: what is in the
        browser's memory makes no request."""
        if may_be_had:
            due = min(due, len(requests), 1)
        return max(due - sum(self._in_time(request) for request in requests), 0)

    def _in_time(self, request: Request) -> bool:
        """Return whether it was there when the page was loaded. The clock began some milliseconds before the first
        request, from which `ended_ms` counts, and stopped some after the load event: nothing that was in time is
        refused."""
        if not request.before_load or request.status is None or request.ended_ms is None:
            return False
        browser = self.record.page_load.browser if self.record.page_load else None
        loaded_ms = browser.times.plt_ms if browser else None
        return loaded_ms is None or request.ended_ms <= loaded_ms

    def _how_missing(self, requests: list[Request], due: int) -> str:
        if not requests:
            return "never asked for"
        if any(self._in_time(each) for each in requests):
            return f"{len(requests)} of {due} asked for"
        if not any(each.before_load for each in requests):
            return "asked for after the load event"
        ended = any(each.status is not None and each.ended_ms is not None for each in requests)
        return "ended after the load event" if ended else "did not end"

    def _cached(self, requests: list[Request]) -> bool:
        """Return whether an object came from a cache that is older than the trial: it was never fetched in it."""
        if not requests:
            return False
        if any(request.status == NOT_MODIFIED for request in requests):
            return True
        return all(request.from_cache for request in requests) and not self._is_ahead(requests[0])

    def _is_ahead(self, request: Request) -> bool:
        """Return whether a 103 named it: the browser then fetches it before the page asks, and shows what the page
        asks."""
        if self.arm.early_hints == OFF:
            return False
        ahead = hints(self.site, self.arm.early_hints, "early_hints")
        return target(request) in {self.site.entry_host + each.path for each in ahead}


def _words(faults: dict[RequestKey, str]) -> list[str]:
    return [f"{url} ({why})" for (_, url), why in faults.items()]


def _is_due(each: SiteObject) -> bool:
    """Return whether each load has to ask for it."""
    return not each.late and each.method != PREFLIGHT


def _answer(each: SiteObject) -> tuple[str | None, int, str]:
    """What tells objects with one address apart. The same answer in clear and with TLS is asked for once."""
    return each.request_sha1, each.status, each.sha256


def _failures(case: Case) -> Iterator[Failure]:
    third_parties = ThirdParties.of(case.arm, case.site)
    yield from Objects(case.record, case.arm, case.site, case.tolerances, third_parties).failures()


JUDGE = Judge(Needs.LOAD, _failures)
