"""The schedule: from the attempts that are stored to the trials that remain. Resuming changes nothing."""

import hashlib
import statistics
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lanelab.driver.experiment.model import Experiment
from lanelab.driver.experiment.schedule.order import PlannedTrial
from lanelab.driver.experiment.schedule.results import Attempt, History, short_cells
from lanelab.driver.experiment.schedule.rounds import Schedule
from tests.kit.experiments import PATIENT, read

GRID = "sites: [dummy, shop]\nlinks: {rtt: [1ms, 2ms]}\narms: {a: {}, b: {tls: 1.3}}\n"
REPEATS = (
    "trials: 1\n",
    "trials: 3\n",
    "until: {ci: 18%, min: 7, max: 14}\n",
    "until: {ci: 30%, min: 8, max: 16, of: change}\n",
)
BEDS = ("", "beds: 2\n")
ORDERS = ("interleaved", "random", "sequential")
Step = tuple[PlannedTrial, Attempt]


class Spread:
    """Stands in for the statistics: whatever has values is known as well as they lie together."""

    def median(self, values: Sequence[float], alpha: float) -> tuple[float, float, float]:
        assert 0 < alpha < 0.05
        return min(values), statistics.median(values), max(values)

    def change(
        self,
        base: Mapping[int, float],
        arm: Mapping[int, float],
        alpha: float,
        _machines: tuple[Mapping[int, object], Mapping[int, object]] | None = None,
    ) -> tuple[float, float, float] | None:
        both = base.keys() & arm.keys()
        return self.median([arm[number] / base[number] for number in both], alpha) if both else None


def outcome(world: int, planned: PlannedTrial, attempt: int) -> Attempt:
    """What becomes of an attempt in this world, always the same. Two of ten fail, one of them for a reason that is not
    the trial's; one of twenty times out."""
    text = f"{world}/{planned.key}/{attempt}"
    drawn = int.from_bytes(hashlib.sha256(text.encode()).digest()[:4])
    if drawn % 10 < 2:
        return Attempt(False, uses_retry=drawn % 10 == 0)
    if drawn % 20 == 2:
        return Attempt(False, timed_out=True)
    return Attempt(True, 100.0 + drawn % 40)


def play(experiment: Experiment, world: int, history: History, most: int = 10_000) -> list[Step]:
    """The trials that are made from here on, until there is nothing to do, or as many as `most`."""
    schedule = Schedule(experiment, 7, Spread(), history)
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
        f"{GRID}{repeat.replace(', of: change', '') if order == 'sequential' else repeat}"
        f"{'' if repeat == REPEATS[0] else beds}order: {order}\nretries: {retries}\n"
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


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("beds", BEDS)
def test_the_next_round_is_foreseen_where_it_comes_on_the_same_bed(order: str, beds: str) -> None:
    schedule = Schedule(read(f"{GRID}trials: 4\n{beds}order: {order}\n"), 7, Spread(), {})
    last_of_stage = (2, 4) if beds else (4,)
    while batch := schedule.batch():
        foreseen = schedule.next_round()
        for planned in batch:
            schedule.add(planned, Attempt(True, 100.0))
        number = batch[0].round
        assert foreseen == (None if number in last_of_stage else schedule.batch()[0]), number


@PATIENT
@given(experiments, st.integers(0, 10**6))
def test_no_trial_is_made_again_once_it_is_a_result_or_has_used_up_its_retries(
    experiment: Experiment, world: int
) -> None:
    for attempts in stored(play(experiment, world, {})).values():
        assert all(not attempt.is_result for attempt in attempts[:-1])
        used = sum(attempt.uses_retry for attempt in attempts if not attempt.is_result)
        assert used <= experiment.retries + 1
        assert attempts[-1].is_result or used == experiment.retries + 1


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
        assert len(made) in {look.trials for look in experiment.repeat.looks}
    if experiment.order != "sequential":
        assert len({len(made) for made in rounds.values()}) == 1


@PATIENT
@given(experiments, st.integers(0, 10**6))
def test_cells_that_are_short_of_trials_are_named(experiment: Experiment, world: int) -> None:
    steps = play(experiment, world, {})
    results = Counter(planned.cell.id for planned, attempt in steps if attempt.is_result)
    counting = {planned.cell.id for planned, attempt in steps if attempt.ok}
    least = experiment.repeat.min
    short = {cell.id for cell in experiment.cells if results[cell.id] < least or cell.id not in counting}
    assert {cell.id for cell in short_cells(experiment, stored(steps))} == short


def test_a_cell_without_trials_is_short_of_them() -> None:
    experiment = read(f"{GRID}trials: 1\n")
    assert short_cells(experiment, {}) == list(experiment.cells)


def test_what_is_given_up_is_not_asked_for_again_in_this_session() -> None:
    experiment = read(f"{GRID}trials: 2\n")
    schedule = Schedule(experiment, 7, Spread(), {})
    first, *rest = schedule.batch()
    schedule.add(first, Attempt(False, uses_retry=False))
    assert schedule.batch() == [first, *rest]
    schedule.give_up(first)
    assert schedule.batch() == rest
    again = Schedule(experiment, 7, Spread(), {first.key: [Attempt(False, uses_retry=False)]})
    assert again.batch() == [first, *rest]


TWO_ARMS = "sites: [dummy]\nlinks: {rtt: 1ms}\narms: {a: {}, b: {tls: 1.3}}\n"


def rounds_of(text: str, value: Callable[[str, int], float | None]) -> list[list[str]]:
    """The arms of each round, where trials have these values; none: it timed out."""
    schedule, made = Schedule(read(TWO_ARMS + text), 7, Spread(), {}), list[list[str]]()
    while batch := schedule.batch():
        made.append(sorted(planned.cell.arm.name for planned in batch))
        for planned in batch:
            found = value(planned.cell.arm.name, planned.round)
            schedule.add(planned, Attempt(found is not None, found, timed_out=found is None))
    return made


@pytest.mark.parametrize(
    ("of", "values", "rounds"),
    [
        ("median", lambda _arm, _round: 100.0, 8),
        ("median", lambda arm, number: 150.0 if (arm, number) == ("b", 2) else 100.0, 30),
        ("median", lambda _arm, number: 150.0 if number == 9 else 100.0, 8),  # after the look
        ("median", lambda arm, number: None if (arm, number) == ("b", 2) else 100.0, 30),
        ("median", lambda _arm, number: 100.0 * number, 30),
        ("change", lambda arm, number: 100.0 * number * (2 if arm == "b" else 1), 8),
        ("change", lambda arm, number: 150.0 if (arm, number) == ("b", 2) else 100.0, 30),
        ("change", lambda arm, number: None if (arm, number) == ("b", 2) else 100.0, 30),
        ("change", lambda _arm, _round: None, 30),  # rounds in which both timed out say nothing of a change
        ("change", lambda _arm, number: None if number <= 8 else 100.0, 16),
    ],
)
def test_until_ends_at_the_look_at_which_everything_is_known(
    of: str, values: Callable[[str, int], float | None], rounds: int
) -> None:
    made = rounds_of(f"until: {{ci: 10%, min: 8, max: 30, of: {of}}}\n", values)
    assert made == [["a", "b"]] * rounds


def test_a_time_out_is_the_result_of_its_round() -> None:
    """Tried again until it is fast enough, it would look fast."""
    assert rounds_of("trials: 3\nretries: 2\n", lambda arm, _: 1.0 if arm == "a" else None) == [["a", "b"]] * 3
