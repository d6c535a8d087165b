"""What the player in the router did during a trial, and what arrived meanwhile."""

from dataclasses import dataclass

from lanelab.driver.base.coded import Coded

LATE_US, MOST_LATE_US = 30_000, 100_000  # a step that comes later flags a trial; fails it


@dataclass(frozen=True, slots=True)
class Played(Coded):
    """Times in us since the traces began; by this machine's clock that was at `began_unix_us`."""

    began_unix_us: int
    uncertain_us: int  # by how much that may be off
    ended_us: int
    steps: tuple[tuple[int, int], ...]  # (when a step was due, how late the kernel had it), of both directions
    radio: tuple[tuple[int, str], ...]  # (when, state)

    @property
    def worst_late_us(self) -> int:
        return max((late for _, late in self.steps), default=0)

    @property
    def median_late_us(self) -> int:
        ordered = sorted(late for _, late in self.steps)
        return ordered[len(ordered) // 2] if ordered else 0


@dataclass(frozen=True, slots=True)
class Carried(Coded):
    """The bytes that came out of one direction: (us since the traces began, bytes so far), at most one pair each 10
    ms."""

    points: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class MovingEvidence(Coded):
    """The evidence about a link that moves."""

    played: Played
    down: Carried | None  # None: the client was not captured
    up: Carried | None  # None: the server was not captured, or by another clock
