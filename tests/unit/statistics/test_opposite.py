"""Whether an arm goes opposite ways in different places."""

import math
import random

from lanelab.analysis.statistics import pool
from lanelab.analysis.statistics.pooled import are_opposite, are_shown_opposite


def test_places_that_go_both_ways_are_opposite() -> None:
    """As a page of small objects and one of large ones under loss: -63%, no change, +187%."""
    small, none, large = (
        [[math.log(ratio)] for ratio in of] for of in ((0.36, 0.37, 0.4), (0.97, 1.02, 1.03), (2, 3, 4))
    )
    places = [[[log for (log,) in place]] for place in (small, none, large)]
    assert are_opposite(places)
    assert not are_opposite(places[:2])
    assert not are_opposite([])


def test_some_of_many_equal_places_go_either_way_by_chance() -> None:
    rng, found = random.Random(1), 0
    for _ in range(300):
        found += are_opposite([[[rng.gauss(0, 1) for _ in range(3)]] for _ in range(9)])
    assert found / 300 <= 0.05 + 4 * math.sqrt(0.05 * 0.95 / 300)


def test_what_is_pooled_says_whether_its_places_are_opposite() -> None:
    base = dict.fromkeys(range(6), 1.0)
    slower, faster = ({n: way * (1 + n / 100) for n in range(6)} for way in (1.05, 0.8))
    opposite, alike = pool([(base, slower), (base, faster)]), pool([(base, slower), (base, slower)])
    assert opposite is not None
    assert alike is not None
    assert (opposite.is_opposite, alike.is_opposite) == (True, False)


def test_time_outs_are_ranks_as_well() -> None:
    assert are_opposite([[[math.inf] * 6], [[-0.1, -0.2, -0.3, -0.1, -0.2, -0.15]]])


def test_where_no_place_goes_the_other_way_few_runs_say_that_one_does() -> None:
    """One of twelve gains much, which all tests of whether places are alike find, and the others gain nothing."""
    rng, found = random.Random(1), 0
    for _ in range(300):
        found += are_shown_opposite([[[rng.gauss(-1.5 * (place == 0), 0.3) for _ in range(9)]] for place in range(12)])
    assert found / 300 <= 0.05 + 4 * math.sqrt(0.05 * 0.95 / 300)


def test_three_rounds_of_a_place_show_no_way() -> None:
    """Of eight places that do not change, one has three rounds that go one way by chance."""
    places = [[[0.1, 0.2, 0.3]], [[-0.1, -0.2, -0.3]]]
    assert not are_shown_opposite(places)
    assert are_shown_opposite([[logs * 3] for (logs,) in places])
    assert not are_shown_opposite([])
