"""From when on the generator of a ramp was its limit: the course is read until there, and the trial says so."""

import dataclasses
from collections.abc import Callable
from pathlib import Path

import pytest

from lanelab.driver.link import Link
from lanelab.driver.record.evidence.load import Latency, LoadReport
from lanelab.driver.record.reasons import FlagName
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.record.series import Series
from lanelab.driver.trial.load_settings import LoadSettings, Stage
from lanelab.driver.trial.server_load.capacity import derive
from lanelab.driver.trial.server_load.finish import finish
from lanelab.driver.trial.server_load.generator_full import GeneratorFull, generator_full
from lanelab.driver.trial.workload import TrialContext
from tests.kit.k6_loads import PAGES_OF_K6
from tests.kit.records import SITE
from tests.unit.record.test_load_derived import MINUTES_20, SETTINGS, made, starving
from tests.unit.trial.test_load_spoken import Rules
from tests.unit.trial.test_load_verdict import ARM, RECORD, REPORT, TIMES, USE


def report(processors: int = 2, median_ms: float = 100.0) -> LoadReport:
    """The report of a generator that may use so many processors, and whose requests took so long."""
    latency: Latency = dataclasses.replace(TIMES, p50=median_ms)
    requests = dataclasses.replace(REPORT.requests, ms=latency)
    return dataclasses.replace(REPORT, use=dataclasses.replace(USE, processors=processors), requests=requests)


def late(of: Callable[[float], float | None]) -> dict[str, Series]:
    return made({**starving(), "generator_cpu": lambda _: 0.5, "generator_lag_ms": of})


def test_the_course_is_read_until_its_generator_has_no_processor_left() -> None:
    """From 600 s on it is full, and pages take longer for that. As a whole it used few of its two processors."""
    series = made(
        {
            **starving(),
            "page_all_ms": lambda s: 1000 if s < 600 else 9000,
            "pages_per_s": lambda s: 10 if s < 600 else 50,
            "errors_per_s": lambda s: float(s >= 700),
            "generator_cpu": lambda s: 0.5 if s < 600 else 1.9,
        }
    )

    full = generator_full(series, SETTINGS, report())
    assert full is not None
    assert full.flag.name is FlagName.GENERATOR_FULL
    assert "from 600 s on the generator used more than 90%" in full.flag.detail
    found = derive(series, SETTINGS, full)
    assert (found["users_at_limit_censored"], found["first_error_users_censored"]) == (1, 1)
    assert found["users_at_limit"] == found["first_error_users"] == pytest.approx(585 / 1.2)  # amid the last span
    assert found["pages_per_s_most"] == 10
    assert found["generator_full_s"] == pytest.approx(600)
    assert {"limit_at_s", "first_error_at_s"}.isdisjoint(found)

    assert generator_full(series, SETTINGS, report(processors=4)) is None
    assert derive(series, SETTINGS)["limit_at_s"] == pytest.approx(600, abs=15)


def test_the_course_is_read_until_timers_are_late() -> None:
    """In half of the seconds: no 1 of 100 of the whole load's, which is why its verdict does not see it."""
    full = generator_full(late(lambda s: 80.0 if s >= 900 and s % 3 else 1.0), SETTINGS, report())
    assert full is not None
    assert full.from_ms == pytest.approx(900_000)
    assert "from 900 s on 1 of 100 of the generator's timers was more than 50 ms late" in full.flag.detail


@pytest.mark.parametrize(
    ("median_ms", "lag_ms", "limited"),
    [(100, 49, False), (100, 51, True), (10, 19, False), (10, 21, True), (5000, 99, False), (5000, 101, True)],
)
def test_timers_may_be_as_late_as_over_a_whole_load(median_ms: float, lag_ms: float, *, limited: bool) -> None:
    full = generator_full(late(lambda _: lag_ms), SETTINGS, report(median_ms=median_ms))
    assert (full is not None) == limited


def test_single_late_seconds_are_no_limit() -> None:
    """As of a machine that does something else for a moment."""
    assert generator_full(late(lambda s: 400.0 if s % 3 == 0 else 1.0), SETTINGS, report()) is None


def test_seconds_in_which_it_did_not_wake_have_no_point() -> None:
    """Of the others every one is late: those that are missing do not hide it."""
    full = generator_full(late(lambda s: 1.0 if s < 600 else 2500.0 if s % 3 == 0 else None), SETTINGS, report())
    assert full is not None
    assert full.from_ms == pytest.approx(600_000)


def test_a_generator_that_is_full_from_the_beginning_leaves_no_course() -> None:
    full = generator_full(made({**starving(), "generator_cpu": lambda _: 1.0}), SETTINGS, report(processors=1))
    assert full is not None
    assert derive(made(starving()), SETTINGS, full) == {"generator_full_s": pytest.approx(0)}


def test_what_was_before_the_end_of_the_warm_up_does_not_count() -> None:
    warm = dataclasses.replace(SETTINGS, warm_up_s=60)
    assert generator_full(late(lambda s: 300.0 if s <= 60 else 1.0), warm, report()) is None


def test_a_ramp_shorter_than_a_span_is_one_span() -> None:
    short = dataclasses.replace(SETTINGS, users=(Stage(0, 0), Stage(10, 10)))
    series = made({"users": lambda s: s, "generator_cpu": lambda _: 2.0}, 10)
    full = generator_full(series, short, report())
    assert full is not None
    assert full.from_ms == pytest.approx(0)


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        (dataclasses.replace(SETTINGS, users=(Stage(100, 0), Stage(100, MINUTES_20))), report()),  # judged as a whole
        (SETTINGS, dataclasses.replace(REPORT, use=None)),  # does not tell
        (SETTINGS, None),
    ],
)
def test_others_are_judged_elsewhere(settings: LoadSettings, told: LoadReport | None) -> None:
    series = made({**starving(), "generator_cpu": lambda _: 2.0, "generator_lag_ms": lambda _: 500.0})
    assert generator_full(series, settings, told) is None


def test_a_trial_without_these_series_tells_nothing() -> None:
    assert generator_full(made(starving()), SETTINGS, report()) is None
    assert generator_full({}, SETTINGS, report()) is None


@pytest.mark.parametrize(("name", "early", "later"), [("generator_cpu", 0.2, 1.0), ("generator_lag_ms", 1.0, 60.0)])
def test_the_end_of_a_ramp_flags_its_trial_which_counts(tmp_path: Path, name: str, early: float, later: float) -> None:
    ramp = dataclasses.replace(PAGES_OF_K6, users=(Stage(1, 0), Stage(100, 120)))
    told = dataclasses.replace(RECORD, series=made({name: lambda s: early if s < 90 else later}, 120))
    finished: TrialRecord = finish(
        told.to_json(), TrialContext(ARM, SITE, Link.parse({"rtt": "40ms"}), Rules(), tmp_path, ramp)
    )
    assert [flag.name for flag in finished.flags] == [FlagName.GENERATOR_FULL]
    assert "from 90 s on" in finished.flags[0].detail
    assert finished.measures["generator_full_s"] == pytest.approx(90)
    assert finished.ok, "what was measured before counts"


def test_a_flag_says_when_and_why() -> None:
    detail = GeneratorFull(1500.0, "it was late").flag.detail
    assert detail == "from 2 s on it was late, so the course is read until there"
