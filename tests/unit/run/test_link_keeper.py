"""Cells with one link share it and its self-tests, whatever their labels say."""

import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import pytest

from lanelab.analysis.results import conditions, link_drift
from lanelab.analysis.results.report import page
from lanelab.analysis.results.run_folder import read_run
from lanelab.driver.experiment.model import Cell, LinkCase
from lanelab.driver.link import Link
from lanelab.driver.link.results import Result, SelfTest, Verdict
from lanelab.driver.link.selftest.effort import Effort
from lanelab.driver.run.channel.client import Bed
from lanelab.driver.run.folder.store import Store
from lanelab.driver.run.link_keeper import LinkKeeper
from tests.kit.changed_run import changing
from tests.kit.experiments import read
from tests.kit.made_run import Made, make_run

CELL = read("sites: [dummy]\nlinks: {rtt: 20ms}\narms: {a: {}}\ntrials: 1\n").cells[0]


@dataclass
class StandIn:
    right: bool = True
    set: list[Link] = field(default_factory=list)
    tests: list[bool] = field(default_factory=list)

    def set_link(self, link: Link) -> None:
        self.set.append(link)

    def test_link(self, effort: Effort) -> SelfTest:
        self.tests.append(effort.brief)
        verdict: Verdict = "ok" if self.right else "out"
        return SelfTest((Result("rtt", "ms", 20.0, 20.0, 19.0, 21.0, verdict),), 0.1)

    def tc_state(self) -> list[Any]:
        return []

    def end_trial(self) -> None: ...


@dataclass
class Kept:
    tests: list[tuple[str, str]] = field(default_factory=list)

    def add_self_test(self, label: str, _result: SelfTest, _tc: object, *, moment: str, **_: object) -> None:
        self.tests.append((label, moment))


def _cell(label: str, rtt: str = "20ms") -> Cell:
    return replace(CELL, link=LinkCase(label, Link.parse({"rtt": rtt})))


def _keeper(bed: StandIn, store: Kept) -> LinkKeeper:
    return LinkKeeper(cast(Bed, bed), 1, cast(Store, store), lambda _event: None)


def test_cells_with_one_link_set_it_once_and_measure_it_once() -> None:
    bed, store = StandIn(), Kept()
    keeper = _keeper(bed, store)
    few, many, other = _cell("few users"), _cell("many users"), _cell("other", "50ms")
    for cell in (few, many, few):
        assert keeper.bring(cell) == ""
    assert (len(bed.set), bed.tests) == (1, [False])
    assert keeper.has_passed(many)
    assert not keeper.has_passed(other)
    keeper.bring(other)
    keeper.bring(many)
    assert [link.rtt.milliseconds for link in bed.set] == [20, 50, 20]
    keeper.measure_again()
    assert store.tests == [("few users", "before"), ("other", "before"), ("few users", "after"), ("other", "after")]


def test_a_link_is_refused_for_all_its_cells() -> None:
    bed, store = StandIn(right=False), Kept()
    keeper = _keeper(bed, store)
    why = keeper.bring(_cell("few users"))
    assert "not what was asked for" in why
    assert keeper.bring(_cell("many users")) == why
    assert len(bed.tests) == 1


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A run whose second link is the first one under another label, and was not measured for itself."""
    made = make_run(tmp_path / "run", Made(rounds=3))
    with changing(made) as database:
        database.execute("UPDATE links SET settings = (SELECT settings FROM links WHERE link = 1) WHERE link = 2")
        database.execute("DELETE FROM self_tests WHERE link = 2")
        data = json.loads(database.execute("SELECT data FROM self_tests WHERE link = 1").fetchone()[0])
        data["results"][0]["verdict"] = "out"
        database.execute("UPDATE self_tests SET passed = 0, data = ?", (json.dumps(data),))
    return made


def test_trials_are_judged_by_the_self_test_of_their_link_under_whatever_label(folder: Path) -> None:
    run = read_run(folder)
    fit = conditions.in_tolerance(run)
    assert set(fit) == {trial.number for trial in run.trials}
    assert not any(fit.values())
    assert set(conditions.used_out_of_tolerance(run)) == {link.label for link in run.links}
    (drift,) = link_drift.drifts(run)
    assert drift.trials == len(run.ok)
    assert f"Out of tolerance: {run.links[0].label}." in page(run)
