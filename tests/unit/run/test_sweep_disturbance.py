"""Whether beds on one machine disturb one another."""

import os

import pytest

from lanelab.driver.base.errors import BedError, InputError
from lanelab.driver.run.sweep.disturbance import LIMIT, Disturbance, measure_disturbance, require_little
from lanelab.driver.run.sweep.work_sample import FixedWorker, WorkTimes, measure_fixed_work


def test_words_name_the_worst_bed() -> None:
    found = Disturbance((10.0, 10.0), (10.1, 13.1))
    assert found.words == "2 beds disturb one another: work takes 1.31 times as long"
    assert Disturbance((10.0, 10.0), (10.1, 10.0)).words.startswith("2 beds hardly disturb one another")
    assert Disturbance.from_json(found.to_json()) == found


def test_too_much_is_refused_unless_accepted() -> None:
    much = Disturbance((10.0, 10.0), (10.0 * LIMIT + 1, 10.0))
    with pytest.raises(InputError, match="--accept-disturbance"):
        require_little(much, accept=False)
    require_little(much, accept=True)
    require_little(Disturbance((10.0,), (10.0 * LIMIT,)), accept=False)


def test_one_bed_has_nobody_beside_it() -> None:
    assert measure_disturbance([{0}]) is None


def test_it_is_measured_on_each_beds_own_processors() -> None:
    own = min(os.sched_getaffinity(0))
    found = measure_disturbance([{own}, {own}])
    assert found
    assert len(found.alone_ms) == len(found.together_ms) == 2
    assert all(time > 0 for time in (*found.alone_ms, *found.together_ms))


def test_the_work_has_a_median_and_a_noise() -> None:
    assert WorkTimes((1.0, 2.0, 9.0)).median_ms == 2.0
    assert WorkTimes((4.0,)).noise == 0
    assert measure_fixed_work(0.01).median_ms > 0


def test_a_worker_that_cannot_have_its_processors_says_so() -> None:
    with FixedWorker({4095}) as worker, pytest.raises(BedError, match="ended by itself"):
        worker.await_ready()
