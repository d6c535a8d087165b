"""Packets that arrive twice."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from lanelab.driver.base.settings.kinds import PERCENT
from lanelab.driver.base.settings.setting import Setting
from lanelab.driver.base.units import Ratio
from lanelab.driver.link.impairments.impairment import Chance, Impairment, Way, Words
from lanelab.driver.link.kinds import DIRECTIONS
from lanelab.driver.link.results import Result, chance

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lanelab.driver.link.arrivals import Arrivals


@dataclass(frozen=True, slots=True)
class Duplication(Impairment):
    SETTINGS: ClassVar = (Setting("duplicate", PERCENT, "0%", "packets that arrive twice", "0.1%", sides=DIRECTIONS),)
    duplicate: Ratio

    def netem(self) -> list[Words]:
        words = Words(f"duplicate {self.duplicate}", f"sends {self.duplicate} of packets twice")
        return [words] if self.duplicate else []

    @property
    def copies(self) -> Ratio:
        return self.duplicate

    @property
    def chance(self) -> Chance | None:
        return Chance(self.duplicate.fraction) if self.duplicate else None

    def measure(self, way: Way, name: str, trains: "Sequence[Arrivals]") -> list[Result]:  # noqa: ARG002
        """Copies, where they are asked for or happen."""
        once = sum(len(train.once) for train in trains)
        copies = sum(len(train.packets) for train in trains) - once
        if not self.duplicate and not copies:
            return []
        return [chance(f"duplicate {name}", self.duplicate.fraction, copies, once)]
