"""All claims of a study together: how many of their verdicts chance alone may have made. Pure.

Each verdict is false with a chance of at most 5%, so of those that were tested at most 5% are to be expected false.
Where only those with an adjusted p of at most 5% are believed, the chance that even one of them is false is at most 5%
(Holm 1979). An inconclusive claim was tested as well, so it counts among them, with a p of 1.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from lanelab.analysis.results.claims.verdict import Judged, Verdict
from lanelab.analysis.statistics import holm
from lanelab.analysis.statistics.looks import ALPHA


@dataclass(frozen=True, slots=True)
class Together:
    adjusted: tuple[float | None, ...]  # of each claim, in their order; None where there is no verdict
    tested: int
    false_at_most: float  # verdicts, at most

    def words(self) -> str:
        return wrong_by_chance(self.false_at_most, self.tested)


def wrong_by_chance(at_most: float, of: int) -> str:
    """Return how many of several verdicts chance alone makes wrong; nothing where there is one."""
    return f"On average at most {at_most:.2g} of these {of} verdicts are wrong by chance." if of > 1 else ""


def together(judged: Sequence[Judged]) -> Together:
    tested = [one for one in judged if one.verdict != Verdict.NOT_TESTED]
    adjusted = iter(holm([1.0 if one.p is None else one.p for one in tested]))
    by_claim = [None if one.verdict == Verdict.NOT_TESTED else next(adjusted) for one in judged]
    return Together(
        tuple(None if one.p is None else p for one, p in zip(judged, by_claim, strict=True)),
        len(tested),
        ALPHA * len(tested),
    )
