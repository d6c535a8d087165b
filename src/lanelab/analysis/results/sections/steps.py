"""The steps of journeys: each cell's medians of each."""

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lanelab.analysis.results.layout.model import Column, Section, Words, table
from lanelab.analysis.results.model import Trial
from lanelab.analysis.results.numbers import milliseconds, shown
from lanelab.analysis.results.sections.cells import groups, place
from lanelab.analysis.results.sections.seen import Seen
from lanelab.analysis.results.tables import Row
from lanelab.driver.record.metrics import INP_CENSORED, OF_SOFT_NAVIGATIONS, STEP_METRICS, Metric, of_step

MEANING = (
    "Medians of the trials that count. Opened and reused: connections that carried a request of the step, new ones and "
    "those of earlier steps. From cache: requests that the browser's cache answered. A page that is shown as it was "
    "left asks for nothing."
)
OF_SOFT = " Soft: of a change of the address without a load, as the browser reports it, from the input that led to it."
OF_QUICK = " INP: browsers do not tell what is shown within 16 ms; that is 16 here."


@dataclass(frozen=True, slots=True)
class StepLine:
    """One step in one cell."""

    row: Row
    number: int
    name: str
    trials: Sequence[Trial]

    def median(self, measure: str) -> float | None:
        name = of_step(measure, self.name)
        values = [trial.measures[name] for trial in self.trials if name in trial.measures]
        return statistics.median(values) if values else None

    def has(self, measure: str) -> bool:
        return any(of_step(measure, self.name) in trial.measures for trial in self.trials)

    def vital(self, metric: Metric) -> str | None:
        value = self.median(metric.name)
        return None if value is None else shown(metric, value)

    def time(self, measure: str) -> str | None:
        value = self.median(measure)
        return None if value is None else milliseconds(value)

    def count(self, measure: str) -> str | None:
        value = self.median(measure)
        return None if value is None else f"{value:g}"


COLUMNS: Sequence[Column[StepLine]] = (
    Column("arm", lambda line: line.row.cell.arm.name),
    Column("step", lambda line: f"{line.number}. {line.name}"),
    Column("load ms", lambda line: line.time("plt_ms"), number=True),
    Column("FCP ms", lambda line: line.time("fcp_ms"), number=True),
    Column("requests", lambda line: line.count("requests"), number=True),
    Column("opened", lambda line: line.count("connections_opened"), number=True, spare=3),
    Column("reused", lambda line: line.count("connections_reused"), number=True, spare=4),
    Column("from cache", lambda line: line.count("from_cache"), number=True, spare=2),
    Column("at best ms", lambda line: line.time("bound_ms"), number=True, spare=1),
)


def steps_section(seen: Seen) -> Section | None:
    """Lay out a line for each step of each cell whose link is not refused; None where trials load one page."""
    lines = list(_lines(seen))
    if not lines:
        return None
    vitals = [metric for metric in STEP_METRICS if metric.column and any(line.has(metric.name) for line in lines)]
    columns = (*COLUMNS, *map(_of_vitals, vitals))
    steps = table(columns, lines, groups=groups(seen), group=lambda line: place(line.row.cell, seen))
    meaning = MEANING + (OF_SOFT if any(metric.name in OF_SOFT_NAVIGATIONS for metric in vitals) else "")
    meaning += OF_QUICK if any(line.median(INP_CENSORED) for line in lines) else ""
    return Section("steps", "Steps", (steps, Words(meaning, "muted")), short="steps of the journey, medians")


def _of_vitals(metric: Metric) -> Column[StepLine]:
    return Column(metric.column, lambda line: line.vital(metric), number=True)


def _lines(seen: Seen) -> Iterator[StepLine]:
    trials = seen.run.by_cell()
    for row in seen.rows:
        sound = [trial for trial in trials[row.cell.number] if trial.ok]
        for number, name in enumerate(seen.run.steps, 1):
            if sound and not row.refused:
                yield StepLine(row, number, name, sound)
