"""Whether a generator that says nothing of itself was its load's limit: by processor time, as seen from outside."""

import dataclasses
from pathlib import Path

import pytest

from lanelab.driver.link import Link
from lanelab.driver.record.evidence.load import GeneratorUse
from lanelab.driver.record.evidence.machine import MachineEvidence
from lanelab.driver.record.reasons import FlagName, Reason
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.trial.server_load.finish import finish
from lanelab.driver.trial.server_load.verdict import limit_flags
from lanelab.driver.trial.workload import TrialContext
from tests.kit.records import SITE
from tests.unit.trial.test_load_spoken import Rules
from tests.unit.trial.test_load_verdict import (
    ARM,
    BY_AB,
    MACHINE,
    OBJECTS,
    OF_OBJECTS,
    USE,
    reasons,
    with_report,
)


def watched(seconds: float, client_s: float, use: GeneratorUse | None = None) -> TrialRecord:
    """A load of which the machine recorder saw a second more."""
    machine = dataclasses.replace(MACHINE.machines[0], seconds=seconds + 1, cpu_s={"client": client_s})
    made = with_report(BY_AB, seconds=seconds, use=use)
    return dataclasses.replace(made, recordings={"machine": MachineEvidence((machine,), 0.0)})


def test_a_generator_that_tells_nothing_of_itself_is_watched_from_outside() -> None:
    machine = dataclasses.replace(MACHINE.machines[0], cpu_s={"client": 9.5})
    busy = dataclasses.replace(with_report(BY_AB), recordings={"machine": MachineEvidence((machine,), 0.0)})
    assert reasons(busy, OF_OBJECTS) == [Reason.GENERATOR_LIMITED]
    unwatched = dataclasses.replace(with_report(BY_AB), recordings={})
    assert reasons(unwatched, dataclasses.replace(OF_OBJECTS, recorders=())) == [Reason.EVIDENCE_MISSING]
    without = MachineEvidence((dataclasses.replace(machine, cpu_s={"server": 2.0}),), 0.0)
    unknown = dataclasses.replace(with_report(BY_AB), recordings={"machine": without})
    assert reasons(unknown, OF_OBJECTS) == [Reason.EVIDENCE_MISSING]


def test_a_generator_is_judged_by_the_time_of_its_load() -> None:
    """The machine is watched from before it until after it. Of a very short one nobody knows what else it did then."""
    for seconds, client_s, expected in ((2.0, 1.7, []), (2.0, 1.9, [Reason.GENERATOR_LIMITED]), (0.2, 0.19, [])):
        assert reasons(watched(seconds, client_s), OF_OBJECTS) == expected


@pytest.mark.parametrize(
    ("seconds", "client_s", "flagged"),
    [
        (0.5, 0.42, False),  # with its start and its log in it, the generator had time left
        (0.5, 0.44, True),  # it may have used up to 20 ms more than is counted
        (0.9, 0.95, True),
        (0.05, 0.04, True),
        (1.0, 0.95, False),  # is judged: see above
        (2.0, 1.0, False),
    ],
)
def test_a_load_too_short_to_judge_its_generator_says_so(seconds: float, client_s: float, *, flagged: bool) -> None:
    record = watched(seconds, client_s)
    flags = limit_flags(record, 1)
    assert [flag.name for flag in flags] == [FlagName.GENERATOR_UNJUDGED] * flagged
    if flagged:
        assert reasons(record, OF_OBJECTS) == [], "it counts"
        assert f"a load of {seconds:.2f} s" in flags[0].detail


def test_what_is_judged_has_no_such_flag() -> None:
    refused = watched(0.5, 1.4)
    assert reasons(refused, OF_OBJECTS) == [Reason.GENERATOR_LIMITED]
    assert limit_flags(refused, 1) == ()
    assert limit_flags(watched(0.5, 0.6, use=USE), 1) == (), "it tells itself"
    assert limit_flags(watched(0.5, 0.6), 2) == (), "it may use two processors"
    assert limit_flags(dataclasses.replace(watched(0.5, 0.6), recordings={}), 1) == ()


def test_the_flag_is_in_the_record(tmp_path: Path) -> None:
    context = TrialContext(ARM, SITE, Link.parse({}), Rules(), tmp_path, OBJECTS)
    finished = finish(watched(0.5, 0.6).to_json(), context)
    assert [flag.name for flag in finished.flags] == [FlagName.GENERATOR_UNJUDGED]
