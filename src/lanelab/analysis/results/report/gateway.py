"""The part of the report that says what the gateway costs."""

from collections.abc import Callable, Sequence

from lanelab.analysis.results.gateway_cost import Cost, CostRow, is_shown, left_out_words
from lanelab.analysis.results.gateway_terms import SHOWN, Terms
from lanelab.analysis.results.layout.markup import Html, el, join
from lanelab.analysis.results.layout.page import scroll
from lanelab.analysis.results.numbers import change_words, difference, milliseconds
from lanelab.analysis.results.report.sections import section
from lanelab.analysis.statistics import Change, Comparison, interval_name

NOTE = (
    "Arms that are equal but for via, compared round by round: above 0 the load through the gateway took longer. What "
    "it costs is in every load that goes through it; where an interval holds 0, no cost is shown. Medians are of the "
    "rounds that have both. "
    "docs/reference/gateway.md says what it does."
)
TERMS = (
    "Medians in ms, without and with the gateway: from the page's last byte to the 1st and the 6th request after it, "
    "and from an answer's end to the next request on its connection. Together: the difference in the 6th's lag, and "
    "in turnaround once for each further request of a connection. Left: what that leaves of the cost above, by round; "
    "the two terms explain it where its interval holds 0."
)


def section_of(cost: Cost) -> Html | None:
    """Return the section; None where no arm goes through it."""
    if not cost.through:
        return None
    title = "What the gateway costs"
    if not cost.rows:
        return section("gateway", title, [el("p", sentence) for sentence in cost.sentences()])
    interval = interval_name(row.comparison.difference for row in cost.rows if row.comparison)
    heads = ["arm", "without", "median", "with", "cost", interval, "share", interval, "rounds"]
    parts = [scroll(_table(heads, [(row, _row(row)) for row in cost.rows])), el("p", NOTE, class_="note")]
    explained = [(row, _terms(row, row.terms)) for row in cost.rows if row.terms]
    if explained:
        heads = ["arm", "without", *SHOWN.values(), "together", interval, "left", interval, "explained"]
        parts += [scroll(_table(heads, explained)), el("p", TERMS, class_="note")]
    return section("gateway", title, *parts)


def _table(heads: Sequence[str], rows: Sequence[tuple[CostRow, Html]]) -> Html:
    """Return the table, with a line of its own for each site and link."""
    body: list[Html] = []
    group: tuple[str, str] | None = None
    for row, html in rows:
        if row.cell.group != group:
            group = row.cell.group
            head = join(el("b", group[1]), " ", el("span", group[0]))
            body.append(el("tr", el("th", head, colspan=len(heads), scope="rowgroup"), class_="group"))
        body.append(html)
    names = ("arm", "without")
    head = el("tr", [el("th", word, scope="col", class_=None if word in names else "num") for word in heads])
    return el("table", el("thead", head), el("tbody", body))


def _terms(row: CostRow, terms: Terms) -> Html:
    """Start lags and turnaround natively and through the gateway, and what they make and leave of the difference."""
    cells = [el("td", row.cell.arm.name), el("td", row.native.name)]
    for name in SHOWN:
        both = terms.medians.get(name)
        words = f"{milliseconds(both[0])} / {milliseconds(both[1])}" if both else "-"
        cells.append(el("td", words, class_="num"))
    for change in (terms.together, terms.left):
        cells.append(el("td", difference(change.value), class_="num"))
        cells.append(el("td", _between(change, difference), class_="num", title=change.meaning()))
    agree = {True: "yes", False: "no", None: "-"}[terms.agree]
    return el("tr", cells, el("td", agree, class_="num"))


def _row(row: CostRow) -> Html:
    comparison = row.comparison
    names = [el("td", row.cell.arm.name), el("td", row.native.name)]
    medians = [el("td", milliseconds(value), class_="num") for value in (row.native_ms, row.gateway_ms)]
    if comparison is None:
        return el("tr", names, medians, el("td", "no round has both", colspan=5, class_="muted"))
    return el(
        "tr",
        names,
        medians,
        el("td", _cost(comparison), class_="num"),
        el("td", _between(comparison.difference, difference), class_="num", title=comparison.difference.meaning()),
        el("td", change_words(comparison.ratio.value), class_="num"),
        el("td", _between(comparison.ratio, change_words), class_="num"),
        el(
            "td",
            comparison.n,
            f" ({left_out_words(comparison.left_out)})" if comparison.left_out else None,
            class_="num",
        ),
    )


def _cost(comparison: Comparison) -> Html:
    """Write a cost, emphasised where it is shown."""
    words = f"{difference(comparison.difference.value)} ms"
    return el("b", words) if is_shown(comparison) else el("span", words, class_="muted", title="no cost shown")


def _between(change: Change, words: Callable[[float], str]) -> str:
    return "-" if change.low is None or change.high is None else f"{words(change.low)} to {words(change.high)}"
