"""The links of a run on one bed: each is measured before a trial uses it, and refused when it is not as asked for.
Those that trials used are measured again when the bed ends."""

import os
import time
from collections.abc import Callable

from lanelab.driver.experiment.model import Cell
from lanelab.driver.link import Link
from lanelab.driver.link.results import SelfTest
from lanelab.driver.link.selftest.effort import Effort
from lanelab.driver.run.channel.client import Bed
from lanelab.driver.run.events import LinkTestBegun, LinkTested, Listener, Moment
from lanelab.driver.run.folder.store import Store

LinkOf = Callable[[Cell], Link]


def _written(cell: Cell) -> Link:
    return cell.link.link


class LinkKeeper:
    """The link that a bed has now, and the links that passed their self-test on it. Cells with equal links share one,
    even under different labels."""

    def __init__(
        self,
        bed: Bed,
        number: int,
        store: Store,
        tell: Listener,
        *,
        link_of: LinkOf = _written,
        accept: bool = False,
    ) -> None:
        """Keep the links of the bed that has this `number` within the run. `link_of`: of a cell, with what its site
        remembers."""
        self._link_of = link_of
        self._bed, self._number, self._store, self._tell = bed, number, store, tell
        self._accept = accept  # what stays out of tolerance is used, and stored as what it is
        self._now: Link | None = None  # the one that is set
        self._passed: set[Link] = set()
        self._refused: dict[Link, str] = {}  # -> why
        self._used: dict[Link, str] = {}  # -> the label that its self-tests are stored under
        self.measuring_s = 0.0

    def has_passed(self, cell: Cell) -> bool:
        return self._link_of(cell) in self._passed

    def reconsider(self) -> None:
        """Measure a refused link again when it is next needed. A machine that was busy in the first minute must not
        cost a night's run a link."""
        self._refused.clear()

    def bring(self, cell: Cell) -> str:
        """Why trials of this cell are refused; "" when its link is set and is what was asked for."""
        link = self._link_of(cell)
        if link in self._refused:
            return self._refused[link]
        self._set(link)
        label = self._used.get(link, cell.link.label)
        if link not in self._passed:
            result = self._test(label, "before")
            if not result.passed and not self._accept:
                self._refused[link] = f"the link is not what was asked for: {'; '.join(result.failures)}"
                return self._refused[link]
            self._passed.add(link)  # for as long as this bed lives
        self._used[link] = label
        return ""

    def _set(self, link: Link) -> None:
        if self._now != link:
            self._bed.set_link(link)
            self._now = link

    def measure_again(self) -> None:
        """Measure each link that trials used: whether it still is what it was before them. Not where links are accepted
        as they are."""
        if self._accept or not self._used:
            return
        self._bed.end_trial()  # what it has running would disturb
        for link in sorted(self._used, key=lambda link: link != self._now):
            self._set(link)
            self._test(self._used[link], "after")
        self._used.clear()

    def _test(self, label: str, moment: Moment) -> SelfTest:
        """The self-test itself measures again what is out."""
        started = time.monotonic()
        self._tell(LinkTestBegun(label, moment))
        result = self._bed.test_link(Effort(brief=moment == "after"))
        self._store.add_self_test(label, result, self._bed.tc_state(), bed=self._number, moment=moment)
        self._tell(
            LinkTested(
                link=label,
                moment=moment,
                passed=result.passed,
                failures="; ".join(result.failures),
                not_measured=tuple(result.not_measured),
                accepted=self._accept and not result.passed,
                load=round(os.getloadavg()[0], 1),
                processors=len(os.sched_getaffinity(0)),
            )
        )
        self.measuring_s += time.monotonic() - started
        return result
