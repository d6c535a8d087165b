"""The results of a run, in the order in which terminals and Markdown have them. A new result is one function here."""

from collections.abc import Callable, Iterator, Sequence

from rich.console import RenderableType

from lanelab.analysis.results.layout.markdown import head_markdown, markdown
from lanelab.analysis.results.layout.model import Section
from lanelab.analysis.results.layout.terminal import on_terminal
from lanelab.analysis.results.model import Run
from lanelab.analysis.results.sections.beds import beds_section
from lanelab.analysis.results.sections.cells import cells_section
from lanelab.analysis.results.sections.claims import claims_section
from lanelab.analysis.results.sections.comparisons import comparisons_section
from lanelab.analysis.results.sections.doubts import (
    conditions_section,
    failures_section,
    machine_section,
    noise_section,
    sites_section,
    witnesses_section,
)
from lanelab.analysis.results.sections.fetch import fetch_section
from lanelab.analysis.results.sections.gateway import gateway_section
from lanelab.analysis.results.sections.head import head
from lanelab.analysis.results.sections.links import proofs_section, self_tests_section
from lanelab.analysis.results.sections.load import load_section
from lanelab.analysis.results.sections.machines import machines_section
from lanelab.analysis.results.sections.provenance import experiment_section, provenance_section, reading_section
from lanelab.analysis.results.sections.seen import Seen
from lanelab.analysis.results.sections.steps import steps_section

SECTIONS: Sequence[Callable[[Seen], Section | None]] = (
    cells_section,
    steps_section,
    claims_section,
    comparisons_section,
    beds_section,
    machines_section,
    gateway_section,
    load_section,
    fetch_section,
    witnesses_section,
    failures_section,
    proofs_section,
    self_tests_section,
    machine_section,
    noise_section,
    sites_section,
    conditions_section,
    provenance_section,
    experiment_section,
    reading_section,
)


def sections_of(seen: Seen) -> list[Section]:
    """Return the results that this run has."""
    return list(each_section(seen))


def each_section(seen: Seen) -> Iterator[Section]:
    """Yield the same, each as soon as it is laid out."""
    return (section for function in SECTIONS if (section := function(seen)))


def results_on_terminal(run: Run) -> RenderableType:
    """Lay out what `lanelab run` prints at its end, and `lanelab show`."""
    return on_terminal(sections_of(Seen(run)))


def results_markdown(run: Run) -> str:
    """Write all results as Markdown."""
    seen = Seen(run)
    return f"{head_markdown(head(seen))}\n\n{markdown(sections_of(seen))}"
