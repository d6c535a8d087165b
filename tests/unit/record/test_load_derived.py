"""What is read off the course of a load: made-up ramps, of which everything is known."""

import dataclasses
from collections.abc import Callable, Mapping

import pytest

from lanelab.driver.record.load_series import SERIES
from lanelab.driver.record.load_spans import combined, first_reached, line
from lanelab.driver.record.metrics import METRICS, metric_named
from lanelab.driver.record.series import Series
from lanelab.driver.trial.load_settings import LoadSettings, Stage
from lanelab.driver.trial.server_load.capacity import derive

MINUTES_20 = 1200
SETTINGS = LoadSettings(
    generator="k6",
    script="page",
    script_text="",
    users=(Stage(0, 0), Stage(1000, MINUTES_20)),
    arrivals=(),
    think_s=5,
    limit_ms=3000,
    warm_up_s=0,
    request_timeout_s=60,
    parameters=(),
    thresholds=(),
    connections=1,
    streams=1,
    requests=0,
    lasts_s=0,
    most_bytes=0,
)


def made(of: Mapping[str, Callable[[float], float | None]], seconds: int = MINUTES_20) -> dict[str, Series]:
    """Series by what they are at each second."""
    made = {}
    for name, value in of.items():
        points = tuple((1000.0 * s, each) for s in range(seconds + 1) if (each := value(s)) is not None)
        made[name] = Series(SERIES[name].unit, points)
    return made


def users(second: float) -> float:
    return second / 1.2


def starving(workers: float = 600) -> dict[str, Callable[[float], float | None]]:
    """Six workers for each user. When none is left pages come no faster, and each takes as long as its turn."""
    full = workers / 6
    return {
        "users": users,
        "pages_per_s": lambda s: min(users(s), full) / 6,
        "page_all_ms": lambda s: 1000 if users(s) <= full else 6000 * users(s) / full - 5000,
        "workers_busy": lambda s: min(6 * users(s), workers),
        "workers_idle": lambda s: max(50, workers - 6 * users(s)) if users(s) < full else 0,
        "errors_per_s": lambda s: 2 if users(s) >= 400 else 0,
    }


def test_a_server_that_runs_out_of_workers() -> None:
    found = derive(made(starving()), SETTINGS)

    # 3,000 ms are reached at 100 * 8 / 6 users.
    assert found["users_at_limit"] == pytest.approx(133.3, abs=1)
    assert found["limit_at_s"] == pytest.approx(160, abs=1)
    assert found["users_at_limit_censored"] == 0
    assert found["first_error_users"] == 400
    assert found["first_error_at_s"] == 480
    assert found["first_error_users_censored"] == 0
    assert found["pages_per_s_most"] == pytest.approx(100 / 6)
    assert found["workers_full_s"] == pytest.approx(120, abs=10)
    assert found["starvation_gap_s"] < 1
    assert found["starvation_ratio"] == pytest.approx(1, abs=0.01)


def test_what_never_breaks_lies_beyond_the_most_users() -> None:
    found = derive(made({**starving(), "page_all_ms": lambda _: 1000, "errors_per_s": lambda _: 0}), SETTINGS)

    assert found["users_at_limit"] == pytest.approx(1000, abs=15)
    assert found["users_at_limit_censored"] == 1
    assert found["first_error_users"] == pytest.approx(1000, abs=15)
    assert found["first_error_users_censored"] == 1
    assert {"limit_at_s", "first_error_at_s"}.isdisjoint(found)


def test_pages_that_never_end_break_the_limit() -> None:
    """They are in no mean: without this a server that hangs would hold its service level to the end."""
    hangs: dict[str, Callable[[float], float | None]] = {
        **starving(),
        "page_all_ms": lambda s: 1000 if s < 600 else None,
        "pages_per_s": lambda s: 10 if s < 600 else 0,
        "pages_under_way": users,
    }

    found = derive(made(hangs), SETTINGS)

    assert found["limit_at_s"] == 600
    assert found["users_at_limit"] == pytest.approx(500)
    assert found["users_at_limit_censored"] == 0


def refusing(second: float, before: float, then: float) -> float:
    return before if second < 600 else then


def test_pages_that_all_fail_at_once_break_the_limit() -> None:
    """They leave as soon as they come, so by Little's law they are quick: a server that refuses everybody holds
    nothing."""
    refuses: dict[str, Callable[[float], float | None]] = {
        **starving(),
        "page_all_ms": lambda s: refusing(s, 1000, 2),
        "pages_per_s": lambda s: refusing(s, 10, 0),
        "page_errors_per_s": lambda s: refusing(s, 0, 80),
        "pages_under_way": lambda s: refusing(s, 10, 0),
    }

    found = derive(made(refuses), SETTINGS)

    assert found["limit_at_s"] == 600
    assert found["users_at_limit"] == pytest.approx(500)
    assert found["users_at_limit_censored"] == 0
    some_end = derive(made({**refuses, "pages_per_s": lambda s: refusing(s, 10, 1)}), SETTINGS)
    assert some_end["users_at_limit_censored"] == 1, "pages that failed leave, too"


def test_a_page_under_way_beside_a_quiet_span_breaks_nothing() -> None:
    """One user who thinks for long: no page ends in a span, and one that began in it ends soon after."""
    seldom: dict[str, Callable[[float], float | None]] = {
        "users": users,
        "pages_per_s": lambda s: float(s % 40 == 0),
        "page_errors_per_s": lambda _: 0,
        "pages_under_way": lambda s: float(s % 40 == 39),
        "page_all_ms": lambda _: 1000,
    }

    assert derive(made(seldom), SETTINGS)["users_at_limit_censored"] == 1


def test_what_was_not_read_breaks_nothing() -> None:
    """A gap is no page that hangs."""
    gap: dict[str, Callable[[float], float | None]] = {
        **starving(),
        "page_all_ms": lambda s: None if 600 <= s < 700 else 1000,
        "pages_per_s": lambda s: None if 600 <= s < 700 else 10,
        "pages_under_way": lambda s: None if 600 <= s < 700 else 20,
    }

    assert derive(made(gap), SETTINGS)["users_at_limit_censored"] == 1


def test_a_limit_that_is_broken_from_the_beginning() -> None:
    found = derive(made({**starving(), "page_all_ms": lambda _: 5000}), SETTINGS)

    assert found["limit_at_s"] == 15
    assert found["users_at_limit_censored"] == 0


def test_workers_that_are_idle_are_not_starvation() -> None:
    """Busy workers have a most in every load. Only where none is left does it say something."""
    found = derive(made({**starving(), "workers_idle": lambda _: 100}), SETTINGS)

    assert {"workers_full_s", "starvation_gap_s"}.isdisjoint(found)


def test_pages_that_come_to_their_most_long_before_the_workers_do() -> None:
    late = {**starving(), "pages_per_s": lambda s: min(s, 60.0), "workers_busy": lambda s: min(s, 600.0)}

    found = derive(made({**late, "workers_idle": lambda s: max(0.0, 600 - s)}), SETTINGS)

    assert found["starvation_gap_s"] == pytest.approx(0.95 * 600 - 0.95 * 60, abs=15)  # half a span
    assert found["starvation_ratio"] == pytest.approx(found["pages_full_s"] / found["workers_full_s"])
    assert found["starvation_ratio"] < 0.15


def test_the_warm_up_counts_in_nothing() -> None:
    late = dataclasses.replace(SETTINGS, warm_up_s=60)
    burst = {**starving(), "pages_per_s": lambda s: 500 if s < 60 else 10, "errors_per_s": lambda s: float(s < 60)}

    found = derive(made({**burst, "page_all_ms": lambda s: 9000 if s < 60 else 100}), late)

    assert found["pages_per_s_most"] == 10
    assert found["users_at_limit_censored"] == found["first_error_users_censored"] == 1


def test_the_last_second_of_the_warm_up_is_in_it() -> None:
    """A point is of the second before it."""
    late = dataclasses.replace(SETTINGS, warm_up_s=60)

    found = derive(made({**starving(), "errors_per_s": lambda s: float(s == 60)}), late)
    assert found["first_error_users_censored"] == 1
    found = derive(made({**starving(), "errors_per_s": lambda s: float(s == 61)}), late)
    assert found["first_error_at_s"] == 61


def test_users_that_stay_as_many_are_no_number_of_where_it_broke() -> None:
    same = dataclasses.replace(SETTINGS, users=(Stage(100, 0), Stage(100, 60)))

    found = derive(
        made({**starving(), "users": lambda _: 100, "page_all_ms": lambda s: 100 * s, "pages_per_s": lambda _: 9}, 60),
        same,
    )

    assert found["limit_at_s"] == pytest.approx(30, abs=1)
    assert not [name for name in found if "users" in name]


def test_a_load_shorter_than_a_span_is_one_span() -> None:
    found = derive(made({"pages_per_s": lambda _: 4, "users": lambda _: 2}, 10), SETTINGS)

    assert found["pages_per_s_most"] == 4


@pytest.mark.parametrize(
    "missing", ["page_all_ms", "pages_per_s", "users", "workers_busy", "workers_idle", "errors_per_s"]
)
def test_what_a_series_would_have_told_is_not_there_without_it(missing: str) -> None:
    whole = starving()
    needs = {
        "page_all_ms": {"users_at_limit", "limit_at_s"},
        "pages_per_s": {"pages_per_s_most", "starvation_gap_s", "starvation_ratio"},
        "users": {"users_at_limit", "first_error_users", "users_at_pages_most"},
        "workers_busy": {"workers_full_s", "starvation_gap_s"},
        "workers_idle": {"workers_full_s", "starvation_gap_s"},
        "errors_per_s": {"first_error_users", "first_error_at_s"},
    }
    found = derive(made({name: value for name, value in whole.items() if name != missing}), SETTINGS)

    assert needs[missing].isdisjoint(found)
    assert needs[missing] < derive(made(whole), SETTINGS).keys()


def test_without_series_there_is_nothing() -> None:
    assert derive({}, SETTINGS) == {}


def test_all_of_it_is_a_metric() -> None:
    for name in derive(made(starving()), SETTINGS):
        assert metric_named(name), name
    assert all(metric_named(metric.censored) for metric in METRICS if metric.censored)


# --- spans


def test_a_mean_of_means_counts_each_as_often_as_it_stands_for() -> None:
    series = made({"page_ms": lambda s: 100 if s < 5 else 400, "pages_per_s": lambda s: 9 if s < 5 else 1}, 9)

    assert combined(series, "page_ms", 0, 10_000) == pytest.approx(130)
    assert combined(made({"page_ms": lambda _: 100}, 9), "page_ms", 0, 10_000) is None


def test_the_largest_of_a_span_is_its_largest() -> None:
    assert combined(made({"generator_files": lambda s: s % 7}, 9), "generator_files", 0, 10_000) == 6


def test_a_span_without_points_has_no_value() -> None:
    series = made({"cpu_idle": lambda s: None if 10 <= s < 20 else 0.5}, 30)

    assert line(series, "cpu_idle", 10_000, 0, 30_000) == [(5_000, 0.5), (15_000, None), (25_000, 0.5)]


def test_a_level_is_reached_on_the_line_between_two_spans() -> None:
    assert first_reached([(0, 1), (10, 3)], 2) == 5
    assert first_reached([(0, 1), (10, None), (20, 3)], 2) == 20
    assert first_reached([(0, 1), (10, float("inf"))], 2) == 5
    assert first_reached([(0, 1), (10, 1.5)], 2) is None
