"""Who could say what was on the link, as a section of the report."""

from lanelab.analysis.results import witnesses
from lanelab.analysis.results.layout.markup import Html, el
from lanelab.analysis.results.model import Run
from lanelab.analysis.results.report.sections import section


def section_of(run: Run) -> Html | None:
    """Return the section; None where no page was loaded."""
    sentences = witnesses.sentences(run)
    return (
        section("witnesses", "Records of the wire: do they agree?", [el("p", said) for said in sentences])
        if sentences
        else None
    )
