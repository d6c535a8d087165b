"""Coverage and power by simulation, seeded. What is allowed for chance comes from the number of repetitions: four
standard errors."""

import math

import pytest

from lanelab.analysis.statistics.looks import looks
from tools.simulations import arms as simulation
from tools.simulations.arms import NOISES

LEVEL = 0.95


def least(share: float, runs: int) -> float:
    return share - 4 * math.sqrt(share * (1 - share) / runs)


@pytest.mark.parametrize("n", [6, 12])
@pytest.mark.parametrize("noise", [name for name in NOISES if "ties" not in name])
def test_an_interval_of_a_median_holds_it(noise: str, n: int) -> None:
    assert simulation.median_holds(NOISES[noise], n, 1000) >= least(LEVEL, 1000)


@pytest.mark.parametrize("n", [6, 12])
@pytest.mark.parametrize("noise", NOISES)
def test_an_interval_of_a_change_holds_it(noise: str, n: int) -> None:
    assert simulation.change_holds(NOISES[noise], n, 500) >= least(LEVEL, 500)


def test_a_tenth_round_tells_more_than_the_ninth() -> None:
    """The sign test, which was here before, told 58% with nine rounds and 51% with ten."""
    nine, ten = (simulation.power(1.0, n, 1500) for n in (9, 10))
    assert nine == pytest.approx(0.71, abs=4 * math.sqrt(0.25 / 1500))
    assert ten == pytest.approx(0.80, abs=4 * math.sqrt(0.25 / 1500))
    assert simulation.power(0.0, 10, 1500) <= 0.05 + 4 * math.sqrt(0.05 * 0.95 / 1500)


def test_runs_without_a_difference_rarely_show_one() -> None:
    plain, adjusted, over_links = simulation.false_alarms(4, 4, 10, 150)
    assert plain > 0.2
    assert max(adjusted, over_links) <= 0.05 + 4 * math.sqrt(0.05 * 0.95 / 150)


@pytest.mark.parametrize(("of", "runs"), [("median", 1500), ("change", 300)])
def test_until_holds_over_all_its_looks(of: str, runs: int) -> None:
    assert simulation.until_holds(of, looks(8, 30), 0.02, runs) >= least(LEVEL, runs)


def test_looking_after_every_round_would_not() -> None:
    assert simulation.until_holds("median", simulation.every_round(6, 30), 0.02, 1500) < LEVEL


def test_an_arm_is_not_called_faster_because_its_slow_loads_break() -> None:
    """By the loads that are left it is, and where it is faster it is told all the same if few break."""
    left, verdicts = simulation.called_faster(0.2, 30, 400)
    assert left > 0.1
    assert verdicts <= 0.025 + 4 * math.sqrt(0.025 * 0.975 / 400)
    assert simulation.called_faster(0.02, 30, 400, effect=math.log(0.7), slow=False)[1] > 0.8


@pytest.mark.long
def test_every_table_holds_what_it_must() -> None:
    runs = 20_000
    medians, changes, _, alarms, until, broken = simulation.tables(runs)
    assert all(
        share >= least(LEVEL, runs) for table in (medians, changes) for _, shares in table.rows for share in shares
    )
    assert all(shares[1] <= 0.05 + 4 * math.sqrt(0.05 * 0.95 / 1000) for _, shares in alarms.rows)
    assert all(share >= least(LEVEL, runs // 4) for _, shares in until.rows for share in shares[:2])
    assert all(shares[1] <= 0.025 + 4 * math.sqrt(0.025 * 0.975 / runs) for _, shares in broken.rows)
