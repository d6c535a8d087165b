"""The headers of a trial's requests, folded: the table of its numbers has the rest of them."""

from lanelab.analysis.results.layout.markup import Html, el
from lanelab.analysis.results.layout.page import section_on_page
from lanelab.driver.page.language import many, say
from lanelab.driver.record.evidence.browser import Headers, Request
from lanelab.driver.record.record import TrialRecord

MOST = 500  # that are listed


def headers_section(record: TrialRecord) -> Html | None:
    """Return the requests, each with what was sent and what was answered; None where there are none."""
    if not record.requests:
        return None
    folds = [_fold(number, each) for number, each in enumerate(record.requests[:MOST], 1)]
    more = len(record.requests) - MOST
    rest = el("p", many(more, "{n} more is in the HAR.", "{n} more are in the HAR."), class_="note")
    return section_on_page("headers", say("Requests and their headers"), folds, rest if more > 0 else None)


def _fold(number: int, request: Request) -> Html:
    outcome = request.status or request.error or say("no answer")
    mood = "bad" if request.status is None or request.status >= 400 else None
    summary = el("summary", f"{number} {request.method} {request.url} ", el("span", outcome, class_=mood))
    lists = [
        [el("h3", title), _list(headers)]
        for title, headers in ((say("Request"), request.request_headers), (say("Answer"), request.response_headers))
    ]
    return el("details", summary, lists, class_="request-headers")


def _list(headers: Headers) -> Html:
    return el("dl", [[el("dt", name), el("dd", value)] for name, value in headers], class_="headers")
