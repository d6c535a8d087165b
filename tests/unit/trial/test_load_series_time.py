"""From when the series of a load count: those of its recorders, as those of its generator, from when the load began."""

from lanelab.driver.record.series import Series
from lanelab.driver.trial.server_load.bed_side import since

SEEN = {"workers_busy": Series("", ((1000.0, 0.0), (4000.0, 12.0)))}


def test_the_recorders_series_count_from_when_the_load_began() -> None:
    """k6 makes its users ready first, for seconds. What was seen then is before the load."""
    assert since(500.0, 502.5, SEEN, one_clock=True)["workers_busy"].points == ((-1500.0, 0.0), (1500.0, 12.0))


def test_a_clock_of_another_machine_moves_no_series() -> None:
    assert since(9_000_000.0, 502.5, SEEN, one_clock=False) == SEEN


def test_a_generator_that_does_not_say_when_it_began_moves_no_series() -> None:
    assert since(500.0, None, SEEN, one_clock=True) == SEEN
