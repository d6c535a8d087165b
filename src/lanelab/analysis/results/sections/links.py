"""The links of a run: as self-tests measured them, and as the trials' own captures tell of them."""

from collections.abc import Callable, Sequence

from lanelab.analysis.results import link_drift, links
from lanelab.analysis.results.layout.model import Cell, Column, Part, Section, Table, Words, table, words
from lanelab.analysis.results.link_drift import LinkDrift, PropertyDrift
from lanelab.analysis.results.links import LinkRow
from lanelab.analysis.results.model import Run, SelfTest
from lanelab.analysis.results.refusals import Pooled
from lanelab.analysis.results.sections.cells import groups, place
from lanelab.analysis.results.sections.seen import Seen
from lanelab.analysis.results.self_tests import TestRow, outcome, test_rows, tests_before

PROOFS = (
    "Proven: trials whose round trips, rate, largest packets and initial windows, in their own capture, were the "
    "link's. Lost: of the packets whose loss would show, in all results of the cell; in brackets what a full queue may "
    "have dropped. Error: how far packets were from when the link should have delivered them, with its queue worked "
    "out packet by packet: the median, and what 99 of 100 stay below; medians of the trials. It needs captures at both "
    f"ends, by one clock. {links.REFERENCE}."
)


def self_tests_section(seen: Seen) -> Section:
    """Lay out one test of each link, property by property, and what became of it after the trials."""
    return Section("links", "The links, measured", self_test_parts(seen.run))


def self_test_parts(run: Run) -> tuple[Part, ...]:
    """Return the same for the page of a study."""
    tests = tests_before(run)
    if not tests:
        return words(["No link was measured."], where="long")
    text = f"{outcome(tests)} Measured from inside the bed, before trials used the link."
    return (*words([text], where="long"), self_test_table(tests), *_again(run))


def self_test_table(tests: Sequence[SelfTest]) -> Table:
    """Lay out the properties of each link."""
    return table(SELF_TESTS, test_rows(tests), where="long")


SELF_TESTS: Sequence[Column[TestRow]] = (
    Column("link", lambda one: Words(one.link, "strong") if one.is_first else "", where="page"),
    Column("link", lambda one: one.link, where="text"),
    Column("property", lambda one: Words(one.name, tip=one.note)),
    Column("target", lambda one: one.target, number=True),
    Column("measured", lambda one: one.measured, number=True),
    Column("tolerated", lambda one: one.tolerated, number=True),
    Column("unit", lambda one: one.unit),
    Column("verdict", lambda one: _verdict(one.verdict)),
)


def _verdict(verdict: str) -> Words:
    return Words(verdict, "good" if verdict == "ok" else "bad" if verdict == "out" else "muted")


def _again(run: Run) -> tuple[Part, ...]:
    """Say what links had become when they were measured again."""
    drifts = link_drift.drifts(run)
    missing = link_drift.not_measured_again(run)
    texts = (
        *words(link_drift.sentences(run), "strong", "long"),
        *words([_missing(missing, len(drifts))] if missing else [], where="long"),
    )
    if not any(drift.after for drift in drifts):
        return texts
    title = "Measured again after their trials, links had changed by no more than this:"
    return (*texts, *words([title], where="long"), table(AGAIN, link_drift.largest(run), where="long"))


def _missing(missing: list[LinkDrift], number: int) -> str:
    which = ", ".join(f"{drift.link.label} (bed {drift.bed})" for drift in missing[:6])
    more = f" and {len(missing) - 6} more" if len(missing) > 6 else ""
    if len(missing) == number:
        return f"No link was measured again after its trials: {which}{more}."
    return f"{len(missing)} of {number} were not measured again after their trials: {which}{more}."


def _figure(value: float | None, form: str = ".4g") -> Cell:
    return None if value is None else f"{value:{form}}"


AGAIN: Sequence[Column[PropertyDrift]] = (
    Column("property", lambda one: one.name),
    Column("before", lambda one: _figure(one.before), number=True),
    Column("after", lambda one: _figure(one.after), number=True),
    Column("change", lambda one: _figure(one.change, "+.3g"), number=True),
    Column("unit", lambda one: one.unit),
    Column("", lambda one: _verdict("out" if one.is_out else "ok")),
)


# --- by the trials' own captures


def proofs_section(seen: Seen) -> Section | None:
    """Lay out what captures tell of each cell's link; None where no trial's capture does."""
    rows = links.rows(seen.run)
    texts: list[Part] = [
        part for text in links.sentences(seen.run) for part in (*words([text], "warn", "terminal"),
        *words([f"{text}."], where="long"))
    ]  # fmt: skip
    if not rows:
        return Section("proofs", "Links by their trials", tuple(texts)) if texts else None
    proofs = table(PROOF_COLUMNS, rows, groups=groups(seen), group=lambda row: place(row.cell, seen), where="long")
    parts: tuple[Part, ...] = (*texts, proofs, *words([PROOFS], "muted", "page"))
    return Section("proofs", "Links by their trials", parts)


def _lost(pooled: Callable[[LinkRow], Pooled]) -> Callable[[LinkRow], Cell]:
    def words_of(row: LinkRow) -> Cell:
        losses = pooled(row)
        overflowed = f" ({losses.overflowed:,})" if losses.overflowed else ""
        return f"{losses.lost:,}{overflowed} of {losses.packets:,}" if losses.packets else None

    return words_of


PROOF_COLUMNS: Sequence[Column[LinkRow]] = (
    Column("arm", lambda row: row.cell.arm.name),
    Column("proven", lambda row: f"{row.proven} of {row.trials}", number=True),
    Column("lost down", _lost(lambda row: row.down), number=True),
    Column("lost up", _lost(lambda row: row.up), number=True),
    Column("error ms", lambda row: _figure(row.error_ms, ".2f"), number=True),
    Column("99% ms", lambda row: _figure(row.error_99_ms, ".2f"), number=True),
    Column("", lambda row: "refused" if row.refused else ""),
)
