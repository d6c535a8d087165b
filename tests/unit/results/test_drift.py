"""Drift within a run: found with its size and direction, and rarely where there is none, by rounds and within beds."""

import random
import statistics
from collections.abc import Callable

import pytest

from lanelab.analysis.results.drift import MOST_PAIRS, Series, Timed, drift, theil_sen
from lanelab.analysis.results.tables import run_drift
from lanelab.analysis.statistics.ranks import ranks
from tests.kit.made_claims import made_run

CELLS = 4


def made_drift(
    change: float, seed: int, *, rounds: int = 15, beds: int = 1, of_round: float = 0.0, of_bed: float = 0.0
) -> list[Timed]:
    """Trials that become slower by this share on each bed, in rounds that are divided over beds. `of_round`, `of_bed`:
    by how much these vary, beside trials, which vary by 1%."""
    rng, each = random.Random(seed), rounds // beds
    levels = [rng.lognormvariate(0, of_bed) for _ in range(beds)]
    values: list[Timed] = []
    for number in range(1, rounds + 1):
        bed, place = divmod(number - 1, each)
        state = levels[bed] * rng.lognormvariate(0, of_round)
        for cell in range(1, CELLS + 1):
            at = place * CELLS + cell
            value = 1000 * cell * (1 + change * at / (each * CELLS)) * state * rng.lognormvariate(0, 0.01)
            values.append(Timed(Series(cell, 1, "", bed + 1), number, float(at), value))
    return values


def alarms(made: Callable[[int], list[Timed]], runs: int = 60) -> int:
    return sum(drift(made(seed)).is_shown for seed in range(runs))


def test_drift_is_found_with_its_size_and_direction() -> None:
    slower, faster = drift(made_drift(0.08, 1)), drift(made_drift(-0.08, 1))
    assert slower.is_shown
    assert slower.change_percent == pytest.approx(8, abs=2)
    assert "slower from the beginning of the run to its end" in slower.words()
    assert faster.is_shown
    assert "faster" in faster.words()


def test_drift_is_rarely_seen_where_there_is_none() -> None:
    assert alarms(lambda seed: made_drift(0, seed, rounds=6)) <= 3


def test_a_machine_that_slows_whole_rounds_by_chance_does_not_drift() -> None:
    """Trials of a round are no independent ones: by their own order one of five such runs would drift."""
    assert alarms(lambda seed: made_drift(0, seed, rounds=12, of_round=0.05)) <= 3


def test_rounds_that_beds_made_together_are_one_each() -> None:
    """As in a sweep on one machine: what slows it slows all of its beds."""

    def shared(seed: int) -> list[Timed]:
        made = made_drift(0, seed, rounds=12, of_round=0.05)
        return [one._replace(series=one.series._replace(bed=one.series.cell)) for one in made]

    assert alarms(shared) <= 3


def test_beds_that_differ_do_not_drift_and_each_may() -> None:
    """Used one after the other, each slower than the one before, they would look like drift of the run."""
    assert alarms(lambda seed: made_drift(0, seed, rounds=12, beds=3, of_bed=0.05)) <= 3
    found = drift(made_drift(0.08, 1, rounds=18, beds=3, of_bed=0.05))
    assert found.is_shown
    assert found.change_percent == pytest.approx(8, abs=2.5)
    assert "slower from the beginning of a bed to its end" in found.words()


@pytest.mark.parametrize(
    ("rounds", "beds", "told"), [(5, 1, False), (6, 1, True), (6, 2, False), (8, 2, True), (6, 3, False), (9, 3, True)]
)
def test_few_rounds_have_no_order_that_is_rare(rounds: int, beds: int, *, told: bool) -> None:
    """Of 5 rounds on one bed, one of 60 runs has them in order or in its reverse, however many trials a round has."""
    found = drift(made_drift(0.5, 1, rounds=rounds, beds=beds))
    assert (found.p is not None, found.is_shown) == (told, told)
    assert found.words().startswith("Drift: " if told else "Too few rounds to look for drift")


def test_of_nothing_there_is_no_drift() -> None:
    found = drift([])
    assert (found.n, found.p, found.is_shown) == (0, None, False)


def test_drift_of_values_all_alike() -> None:
    found = drift(Timed(Series(1, 1, "", 1), number, float(number), 5.0) for number in range(20))
    assert (found.change_percent, found.p, found.is_shown) == (0, 1.0, False)


def test_a_run_of_several_beds_is_looked_at_bed_by_bed() -> None:
    """Rounds of a run are numbered through, and its beds are used one after the other."""
    steps = run_drift(made_run(lambda _arm, _rtt, number: 1000.0 + 100 * ((number - 1) // 4) + number % 2, beds=3))
    assert not steps.is_shown
    assert "the trend over a bed is" in steps.words()
    alone = run_drift(made_run(lambda _arm, _rtt, number: 1000.0 + 100 * ((number - 1) // 4) + number % 2))
    assert alone.is_shown
    assert "from the beginning of the run to its end" in alone.words()


def test_theil_sen_does_not_mind_an_outlier() -> None:
    line = [(float(i), 2.0 * i) for i in range(20)]
    line[3] = (3.0, 1e6)
    assert theil_sen(line) == pytest.approx(2, rel=0.01)
    many = [(float(i), 2.0 * i) for i in range(1000)]
    assert theil_sen(many) == 2


def test_ranks_share_the_mean_of_ties() -> None:
    assert ranks([10, 20, 20, 5]) == [2, 3.5, 3.5, 1]


def test_of_very_many_pairs_those_are_taken_that_pythons_chance_gives() -> None:
    many = [(float(x), 3 * x + random.Random(x).random() ** 9) for x in range(700)]
    rng = random.Random(4)
    pairs = [(rng.randrange(700), rng.randrange(700)) for _ in range(MOST_PAIRS)]
    slopes = [(many[j][1] - many[i][1]) / (many[j][0] - many[i][0]) for i, j in pairs if i != j]
    assert theil_sen(many, seed=4) == statistics.median(slopes)
