"""Measuring again what is out of tolerance: the only place where a self-test, or a run, tries again.

A busy machine can spoil a measurement, but cannot make a wrong link look right. So a measurement that is out, or during
which the router was too slow to take packets in, is taken again after a pause, and no other one with it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace

from model.link.results import Result

ATTEMPTS = 3
PAUSE_S = 1.0  # times the number of attempts before: a moment in which the machine is busy passes


class Attempts:
    """The attempts of one self-test. Several threads may measure at a time."""

    def __init__(self, most: int, lost_at_input: Callable[[], int], pause_s: float = PAUSE_S) -> None:
        """`lost_at_input`: how many packets the router did not take in since it was last asked."""
        self._most, self._lost_at_input, self._pause_s = most, lost_at_input, pause_s
        self._asking = threading.Lock()
        self.lost = 0  # in the last attempts of all measurements
        self._lost()  # what was lost before is not this test's

    def settled(self, measure_once: Callable[[], list[Result]], most: int | None = None) -> list[Result]:
        """The results of the first attempt that is fine, else of the last."""
        most = self._most if most is None else min(most, self._most)
        for attempt in range(1, most + 1):
            results, lost = measure_once(), self._lost()
            if attempt == most or not (lost or any(result.verdict == "out" for result in results)):
                break
            time.sleep(self._pause_s * attempt)
        with self._asking:
            self.lost += lost
        if attempt == 1:
            return results
        return [replace(result, note=f"{result.note}; attempt {attempt} of {most}") for result in results]

    def _lost(self) -> int:
        with self._asking:
            return self._lost_at_input()
