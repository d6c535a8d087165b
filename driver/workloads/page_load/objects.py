"""The verdict on a site's objects: each was loaded, whole and over the network. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from driver.experiment.arm import Arm
from driver.experiment.model import Tolerances
from driver.workloads.page_load.requests import encoding, few, inexact_targets, on_network, target
from model.evidence.browser import Request
from model.reasons import Failure, Reason
from model.record import TrialRecord
from model.site.site import Site, SiteObject

OK, PARTIAL, NOT_MODIFIED, BAD_GATEWAY = 200, 206, 304, 502
PREFLIGHT = "OPTIONS"  # a browser may remember the answer, and tells little of the request
# The browser's own ruling on an image, say, that turns out to be HTML: a page must not have it. That an answer is such
# is its media type's; it was so while the site was recorded, too.
RULED_OUT = ("net::ERR_BLOCKED_BY_ORB",)
NEVER_RULED_OUT = ("image/", "audio/", "video/", "font/", "text/css", "text/javascript", "application/javascript")
Asked = tuple[str, str]  # method, host with path


@dataclass(frozen=True, slots=True)
class Objects:
    record: TrialRecord
    arm: Arm
    site: Site
    tolerances: Tolerances

    def failures(self) -> Iterator[Failure]:
        asked: dict[Asked, list[Request]] = {_asked(each): [] for each in self.site.objects}
        for request in on_network(self.record.requests):
            if (request.method, target(request)) in asked:
                asked[request.method, target(request)].append(request)
        broken, missing, cached = [], [], []
        evidence = self.record.page_load
        inexact = {each.partition("?")[0] for each in inexact_targets(evidence)} if evidence else set()
        for each in self.site.objects:
            requests = asked[_asked(each)]
            why = next((why for request in requests if (why := self._broken(request, each))), None)
            if why:
                broken.append(f"{each.url} ({why})")
            elif self._is_due(each, inexact) and self._missing(requests):
                missing.append(f"{each.url} ({self._how_missing(requests)})")
            if each.status != NOT_MODIFIED and self._cached(requests):
                cached.append(each.url)
        if broken:
            yield Failure(Reason.FAILED_OBJECT, few(broken))
        if len(missing) > self.tolerances.missing:
            yield Failure(Reason.MISSING_OBJECT, few(missing))
        if cached:
            yield Failure(Reason.FROM_CACHE, few(cached))

    @property
    def warm(self) -> bool:
        return self.arm.start == "warm"

    def _is_due(self, each: SiteObject, inexact: set[str]) -> bool:
        """Whether each load has to ask for it. `inexact`: addresses without query that were asked for with another."""
        return not each.late and each.method != PREFLIGHT and each.url.partition("?")[0] not in inexact

    def _broken(self, request: Request, wanted: SiteObject) -> str | None:
        ruled_out = request.error in RULED_OUT and not wanted.mime.startswith(NEVER_RULED_OUT)
        if ruled_out and request.status == wanted.status:
            return None
        if request.error is not None:
            return None if wanted.late and request.status is None else request.error  # given up when the page was left
        as_asked = request.status == PARTIAL and wanted.status == OK  # a part of it
        if request.status in (None, NOT_MODIFIED) or as_asked:
            return None  # never answered: missing; the browser had it: from-cache
        if request.status != wanted.status:
            instead = "" if wanted.status == OK else f" instead of {wanted.status}"
            return f"status {request.status}{instead}{self._gateway_says(request)}"
        if self._is_whole(request, wanted) and request.body_bytes != wanted.size:
            return f"{request.body_bytes} bytes instead of {wanted.size}"
        return None

    def _is_whole(self, request: Request, wanted: SiteObject) -> bool:
        """Whether the browser saw all of a body that is as long as the site's. It shows no body of a redirect."""
        complete = request.ended_ms is not None and not request.from_cache and request.method != "HEAD"
        return complete and encoding(request) is None and not wanted.encoding and not 300 <= wanted.status < 400

    def _gateway_says(self, request: Request) -> str:
        """Why it could not get what the browser wanted."""
        gateway = self.record.page_load.gateway if self.record.page_load else None
        carried = gateway.requests if gateway else ()
        errors = [each.error for each in carried if each.url == target(request) and each.error]
        return f": {errors[0]}" if errors and request.status == BAD_GATEWAY else ""

    def _missing(self, requests: list[Request]) -> bool:
        """A repeated view may do without asking: what is in the browser's memory makes no request."""
        if self.warm and not requests:
            return False
        return not any(self._in_time(request) for request in requests)

    def _in_time(self, request: Request) -> bool:
        """Whether it was there when the page was loaded. The clock began some milliseconds before the first request,
        from which `ended_ms` counts, and stopped some after the load event: nothing that was in time is refused."""
        if not request.before_load or request.status is None or request.ended_ms is None:
            return False
        browser = self.record.page_load.browser if self.record.page_load else None
        loaded_ms = browser.times.plt_ms if browser else None
        return loaded_ms is None or request.ended_ms <= loaded_ms

    def _how_missing(self, requests: list[Request]) -> str:
        if not requests:
            return "never asked for"
        if not any(each.before_load for each in requests):
            return "asked for after the load event"
        ended = any(each.status is not None and each.ended_ms is not None for each in requests)
        return "ended after the load event" if ended else "did not end"

    def _cached(self, requests: list[Request]) -> bool:
        """Twice on a page is fetched once: only what was never fetched in this trial is older than it."""
        if self.warm or not requests:
            return False
        if any(request.status == NOT_MODIFIED for request in requests):
            return True
        return all(request.from_cache for request in requests)


def _asked(each: SiteObject) -> Asked:
    return each.method, each.url
