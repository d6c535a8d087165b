"""The links of a run on one bed: each is measured before a trial uses it, and refused when it is not as asked for.
Those that trials used are measured again when the bed ends."""

from __future__ import annotations

import time

from driver.channel.client import Bed
from driver.experiment.model import Cell
from driver.run.events import Event, Listener
from driver.run.store import Moment, Store
from model.link import Link
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
        self._used: dict[str, Link] = {}  # by label
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
        if not self.has_passed(cell):
            result = self._test(label, "before")
            if not result.passed and not self._accept:
                self._refused[label] = f"the link is not what was asked for: {'; '.join(result.failures)}"
                return self._refused[label]
            self._passed.add(label)  # for as long as this bed lives
        self._used[label] = cell.link.link
        return ""

    def measure_again(self) -> None:
        """Measure each link that trials used: whether it still is what it was before them. Not where links are accepted
        as they are."""
        if self._accept or not self._used:
            return
        self._bed.end_trial()  # what it has running would disturb
        for label in sorted(self._used, key=lambda label: label != self._now):
            if self._now != label:
                self._bed.set_link(self._used[label])
                self._now = label
            self._test(label, "after")
        self._used.clear()

    def _test(self, label: str, moment: Moment) -> SelfTest:
        """The self-test itself measures again what is out."""
        started = time.monotonic()
        self._tell(Event("self-test-started", {"link": label, "moment": moment}))
        data = self._bed.test_link({"brief": moment == "after"})
        result = SelfTest.from_json(data)
        known = {**data, "tc": self._bed.tc_state()}
        self._store.add_self_test(label, known, bed=self._number, passed=result.passed, moment=moment)
        told = {"link": label, "moment": moment, "passed": result.passed, "failures": "; ".join(result.failures)}
        self._tell(Event("self-test", {**told, "not_measured": result.not_measured}))
        self.measuring_s += time.monotonic() - started
        return result
