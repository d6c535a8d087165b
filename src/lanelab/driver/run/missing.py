"""What a run lacks at its end: which cells have too few trials that count, why, and what to do. A run that lacks some
must not look like a complete one."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from lanelab.driver.base.amounts import counted
from lanelab.driver.base.coded import Coded
from lanelab.driver.experiment.model import Experiment
from lanelab.driver.experiment.schedule.missing import lacking
from lanelab.driver.experiment.schedule.results import History
from lanelab.driver.record.reasons import Reason
from lanelab.driver.run.events import Event

MOST_CELLS = 10  # that sentences name
Reasons = Mapping[str, Mapping[str, int]]  # of each cell: reason -> how many of its trials failed for it


@dataclass(frozen=True, slots=True)
class MissingCell(Coded):
    """A cell that has fewer trials that count than asked for. `again`: how many of them going on makes."""

    site: str
    link: str
    arm: str
    counted: int
    asked: int
    again: int
    reasons: Mapping[str, int]

    @property
    def label(self) -> str:
        return f"{self.site} · {self.link} · {self.arm}"


@dataclass(frozen=True, slots=True)
class TrialsMissing(Event):
    """A run has come to its end, and cells lack trials that count. `of`: how many cells the run has."""

    kind: ClassVar[str] = "missing"
    folder: str
    of: int
    cells: tuple[MissingCell, ...]

    @property
    def sentences(self) -> list[str]:
        """Return which cells, then what to do."""
        cells, folder = self.cells, self.folder
        lines = [f"fewer than {cells[0].asked} trials count in {len(cells)} of {self.of} cells:"]
        for one in cells[:MOST_CELLS]:
            why = ", ".join(f"{reason} {number}" for reason, number in one.reasons.items())
            lines.append(f"  {one.label}: {one.counted} of {one.asked}{f' ({why})' if why else ''}")
        if len(cells) > MOST_CELLS:
            lines.append(f"  and {len(cells) - MOST_CELLS} more")
        again = sum(one.again for one in cells)
        if again:
            trials = counted(again, "trial is", "trials are")
            lines.append(f"{trials} made by going on: lanelab run --resume {folder}")
        if any(Reason.LINK_OUT_OF_TOLERANCE in one.reasons for one in cells):
            lines.append(
                "links were out of tolerance, as on a busy machine: wait until it is idle, or add --accept-links to "
                "see the effect all the same"
            )
        if any(one.counted + one.again < one.asked for one in cells):
            lines.append(
                f"{'the others' if again else 'they'} are not tried again: lanelab show {folder} says what failed, "
                "docs/reference/verdicts.md what to do; a new run may have more retries, or a longer timeout"
            )
        return lines


def trials_missing(experiment: Experiment, history: History, reasons: Reasons, folder: Path) -> TrialsMissing | None:
    """None: every cell has what was asked for. Pure."""
    cells = tuple(
        MissingCell(
            site=one.cell.site,
            link=one.cell.link.label,
            arm=one.cell.arm.name,
            counted=one.counted,
            asked=one.wanted,
            again=one.again,
            reasons=dict(reasons.get(one.cell.id, {})),
        )
        for one in lacking(experiment, history)
    )
    return TrialsMissing(str(folder), len(experiment.cells), cells) if cells else None
