"""The time of all pages, those that wait included."""

import random

import pytest

from lanelab.driver.record.series import Series
from lanelab.driver.trial.server_load.finish import NAME, with_waiting

SECONDS = 200


def simulated(served_s: float, starving: int) -> tuple[dict[str, Series], float]:
    """Pages arrive 5 times a second. Each takes `served_s`; besides, `starving` users wait from the beginning for 60 s,
    fail, and begin again. Gives series, and the mean time of all pages that left."""
    chance = random.Random(7)
    pages = [(began, began + served_s, False) for began in (chance.uniform(0, SECONDS) for _ in range(5 * SECONDS))]
    for _ in range(starving):
        first = chance.uniform(0, 60)
        pages += [(first + 60 * turn - 60, first + 60 * turn, True) for turn in range(SECONDS // 60 + 2)]
    left = [end - begin for begin, end, _ in pages if 0 <= end < SECONDS]

    def points(count: dict[int, float]) -> tuple[tuple[float, float], ...]:
        return tuple((1000.0 * second, count.get(second, 0.0)) for second in range(SECONDS))

    under_way = {s: float(sum(begin <= s < end for begin, end, _ in pages)) for s in range(SECONDS)}
    ended, failed = dict.fromkeys(range(SECONDS), 0.0), dict.fromkeys(range(SECONDS), 0.0)
    for _, end, bad in pages:
        if 0 <= end < SECONDS:
            (failed if bad else ended)[int(end)] += 1
    return {
        "pages_under_way": Series("", points(under_way)),
        "pages_per_s": Series("", points(ended)),
        "page_errors_per_s": Series("", points(failed)),
    }, 1000 * sum(left) / len(left)


def middle(found: dict[str, Series]) -> float:
    values = [value for at_ms, value in found[NAME].points if 60_000 <= at_ms < 140_000]
    return sum(values) / len(values)


def test_where_nobody_starves_it_is_the_time_of_a_page() -> None:
    series, truth = simulated(1.0, 0)
    assert truth == pytest.approx(1000)
    assert middle(with_waiting(series)) == pytest.approx(truth, rel=0.1)


def test_users_who_starve_are_in_it() -> None:
    series, truth = simulated(0.4, 50)
    assert truth > 5000
    assert middle(with_waiting(series)) == pytest.approx(truth, rel=0.15)


def test_nothing_is_made_up() -> None:
    series, _ = simulated(1.0, 0)
    for name in series:
        assert NAME not in with_waiting({key: value for key, value in series.items() if key != name})
    gap = {
        name: Series("", tuple(p for p in one.points if not 80_000 <= p[0] < 120_000)) for name, one in series.items()
    }
    assert not [at_ms for at_ms, _ in with_waiting(gap)[NAME].points if 86_000 <= at_ms < 114_000]
    none_leaves = {**series, "pages_per_s": Series("", tuple((at, 0.0) for at, _ in series["pages_per_s"].points))}
    assert NAME not in with_waiting(none_leaves)


def test_who_waited_in_the_warm_up_is_in_no_point_after_it() -> None:
    """100 users who wait for a server that has just started, and whose pages are quick from 30 s on."""
    seconds = range(1, 91)
    series = {
        "pages_under_way": Series("", tuple((1000.0 * s, 100.0 if s <= 30 else 2.0) for s in seconds)),
        "pages_per_s": Series("", tuple((1000.0 * s, 20.0) for s in seconds)),
        "page_errors_per_s": Series("", tuple((1000.0 * s, 0.0) for s in seconds)),
    }
    after = [value for at_ms, value in with_waiting(series, 30)[NAME].points if at_ms > 30_000]
    assert after == [pytest.approx(100)] * 60
    within = [value for at_ms, value in with_waiting(series, 30)[NAME].points if at_ms <= 30_000]
    assert within == [pytest.approx(5000)] * 30
