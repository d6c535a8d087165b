"""What it changes that others watch, as the benchmark works it out."""

import random

import pytest

from tools.bench.viewers import TARGET, Watching, change_of


def test_one_round_of_each_pair_is_watched_and_which_is_left_to_chance() -> None:
    watching = Watching.of(40)
    watched = [number for number in range(1, 81) if watching.is_watched(number)]
    assert [(number + 1) // 2 for number in watched] == list(range(1, 41))
    assert {number % 2 for number in watched} == {0, 1}
    assert watching == Watching.of(40)


@pytest.mark.parametrize(("slower", "met"), [(1.0, True), (1.02, False)])
def test_a_change_is_of_watched_rounds_against_the_others_of_their_pairs(slower: float, *, met: bool) -> None:
    chance, watching = random.Random(1), Watching.of(40)
    values = {
        number: 1000 * chance.gauss(1, 0.004) * (slower if watching.is_watched(number) else 1) + 5 * ((number - 1) // 2)
        for number in range(1, 81)
    }
    figure = change_of("a cell", values, watching)
    assert figure.met is met
    assert figure.values[0] == pytest.approx(slower - 1, abs=TARGET)
    assert "40 pairs" in figure.figure
