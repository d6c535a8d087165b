"""The events of a study's run, besides those of each figure's own run."""

from dataclasses import dataclass
from typing import ClassVar

from lanelab.driver.base.amounts import counted, from_to, minutes, size
from lanelab.driver.run.events import Event


@dataclass(frozen=True, slots=True)
class StudyBegun(Event):
    """A session of a study's run begins. `figures`: how many of them are run in it."""

    kind: ClassVar[str] = "study"
    title: str
    variant: str
    folder: str
    figures: int
    trials: int
    least_s: float
    most_s: float
    disk_bytes: int

    @property
    def words(self) -> str:
        words = ", ".join(filter(None, [self.title, self.variant and f"variant {self.variant}"]))
        if not self.figures:
            return f"{words}: every figure is finished, in {self.folder}"
        count = counted(self.figures, "figure")
        takes = f"about {from_to(self.least_s, self.most_s)}, {size(self.disk_bytes)}"
        return f"{words}: {count}, {self.trials} trials, {takes}, in {self.folder}"


@dataclass(frozen=True, slots=True)
class FigureBegun(Event):
    """A figure is about to be run. `seconds`: what it is expected to take, of `remaining_s` of all that are left."""

    kind: ClassVar[str] = "figure"
    figure: int
    title: str
    place: int
    of: int
    seconds: float
    remaining_s: float

    @property
    def words(self) -> str:
        takes = f"about {minutes(self.seconds)} of {minutes(self.remaining_s)}"
        return f"figure {self.figure} ({self.place} of {self.of}), {self.title}: {takes}"


@dataclass(frozen=True, slots=True)
class FigureEnded(Event):
    """A figure was run to its end, and has its report. `whole`: every cell has what was asked for."""

    kind: ClassVar[str] = "figure-ended"
    figure: int
    whole: bool
    report: str
    report_s: float

    @property
    def words(self) -> str:
        return f"report: {self.report} (made in {self.report_s:.1f} s)"


@dataclass(frozen=True, slots=True)
class FigureFailed(Event):
    """A figure could not be run; the others are."""

    kind: ClassVar[str] = "figure-failed"
    is_trouble: ClassVar[bool] = True
    figure: int
    why: str

    @property
    def words(self) -> str:
        return f"figure {self.figure} could not be run: {self.why}"
