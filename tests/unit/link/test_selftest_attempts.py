"""What is out of tolerance is measured again, a few times, and nothing else is."""

from collections.abc import Iterator
from itertools import chain, repeat
from statistics import fmean

import pytest

from lanelab.driver.link import Link
from lanelab.driver.link.arrivals import Arrivals
from lanelab.driver.link.results import Result, within
from lanelab.driver.link.selftest.one_way import stood_still
from lanelab.driver.link.selftest.retries import Attempts


def result(achieved: float) -> Result:
    return within("rtt", "ms", 100, achieved, 1, "a note")


def settle(achieved: list[float], lost: list[int] | None = None, most: int = 3) -> tuple[Result, int, int]:
    """What is settled from these measurements, how many were taken, and the packets that count as lost."""
    values: Iterator[float] = iter(achieved)
    losses = chain([0], lost or [], repeat(0))  # the first is what was lost before the test
    attempts = Attempts(most, lambda: next(losses), pause_s=0)
    (settled,) = attempts.settled(lambda: [result(next(values))])
    return settled, len(achieved) - len(list(values)), attempts.lost


def test_a_measurement_that_is_fine_is_taken_once() -> None:
    assert settle([100, 200]) == (result(100), 1, 0)


def test_one_that_is_out_is_taken_again() -> None:
    settled, taken, _ = settle([150, 100, 200])
    assert (settled.verdict, taken) == ("ok", 2)
    assert settled.note == "a note; attempt 2 of 3"


@pytest.mark.parametrize("most", [1, 2, 3])
def test_a_link_that_is_wrong_is_out_after_so_many(most: int) -> None:
    settled, taken, _ = settle([150] * 5, most=most)
    assert (settled.verdict, taken) == ("out", most)


def test_what_the_router_did_not_take_in_spoils_a_measurement() -> None:
    assert settle([100, 100], lost=[7, 0])[1:] == (2, 0)
    assert settle([100] * 3, lost=[7, 7, 7])[1:] == (3, 7)


def test_what_was_lost_before_is_not_this_tests() -> None:
    losses = iter([9, 0])
    attempts = Attempts(3, lambda: next(losses), pause_s=0)
    attempts.settled(lambda: [result(100)])
    assert attempts.lost == 0


def pool(achieved: list[float], lost: list[int] | None = None) -> tuple[Result, int, int]:
    """The mean of what is pooled, how many measurements were taken, and the packets that count as lost."""
    values, losses = iter(achieved), chain([0], lost or [], repeat(0))
    attempts = Attempts(3, lambda: next(losses), pause_s=0)
    (pooled,) = attempts.pooled(lambda: next(values), lambda samples: [result(fmean(samples))])
    return pooled, len(achieved) - len(list(values)), attempts.lost


def test_a_sample_that_is_out_is_kept_and_judged_with_the_next() -> None:
    """100 would be fine by itself. It does not mend what 150 has told."""
    pooled, taken, _ = pool([150, 100, 100, 100])
    assert (round(pooled.achieved or 0, 3), pooled.verdict, taken) == (116.667, "out", 3)
    assert pooled.note == "a note; attempt 3 of 3, pooled with those before"
    pooled, taken, _ = pool([101.5, 100, 200])
    assert (pooled.achieved, pooled.verdict, taken) == (100.75, "ok", 2)


def test_a_sample_that_was_disturbed_is_discarded_whole() -> None:
    pooled, taken, lost = pool([150, 100], lost=[7, 0])
    assert (pooled.achieved, taken, lost) == (100, 2, 0)
    assert pooled.note == ("a note; attempt 2 of 3, 1 discarded: the router was too slow to take packets in")
    pooled, taken, lost = pool([150, 100, 100.5], lost=[0, 7, 0])
    assert (pooled.achieved, taken, lost) == (125.25, 3, 0)


def test_a_sample_that_is_out_and_shows_a_disturbance_is_discarded_but_a_fine_one_is_not() -> None:
    def settle_with(values: list[float]) -> tuple[Result, int]:
        left = iter(values)
        attempts = Attempts(3, lambda: 0, pause_s=0)

        def disturbed(each: float) -> str:
            return "x" if each > 100 else ""

        (pooled,) = attempts.pooled(lambda: next(left), lambda samples: [result(fmean(samples))], disturbed=disturbed)
        return pooled, len(values) - len(list(left))

    assert settle_with([100.5, 0]) == (result(100.5), 1)
    found, taken = settle_with([150, 100])
    assert (found.achieved, taken, found.note) == (100, 2, "a note; attempt 2 of 3, 1 discarded: x")
    found, taken = settle_with([150, 160, 170])
    assert (found.achieved, found.verdict, taken) == (170, "out", 3)


def test_a_router_that_stood_still_shows_in_the_train() -> None:
    way = Link.parse({"rtt": "40ms", "rate": "10mbit"}).down
    calm = tuple((n, n * 10**6, n * 10**6 + 20 * 10**6) for n in range(100))
    assert stood_still(way, Arrivals(100, calm, 0)) == ""
    held = (*calm[:50], (50, calm[50][1], calm[50][2] + 12 * 10**6), *calm[51:])
    assert stood_still(way, Arrivals(100, held, 0)) == "the router held packets for 12 ms"
    shaken = Link.parse({"rtt": "40ms", "rate": "10mbit", "jitter": "3ms"}).down
    assert stood_still(shaken, Arrivals(100, held, 0)) == ""
    assert stood_still(way, Arrivals(100, (), 0)) == ""


def test_where_all_were_disturbed_the_last_one_counts_and_so_does_what_was_lost() -> None:
    assert pool([150, 150, 100], lost=[7, 8, 9])[1:] == (3, 9)


def test_a_measurement_may_be_taken_once_whatever_it_says() -> None:
    taken: list[int] = []

    def measure() -> list[Result]:
        taken.append(1)
        return [result(150)]

    Attempts(3, lambda: 0, pause_s=0).settled(measure, most=1)
    assert taken == [1]
