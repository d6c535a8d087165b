"""Whether an arm goes opposite ways in different places."""

import math
import random

from lanelab.analysis.statistics import pool
from lanelab.analysis.statistics.pooled import are_shown_opposite


def test_places_that_go_both_ways_are_opposite() -> None:
    """As a page of small objects and one of large ones under loss: -63%, no change, +187%."""
    near = (0.96, 0.98, 0.99, 1.0, 1.01, 1.02, 1.03)
    places = [[[math.log(middle * each) for each in near]] for middle in (0.37, 1.0, 2.87)]
    assert are_shown_opposite(places)
    assert not are_shown_opposite(places[:2])
    assert not are_shown_opposite([])


def test_some_of_many_equal_places_go_either_way_by_chance() -> None:
    rng, found = random.Random(1), 0
    for _ in range(300):
        found += are_shown_opposite([[[rng.gauss(0, 1) for _ in range(8)]] for _ in range(9)])
    assert found / 300 <= 0.05 + 4 * math.sqrt(0.05 * 0.95 / 300)


def test_what_is_pooled_says_whether_its_places_are_opposite() -> None:
    base = dict.fromkeys(range(6), 1.0)
    slower, faster = ({n: way * (1 + n / 100) for n in range(6)} for way in (1.05, 0.8))
    opposite, alike = pool([(base, slower), (base, faster)]), pool([(base, slower), (base, slower)])
    assert opposite is not None
    assert alike is not None
    assert (opposite.is_opposite, alike.is_opposite) == (True, False)


def test_what_is_pooled_is_rarely_left_out_where_no_place_goes_the_other_way() -> None:
    """Places that differ are not enough: of a test of whether they do, one in five such sentences was left out."""
    rng, found = random.Random(1), 0
    base = dict.fromkeys(range(9), 1.0)
    for _ in range(300):
        arms = [{n: math.exp(rng.gauss(-1.5 * (place == 0), 0.3)) for n in range(9)} for place in range(12)]
        pooled = pool([(base, arm) for arm in arms])
        found += pooled is not None and pooled.is_opposite
    assert found / 300 <= 0.05 + 4 * math.sqrt(0.05 * 0.95 / 300)


def test_time_outs_are_ranks_as_well() -> None:
    assert are_shown_opposite([[[math.inf] * 6], [[-0.1, -0.2, -0.3, -0.1, -0.2, -0.15]]])


def test_three_rounds_of_a_place_show_no_way() -> None:
    """Of eight places that do not change, one has three rounds that go one way by chance."""
    places = [[[0.1, 0.2, 0.3]], [[-0.1, -0.2, -0.3]]]
    assert not are_shown_opposite(places)
    assert are_shown_opposite([[logs * 3] for (logs,) in places])
