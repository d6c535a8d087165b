"""Sentences for when an interval and a verdict belong to two tests: they are told with values of every kind."""

from dataclasses import replace
from pathlib import Path

import pytest

from lanelab.analysis.results.comparisons import ComparisonRow, comparisons
from lanelab.analysis.results.numbers import probability
from lanelab.analysis.results.run_folder import read_run
from lanelab.analysis.results.sections.comparisons import alone_and_together, left_out_words
from tests.kit.made_run import Made, make_run


@pytest.fixture(scope="module")
def row(tmp_path_factory: pytest.TempPathFactory) -> ComparisonRow:
    folder: Path = tmp_path_factory.mktemp("runs") / "run"
    return comparisons(read_run(make_run(folder, Made(rounds=8))))[0]


def holding(row: ComparisonRow, p: float, *, low: float | None = 0.77, high: float | None = 0.99) -> ComparisonRow:
    assert row.comparison
    ratio = replace(row.comparison.ratio, low=low, high=high)
    return replace(row, comparison=replace(row.comparison, ratio=ratio, adjusted_p=p))


def elsewhere(row: ComparisonRow, site: str) -> ComparisonRow:
    return replace(row, cell=replace(row.cell, site=site))


ONE = (
    "Taken by itself, http keepalive against http over 10mbit 20ms shows a change (95% interval -23% to -1.0%). "
    "But 2 comparisons were made, and among so many one shows as much by chance too often (p 0.12 with all 2 of them "
    "counted): there no difference is shown."
)
TWO = (
    "Taken by themselves, 2 comparisons that show no difference here would show one: their intervals are on one side "
    "of 0%. But 3 comparisons were made, and among so many some show as much by chance too often (the least p of these "
    "is 0.12 with all 3 of them counted): for these 2 no difference is shown."
)


def test_one_that_is_clear_by_itself_alone_is_told_with_both_tests(row: ComparisonRow) -> None:
    rows = [holding(row, 0.12), holding(row, 1.0, high=1.02)]
    assert alone_and_together(rows) == ONE
    stands = f"{ONE} What is said of all sites and links together is another test, and stands."
    assert alone_and_together(rows, pooled=True) == stands


def test_it_names_the_site_where_there_are_several(row: ComparisonRow) -> None:
    rows = [elsewhere(holding(row, 0.12), "a"), elsewhere(holding(row, 1.0, high=1.02), "b")]
    assert alone_and_together(rows) == ONE.replace("over 10mbit", "over a, 10mbit")


def test_several_are_told_in_one_sentence(row: ComparisonRow) -> None:
    rows = [holding(row, 0.12), holding(row, 0.3, low=1.1, high=float("inf"))]
    assert alone_and_together([*rows, holding(row, 1.0, high=1.02)]) == TWO


def test_verdicts_beside_it_are_not_denied(row: ComparisonRow) -> None:
    rows = [holding(row, 0.12), holding(row, 0.3, low=1.1, high=float("inf")), holding(row, 0.01)]
    assert alone_and_together(rows) == f"{TWO} The verdicts of the others stand."


@pytest.mark.parametrize(
    ("p", "low", "high"), [(0.01, 0.7, 0.9), (1.0, 0.9, 1.1), (1.0, None, None), (1.0, 0.0, float("inf"))]
)
def test_where_both_say_the_same_nothing_is_added(
    row: ComparisonRow, p: float, low: float | None, high: float | None
) -> None:
    assert alone_and_together([holding(row, p, low=low, high=high)]) == ""


def test_what_is_not_compared_and_what_is_so_far_has_no_second_test(row: ComparisonRow) -> None:
    assert row.comparison
    short = replace(row.comparison, ratio=replace(row.comparison.ratio, n=5))
    assert alone_and_together([replace(row, comparison=None), replace(row, comparison=short)]) == ""


@pytest.mark.parametrize(
    ("p", "words"),
    [
        (0.03125, "0.031"),
        (0.0496, "0.05"),
        (0.05, "0.05"),
        (0.0504, "0.0504"),
        (0.05001, "0.05001"),
        (1e-5, "< 0.0001"),
    ],
)
def test_a_p_is_not_rounded_to_the_other_side_of_its_verdict(p: float, words: str) -> None:
    assert probability(p) == words


def lacking(row: ComparisonRow, left_out: int, *, across: int = 0, so_far: bool = False) -> ComparisonRow:
    assert row.comparison
    comparison = replace(row.comparison, left_out=left_out, across_machines=across, so_far=so_far)
    return replace(row, comparison=comparison)


def test_rounds_that_one_arm_lacks_are_told(row: ComparisonRow) -> None:
    few, many = lacking(row, 1), lacking(row, 12)
    said = left_out_words([few, many, row])
    assert said.startswith("Left out: rounds in which one of the two has no trial that counts, 12 of 20 rounds of http")
    assert "over 10mbit 20ms, and some in 1 more comparison. Where slow trials are those that fail" in said
    assert "more" not in left_out_words([row, many])


def test_rounds_that_are_told_elsewhere_or_may_come_are_not(row: ComparisonRow) -> None:
    """Those that two machines shared have a sentence of their own, and a run that goes on makes the rest."""
    assert left_out_words([row]) == ""
    assert left_out_words([lacking(row, 3, across=3)]) == ""
    assert left_out_words([lacking(row, 3, so_far=True)]) == ""
