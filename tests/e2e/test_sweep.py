"""A sweep over three machines in namespaces: `lanelab run --listen` at a desk, `lanelab worker` on each machine."""

from __future__ import annotations

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
        used = "SELECT DISTINCT name FROM trials JOIN beds USING (bed) JOIN machines USING (machine) ORDER BY name"
        assert [name for (name,) in database.execute(used)] == sorted(NAMES)
        identities = {json.loads(facts)["identity"] for (facts,) in database.execute("SELECT facts FROM machines")}
        assert len(identities) == 4  # those three, and the desk
