"""How often verdicts are false, by simulation, seeded. What is allowed for chance comes from the number of repetitions:
four standard errors."""

import math

import pytest

from lanelab.analysis.results.claims.judge import judge
from lanelab.analysis.results.claims.verdict import Verdict
from lanelab.analysis.statistics.looks import looks
from tests.kit.made_claims import made_claim, made_run, with_effect
from tools.simulations import claims as simulation
from tools.simulations.claims import DESIGNS, QUANTIFIED, Design

RUNS = 150


def most(share: float, runs: int = RUNS) -> float:
    return share + 4 * math.sqrt(share * (1 - share) / runs)


ENDLESS = next(design for design in DESIGNS if "endless" in design.name)


@pytest.mark.parametrize("design", [DESIGNS[0], DESIGNS[3], ENDLESS], ids=lambda design: design.name)
def test_a_verdict_at_its_edge_is_rarely_false(design: Design) -> None:
    edge, direction, reverse, size, alike, unlike = simulation.of_one_place(design, RUNS)
    assert max(edge, alike) <= most(0.05)
    assert max(direction, reverse, size, unlike) <= most(0.025)


@pytest.mark.parametrize("row", QUANTIFIED, ids=lambda row: row[0])
def test_a_claim_about_several_places_is_rarely_judged_falsely(row: tuple) -> None:  # type: ignore[type-arg]
    assert max(simulation.of_several(row, DESIGNS[3], RUNS)) <= most(0.05)


def test_looks_share_what_one_look_may_miss() -> None:
    reproduced, direction, refuted = simulation.of_looks(Design(1, 30), 50)
    assert reproduced <= most(0.05, 50)
    assert max(direction, refuted) <= most(0.025, 50)


def test_looks_that_are_not_planned_are_wrong_more_often() -> None:
    """The same run judged after each of its rounds as if it had been the only look."""
    claim, design, planned = simulation.made_claim(), Design(1, 20), looks(8, 20)
    spent = simulation.at_any_look(claim, simulation.HIGH, design, planned, simulation.is_reproduced, RUNS)
    careless = simulation.at_every_round(claim, simulation.HIGH, design, simulation.is_reproduced, RUNS)
    assert spent <= most(0.05)
    assert careless > max(0.08, spent)


def test_an_effect_in_the_middle_of_the_region_is_found() -> None:
    """Else a judge that never says anything would pass."""
    for design in (DESIGNS[0], DESIGNS[3]):
        found = simulation.share(
            simulation.made_claim(), [simulation.PUBLISHED], design, simulation.is_reproduced, RUNS
        )
        assert found >= 0.95


@pytest.mark.parametrize("beds", [1, 3])
def test_changes_that_are_alike_are_rarely_told_apart(beds: int) -> None:
    """Whole runs, in which each arm's place has noise of its own, and the first change is 1% less: the very edge."""
    told = 0
    for seed in range(RUNS):
        claim = made_claim("contrast", low=None, high=0.99, published=())
        found = judge(made_run(with_effect("contrast", 0.99, 0.01, seed), beds=beds, claims=[claim]))[0]
        told += found.verdict == Verdict.REPRODUCED
    assert told / RUNS <= most(0.025)


def test_changes_that_differ_are_told_apart() -> None:
    claim = made_claim("contrast", low=None, high=0.99, published=())
    found = [judge(made_run(with_effect("contrast", 0.9, 0.02, seed), claims=[claim]))[0] for seed in range(RUNS // 3)]
    assert sum(each.verdict == Verdict.REPRODUCED for each in found) >= 0.9 * len(found)


@pytest.mark.long
def test_every_table_of_claims_holds_what_it_must() -> None:
    runs = 3000
    one, several, until = simulation.tables(runs)
    for name, (edge, direction, reverse, size, alike, unlike) in one.rows:
        if "skewed" in name and "contrast" not in name:  # docs/statistics.md says that these are not covered
            continue
        assert max(edge, alike) <= most(0.05, runs)
        assert max(direction, reverse, size, unlike) <= most(0.025, runs)
    assert all(share <= most(0.05, runs) for _, shares in several.rows for share in shares)
    assert all(share <= most(0.05, runs // 2) for _, shares in until.rows for share in shares)
