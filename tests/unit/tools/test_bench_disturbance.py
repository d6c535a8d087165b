"""What beds at once change of page loads, as the benchmark works it out."""

import random

import pytest

from tools.bench.disturbance import Block, figures


def blocks(seed: int, count: int, slower: float) -> list[Block]:
    chance = random.Random(seed)
    made = []
    for _ in range(count):
        base = tuple(1000 * slower * chance.gauss(1, 0.004) for _ in range(8))
        made.append(Block(base, tuple(0.8 * each * chance.gauss(1, 0.004) for each in base)))
    return made


def test_times_that_are_longer_and_changes_that_are_not_are_told_apart() -> None:
    base, arm, changes = figures(blocks(1, 6, 1.0), blocks(2, 12, 1.1))
    for each in (base, arm):
        value, low, high = each.values
        assert value == pytest.approx(0.1, abs=0.01)
        assert 0 < low <= value <= high
    value, low, high = changes.values
    assert low <= 0 <= high
    assert abs(value) < 1
    assert "points" in changes.figure


def test_changes_are_paired_by_round() -> None:
    assert Block((1000.0, 2000.0), (500.0, 1000.0)).changes == [-0.5, -0.5]
