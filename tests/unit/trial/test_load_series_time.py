"""From when the series of a load count: those of its generator and those of its recorders."""

import dataclasses

from lanelab.driver.record.series import Series
from lanelab.driver.trial.server_load.bed_side import since
from lanelab.driver.trial.server_load.generator import Results

OWN = {"users": Series("", ((1000.0, 1.0), (2000.0, 2.0)))}
RESULTS = Results(None, OWN, began=502.5)


def test_the_generators_series_count_from_when_the_recorders_began() -> None:
    assert since(500.0, RESULTS, one_clock=True)["users"].points == ((3500.0, 1.0), (4500.0, 2.0))


def test_a_clock_of_another_machine_moves_no_series() -> None:
    assert since(9_000_000.0, RESULTS, one_clock=False) == OWN


def test_a_generator_that_does_not_say_when_it_began_keeps_its_times() -> None:
    assert since(500.0, dataclasses.replace(RESULTS, began=None), one_clock=True) == OWN
