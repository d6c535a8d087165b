"""What the sections of a run are about: its numbers, each worked out once. A section is a function of this."""

from functools import cached_property

from lanelab.analysis.results import tables
from lanelab.analysis.results.between_beds import BedsOfRun
from lanelab.analysis.results.claims.judge import judge
from lanelab.analysis.results.claims.verdict import Judged
from lanelab.analysis.results.comparisons import ComparisonRow, comparisons
from lanelab.analysis.results.gateway_cost import Cost, cost
from lanelab.analysis.results.load_reports import Reported, reported
from lanelab.analysis.results.machines import MachinesOfRun
from lanelab.analysis.results.model import Run
from lanelab.analysis.results.pooled_places import PooledRow, pooled
from lanelab.analysis.results.refusals import Refused, refusals
from lanelab.analysis.results.tables import Row


class Seen:
    """A run with its numbers."""

    def __init__(self, run: Run) -> None:
        self.run = run

    @cached_property
    def refused(self) -> Refused:
        return refusals(self.run)

    @cached_property
    def rows(self) -> list[Row]:
        return tables.rows(self.run, self.refused)

    @cached_property
    def nothing(self) -> str:
        """A sentence where tables would be empty; "" where they have numbers."""
        return tables.nothing_counts(self.run) if tables.are_empty(self.rows) else ""

    @cached_property
    def compared(self) -> list[ComparisonRow]:
        return comparisons(self.run, self.refused)

    @cached_property
    def pooled(self) -> list[PooledRow]:
        return pooled(self.run, self.refused)

    @cached_property
    def judged(self) -> list[Judged]:
        return judge(self.run)

    @cached_property
    def beds(self) -> BedsOfRun:
        return tables.beds(self.run, self.compared)

    @cached_property
    def machines(self) -> MachinesOfRun:
        return tables.machines(self.run, self.compared)

    @cached_property
    def gateway(self) -> Cost:
        return cost(self.run)

    @cached_property
    def loads(self) -> list[Reported]:
        return reported(self.run)

    @property
    def has_sites(self) -> bool:
        """True where there are several sites."""
        return len({cell.site for cell in self.run.cells}) > 1
