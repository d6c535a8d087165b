"""Measuring again what is out of tolerance: the only place where a self-test, or a run, tries again.

Properties are of two kinds. A rate, a delay or a queue without chance is what it is: a busy machine can spoil its
measurement, but cannot make a wrong link look right. It is **settled**: the first attempt that is fine counts. A loss,
a duplicate, a jitter is a sample: another one of a wrong link may look right by chance. It is **pooled**: an attempt
that is out is kept, and judged again together with the next.

An attempt during which the router was too slow to take packets in tells nothing of the link, and is discarded whole. So
is one that is out and in which the router visibly stood still.
"""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from lanelab.driver.link.results import Result

ATTEMPTS = 3
PAUSE_S = 1.0  # times the number of attempts before: a moment in which the machine is busy passes

TOO_SLOW = "the router was too slow to take packets in"

Sample = TypeVar("Sample")


class Attempts:
    """The attempts of one self-test. Several threads may measure at a time."""

    def __init__(self, most: int, lost_at_input: Callable[[], int], pause_s: float = PAUSE_S) -> None:
        """Keep what attempts need. `lost_at_input` asks how many packets the router did not take in since it was last
        asked."""
        self._most, self._lost_at_input, self._pause_s = most, lost_at_input, pause_s
        self._asking = threading.Lock()
        self.lost = 0  # in attempts that count
        self._lost()  # what was lost before is not this test's

    def spoilt(self) -> bool:
        """Return whether what was measured until now is to be discarded, since the router was too slow meanwhile. Where
        nothing is measured again, what was lost counts."""
        lost = self._lost()
        if lost and self._most == 1:
            self.lost += lost
            return False
        return bool(lost)

    def settled(self, measure_once: Callable[[], list[Result]], most: int | None = None) -> list[Result]:
        """Return the results of the first attempt that is fine, else of the last."""
        return self.pooled(measure_once, lambda samples: samples[-1], most, said="")

    def pooled(
        self,
        take: Callable[[], Sample],
        judge: Callable[[Sequence[Sample]], list[Result]],
        most: int | None = None,
        disturbed: Callable[[Sample], str] = lambda _: "",
        said: str = ", pooled with those before",
    ) -> list[Result]:
        """Return what is judged of all attempts together, as soon as that is fine, else after the last. An attempt that
        was disturbed does not count, unless all were. `disturbed`: what of the machine's shows in a sample that is
        out."""
        most = self._most if most is None else min(most, self._most)
        samples: list[Sample] = []
        discarded: list[str] = []
        for attempt in range(1, most + 1):
            sample, lost = take(), self._lost()
            results = judge([*samples, sample])
            fine = not any(result.verdict == "out" for result in results)
            why = TOO_SLOW if lost else "" if fine else disturbed(sample)
            if why and (samples or attempt < most):
                discarded.append(why)
            else:
                samples.append(sample)
                with self._asking:
                    self.lost += lost
                if fine:
                    break
            if attempt < most:
                time.sleep(self._pause_s * attempt)
        if attempt == 1:
            return results
        words = f"; attempt {attempt} of {most}" + (said if len(samples) > 1 else "")
        if discarded:
            words += f", {len(discarded)} discarded: {discarded[-1]}"
        return [replace(result, note=f"{result.note}{words}") for result in judge(samples)]

    def _lost(self) -> int:
        with self._asking:
            return self._lost_at_input()
