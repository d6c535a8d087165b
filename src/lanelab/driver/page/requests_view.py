"""The requests of a trial, with their headers. Times are in ms since the page was asked for."""

from lanelab.analysis.results.layout.markup import Html, el
from lanelab.analysis.results.layout.model import NONE
from lanelab.analysis.results.layout.page import scroll, section_on_page
from lanelab.driver.page.language import many, number_words, say, text, whole
from lanelab.driver.record.evidence.browser import Headers, Request
from lanelab.driver.record.record import TrialRecord

MOST = 500  # that are listed
COLUMNS = (
    text("request"), text("status"), text("type"), text("protocol"), text("priority"), text("connection"),
    text("began (ms)"), text("took (ms)"), text("bytes"), text("headers"),
)  # fmt: skip


def requests_section(record: TrialRecord) -> Html | None:
    """Return the table of the requests; None where there are none."""
    if not record.requests:
        return None
    head = el("thead", el("tr", [el("th", say(column), scope="col") for column in COLUMNS]))
    body = el("tbody", [_row(number, each) for number, each in enumerate(record.requests[:MOST], 1)])
    more = len(record.requests) - MOST
    rest = many(more, "{n} more is in the HAR.", "{n} more are in the HAR.") if more > 0 else None
    title = say("Requests")
    return section_on_page(
        "requests", title, scroll(el("table", el("caption", title, class_="visually-hidden"), head, body)),
        el("p", rest, class_="note") if rest else None,
    )  # fmt: skip


def _row(number: int, request: Request) -> Html:
    took = None if request.ended_ms is None else request.ended_ms - request.started_ms
    connection = NONE if request.connection is None else f"{request.connection}"
    reused = f" {say('reused')}" if request.reused else ""
    return el(
        "tr",
        el("td", f"{number} {request.method} {request.url}", class_="address"),
        el("td", request.status or request.error or say("no answer"), class_=_mood(request)),
        [el("td", each or NONE) for each in (request.type, request.protocol, request.priority, connection + reused)],
        el("td", _ms(request.started_ms), class_="num"),
        el("td", say("never ended") if took is None else _ms(took), class_="num"),
        el("td", whole(request.wire_bytes), class_="num"),
        el("td", _headers(request)),
    )


def _mood(request: Request) -> str | None:
    return "bad" if request.status is None or request.status >= 400 else None


def _ms(value: float) -> str:
    return number_words(f"{value:,.0f}")


def _headers(request: Request) -> Html:
    """Return both lists, folded: the names of those that a page needs are many."""
    number = len(request.request_headers) + len(request.response_headers)
    lists = [
        el("div", el("b", title), _list(headers))
        for title, headers in ((say("asked"), request.request_headers), (say("answered"), request.response_headers))
    ]
    return el("details", el("summary", many(number, "{n} header", "{n} headers")), lists)


def _list(headers: Headers) -> Html:
    return el("dl", [[el("dt", name), el("dd", value)] for name, value in headers], class_="headers")
