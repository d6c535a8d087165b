"""Variation of the delay."""

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, ClassVar, Literal

from lanelab.driver.base.errors import InputError
from lanelab.driver.base.settings.kinds import DURATION, FLAG, choice
from lanelab.driver.base.settings.setting import Setting
from lanelab.driver.base.units import Duration, Ratio
from lanelab.driver.link.impairments.impairment import Impairment, Way, Words, tc_time
from lanelab.driver.link.impairments.jitter_shape import Expected, Sent, deviation, distance, expected, likeness
from lanelab.driver.link.kinds import DIRECTIONS, PART
from lanelab.driver.link.results import Result, Verdict, failed, not_measured, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lanelab.driver.link.arrivals import Arrivals
    from lanelab.driver.link.link_values import WrittenLink

MAX_JITTER = Duration.parse("2s")  # netem takes no more, and says nothing
FARTHEST = 4  # netem's tables end at four times the jitter
# tc's tables, in units of the jitter: their mean is not quite the delay, and they vary less than they say
TABLE_MEAN = {"normal": 0.0, "uniform": 0.0, "pareto": -0.0335, "paretonormal": -0.0253}
TO_TELL = {"normal": 250, "uniform": 120, "pareto": 550, "paretonormal": 450}
FEWEST, ROUNDED = 20, 10  # delays; that many more or less make no difference to what is expected
STRAY, MOST_STRAYS = 6.0, 0.02  # in units of the jitter, and what part of all packets
MOST_TOLERATED = 1.4  # times what is asked for: where more had to pass, the check would be worth little
MOST_NOISE = 0.2  # of the jitter
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

    def check(self, written: "WrittenLink", side: str, delay: Duration) -> None:
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

    @property
    def packets_to_tell(self) -> int:
        """Return how many delays tell this jitter from one and a half times as much, nearly always."""
        return TO_TELL[self.jitter_distribution]

    def judge(self, way: Way, name: str, trains: "Sequence[Arrivals]", noise_ms: float) -> list[Result]:
        """Return what delays of packets at a constant pace say: how much they vary, whether they are distributed as in
        tc's table, and how much each is like the one before. `noise_ms`: what the machine itself adds."""
        target = self.jitter.milliseconds
        if way.skips_delay:
            why = "packets that skip the delay hide it"
            return [not_measured(f"jitter {name}", "ms", self.deviation_ms, why)]
        delays = [[(arrived - sent) / 1e6 / target for _, sent, arrived in sorted(train.once)] for train in trains]
        delays = [kept for train in delays if len(kept := _without_strays(train)) >= FEWEST]
        count = sum(map(len, delays))
        if not delays:
            return [failed(f"jitter {name}", "ms", self.deviation_ms, f"of {trains[-1].sent} packets {count} arrived")]
        gap = 0.0 if self.jitter_reorders else trains[0].gap_s * 1000 / target
        sent = Sent(self.jitter_distribution, round(gap, 3), round(way.delay.milliseconds / target, 3))
        right = expected(sent, count // ROUNDED * ROUNDED)
        whole = [value - median(train) for train in delays for value in train]
        return [
            self._deviation(f"jitter {name}", deviation(whole) * target, right, noise_ms, count),
            self._shape(f"jitter shape {name}", distance(whole, right.quantiles), right, noise_ms),
            self._likeness(f"jitter correlation {name}", likeness(delays), right),
        ]

    def _deviation(self, name: str, seen_ms: float, right: Expected, noise_ms: float, count: int) -> Result:
        unit, band = self.jitter.milliseconds, right.deviation
        low, high = band.low * unit - noise_ms, band.high * unit + noise_ms
        note = f"standard deviation of {count} delays"
        if not self.jitter_reorders:
            note += ", which keep their order"
        verdict: Verdict = "ok" if low <= seen_ms <= high else "out"
        if verdict == "ok" and high > MOST_TOLERATED * band.mean * unit:
            verdict = "not measured"
            note += f"; half as much again would pass too: that needs {self.packets_to_tell}, --thorough sends more"
        return Result(name, "ms", band.mean * unit, seen_ms, low, high, verdict, note)

    def _shape(self, name: str, seen: float, right: Expected, noise_ms: float) -> Result:
        if noise_ms > MOST_NOISE * self.jitter.milliseconds:
            return not_measured(name, "", 0.0, "a jitter this small drowns in what the machine itself adds")
        note, most = f"largest difference from tc's table '{self.jitter_distribution}'", right.distance.high
        return Result(name, "", 0.0, seen, 0.0, most, "ok" if seen <= most else "out", note)

    def _likeness(self, name: str, seen: float, right: Expected) -> Result:
        band, goal = right.likeness, self.jitter_correlation.percent
        if goal:
            note = f"asked for {goal:g}%; netem achieves next to nothing of it: without it {band.mean * 100:.0f}% here"
            return shown(name, "%", seen * 100, note)
        note = "of each delay with the one before"
        verdict: Verdict = "ok" if band.low <= seen <= band.high else "out"
        return Result(name, "%", band.mean * 100, seen * 100, band.low * 100, band.high * 100, verdict, note)


def _without_strays(delays: "Sequence[float]") -> list[float]:
    """Without the few that are farther out than any table: in those moments the machine stood still."""
    if not delays:
        return []
    middle = median(delays)
    kept = [value for value in delays if abs(value - middle) <= STRAY]
    return kept if len(kept) >= len(delays) * (1 - MOST_STRAYS) else list(delays)
