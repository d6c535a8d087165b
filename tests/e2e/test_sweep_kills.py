"""50 random faults of sweeps: workers, machines, scheduler and controller killed, the network cut."""

import os
import random
from collections.abc import Iterator

import pytest

from tests.kit import sweep_machines
from tests.kit.sweep_kills import Kills
from tests.kit.sweep_machines import Lab
from tests.kit.sweeps import NAMES

pytestmark = [
    pytest.mark.skipif(bool(sweep_machines.why_not()), reason=sweep_machines.why_not()),
    pytest.mark.long,
    pytest.mark.timeout(3600),
]
FAULTS = int(os.environ.get("LANELAB_TEST_FAULTS", "50"))
SEED = os.environ.get("LANELAB_TEST_SEED")  # of a failure that is to be seen again


@pytest.fixture
def lab() -> Iterator[Lab]:
    with Lab() as lab:
        for name in ("desk", *NAMES):
            lab.machine(name)
        yield lab


def test_nothing_is_lost_doubled_or_left_after_many_random_faults(lab: Lab) -> None:
    seed = int(SEED) if SEED else random.SystemRandom().randrange(1 << 32)
    print(f"LANELAB_TEST_SEED={seed}")
    figures = Kills(lab, seed, lambda text: print(text, flush=True)).play(FAULTS)
    print(figures)
    assert figures.number >= FAULTS
    assert figures.problems == []
    assert figures.left == []
