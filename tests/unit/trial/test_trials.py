"""Trials in the bed process go to their workload, one after the other; what needs the server alone starts no more."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import pytest

from lanelab.driver.arm.arm import Arm
from lanelab.driver.base.errors import BedError, InputError, ServerError
from lanelab.driver.bed.node import Completed
from lanelab.driver.bed.substrate import Substrate
from lanelab.driver.record.reasons import Failure, Reason
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.trial import trials as module
from lanelab.driver.trial.serving import Serving
from lanelab.driver.trial.spec import TrialSpec
from lanelab.driver.trial.trials import Trials
from lanelab.driver.trial.workload import BedPlace
from tests.kit.records import SITE

RECORD = TrialRecord.not_started("made", "2026-01-01T00:00:00.000Z", Reason.TIMEOUT, "made")


@dataclass
class Made:
    """A workload, and its part in the bed process: notes what it is asked."""

    name: str
    done: list[str]
    primary: str = "plt_ms"

    def on_bed(self, _place: BedPlace) -> "Made":
        self.done.append(f"{self.name} begins")
        return self

    def check(self, spec: TrialSpec) -> None:
        self.done.append(f"{self.name} checks {spec.arm.name}")

    def prepare(self, spec: TrialSpec) -> tuple[Failure, ...]:
        self.done.append(f"{self.name} prepares {spec.arm.name}")
        return RECORD.failures

    def run(self) -> TrialRecord:
        self.done.append(f"{self.name} runs")
        return RECORD

    def end(self) -> None:
        self.done.append(f"{self.name} ends")

    def finish(self, _data: object, _context: object) -> TrialRecord:
        return RECORD


class Nodes:
    """A substrate whose nodes do nothing."""

    def node(self, _name: str) -> "Nodes":
        return self

    def run(self, *_: object, **__: object) -> Completed:
        return Completed(0, "", "")


@dataclass
class Served:
    done: list[str]

    def stop(self) -> None:
        self.done.append("server stops")


@dataclass
class Bed:
    trials: Trials
    done: list[str] = field(default_factory=list)


@pytest.fixture
def bed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Bed:
    done: list[str] = []
    monkeypatch.setattr(module, "WORKLOADS", {name: Made(name, done) for name in ("page", "load")})

    def start(_self: Serving, spec: TrialSpec) -> Served:
        done.append(f"serves {spec.arm.name}")
        return Served(done)

    monkeypatch.setattr(Serving, "start", start)
    monkeypatch.setattr(Serving, "check", lambda _self, spec: done.append(f"checks {spec.arm.name}"))
    return Bed(Trials(cast(Substrate, Nodes()), lambda: None, 0, tmp_path / "trials"), done)


def spec(arm: str = "one", workload: str = "page") -> TrialSpec:
    return TrialSpec(SITE, Arm.parse(arm, {}), 30, {}, Path("/t"), Path("/a"), workload)


def test_a_workload_begins_once(bed: Bed) -> None:
    for arm in ("one", "two"):
        assert bed.trials.prepare_trial(spec(arm)) == RECORD.failures
        assert bed.trials.run_trial(30) == RECORD
    bed.trials.prepare_trial(spec("three", "load"))
    bed.trials.end_trial()
    bed.trials.end_trial()
    assert bed.done == [
        *("page begins", "page prepares one", "page runs", "page ends"),
        *("page prepares two", "page runs", "page ends"),
        *("load begins", "load prepares three", "load ends"),
    ]


def test_serving_needs_no_workload(bed: Bed) -> None:
    assert bed.trials.serve_site(spec("two")) == ()
    bed.trials.prepare_trial(spec("three"))
    assert bed.done == ["serves two", "server stops", "page begins", "page prepares three"]


def test_the_server_and_the_workload_check_an_arm(bed: Bed) -> None:
    bed.trials.check_arm(spec("one"))
    bed.trials.prepare_trial(spec("two"))
    assert bed.done == ["checks one", "page begins", "page checks one", "page prepares two"]


def test_a_server_that_does_not_start_is_a_failure(bed: Bed, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_self: Serving, _spec: TrialSpec) -> Served:
        raise ServerError("it did not start")

    monkeypatch.setattr(Serving, "start", fail)
    assert bed.trials.serve_site(spec()) == (Failure(Reason.SERVER_FAILED, "it did not start"),)


def test_what_the_user_wrote_wrongly_is_an_error(bed: Bed, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_self: Serving, _spec: TrialSpec) -> None:
        raise InputError("no such directive", key="arms.one.server_directives")

    monkeypatch.setattr(Serving, "check", refuse)
    with pytest.raises(InputError, match="no such directive"):
        bed.trials.check_arm(spec())


def test_a_run_needs_a_trial_that_was_prepared(bed: Bed) -> None:
    with pytest.raises(BedError, match="no trial was prepared"):
        bed.trials.run_trial(30)
    bed.trials.prepare_trial(spec())
    bed.trials.end_trial()
    with pytest.raises(BedError, match="no trial was prepared"):
        bed.trials.run_trial(30)
