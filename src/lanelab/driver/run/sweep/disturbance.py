"""How much beds on one machine disturb one another: a fixed piece of work on each bed's processors alone, and on all at
once."""

from collections.abc import Collection, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from lanelab.driver.base.coded import Coded
from lanelab.driver.base.errors import InputError
from lanelab.driver.run.sweep.work_sample import FixedWorker, WorkTimes, all_at_once

TURNS = 2  # each alone, then all at once, so often: what the machine does meanwhile hits both alike
TOGETHER_S = 0.5
ALONE_S = 0.3
ALONE_IN_ALL_S = 1.5  # a turn's time for all beds, one after the other
NOTICED = 1.05  # from here on it is said as a warning
LIMIT = 1.5  # above it a run is refused: absolute times would be half as long again


@dataclass(frozen=True, slots=True)
class Disturbance(Coded):
    """Median times of the work by bed, in ms."""

    alone_ms: tuple[float, ...]
    together_ms: tuple[float, ...]

    @property
    def slowdowns(self) -> list[float]:
        return [together / alone for alone, together in zip(self.alone_ms, self.together_ms, strict=True)]

    @property
    def worst(self) -> float:
        return max(self.slowdowns)

    @property
    def is_noticed(self) -> bool:
        return self.worst >= NOTICED

    @property
    def words(self) -> str:
        """Describe the disturbance in one line, for people."""
        beds = len(self.alone_ms)
        if not self.is_noticed:
            return f"{beds} beds hardly disturb one another: work takes {self.worst:.2f} times as long"
        return f"{beds} beds disturb one another: work takes {self.worst:.2f} times as long"


def measure_disturbance(beds: Sequence[Collection[int]]) -> Disturbance | None:
    """Measure the disturbance of beds with these processors; None for one bed, which has nobody beside it. Takes less
    than 5 s."""
    if len(beds) < 2:
        return None
    alone: list[list[float]] = [[] for _ in beds]
    together: list[list[float]] = [[] for _ in beds]
    with ExitStack() as stack:
        workers = [stack.enter_context(FixedWorker(processors)) for processors in beds]
        for worker in workers:
            worker.await_ready()
        alone_s = min(ALONE_S, ALONE_IN_ALL_S / len(beds))
        for _ in range(TURNS):
            for worker, pieces in zip(workers, alone, strict=True):
                pieces.extend(all_at_once([worker], alone_s)[0].pieces_ms)
            for times, pieces in zip(all_at_once(workers, TOGETHER_S), together, strict=True):
                pieces.extend(times.pieces_ms)
    return Disturbance(_medians(alone), _medians(together))


def _medians(pieces: Sequence[Sequence[float]]) -> tuple[float, ...]:
    return tuple(round(WorkTimes(tuple(times)).median_ms, 4) for times in pieces)


def require_little(disturbance: Disturbance, *, accept: bool) -> None:
    """Raises InputError where beds disturb one another more than is taken, unless the user accepts it."""
    if disturbance.worst > LIMIT and not accept:
        what = f"{disturbance.words}, and {LIMIT:g} is the most that is taken"
        remedy = "Ask for fewer beds, end what else this machine does, or write --accept-disturbance"
        raise InputError(what, remedy)
