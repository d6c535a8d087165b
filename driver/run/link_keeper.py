"""The links of a run on one bed: each is measured before a trial uses it, and refused when it is not as asked for."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence

from driver.channel.client import Bed
from driver.experiment.model import Cell
from driver.run.events import Event, Listener
from driver.run.store import Store
from driver.selftest.results import SelfTest

REFUSALS = 3  # after that many times a link is given up, on this bed
SELF_TESTS = 3  # of a link that is out of tolerance: a moment in which the machine is busy must not end it


class LinkKeeper:
    """What a bed's link is, and which links it has shown to be what was asked for."""

    def __init__(self, bed: Bed, cells: Sequence[Cell], store: Store, tell: Listener, *, accept: bool = False) -> None:
        self._bed, self._cells, self._store, self._tell = bed, cells, store, tell
        self._accept = accept  # what stays out of tolerance is used, and stored as what it is
        self._now = ""  # label of the link that is set
        self._passed: set[str] = set()
        self._refused: dict[str, str] = {}  # label -> why
        self._refusals: Counter[str] = Counter()
        self.measuring_s = 0.0

    def has_passed(self, cell: Cell) -> bool:
        return cell.link.label in self._passed

    def reconsider(self) -> None:
        """Some time has passed: what was refused is measured once more, but not for ever."""
        self._refused = {label: why for label, why in self._refused.items() if self._refusals[label] >= REFUSALS}

    def has_given_up(self, cell: Cell) -> bool:
        return self._refusals[cell.link.label] >= REFUSALS

    def bring(self, cell: Cell) -> str:
        """Why trials of this cell are refused; "" when its link is set and is what was asked for."""
        label = cell.link.label
        if label in self._refused:
            return self._refused[label]
        if self._now != label:
            self._bed.set_link(cell.link.link)
            self._now = label
        if self.has_passed(cell):
            return ""
        started = time.monotonic()
        try:
            return self._test(cell)
        finally:
            self.measuring_s += time.monotonic() - started

    def _test(self, cell: Cell) -> str:
        why = ""
        for attempt in range(1, SELF_TESTS + 1):
            self._tell(Event("self-test-started", {"link": cell.link.label, "attempt": attempt}))
            data = self._bed.test_link()
            result = SelfTest.from_json(data)
            data = {**data, "tc": self._bed.tc_state()}
            self._store.add_self_test(cell.link.label, data, passed=result.passed)
            why = "; ".join(result.failures)
            self._tell(Event("self-test", {"link": cell.link.label, "passed": result.passed, "failures": why}))
            if result.passed:
                self._passed.add(cell.link.label)
                return ""
        if self._accept:
            self._passed.add(cell.link.label)
            return ""
        refusal = f"the link is not what was asked for: {why}"
        self._refused[cell.link.label] = refusal
        self._refusals[cell.link.label] += 1
        return refusal
