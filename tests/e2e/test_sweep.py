"""A sweep over three machines in namespaces: `lanelab run --listen` at a desk, `lanelab worker` on each machine."""

import json
import sqlite3
from collections.abc import Iterator

import pytest

from tests.kit import sweep_machines
from tests.kit.sweep_checks import problems
from tests.kit.sweep_machines import Lab
from tests.kit.sweeps import NAMES, Sweep

pytestmark = pytest.mark.skipif(bool(sweep_machines.why_not()), reason=sweep_machines.why_not())


@pytest.fixture
def lab() -> Iterator[Lab]:
    with Lab() as lab:
        for name in ("desk", *NAMES):
            lab.machine(name)
        yield lab


def test_three_machines_make_a_grid_and_nothing_is_left_of_it(lab: Lab) -> None:
    sweep = Sweep(lab, rounds=3)
    sweep.begin()
    sweep.lend_all()
    sweep.finish()
    assert problems(sweep.folder, 3) == []
    assert lab.left() == []
    with sqlite3.connect(sweep.folder / "run.sqlite") as database:
        used = "SELECT DISTINCT name, machines.facts FROM trials JOIN beds USING (bed) JOIN machines USING (machine)"
        facts = {name: json.loads(text) for name, text in database.execute(used)}
    assert facts.keys() <= set(NAMES)
    assert len(facts) > 1, sweep.said()  # one that is slow to begin may find all rounds made
    assert len({each["identity"] for each in facts.values()}) == len(facts)
