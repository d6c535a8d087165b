"""What a page fetched again though it had it: a reason to doubt a trial, since the link carried it once more. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from email.utils import parsedate_to_datetime

from lanelab.driver.record.evidence.browser import Request
from lanelab.driver.record.reasons import Flag, FlagName
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.site.site import Site
from lanelab.driver.trial.page_load.judges.judge import Judge, Needs
from lanelab.driver.trial.page_load.requests import (
    Asked,
    asked_for,
    asked_for_a_part,
    asked_of,
    fetched,
    few,
    host,
    inexact_targets,
)

OK = 200
# Of Cache-Control: the browser may not show the answer again without asking.
ASKED_AGAIN = ("no-store", "no-cache", "max-age=0", "must-revalidate")
DAY_S = 86_400


@dataclass(frozen=True, slots=True)
class Refetched:
    record: TrialRecord
    site: Site

    def flags(self) -> Iterator[Flag]:
        again = list(self._again())
        if again:
            yield Flag(FlagName.FETCHED_TWICE, few(again))

    def _again(self) -> Iterator[str]:
        """An answer that a browser may keep comes once, however often the page wants it. A site may have several
        answers for one address, and each comes."""
        evidence = self.record.page_load
        now = datetime.fromisoformat(self.record.started_utc).timestamp()
        inexact = set(inexact_targets(evidence)) if evidence else set()
        answers: dict[Asked, int] = {}
        for each in self.site.objects:
            answers[asked_for(each)] = answers.get(asked_for(each), 0) + 1
        for (method, url), count in answers.items():
            requests = [each for each in self._whole if asked_of(each) == (method, url)]
            kept = all(_may_be_kept(each, now) for each in requests)
            if method == "GET" and url not in inexact and len(requests) > count and kept:
                yield f"{url} ({len(requests)} times)"

    @property
    def _whole(self) -> list[Request]:
        """All answers of the site's hosts that came over the network, and are no parts."""
        return [
            each
            for each in fetched(self.record.requests)
            if each.status == OK and host(each) in self.site.hosts and not asked_for_a_part(each)
        ]


def _may_be_kept(request: Request, now: float) -> bool:
    """Whether the browser may show this answer again without asking. Answers that were recorded with their date are
    old by now, and are not."""
    headers = [(name.lower(), value.lower().strip()) for name, value in request.response_headers]
    control = ",".join(value for name, value in headers if name == "cache-control")
    if any(word in control for word in ASKED_AGAIN) or not {("pragma", "no-cache"), ("vary", "*")}.isdisjoint(headers):
        return False
    if not control and any(name == "expires" for name, _ in headers):
        return False
    return all(abs(now - _seconds(value)) < DAY_S for name, value in headers if name == "date")


def _seconds(date: str) -> float:
    """Since 1970; of what is no date, none since then."""
    try:
        return parsedate_to_datetime(date).timestamp()
    except (ValueError, OverflowError):
        return 0.0


JUDGE = Judge(Needs.TRIAL, flags=lambda case: Refetched(case.record, case.site).flags())
