"""The first thing in a study's report: each published claim with its verdicts."""

from collections.abc import Sequence

from lanelab.analysis.results.layout.markup import Html, el, join
from lanelab.analysis.results.layout.page import scroll
from lanelab.analysis.results.report.claims import HEADS, NOTE, heads, verdict_row
from lanelab.analysis.results.report.sections import section
from lanelab.analysis.results.study.judged import JudgedStudy, StudyVerdict
from lanelab.driver.run.study.study import PublishedClaim


def verdict_section(study: JudgedStudy) -> Html:
    """Return the table, and how many of its verdicts may be wrong."""
    groups = [_published(claim, verdicts, study.unchecked) for claim, verdicts in study.published]
    if study.further:
        rows = [_row(each) for each in study.further]
        groups.append(el("tbody", _group("Further claims of the experiments", ""), rows))
    table = el("table", heads(), groups, class_="verdicts")
    edited = [each.judged.claim.name for each in study.changed]
    changed = f"Changed after the run began, and so no test of what was foretold: {', '.join(edited)}."
    return section(
        "verdicts",
        "Verdicts",
        el("p", changed, class_="bad") if edited else None,
        scroll(table),
        el("p", study.expected_false()) if study.tested else None,
        el("p", NOTE, class_="note"),
    )


def _published(claim: PublishedClaim, verdicts: Sequence[StudyVerdict], unchecked: str) -> Html:
    rows = [_row(each) for each in verdicts]
    if not rows:
        rows = [el("tr", el("td", unchecked, colspan=len(HEADS), class_="muted"))]
    return el("tbody", _group(f"{claim.number}. {claim.says}", claim.note), rows, id=f"published-{claim.number}")


def _group(title: str, note: str) -> Html:
    words = join(el("b", title), el("span", note, class_="note") if note else None)
    return el("tr", el("th", words, colspan=len(HEADS), scope="rowgroup"), class_="group")


def _row(verdict: StudyVerdict) -> Html:
    return verdict_row(verdict.judged, verdict.adjusted_p, verdict.address, verdict.figure)
