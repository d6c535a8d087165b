"""Packets that skip the delay, and so overtake others."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from lanelab.driver.base.errors import InputError
from lanelab.driver.base.settings.setting import Setting
from lanelab.driver.base.units import Duration, Ratio
from lanelab.driver.link.arrivals import overtaking
from lanelab.driver.link.impairments.impairment import Chance, Impairment, Way, Words
from lanelab.driver.link.kinds import DIRECTIONS, PART
from lanelab.driver.link.results import Result, chance, not_measured

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lanelab.driver.link.arrivals import Arrivals
    from lanelab.driver.link.link_values import WrittenLink


@dataclass(frozen=True, slots=True)
class Reordering(Impairment):
    SETTINGS: ClassVar = (
        Setting("reorder", PART, "0%", "packets that skip the delay and so overtake others", "1%", sides=DIRECTIONS),
    )
    reorder: Ratio

    def check(self, written: "WrittenLink", side: str, delay: Duration) -> None:
        if self.reorder and not delay:
            what = f"packets cannot overtake {side}, where there is no delay to skip"
            raise InputError(what, f"Set rtt or delay_{side} too", key=written.key("reorder", side))

    def netem(self) -> list[Words]:
        words = Words(f"reorder {self.reorder}", f"lets {self.reorder} of packets skip the delay")
        return [words] if self.reorder else []

    @property
    def skips_delay(self) -> bool:
        return bool(self.reorder)

    @property
    def chance(self) -> Chance | None:
        return Chance(self.reorder.fraction) if self.reorder else None

    def measure(self, way: Way, name: str, trains: "Sequence[Arrivals]") -> list[Result]:
        """Return the results about overtaking, where it is asked for or happens."""
        why_not = why_no_overtaking(way, trains[0].gap_s) if self.reorder else ""
        if why_not:
            return [not_measured(f"reorder {name}", "%", self.reorder.percent, why_not)]
        each = [train.once for train in trains]
        seen = sum(overtaking(once) for once in each)
        if self.reorder or (seen and not way.jitter_reorders):
            return [chance(f"reorder {name}", self.reorder.fraction, seen, sum(map(len, each)))]
        return []


def why_no_overtaking(way: Way, gap_s: float) -> str:
    """Why packets with this gap cannot tell how many skip the delay; empty: they can."""
    if way.jitter_reorders and way.jitter:
        return "the jitter makes packets overtake too"
    if gap_s >= way.delay.seconds - way.extra_delay.seconds:
        return f"its packets are {gap_s * 1000:.1f} ms apart: one that skips a delay of {way.delay} overtakes none"
    return ""
