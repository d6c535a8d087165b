"""The schedule: from the attempts that are stored to the trials that remain. Resuming changes nothing."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driver.experiment import Experiment
from driver.schedule.order import PlannedTrial
from driver.schedule.rounds import Attempt, History, Schedule, short_cells
from tests.unit.experiments import PATIENT, read

GRID = "sites: [dummy, shop]\nlinks: {rtt: [1ms, 2ms]}\narms: {a: {}, b: {tls: 1.3}}\n"
REPEATS = ("trials: 1\n", "trials: 3\n", "until: {ci: 10%, min: 2, max: 5}\n", "until: {ci: 30%, min: 3, max: 4}\n")
BEDS = ("", "beds: 2\n")
ORDERS = ("interleaved", "random", "sequential")
Step = tuple[PlannedTrial, Attempt]


def spread(values: Sequence[float]) -> tuple[float, float]:
    return min(values), max(values)


def outcome(world: int, planned: PlannedTrial, attempt: int) -> Attempt:
    """What becomes of an attempt in this world, always the same. Two of ten fail, one of them for a reason that is not
    the trial's."""
    text = f"{world}/{planned.key}/{attempt}"
    drawn = int.from_bytes(hashlib.sha256(text.encode()).digest()[:4])
    if drawn % 10 < 2:
        return Attempt(False, uses_retry=drawn % 10 == 0)
    return Attempt(True, 100.0 + drawn % 40)


def play(experiment: Experiment, world: int, history: History, most: int = 10_000) -> list[Step]:
    """The trials that are made from here on, until there is nothing to do, or as many as `most`."""
    schedule = Schedule(experiment, 7, spread, history)
    steps: list[Step] = []
    while batch := schedule.batch():
        for planned in batch:
            if len(steps) == most:
                return steps
            made = outcome(world, planned, schedule.attempts(planned) + 1)
            schedule.add(planned, made)
            steps.append((planned, made))
    return steps


def stored(steps: Sequence[Step]) -> dict[tuple[str, int], list[Attempt]]:
    history: dict[tuple[str, int], list[Attempt]] = {}
    for planned, attempt in steps:
        history.setdefault(planned.key, []).append(attempt)
    return history


experiments = st.builds(
    lambda repeat, beds, order, retries: read(
        f"{GRID}{repeat}{'' if repeat == REPEATS[0] else beds}order: {order}\nretries: {retries}\n"
    ),
    st.sampled_from(REPEATS),
    st.sampled_from(BEDS),
    st.sampled_from(ORDERS),
    st.integers(0, 2),
)


@PATIENT
@given(experiments, st.integers(0, 10**6), st.data())
def test_a_run_that_was_killed_anywhere_makes_the_trials_that_it_would_have_made(
    experiment: Experiment, world: int, data: st.DataObject
) -> None:
    whole = play(experiment, world, {})
    cut = data.draw(st.integers(0, len(whole)), label="trials stored before the kill")
    begun = play(experiment, world, {}, cut)
    assert begun == whole[:cut]
    resumed = play(experiment, world, stored(begun))
    assert stored([*begun, *resumed]) == stored(whole)


@PATIENT
@given(experiments, st.integers(0, 10**6))
def test_no_trial_is_made_again_once_it_counts_or_has_used_up_its_retries(experiment: Experiment, world: int) -> None:
    for attempts in stored(play(experiment, world, {})).values():
        assert all(not attempt.ok for attempt in attempts[:-1])
        used = sum(attempt.uses_retry for attempt in attempts if not attempt.ok)
        assert used <= experiment.retries + 1
        assert attempts[-1].ok or used == experiment.retries + 1


@PATIENT
@given(experiments, st.integers(0, 10**6), st.data())
def test_arms_are_paired_by_round(experiment: Experiment, world: int, data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, 60), label="trials stored before the kill")
    begun = play(experiment, world, {}, cut)
    steps = [*begun, *play(experiment, world, stored(begun))]
    rounds: dict[str, set[int]] = {cell.id: set() for cell in experiment.cells}
    for planned, _ in steps:
        rounds[planned.cell.id].add(planned.round)
    for made in rounds.values():
        assert made == set(range(1, len(made) + 1))
        assert experiment.repeat.min <= len(made) <= experiment.repeat.max
    if experiment.order != "sequential":
        assert len({len(made) for made in rounds.values()}) == 1


@PATIENT
@given(experiments, st.integers(0, 10**6))
def test_cells_that_are_short_of_trials_are_named(experiment: Experiment, world: int) -> None:
    steps = play(experiment, world, {})
    counted = Counter(planned.cell.id for planned, attempt in steps if attempt.ok)
    short = {cell.id for cell in experiment.cells if counted[cell.id] < experiment.repeat.min}
    assert {cell.id for cell in short_cells(experiment, stored(steps))} == short


def test_a_cell_without_trials_is_short_of_them() -> None:
    experiment = read(f"{GRID}trials: 1\n")
    assert short_cells(experiment, {}) == list(experiment.cells)


def test_what_is_given_up_is_not_asked_for_again_in_this_session() -> None:
    experiment = read(f"{GRID}trials: 2\n")
    schedule = Schedule(experiment, 7, spread, {})
    first, *rest = schedule.batch()
    schedule.add(first, Attempt(False, uses_retry=False))
    assert schedule.batch() == [first, *rest]
    schedule.give_up(first)
    assert schedule.batch() == rest
    again = Schedule(experiment, 7, spread, {first.key: [Attempt(False, uses_retry=False)]})
    assert again.batch() == [first, *rest]


@pytest.mark.parametrize(("second", "rounds"), [(100.0, 2), (150.0, 4)])
def test_until_ends_where_every_cell_is_known(second: float, rounds: int) -> None:
    text = "sites: [dummy]\nlinks: {rtt: 1ms}\narms: {a: {}, b: {tls: 1.3}}\nuntil: {ci: 10%, min: 2, max: 4}\n"
    experiment = read(text)
    schedule = Schedule(experiment, 7, spread, {})
    made = 0
    while batch := schedule.batch():
        made = batch[0].round
        for planned in batch:
            value = second if planned.cell.arm.name == "b" and planned.round == 2 else 100.0
            schedule.add(planned, Attempt(True, value))
    assert made == rounds
