"""Nothing was fetched that the site does not have, and every answer is the one that was recorded."""

from collections.abc import Iterator

from lanelab.driver.record.reasons import Failure, Reason
from lanelab.driver.trial.page_load.judges.judge import Case, Judge, Needs
from lanelab.driver.trial.page_load.requests import (
    DOUBTFUL,
    asked_for,
    asked_of,
    few,
    host,
    inexact_targets,
    on_network,
    target,
)

NOT_FOUND = 404
FAVICON = "/favicon.ico"


def _extra(case: Case) -> Iterator[Failure]:
    """An icon that the browser looks for by itself once the page is there is not the page's. Where the server says
    404 to what is missing, every other answer comes from elsewhere."""
    known = {asked_for(each) for each in case.site.objects}
    known |= {("HEAD", url) for method, url in known if method == "GET"}  # the server answers these by the same
    hosts, inexact, unanswered = case.site.hosts, inexact_targets(case.evidence), set(case.site.unanswered)
    extra = [
        target(each)
        for each in on_network(case.record.requests)
        if host(each) in hosts
        and asked_of(each) not in known
        and target(each) not in unanswered
        and target(each) not in inexact
        and not (not each.before_load and target(each).endswith(FAVICON))
        and not (case.site.answers_missing and each.status in (None, NOT_FOUND))
    ]
    if len(extra) > case.tolerances.extra:
        yield Failure(Reason.EXTRA_REQUEST, few(extra))


def _inexact(case: Case) -> Iterator[Failure]:
    """What was asked for with another query than was recorded, and got the nearest object there is."""
    inexact = inexact_targets(case.evidence, DOUBTFUL)
    if len(inexact) > case.tolerances.inexact:
        yield Failure(Reason.INEXACT_ANSWER, few(inexact))


def _failures(case: Case) -> Iterator[Failure]:
    yield from _extra(case)
    yield from _inexact(case)


JUDGE = Judge(Needs.LOAD, _failures)
