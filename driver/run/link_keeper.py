"""The links of a run on one bed: each is measured before a trial uses it, and refused when it is not as asked for."""

from __future__ import annotations

import time

from driver.channel.client import Bed
from driver.experiment.model import Cell
from driver.run.events import Event, Listener
from driver.run.store import Store
from model.link.results import SelfTest


class LinkKeeper:
    """The link that a bed has now, and the links that passed their self-test on it."""

    def __init__(self, bed: Bed, number: int, store: Store, tell: Listener, *, accept: bool = False) -> None:
        """`number`: of the bed, within the run."""
        self._bed, self._number, self._store, self._tell = bed, number, store, tell
        self._accept = accept  # what stays out of tolerance is used, and stored as what it is
        self._now = ""  # label of the link that is set
        self._passed: set[str] = set()
        self._refused: dict[str, str] = {}  # label -> why
        self.measuring_s = 0.0

    def has_passed(self, cell: Cell) -> bool:
        return cell.link.label in self._passed

    def reconsider(self) -> None:
        """Measure a refused link again when it is next needed. A machine that was busy in the first minute must not
        cost a night's run a link."""
        self._refused.clear()

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
        """The self-test itself measures again what is out. A link that has passed has passed for this bed."""
        label = cell.link.label
        self._tell(Event("self-test-started", {"link": label}))
        data = self._bed.test_link()
        result = SelfTest.from_json(data)
        self._store.add_self_test(label, {**data, "tc": self._bed.tc_state()}, bed=self._number, passed=result.passed)
        why = "; ".join(result.failures)
        self._tell(Event("self-test", {"link": label, "passed": result.passed, "failures": why}))
        if result.passed or self._accept:
            self._passed.add(label)
            return ""
        self._refused[label] = f"the link is not what was asked for: {why}"
        return self._refused[label]
