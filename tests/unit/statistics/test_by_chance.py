"""How often rounds go one way by chance, against the exact probability where arms have one base."""

import itertools
import math

import pytest

from lanelab.analysis.statistics.by_chance import DRAWS, one_way


def star(links: int, arms: int, rounds: int) -> list[tuple[int, int, int]]:
    """Each arm but the first against the first, on each link."""
    return [(link * arms, link * arms + arm, rounds) for link in range(links) for arm in range(1, arms)]


def exactly(links: int, arms: int, rounds: int) -> float:
    """In a round, let u be the share of trials below the base's. Then a arms are all lower and b all higher in every
    round with the chance of (the integral of u^a (1 - u)^b)^rounds; the rest is inclusion and exclusion."""
    others, none = arms - 1, 0.0
    for a in range(others + 1):
        for b in range(others + 1 - a):
            ways = math.factorial(others) // (math.factorial(a) * math.factorial(b) * math.factorial(others - a - b))
            share = math.factorial(a) * math.factorial(b) / math.factorial(a + b + 1)
            none += (-1) ** (a + b) * ways * share**rounds
    return float(1 - none**links)


@pytest.mark.parametrize(
    ("links", "arms", "rounds"), [(2, 4, 3), (2, 4, 4), (2, 4, 5), (1, 3, 3), (9, 6, 5), (3, 2, 3)]
)
def test_the_chance_is_the_exact_one_where_arms_have_one_base(links: int, arms: int, rounds: int) -> None:
    assert one_way(star(links, arms, rounds)) == pytest.approx(exactly(links, arms, rounds), abs=0.02)


def test_one_comparison_is_a_matter_of_coins() -> None:
    assert one_way([(1, 2, 3)]) == 0.25
    assert one_way([(1, 2, 5)]) == 0.0625
    assert one_way([]) == 0


@pytest.mark.parametrize(
    "pairs",
    [
        [(0, 1, 3), (1, 2, 3), (0, 2, 3)],  # each against each
        [(0, 1, 3), (1, 2, 4)],  # unequal rounds
        [(0, 1, 3), (2, 3, 3), (1, 2, 3)],  # two pairs that a third one joins
    ],
)
def test_any_set_of_comparisons_is_as_all_orders_of_its_cells_say(pairs: list[tuple[int, int, int]]) -> None:
    cells, rounds = 1 + max(max(pair[:2]) for pair in pairs), max(pair[2] for pair in pairs)
    orders = list(itertools.permutations(range(cells)))
    found = sum(
        any(sum(each[one] < each[other] for each in made[:n]) in (0, n) for one, other, n in pairs)
        for made in itertools.product(orders, repeat=rounds)
    )
    moved = [(one + 5, other + 5, n) for one, other, n in pairs]
    assert one_way(moved) == pytest.approx(found / len(orders) ** rounds, abs=4 * math.sqrt(0.25 / DRAWS))
