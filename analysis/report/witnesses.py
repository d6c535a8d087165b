"""Who could say what was on the link, as a section of the report."""

from __future__ import annotations

from analysis import witnesses
from analysis.model import Run
from analysis.report.markup import Html, el
from analysis.report.sections import section


def section_of(run: Run) -> Html | None:
    """None where no page was loaded."""
    sentences = witnesses.sentences(run)
    return (
        section("witnesses", "Records of the wire: do they agree?", [el("p", said) for said in sentences])
        if sentences
        else None
    )
