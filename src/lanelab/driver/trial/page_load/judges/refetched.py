"""What a page fetched again though it had it: a reason to doubt a trial, since the link carried it once more. Pure.

Two caches of a browser answer without the network. The one on its disk does while an answer is fresh, by its own date
and the browser's clock: so of a recorded site, whose answers have the date of the recording, while that is not longer
ago than they may be kept. It is shared by documents of one site within a page, and nobody else. And Chromium gives a
document an image, a script or a style sheet that it has, whatever it says, until the load event. Frames without an
address are documents of their own that no record tells of, as recorded pages with advertisements have them: so the
second one is relied on where an answer says nothing of how long it is fresh, and is of today, or has no date.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from urllib.parse import urlsplit

from lanelab.driver.record.evidence.browser import Request
from lanelab.driver.record.reasons import Flag, FlagName
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.site.freshness import dates, kept_for_s, values, varies_by
from lanelab.driver.site.site import Site
from lanelab.driver.trial.page_load.judges.judge import Judge, Needs
from lanelab.driver.trial.page_load.requests import (
    RequestKey,
    asked_for,
    asked_for_a_part,
    asked_of,
    fetched_from,
    few,
    inexact_targets,
    on_network,
)

OK = 200
DAY_S = 86_400
SPARE_S = 60  # for which an answer has to stay fresh: a record says when its trial began, not quite when it was read
IN_MEMORY = ("image", "script", "stylesheet")  # types
DOCUMENT, PARSER = "document", "parser"
LOCKED_MS = 20_000  # so long Chromium waits for who fetches the same already, and then fetches it too
ASKED_HOW = ("sec-fetch-mode", "origin")
CHROMIUM = "chrom"  # in what it calls itself


@dataclass(frozen=True)
class Refetched:
    record: TrialRecord
    site: Site

    def flags(self) -> Iterator[Flag]:
        again = [f"{url} ({times} times)" for url, times in self.again()]
        if again:
            yield Flag(FlagName.FETCHED_TWICE, few(again))

    def again(self) -> Iterator[tuple[str, int]]:
        """Yield each address whose answer came too often, and how often it came. An answer that a browser may keep
        comes once, however often the page wants it. A site may have several answers for one address, and each
        comes."""
        evidence = self.record.page_load
        inexact = set(inexact_targets(evidence)) if evidence else set()
        requests: dict[RequestKey, list[Request]] = {}
        for each in self._whole:
            requests.setdefault(asked_of(each), []).append(each)
        answers = Counter(asked_for(each) for each in self.site.objects)
        for (method, url), count in answers.items():
            if method != "GET" or url in inexact:
                continue
            sharing = self._sharing(requests.get((method, url), []))
            times = max((len(same) for same in sharing if self._may_be_kept(same)), default=0)
            if times > count:
                yield url, times

    @property
    def _whole(self) -> list[Request]:
        """All answers of the site's hosts that came over the network, and are neither parts nor documents."""
        return [
            each
            for each in fetched_from(self.site.hosts, self.record.requests)
            if each.status == OK and not asked_for_a_part(each) and each.type.lower() != DOCUMENT
        ]

    @cached_property
    def _documents(self) -> list[str]:
        """Addresses of the page and its frames."""
        documents = (each for each in on_network(self.record.requests) if each.type.lower() == DOCUMENT)
        return [each.url.partition("#")[0] for each in documents if not 300 <= (each.status or 0) < 400]

    def _sharing(self, requests: list[Request]) -> list[list[Request]]:
        """Return those that one cache answers. Where there are several documents, those that name one of them, or its
        origin, as who asked: a style sheet, which asks too, may be of several."""
        documents = self._documents
        if len(documents) <= 1:
            return [requests]
        named = {*documents, *map(_origin, documents)}
        by_origin: dict[str, list[Request]] = {}
        for each in requests:
            for referer in values(each.request_headers, "referer"):
                if referer in named:
                    by_origin.setdefault(_origin(referer), []).append(each)
        return list(by_origin.values())

    def _may_be_kept(self, requests: list[Request]) -> bool:
        """Return whether the browser may show each of these again without asking, when the last was asked for."""
        if len(requests) < 2 or _is_locked(requests):
            return False
        now = datetime.fromisoformat(self.record.started_utc).timestamp()
        now += max(each.started_ms for each in requests) / 1000
        left_s = [kept_for_s(each.response_headers, now) for each in requests]
        says_how_long = all(each is not None and each > SPARE_S for each in left_s)
        in_memory = all(each is None for each in left_s) and self._are_in_memory(requests, now)
        varied_by = {name for each in requests for name in varies_by(each.response_headers)}
        return (says_how_long or in_memory) and _have_the_same(requests, varied_by)

    def _are_in_memory(self, requests: list[Request], now: float) -> bool:
        """Return whether answers that do not say how long they are fresh are in memory. A preload that asks in another
        way than the page is what is looked for; of a page that asks in two ways by itself it is right."""
        browser = self.record.page_load.browser if self.record.page_load else None
        if browser is None or CHROMIUM not in browser.facts.product.lower() or len(self._documents) > 1:
            return False
        if not _have_the_same(requests, ASKED_HOW) and not any(each.link_preload for each in requests):
            return False
        return all(
            each.type.lower() in IN_MEMORY
            and (each.initiator == PARSER or each.link_preload)  # what a script made may be gone again
            and each.before_load
            and not any(now - date > DAY_S for date in dates(each.response_headers))
            for each in requests
        )


def _is_locked(requests: Iterable[Request]) -> bool:
    """Return whether the first took too long for another to wait for it."""
    first, *others = sorted(requests, key=lambda each: each.started_ms)
    return first.ended_ms is None or any(first.ended_ms - each.started_ms > LOCKED_MS for each in others)


def _have_the_same(requests: Iterable[Request], names: Iterable[str]) -> bool:
    """Return whether requests have the same of these headers."""
    return all(len({tuple(values(each.request_headers, name)) for each in requests}) <= 1 for name in names)


def _origin(url: str) -> str:
    """Return the origin as a page names itself to others."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}/"


JUDGE = Judge(Needs.TRIAL, flags=lambda case: Refetched(case.record, case.site).flags())
