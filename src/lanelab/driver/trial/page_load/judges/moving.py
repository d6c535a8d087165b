"""Whether a link did what its traces say during a trial. Pure.

The player in the router tells when it made each step. What arrived tells that no more passed than the trace allows:

    (bits that arrived from one moment to another) <= (what the trace lets pass meanwhile) + (what may come together)

Whether less passed tells nothing: a page does not fill its link all the time.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from lanelab.driver.link import HEADER, Direction, Link
from lanelab.driver.link.moving import Trace
from lanelab.driver.link.shaping.moving import BURST
from lanelab.driver.record.evidence.moving import LATE_US, MOST_LATE_US, Carried, MovingEvidence, Played
from lanelab.driver.record.reasons import Failure, Flag, FlagName, Reason
from lanelab.driver.trial.page_load.judges.judge import Case, Judge, Needs

US_PER_S, BITS = 1_000_000, 8
TOGETHER_FRAMES = 6  # beyond what the shaper may send at once
SAVED_US = BURST.ns // 1000  # what the shaper may send at once
MEASURED_US = 15_000  # a point is the last frame of 10 ms; a steps takes some ms
LAST_STEPS_US = 150_000  # what was due so shortly before the end may be missing
FASTER = 1.01  # the second netem, and clocks
WAYS = {"down": "to the client", "up": "to the server"}


@dataclass(frozen=True, slots=True)
class MovingVerdict:
    link: Link
    evidence: MovingEvidence

    def failures(self) -> Iterator[Failure]:
        played = self.evidence.played
        if played.worst_late_us > MOST_LATE_US:
            what = f"a step came {played.worst_late_us / 1000:.0f} ms late, more than {MOST_LATE_US / 1000:.0f}"
            yield Failure(Reason.LINK_TRACE, f"{what}: the router had no processor")
        missing = self._due(played) - len(played.steps)
        if missing > 0:
            yield Failure(Reason.LINK_TRACE, f"of {self._due(played)} steps that were due, {missing} were not made")
        for name, towards in WAYS.items():
            way: Direction = getattr(self.link, name)
            arrived: Carried | None = getattr(self.evidence, name)
            excess = _excess(way, arrived, way.rates, self.link.mtu + HEADER, played) if way.rates and arrived else ""
            if excess:
                yield Failure(Reason.LINK_RATE, f"{towards}, {excess}")

    def flags(self) -> Iterator[Flag]:
        late = self.evidence.played.worst_late_us
        if LATE_US < late <= MOST_LATE_US:
            yield Flag(FlagName.LINK_LATE, f"a step of the link's trace came {late / 1000:.0f} ms late")

    def _due(self, played: Played) -> int:
        """How many steps have to have been made, at least."""
        until = played.ended_us - LAST_STEPS_US
        traces = [trace for way in (self.link.down, self.link.up) for trace in (way.rates, way.delay_trace)]
        return sum(_steps(trace, until) for trace in traces if trace)


def _steps(trace: Trace, until_us: int) -> int:
    if until_us <= 0:
        return 0
    rounds, rest = divmod(until_us, trace.length_us)
    return rounds * len(trace.steps) + sum(at <= rest for at, _ in trace.steps)


def _excess(way: Direction, arrived: Carried, rates: Trace, frame: int, played: Played) -> str:
    """Return the largest amount by which more came than could; "" where it did not."""
    room_us = MEASURED_US + SAVED_US + played.worst_late_us + 2 * played.uncertain_us
    room_us += way.later.ns // 1000 + 2 * way.extra_delay.ns // 1000
    room = rates.most * room_us / US_PER_S + TOGETHER_FRAMES * frame * BITS
    delay_us = way.delay.ns // 1000
    least, since, worst, what = 0.0, 0, room, ""
    copies = 1 + way.copies.percent / 100
    for number, (at_us, size) in enumerate(arrived.points):
        came = size * BITS / copies - rates.total(at_us - delay_us) / US_PER_S * FASTER
        if not number or came < least:
            least, since = came, at_us
        if came - least > worst:
            worst = came - least
            what = f"{worst / BITS:.0f} bytes more than its trace lets pass came from {since / 1e6:.2f} to "
            what += f"{at_us / 1e6:.2f} s (tolerated: {room / BITS:.0f})"
    return what


def _failures(case: Case) -> Iterator[Failure]:
    if case.evidence.moving:
        yield from MovingVerdict(case.link, case.evidence.moving).failures()


def _flags(case: Case) -> Iterator[Flag]:
    if case.evidence.moving:
        yield from MovingVerdict(case.link, case.evidence.moving).flags()


JUDGE = Judge(Needs.LOAD, _failures, _flags)
