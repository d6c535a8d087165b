"""A number over time, as a trial's record has it. Reading one needs nothing else of a record."""

from dataclasses import dataclass

from lanelab.driver.base.coded import Coded


@dataclass(frozen=True, slots=True)
class Series(Coded):
    """A number over time."""

    unit: str
    points: tuple[tuple[float, float], ...]  # ms since the load began, value
