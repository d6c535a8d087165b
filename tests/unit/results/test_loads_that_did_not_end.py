"""Loads that did not come to their end: of requests per second they have none, which is worse than every other value.
Where both arms' loads did not, a round says nothing of a difference."""

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest

from lanelab.analysis import statistics as stats
from lanelab.analysis.results import tables
from lanelab.analysis.results.between_beds import results
from lanelab.analysis.results.between_machines import changes_by_machine
from lanelab.analysis.results.compare_runs import against
from lanelab.analysis.results.comparisons import NEITHER
from lanelab.analysis.results.layout.markdown import section_markdown
from lanelab.analysis.results.layout.page import on_page
from lanelab.analysis.results.marks import marks
from lanelab.analysis.results.model import Run
from lanelab.analysis.results.sections.cells import cells_section
from lanelab.analysis.results.sections.seen import Seen
from lanelab.analysis.statistics.looks import look_after
from lanelab.driver.experiment.schedule.stopping import unknown_changes
from tests.kit.experiments import SMALL, read
from tests.kit.made_claims import LATE, made_run

ENDED = [100.0, 101.0, 102.0, 103.0, 104.0, 105.0]


def run_of(base: Sequence[float], arm: Sequence[float]) -> Run:
    """A run of loads with so many requests per second, by round."""
    values = {"a": base, "b": arm}
    made = made_run(lambda name, _rtt, number: values[name][number - 1], rounds=len(base))
    cells = {cell.id: cell for cell in made.cells}
    return replace(made, workload="load", plan=replace(made.plan, compared=((cells["a20"], cells["b20"]),)))


def twice(values: Sequence[float]) -> list[float]:
    return [2 * value for value in values]


@pytest.fixture
def neither() -> Run:
    """Four of ten rounds in which neither arm's load came to its end; in the others one has twice as many."""
    return run_of([*ENDED, *[LATE] * 4], [*twice(ENDED), *[LATE] * 4])


@pytest.fixture
def base_alone() -> Run:
    """Two of ten rounds in which the base's load did not come to its end, and the arm's did."""
    return run_of([*ENDED, 106.0, 107.0, LATE, LATE], twice([*ENDED, 106.0, 107.0, 108.0, 109.0]))


def test_a_round_in_which_neither_ended_is_no_pair(neither: Run) -> None:
    comparison = tables.comparisons(neither)[0].comparison
    assert comparison is not None
    assert (comparison.n, comparison.both_timed_out, comparison.left_out) == (6, 4, 0)
    assert comparison.verdict == "faster"
    assert comparison.ratio.value == pytest.approx(2)
    a20, b20 = neither.plan.compared[0]
    logs = changes_by_machine(a20, b20, results(neither), neither.primary.worst)
    assert list(logs[1]) == [1, 2, 3, 4, 5, 6]


def test_neither_is_it_one_of_several_links_together(neither: Run) -> None:
    a20, b20 = neither.plan.compared[0]
    values = neither.outcomes()
    pooled = stats.pool([(values[a20.number], values[b20.number])] * 2, worst=neither.primary.worst)
    assert pooled is not None
    assert pooled.ratio.n == 12
    assert pooled.ratio.value == pytest.approx(2)


def test_nor_does_it_keep_a_run_going_that_knows_enough() -> None:
    """The interval is of the rounds that say something, as in the report."""
    repeat = read(f"{SMALL}until: {{ci: 2%, max: 30, of: change}}\n").repeat
    base = {number: 100.0 + number if number <= 12 else 0.0 for number in range(1, 17)}
    values = {"a": base, "b": {number: 2 * value for number, value in base.items()}}
    look = look_after(repeat.looks, 16)
    assert not unknown_changes([("a", "b")], values, repeat, look, stats.KNOWN, worst=0.0)
    assert unknown_changes([("a", "b")], values, repeat, look, stats.KNOWN), "of times, these are no change"


@pytest.mark.parametrize("worst", [0.0, math.inf])
def test_a_change_of_which_no_round_says_anything_is_not_known(worst: float) -> None:
    repeat = read(f"{SMALL}until: {{ci: 2%, max: 30, of: change}}\n").repeat
    look, neither = look_after(repeat.looks, 8), dict.fromkeys(range(1, 9), worst)
    apart = {"a": {1: 100.0}, "b": {2: 100.0}}
    for values in ({"a": neither, "b": neither}, apart):
        assert unknown_changes([("a", "b")], values, repeat, look, stats.KNOWN, worst=worst) == [("a", "b")]
    failed = {"a": neither, "b": dict[int, float]()}
    assert not unknown_changes([("a", "b")], failed, repeat, look, stats.KNOWN, worst=worst), "nor would more trials be"


def test_where_the_base_alone_did_not_end_the_arm_is_better(base_alone: Run) -> None:
    rows = tables.comparisons(base_alone)
    assert rows[0].comparison is not None
    assert (rows[0].comparison.n, rows[0].comparison.higher) == (10, 10)
    (change,) = tables.beds(base_alone, rows).changes
    assert change.numbers.beds[0].n == 10, "of beds it is one of ten, too"
    assert change.numbers.value == pytest.approx(2)
    points = against(base_alone, base_alone, 0.05, ()).changes[0].points
    assert (points.n_first, points.n_other) == (10, 10), "and between runs"


def test_figures_have_the_median_that_tables_have(base_alone: Run) -> None:
    """A load that did not end is one of the cell's, and the worst."""
    row = tables.rows(base_alone)[0]
    assert row.summary
    mark = marks(base_alone, "requests_per_s", "").marks[row.cell.number]
    assert (mark.n, mark.middle, mark.low) == (10, row.summary.median, row.summary.estimate.low)
    assert mark.values.count(0) == 2


def test_a_run_in_which_no_load_ended_can_be_shown_and_says_why_nothing_is_compared() -> None:
    run = run_of([LATE] * 3, [LATE] * 3)
    (row,) = tables.comparisons(run)
    assert (row.comparison, row.why) == (None, NEITHER)
    section = cells_section(Seen(run))
    assert "18 trials timed out" in " ".join(section_markdown(section))
    assert "<svg" in str(on_page(section))


def test_a_load_that_did_not_end_is_no_faster_than_its_base() -> None:
    assert stats.compare({1: 0.0}, {1: 0.0}, worst=0.0) is None
    found = stats.compare({1: 0.0}, {1: 0.0})
    assert found is not None, "of a time, 0 is a value like another"
    assert found.ratio.value == 1
    assert stats.compare({1: math.inf}, {1: math.inf}) is None
