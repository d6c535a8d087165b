"""How long a run on several beds still takes, from what its beds did so far. Pure."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pace:
    """A bed that is at work."""

    left: int  # trials of its portion
    per_s: float | None  # trials a second; None: it has made none yet


def remaining_s(trials: int, beds: Sequence[Pace], usual_per_s: float | None = None) -> float | None:
    """Return the seconds until these beds have made that many trials together, each at its own pace; None where nothing
    is known. `usual_per_s` is the pace of earlier beds, taken for those whose pace is not known."""
    if trials <= 0:
        return 0.0
    known = [bed.per_s for bed in beds if bed.per_s]
    usual = statistics.median(known) if known else usual_per_s
    if not beds or not usual:
        return None
    together = trials / sum(bed.per_s or usual for bed in beds)
    return max(together, *(min(bed.left, trials) / (bed.per_s or usual) for bed in beds))
