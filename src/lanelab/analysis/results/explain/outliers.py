"""Why one trial took longer than the others of its cell. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypedDict

from lanelab.analysis.results.explain.load_time_parts import PLT, WORDS, MadeOf
from lanelab.analysis.results.model import Trial
from lanelab.analysis.results.numbers import listed, seconds
from lanelab.driver.record.evidence.parts import Part, Parts, Stretch

MOST = 3  # stretches that are named
NAMED = (Part.RECOVERY, Part.REDUCED_WINDOW, Part.WAIT, Part.SLOW_START, Part.IDLE, Part.MAIN_THREAD)
LEAST_SHARE = 0.1  # of what the trial took longer: below it a part is not told


class OutlierJson(TypedDict):
    """A trial that stands far apart from its cell."""

    trial: int
    cell: str
    longer_ms: float
    parts_ms: Mapping[Part, float]
    flags: list[str]
    sentences: list[str]


@dataclass(frozen=True, slots=True)
class Outlier:
    """A trial beside its cell's medians."""

    trial: Trial
    cell: MadeOf
    parts: Parts | None

    @property
    def longer_ms(self) -> float:
        return self.trial.measures[PLT] - self.cell.plt_ms

    def sentences(self) -> list[str]:
        trial, longer = self.trial, self.longer_ms
        more = "longer" if longer >= 0 else "shorter"
        took, by = seconds(trial.measures[PLT]), f"{seconds(abs(longer))} {more}"
        texts = [f"Trial {trial.number} ({trial.cell}): {took}, {by} than the median of its cell."]
        grown = self._grown()
        if grown:
            words = listed(f"{WORDS[part]} {excess:+,.0f} ms" for part, excess in grown)
            texts.append(f"Where: {words}.")
            texts += [_named(each) for each in self._stretches(grown[0][0])]
        if trial.flags:
            texts.append("It is flagged: " + "; ".join(f"{flag.name} ({flag.detail})" for flag in trial.flags) + ".")
        return texts

    def to_json(self) -> OutlierJson:
        return {
            "trial": self.trial.number, "cell": self.trial.cell.id, "longer_ms": round(self.longer_ms, 3),
            "parts_ms": {part: round(excess, 3) for part, excess in self._grown()},
            "flags": [flag.name for flag in self.trial.flags], "sentences": self.sentences(),
        }  # fmt: skip

    def _grown(self) -> list[tuple[Part, float]]:
        """Return the parts that grew or shrank as the whole load did, the largest change first."""
        sign = 1 if self.longer_ms >= 0 else -1
        changes = [(part, took - self.cell.parts[part]) for part, took in self.trial.parts_ms.items()]
        large = [(part, ms) for part, ms in changes if sign * ms >= max(1.0, LEAST_SHARE * abs(self.longer_ms))]
        return sorted(large, key=lambda change: -sign * change[1])

    def _stretches(self, part: Part) -> Sequence[Stretch]:
        """Return the longest stretches of this part, in the order of time."""
        alike = [each for each in self.parts.stretches if each.part is part] if self.parts else []
        if part not in NAMED:
            return ()
        longest = sorted(alike, key=lambda each: each.from_ms - each.to_ms)[:MOST]
        return sorted(longest, key=lambda each: each.from_ms)


def _named(stretch: Stretch) -> str:
    what = stretch.detail or WORDS[stretch.part]
    return f"At {seconds(max(stretch.from_ms, 0.0))}, for {seconds(stretch.to_ms - stretch.from_ms)}: {what}."
