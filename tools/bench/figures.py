"""A measured figure beside its target."""

from dataclasses import dataclass

from lanelab.driver.base.coded import Coded


@dataclass(frozen=True, slots=True)
class Figure(Coded):
    """A line of the benchmarks' results. `met` is None where there is no target."""

    what: str
    figure: str
    target: str
    met: bool | None
    values: tuple[float, ...]  # the single measurements, in the figure's unit

    @property
    def verdict(self) -> str:
        return {True: "met", False: "MISSED", None: ""}[self.met]
