"""The result of a run on a terminal: what `lanelab run` prints at its end, and `lanelab show`."""

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from lanelab.analysis.results import (
    beds_table,
    conditions,
    links,
    load_reports,
    machine,
    machines_table,
    sites,
    tables,
    witnesses,
)
from lanelab.analysis.results.claims.terminal import summary, verdict_table
from lanelab.analysis.results.layout.terminal import on_terminal
from lanelab.analysis.results.model import Run
from lanelab.analysis.results.sections.cells import cells_section
from lanelab.analysis.results.sections.comparisons import comparisons_section
from lanelab.analysis.results.sections.seen import Seen
from lanelab.analysis.results.tables import ComparisonRow
from lanelab.driver.base.amounts import counted


def results(run: Run) -> RenderableType:
    """Everything worth a look: the table, comparisons, what the gateway costs, failures, drift."""
    seen = Seen(run)
    cells = on_terminal([cells_section(seen)])
    if seen.nothing:
        return Group(cells, *_doubts(run))
    parts: list[RenderableType] = [cells]
    if judged := seen.judged:
        parts += [Text(), Text("claims", style="bold"), verdict_table(judged), Text(summary(judged))]
    parts.append(on_terminal([comparisons_section(seen)]))
    parts += _levels(run, seen.compared)
    gateway = seen.gateway.sentences()
    if gateway and run.ok:
        parts += [Text(), Text("what the gateway costs", style="bold"), *map(Text, gateway)]
    parts += [Text(sentence, style="yellow") for sentence in witnesses.silences(run)]
    if levels := load_reports.service_levels(run):
        parts += [Text(), Text("service level", style="bold"), *map(Text, levels)]
    loads = seen.loads
    if thresholds := load_reports.threshold_sentences(loads):
        parts += [Text(), Text("thresholds", style="bold"), *map(Text, thresholds)]
    if hidden := load_reports.sentences(loads):
        parts += [Text(), Text("what no percentile has", style="bold"), *map(Text, hidden)]
    parts += [Text(sentence, style="yellow") for sentence in load_reports.left_out_sentences(loads)]
    return Group(*parts, *_doubts(run))


def _doubts(run: Run) -> list[RenderableType]:
    """What failed, and what makes numbers mean less."""
    parts: list[RenderableType] = []
    failures = tables.failure_counts(run)
    if failures:
        words = ", ".join(f"{reason} {number}" for reason, number in failures.most_common())
        fail = counted(len(run.failed), "trial failed and does", "trials failed and do")
        parts += [Text(), Text(f"{fail} not count: {words}", style="yellow")]
    parts += [Text(sentence, style="yellow") for sentence in links.sentences(run)]
    if flagged := machine.sentence(run):
        parts.append(Text(flagged, style="yellow"))
    run_drift = tables.run_drift(run)
    if run_drift.is_shown:
        parts.append(Text(run_drift.words(), style="yellow"))
    parts += [Text(sentence, style="dim") for sentence in sites.sentences(run)]
    return [*parts, *(Text(sentence, style="yellow") for sentence in conditions.sentences(run))]


def _levels(run: Run, compared: Sequence[ComparisonRow]) -> list[RenderableType]:
    """Return what beds say of a run on one machine, and what machines say of a run on several."""
    made_on = tables.machines(run, compared)
    beds = beds_table.parts(tables.beds(run, compared), run.primary) if made_on.used < 2 else []
    return [*beds, *machines_table.parts(made_on, run.primary)]
