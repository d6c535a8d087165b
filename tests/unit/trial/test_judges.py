"""The list of judges is complete, and none needs what another one says."""

import importlib
import random
from pathlib import Path

import pytest

from lanelab.driver.arm.arm import Arm
from lanelab.driver.link import Link
from lanelab.driver.record.reasons import Failure, Reason
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.trial.page_load import judges
from lanelab.driver.trial.page_load.expectation import Expected
from lanelab.driver.trial.page_load.judges import registry
from lanelab.driver.trial.page_load.judges.judge import Case
from lanelab.driver.trial.tolerances import Tolerances
from tests.kit.records import SITE, record

HTTP = Arm.parse("http", {})
EXPECTED = Expected(HTTP, SITE, Link.parse({"rtt": "40ms", "rate": "10mbit"}), Tolerances(), {})
NO_JUDGES = {"judge", "registry"}


def test_every_judge_is_in_the_list() -> None:
    (folder,) = judges.__path__
    names = {path.stem for path in Path(folder).glob("*.py")} - {"__init__"} - NO_JUDGES
    found = {id(importlib.import_module(f"{judges.__name__}.{name}").JUDGE): name for name in names}
    assert [found.get(id(each)) for each in registry.JUDGES].count(None) == 0
    assert len(registry.JUDGES) == len(names)


def broken() -> TrialRecord:
    """A trial with something for many judges: another protocol, an object that failed, a load below the bound."""
    data = record(HTTP)
    data["requests"][1]["status"] = 500
    data["requests"][0]["protocol"] = "h2"
    data["evidence"]["browser"]["times"]["plt_ms"] = 1.0
    data["evidence"]["server"]["error_lines"] = ["child died"]
    return TrialRecord.from_json(data)


def test_no_judge_needs_what_another_one_says(monkeypatch: pytest.MonkeyPatch) -> None:
    trial = broken()
    before = registry.judge(trial, EXPECTED)
    assert {Reason.SERVER_ERROR_LOG, Reason.FAILED_OBJECT, Reason.BELOW_BOUND} <= {each.reason for each in before}
    rng = random.Random(1)
    for _ in range(20):
        monkeypatch.setattr(registry, "JUDGES", tuple(rng.sample(registry.JUDGES, len(registry.JUDGES))))
        assert sorted(registry.judge(trial, EXPECTED), key=str) == sorted(before, key=str)


def test_a_trial_that_never_loaded_is_not_judged_by_its_load() -> None:
    crashed = Failure(Reason.BROWSER_CRASHED, "it is gone")
    trial = broken()
    trial = TrialRecord.from_json(trial.to_json() | {"failures": [crashed.to_json()]})
    assert {each.reason for each in registry.judge(trial, EXPECTED)} == {crashed.reason, Reason.SERVER_ERROR_LOG}
    assert trial.page_load is not None
    assert Case(trial, trial.page_load, EXPECTED).plt_ms == pytest.approx(1.0)
