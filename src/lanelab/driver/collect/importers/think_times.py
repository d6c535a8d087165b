"""How long servers thought, from what a browser measured. Pure.

A browser measures from the end of its request to the first byte of the answer: a round trip, and the server's own time.
The round trip is what opening a connection to that host took at least; where no connection was opened, the host's
quickest answer, which then counts as one without thinking. An answer in no time at all is a cache's.
"""

from collections.abc import Sequence
from dataclasses import dataclass

LONGEST_MS = 60_000  # that an arm can ask for


@dataclass(frozen=True, slots=True)
class Waited:
    """Says what is known of one answer, in ms."""

    host: str
    wait: float | None  # None: the file does not say it
    connect: float | None  # of TCP alone; None: no connection was opened for it


def think_times(answers: Sequence[Waited]) -> list[int | None]:
    """Return how long the server thought about each, in whole ms; None where that is nothing, or not known."""
    trips: dict[str, float] = {}
    for host in {each.host for each in answers}:
        answers_there = [each for each in answers if each.host == host]
        opened = [each.connect for each in answers_there if each.connect]
        waits = [each.wait for each in answers_there if each.wait]
        trips[host] = min(opened or waits, default=0.0)
    return [_think_ms(each, trips[each.host]) for each in answers]


def _think_ms(each: Waited, trip_ms: float) -> int | None:
    if each.wait is None:
        return None
    return min(max(round(each.wait - trip_ms), 0), LONGEST_MS) or None
