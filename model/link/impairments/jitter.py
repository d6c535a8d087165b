"""Variation of the delay."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from model.errors import InputError
from model.link.impairments.impairment import Impairment, Words, tc_time
from model.link.kinds import DIRECTIONS, PART
from model.link.results import Result, not_measured
from model.settings.kinds import DURATION, FLAG, choice
from model.settings.setting import Setting
from model.units import Duration, Ratio

if TYPE_CHECKING:
    from collections.abc import Sequence

    from model.link.arrivals import Arrivals
    from model.link.direction import Direction
    from model.link.written import WrittenLink

MAX_JITTER = Duration.parse("2s")  # netem takes no more, and says nothing
FARTHEST = 4  # netem's tables end at four times the jitter
# tc's tables, in units of the jitter: their mean is not quite the delay, and they vary less than they say
TABLE_MEAN = {"normal": 0.0, "uniform": 0.0, "pareto": -0.0335, "paretonormal": -0.0253}
TABLE_DEVIATION = {"normal": 1.0, "uniform": 3**-0.5, "pareto": 0.8197, "paretonormal": 0.8339}

Distribution = Literal["normal", "uniform", "pareto", "paretonormal"]


# fmt: off
@dataclass(frozen=True, slots=True)
class Jitter(Impairment):
    VARIES_DELAY: ClassVar = True
    SETTINGS: ClassVar = (
        Setting("jitter", DURATION, "0ms", "variation of the delay, at most the delay itself", "5ms", sides=DIRECTIONS),
        Setting("jitter_distribution", choice("NAME", *TABLE_MEAN), "normal", "how the variation is distributed",
                "pareto", sides=DIRECTIONS, needs="jitter"),
        Setting("jitter_correlation", PART, "0%", "how much one variation is like the one before", "25%",
                sides=DIRECTIONS, needs="jitter"),
        Setting("jitter_reorders", FLAG, "false", "whether variation may put packets out of order", "true",
                sides=DIRECTIONS, needs="jitter"),
    )
    # fmt: on
    jitter: Duration
    jitter_distribution: Distribution
    jitter_correlation: Ratio
    jitter_reorders: bool

    def check(self, written: WrittenLink, side: str, delay: Duration) -> None:
        key = written.key("jitter", side)
        if self.jitter > delay:
            what = f"a jitter of {self.jitter} is more than the delay {side} of {delay}"
            remedy = f"Write a jitter_{side} of {delay} or less, or a longer delay_{side} or rtt"
            if not delay:
                remedy = f"Set rtt or delay_{side} too"
            raise InputError(f"{what}: packets cannot arrive before they left", remedy, key=key)
        if self.jitter > MAX_JITTER:
            what = f"a jitter of {self.jitter} is more than {MAX_JITTER}"
            raise InputError(what, f"Write {MAX_JITTER} or less", key=key)

    def netem(self) -> list[Words]:
        if not self.jitter:
            return []
        text = tc_time(self.jitter)
        if self.jitter_correlation:
            text += f" {self.jitter_correlation}"
        if self.jitter_distribution != "uniform":  # tc knows uniform as the absence of a distribution
            text += f" distribution {self.jitter_distribution}"
        meaning = f"varies that by {self.jitter} ({self.jitter_distribution})"
        if self.jitter_correlation:
            meaning += f", each variation {self.jitter_correlation} like the one before"
            meaning += " (netem achieves next to nothing)"
        return [Words(text, meaning)]

    @property
    def extra_delay(self) -> Duration:
        return Duration(FARTHEST * self.jitter.ns)

    @property
    def deviation_ms(self) -> float:
        return TABLE_DEVIATION[self.jitter_distribution] * self.jitter.milliseconds

    @property
    def mean_shift_ms(self) -> float:
        return TABLE_MEAN[self.jitter_distribution] * self.jitter.milliseconds

    @property
    def skewed(self) -> bool:
        return bool(self.jitter) and self.jitter_distribution.startswith("pareto")

    def measure(self, way: Direction, name: str, trains: Sequence[Arrivals]) -> list[Result]:  # noqa: ARG002
        """Pings measure the rest of it."""
        if not self.jitter_correlation:
            return []
        why = "netem achieves next to nothing of it"
        return [not_measured(f"jitter correlation {name}", "%", self.jitter_correlation.percent, why)]
