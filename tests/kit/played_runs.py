"""Runs on a bed that is a stand-in: tests say how each trial ends, and kill it."""

import contextlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import pytest

from lanelab.analysis.statistics import KNOWN
from lanelab.driver.experiment.model import Experiment
from lanelab.driver.experiment.schedule.rounds import Schedule
from lanelab.driver.link.results import Result, SelfTest
from lanelab.driver.link.selftest.effort import Effort
from lanelab.driver.record.metrics import PAGE_LOAD
from lanelab.driver.record.reasons import Failure, Reason
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.run import current_bed
from lanelab.driver.run.channel.client import Bed
from lanelab.driver.run.channel.protocol import BedReady
from lanelab.driver.run.events import Event
from lanelab.driver.run.folder.store import Store
from lanelab.driver.run.runner import Runner, StopRequest
from lanelab.driver.run.served_sites import ServedSites
from lanelab.driver.run.start import BegunRun
from lanelab.driver.run.this_machine import this_machine
from lanelab.driver.site.load import load_site
from lanelab.driver.trial.registry import WORKLOADS
from lanelab.driver.trial.spec import TrialSpec

PLAN = {"order": "interleaved", "looks": [[9, 0.05]], "timeout_s": 60, "compared": [], "not_compared": []}
META = {
    "format": "6",
    "workload": "page_load",
    "name": "made",
    "seed": "1",
    "state": "running",
    "plan": json.dumps(PLAN),
}
READY = BedReady(2, "uml", "6", 100_000_000, {}, 0.0)
TWO_ARMS = "sites: [dummy]\nlinks: {rtt: 20ms}\narms: {a: {}, b: {keepalive: off}}\n"


@dataclass
class StandIn:
    """Answers as a bed does; `plan` says what becomes of each load: a page load time, a reason to fail, or an error."""

    plan: Callable[[str, int], float | str | Exception]
    link_is_right: bool = True
    right_from: int = 1  # the self-test from which on the link is right
    info: BedReady = READY
    self_tests: int = 0  # before trials
    after: int = 0  # after them
    still_right: bool = True
    after_fails: Exception | None = None
    loads: list[str] = field(default_factory=list)
    expected: list[str] = field(default_factory=list)  # arms of trials that were announced, ahead of the load before
    prepared: TrialSpec | None = None

    def facts(self) -> dict[str, Any]:
        return {}

    def tc_state(self) -> list[Any]:
        return []

    def set_link(self, _link: object) -> None: ...
    def check_arm(self, _spec: object) -> None: ...
    def end_trial(self) -> None: ...

    def test_link(self, effort: Effort) -> SelfTest:
        if effort.brief:
            self.after += 1
            if self.after_fails:
                raise self.after_fails
            right = self.still_right
            return SelfTest((Result("rtt", "ms", 20.0, 20.0, 19.0, 21.0, "ok" if right else "out"),), 0.1)
        self.self_tests += 1
        result = Result(
            "rtt",
            "ms",
            20.0,
            20.0,
            19.0,
            21.0,
            "ok" if self.link_is_right and self.self_tests >= self.right_from else "out",
        )
        return SelfTest((result,), 0.1)

    def prepare_trial(self, spec: TrialSpec) -> None:
        self.prepared = spec

    def expect_trial(self, spec: TrialSpec) -> None:
        self.expected.append(spec.arm.name)

    def run_trial(self, _timeout_s: float) -> dict[str, Any]:
        assert self.prepared
        arm = self.prepared.arm.name
        self.loads.append(arm)
        outcome = self.plan(arm, self.loads.count(arm))
        if isinstance(outcome, Exception):
            raise outcome
        record = TrialRecord.not_started("page_load", "2026-01-01T00:00:00.000Z", Reason.TIMEOUT, "made")
        if isinstance(outcome, str):
            return replace(record, failures=(Failure(Reason(outcome), "made"),)).to_json()
        return replace(record, failures=(), measures={"plt_ms": outcome}).to_json()


@pytest.fixture(autouse=True)
def _judged_as_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Verdicts have tests of their own, and so have versions, which beds of real nodes are asked for."""

    monkeypatch.setattr(current_bed, "versions_of", lambda *_: {"browser": "a stand-in"})
    judged = replace(WORKLOADS[PAGE_LOAD], finish=lambda data, _context: TrialRecord.from_json(data))
    monkeypatch.setitem(WORKLOADS, PAGE_LOAD, judged)


@dataclass
class Play:
    """A run in a folder, gone on with as often as wanted."""

    folder: Path
    experiment: Experiment
    events: list[Event] = field(default_factory=list)

    def on(
        self,
        *beds: StandIn | Exception,
        stop: StopRequest | None = None,
        accepts_links: bool = False,
    ) -> dict[str, list[bool]]:
        """Run with these beds, one after the other; which trials of each arm counted, in order."""
        exists = (self.folder / "run.sqlite").exists()
        store = Store.open(self.folder) if exists else Store.create(self.folder, "", META, self.experiment.cells)
        store.begin_session({}, this_machine(), accepts_links=accepts_links)
        waiting = list(beds)

        @contextlib.contextmanager
        def open_bed() -> Iterator[Bed]:
            bed = waiting.pop(0)
            if isinstance(bed, Exception):
                raise bed
            yield cast(Bed, bed)

        sites = ServedSites.of(self.experiment, {"dummy": load_site("dummy")})
        try:
            tell, asked = self.events.append, stop or StopRequest()
            schedule = Schedule(self.experiment, int(store.meta("seed")), KNOWN, store.history())
            with Runner(BegunRun(self.experiment, sites, store), open_bed, tell, asked) as runner:
                runner.run(schedule)
        finally:
            names = {cell.id: cell.arm.name for cell in self.experiment.cells}
            found: dict[str, list[bool]] = {name: [] for name in names.values()}
            for (cell, _), attempts in sorted(store.history().items(), key=lambda item: item[0][1]):
                found[names[cell]] += [attempt.ok for attempt in attempts]
            store.close()
            self.outcome = found
        return found

    outcome: dict[str, list[bool]] = field(default_factory=dict)
