"""Numbers of things in words."""

import pytest

from lanelab.driver.base.amounts import counted, form_for


@pytest.mark.parametrize(
    ("number", "words"), [(0, "0 rounds"), (1, "1 round"), (2, "2 rounds"), (1200, "1200 rounds"), (-1, "-1 rounds")]
)
def test_a_noun_has_an_s_for_every_number_but_one(number: int, words: str) -> None:
    assert counted(number, "round") == words


def test_a_noun_with_its_verb_has_two_forms() -> None:
    assert [counted(n, "trial is", "trials are") for n in (1, 2)] == ["1 trial is", "2 trials are"]


def test_a_form_stands_without_its_number() -> None:
    assert [form_for(n, "user") for n in (1, 1.0, 2.5, None)] == ["user", "user", "users", "users"]
