"""What the gateway costs, and what that is made of."""

from collections.abc import Callable, Sequence

from lanelab.analysis.results.gateway_cost import CostRow, is_shown, left_out_words
from lanelab.analysis.results.gateway_terms import SHOWN, Terms
from lanelab.analysis.results.layout.model import Cell, Column, Part, Section, Words, table, words
from lanelab.analysis.results.numbers import NONE, change_words, difference, milliseconds
from lanelab.analysis.results.sections.cells import groups, place
from lanelab.analysis.results.sections.seen import Seen
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


def gateway_section(seen: Seen) -> Section | None:
    """Lay out the cost of the gateway; None where no arm goes through it."""
    cost = seen.gateway
    title, texts = "What the gateway costs", cost.sentences()
    if not texts or not seen.run.ok:
        return None
    if not cost.rows:
        return Section("gateway", title, words(texts), short="what the gateway costs")
    interval = interval_name(row.comparison.difference for row in cost.rows if row.comparison)

    def of_rows(columns: Sequence[Column[CostRow]], rows: Sequence[CostRow]):  # type: ignore[no-untyped-def] # noqa
        return table(columns, rows, groups=groups(seen), group=lambda row: place(row.cell, seen), where="long")

    explained = [row for row in cost.rows if row.terms]
    terms = (of_rows(_terms(interval), explained), *words([TERMS], "muted", "page")) if explained else ()
    parts: tuple[Part, ...] = (
        *words(texts, where="text"),
        of_rows(_costs(interval), cost.rows),
        *words([NOTE], "muted", "page"),
        *terms,
    )
    return Section("gateway", title, parts, short="what the gateway costs")


def _costs(interval: str) -> Sequence[Column[CostRow]]:
    return (
        Column("arm", lambda row: row.cell.arm.name),
        Column("without", lambda row: row.native.name),
        Column("median", lambda row: milliseconds(row.native_ms), number=True),
        Column("with", lambda row: milliseconds(row.gateway_ms), number=True),
        Column("cost", _cost, number=True),
        Column(interval, _of(lambda one: between(one.difference, difference)), number=True),
        Column("share", _of(lambda one: change_words(one.ratio.value)), number=True),
        Column(f"{interval} ", _of(lambda one: between(one.ratio, change_words)), number=True),
        Column("rounds", _of(_rounds), number=True),
    )


def _of(cell: Callable[[Comparison], Cell]) -> Callable[[CostRow], Cell]:
    return lambda row: cell(row.comparison) if row.comparison else None


def _cost(row: CostRow) -> Words:
    """Make what is shown stand out."""
    comparison = row.comparison
    if comparison is None:
        return Words(row.why, "muted", wide=True)
    text = f"{difference(comparison.difference.value)} ms"
    return Words(text, "strong") if is_shown(comparison) else Words(text, "muted", tip="no cost shown")


def _rounds(comparison: Comparison) -> str:
    return f"{comparison.n}" + (f" ({left})" if (left := left_out_words(comparison)) else "")


def between(change: Change, show: Callable[[float], str]) -> Words:
    """Write an interval; on a page, what it means is said where one points at it."""
    ends = NONE if change.low is None or change.high is None else f"{show(change.low)} to {show(change.high)}"
    return Words(ends, tip=change.meaning())


def _terms(interval: str) -> Sequence[Column[CostRow]]:
    """Return the columns on start lags and turnaround, natively and through the gateway, and what they make."""

    def of_terms(cell: Callable[[Terms], Cell]) -> Callable[[CostRow], Cell]:
        return lambda row: cell(row.terms) if row.terms else None

    def both(name: str) -> Callable[[Terms], Cell]:
        return lambda terms: " / ".join(map(milliseconds, terms.medians[name])) if name in terms.medians else None

    return (
        Column("arm", lambda row: row.cell.arm.name),
        Column("without", lambda row: row.native.name),
        *(Column[CostRow](title, of_terms(both(name)), number=True) for name, title in SHOWN.items()),
        Column("together", of_terms(lambda terms: difference(terms.together.value)), number=True),
        Column(interval, of_terms(lambda terms: between(terms.together, difference)), number=True),
        Column("left", of_terms(lambda terms: difference(terms.left.value)), number=True),
        Column(f"{interval} ", of_terms(lambda terms: between(terms.left, difference)), number=True),
        Column("explained", of_terms(lambda terms: {True: "yes", False: "no", None: NONE}[terms.agree]), number=True),
    )
