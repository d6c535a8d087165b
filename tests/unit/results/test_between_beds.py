"""Intervals between beds: what they are, and by simulation how often they hold the true value."""

import dataclasses
import io
import json
import math
import random
import statistics
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console

from lanelab.analysis.results import export, tables
from lanelab.analysis.results.between_beds import BedsOfRun, beds_alike, beds_of_run, between, hodges_lehmann, sentences
from lanelab.analysis.results.model import Run
from lanelab.analysis.results.report.page import page
from lanelab.analysis.results.run_folder import read_run
from lanelab.analysis.results.sections.of_run import results_on_terminal as results
from lanelab.analysis.statistics.distributions import f_above, t_above, t_quantile
from lanelab.analysis.statistics.looks import looks
from tests.kit.made_run import Made, make_run


def made(run: Run) -> BedsOfRun:
    return tables.beds(run, tables.comparisons(run))


def run_of(folder: Path, **options: object) -> Run:
    return read_run(make_run(folder / f"run{len(list(folder.iterdir()))}", Made(with_requests=False, **options)))  # type: ignore[arg-type]


# --- distributions, against published tables


@pytest.mark.parametrize(
    ("df", "expected"), [(1, 12.7062), (2, 4.30265), (4, 2.77645), (9, 2.26216), (30, 2.04227), (1000, 1.96234)]
)
def test_students_t(df: int, expected: float) -> None:
    assert t_quantile(0.975, df) == pytest.approx(expected, rel=1e-5)
    assert t_above(expected, df) == pytest.approx(0.025, rel=1e-4)
    assert t_above(-expected, df) == pytest.approx(0.975, rel=1e-4)


@pytest.mark.parametrize(
    ("df1", "df2", "expected"), [(1, 1, 161.4476), (2, 3, 9.5521), (2, 9, 4.2565), (4, 5, 5.1922), (9, 40, 2.1240)]
)
def test_fishers_f(df1: int, df2: int, expected: float) -> None:
    assert f_above(expected, df1, df2) == pytest.approx(0.05, rel=1e-4)
    assert f_above(0, df1, df2) == 1


# --- one number


def test_a_bed_counts_once_however_many_trials_it_has() -> None:
    few = between({1: [100.0], 2: [110.0], 3: [121.0]}, statistics.median)
    many = between({1: [100.0] * 9, 2: [110.0] * 3, 3: [121.0] * 5}, statistics.median)
    assert (few.value, few.low, few.high) == (many.value, many.low, many.high)
    assert few.value == pytest.approx(110)
    assert few.high is not None
    reach = 4.30265 * math.log(1.1) / math.sqrt(3)  # the standard deviation of the logarithms is log(1.1)
    assert math.log(few.high / 110) == pytest.approx(reach, rel=1e-5)


def test_the_variance_of_beds_is_told_from_that_of_trials() -> None:
    """Searle, Casella and McCulloch: mean squares of groups of unequal size. Worked by hand on logarithms."""
    values = {1: [math.exp(1), math.exp(3)], 2: [math.exp(5), math.exp(7), math.exp(9)]}
    one = between(values, statistics.median)
    # The squares within add up to 10, with 3 degrees of freedom; those among to 30, with 1; a group's size is 2.4.
    assert one.within == pytest.approx(math.sqrt(10 / 3))
    assert one.between == pytest.approx(math.sqrt((30 - 10 / 3) / 2.4))
    assert one.low is None  # two beds have no interval


def test_trials_that_timed_out_leave_a_bed_without_a_number_only_where_its_median_is_one() -> None:
    kept = between({1: [1.0, 2.0, math.inf], 2: [2.0], 3: [2.0]}, statistics.median)
    assert kept.value == pytest.approx(2)
    assert kept.within is None
    lost = between({1: [1.0, math.inf, math.inf], 2: [2.0], 3: [2.0]}, statistics.median)
    assert (lost.value, lost.low, lost.high) == (None, None, None)
    assert [bed.value for bed in lost.beds] == [math.inf, 2.0, 2.0]


def test_a_bed_that_was_cut_short_does_not_weigh_as_much_as_a_whole_one() -> None:
    values = {1: [100.0] * 4, 2: [999.0], 3: [110.0] * 4, 4: [121.0] * 3, 5: [math.inf]}
    one = between(values, statistics.median)
    assert [bed.counts for bed in one.beds] == [True, False, True, True, False]
    assert one.value == pytest.approx(110)
    assert one.low is not None


def test_changes_of_a_bed_are_hodges_and_lehmanns() -> None:
    assert hodges_lehmann([0.5, 2.0]) == pytest.approx(1)
    assert hodges_lehmann([1.0, 1.0, 100.0]) == pytest.approx(1 * 100 ** (0.25))


# --- a run


def test_a_run_on_one_bed_says_so_and_has_no_interval_between_beds(tmp_path: Path) -> None:
    run = run_of(tmp_path)
    (one_bed,) = sentences(made(run))
    assert one_bed.startswith("All trials were made on one bed, so an interval of ")
    assert "times too narrow for what other beds would give" in one_bed
    assert made(run).p is None
    assert not made(run).has_intervals
    assert one_bed in page(run)
    assert "by bed" not in terminal(run)


def terminal(run: Run) -> str:
    out = io.StringIO()
    Console(file=out, width=200).print(results(run))
    return out.getvalue()


def test_a_run_that_may_have_looked_before_is_no_surer_of_what_beds_give(tmp_path: Path) -> None:
    """The report uses the levels of the looks, between beds too."""
    planned = [(look.trials, look.alpha) for look in looks(9, 30)]
    alone = made(run_of(tmp_path, rounds=9, beds=3, bed_noise=0.05))
    watched = made(run_of(tmp_path, rounds=9, beds=3, bed_noise=0.05, looks=planned))
    each, others = (
        [*(row.numbers for row in beds.cells), *(row.numbers for row in beds.changes)] for beds in (alone, watched)
    )
    for one, other in zip(each, others, strict=True):
        assert other.value == one.value
        assert one.low is not None
        assert other.low is not None
        assert other.low < one.low
        assert other.confidence == 0.95, "of all looks together"


def test_a_run_over_three_beds_has_a_table_of_them_everywhere(tmp_path: Path) -> None:
    run = run_of(tmp_path, rounds=9, beds=3, bed_noise=0.05)
    found = made(run)
    assert found.beds == 3
    assert len(found.cells) == 8
    assert len(found.changes) == 6
    assert found.p is not None
    assert found.p < 0.05
    assert "by those of this run" in sentences(found)[0]
    assert sentences(found)[1].startswith("Between beds a change is shown in ")
    assert sentences(found)[1].endswith(
        " of 6 comparisons, each by itself: where nothing changes, 5% of comparisons show one by chance."
    )
    assert sentences(dataclasses.replace(found, changes=found.changes[:1]))[1].endswith(" of 1 comparison.")
    assert next(export.trial_rows(run))["bed"] == 1
    shown = terminal(run)
    assert "by bed, 3 of them" in shown
    assert "h2 against http" in shown
    assert "Between 3 beds" in page(run)
    exported = json.loads(json.dumps(export.results(run)["between_beds"]))
    assert exported["beds"] == 3
    cell = exported["cells"][0]
    assert [bed["n"] for bed in cell["beds"]] == [3, 3, 3]
    assert cell["low"] < cell["value"] < cell["high"]
    assert exported["changes"][0]["base"] == "http"


def test_what_beds_share_leaves_changes_alone(tmp_path: Path) -> None:
    """Beds that differ by 20% in all cells differ by nothing in a ratio of two arms on one bed."""
    found = made(run_of(tmp_path, rounds=15, beds=5, bed_noise=0.2, noise=0.001))
    for cell in found.cells:
        assert cell.numbers.between is not None
        assert cell.numbers.between > 0.05
    for change in found.changes:
        assert change.numbers.between is not None
        assert change.numbers.between < 0.005
        assert change.numbers.excludes_1


def test_a_round_whose_arms_were_on_different_beds_counts_for_no_bed(tmp_path: Path) -> None:
    run = run_of(tmp_path, rounds=6, beds=3)
    moved = [
        dataclasses.replace(trial, bed=9) if trial.round == 6 and trial.cell.arm.name == "h2" else trial
        for trial in run.trials
    ]
    found = made(dataclasses.replace(run, trials=tuple(moved)))
    for change in found.changes:
        other = change.cell.arm.name == "h2"
        assert change.left_out == (1 if other else 0)
        assert [bed.n for bed in change.numbers.beds] == [2, 2, 1 if other else 2]


def test_two_beds_are_too_few(tmp_path: Path) -> None:
    found = made(run_of(tmp_path, rounds=6, beds=2))
    assert sentences(found)[0].startswith("2 beds: too few for an interval between beds, which takes 3.")
    assert not found.has_intervals


def test_a_run_without_a_trial_that_counts_says_nothing(tmp_path: Path) -> None:
    run = run_of(tmp_path, rounds=2, retries=0, fails=lambda _trial, _attempt: True)
    found = made(run)
    assert found == beds_of_run(run, [])
    assert sentences(found) == []


# --- by simulation. Tolerances are four standard errors of the number of repetitions

Draw = Callable[[random.Random], float]
NOISE: dict[str, Draw] = {
    "normal": lambda rng: rng.gauss(0, 1),
    "t of 3 df": lambda rng: rng.gauss(0, 1) / math.sqrt(sum(rng.gauss(0, 1) ** 2 for _ in range(3)) / 3),
    "a time-out in 15%": lambda rng: rng.gauss(0, 1) + (20 if rng.random() < 0.15 else 0),
}
MEDIANS = {"normal": 0.0, "t of 3 df": 0.0, "a time-out in 15%": 0.2231}  # of the last: Phi^-1(0.5 / 0.85)
REPETITIONS = 600
UNEQUAL = (1, 2, 6, 9, 4)


@pytest.mark.parametrize("kind", NOISE)
@pytest.mark.parametrize("beds", [3, 5, 10])
@pytest.mark.parametrize("own", [0.0, 1.0])
def test_the_interval_between_beds_holds_the_true_median_in_95_percent(kind: str, beds: int, own: float) -> None:
    """Also with different numbers of trials, and where beds do not differ at all. Medians of few trials of a skewed
    distribution lie a little to one side, which costs up to 2% with many beds."""
    rng = random.Random(f"{kind} {beds} {own}")
    draw, scale = NOISE[kind], 0.01
    held = 0
    for _ in range(REPETITIONS):
        of_beds = (rng.gauss(0, own) for _ in range(beds))
        values = {
            bed: [1000 * math.exp(scale * (of_bed + draw(rng))) for _ in range(UNEQUAL[bed % 5])]
            for bed, of_bed in enumerate(of_beds)
        }
        one = between(values, statistics.median)
        assert one.low is not None
        assert one.high is not None
        held += one.low <= 1000 * math.exp(scale * MEDIANS[kind]) <= one.high
    allowed = 4 * math.sqrt(0.95 * 0.05 / REPETITIONS)
    assert held / REPETITIONS > 0.95 - allowed
    if kind == "normal":
        assert held / REPETITIONS < 0.97 + allowed  # unequal numbers make it a little wide


def test_intervals_of_one_run_do_not_hold_what_beds_differ_by() -> None:
    """Why all this is there: with beds that differ as much as trials do, the interval of all trials together holds the
    true median in far less than 95%."""
    rng, held = random.Random(5), 0
    for _ in range(REPETITIONS):
        of_beds = [rng.gauss(0, 1) for _ in range(3)]
        every = sorted(of_bed + rng.gauss(0, 1) for of_bed in of_beds for _ in range(10))
        held += every[9] <= 0 <= every[20]  # the interval of 95.7% for 30 values
    assert held / REPETITIONS < 0.75


@pytest.mark.parametrize(("beds", "rounds"), [(3, 2), (3, 4), (5, 2), (10, 3)])
@pytest.mark.parametrize("shared", [0.0, 1.0])
def test_beds_that_do_not_differ_are_said_to_in_5_percent(beds: int, rounds: int, shared: float) -> None:
    """Also where the cells of a round are slow together."""
    rng, wrong = random.Random(f"{beds} {rounds} {shared}"), 0
    for _ in range(REPETITIONS):
        slow = [rng.gauss(0, shared) for _ in range(beds * rounds)]
        cells = [{n: (n // rounds, slow[n] + rng.gauss(0, 1)) for n in range(beds * rounds)} for _ in range(4)]
        p = beds_alike(cells)
        assert p is not None
        wrong += p < 0.05
    assert wrong / REPETITIONS < 0.06 + 4 * math.sqrt(0.05 * 0.95 / REPETITIONS)


def test_beds_that_differ_are_found() -> None:
    rng, found = random.Random(2), 0
    for _ in range(200):
        of_beds = [rng.gauss(0, 2) for _ in range(5)]
        cells = [{n: (n // 3, of_beds[n // 3] + rng.gauss(0, 1)) for n in range(15)} for _ in range(4)]
        found += (beds_alike(cells) or 0) < 0.05
    assert found > 180


def test_what_timed_out_is_a_value_of_its_bed(tmp_path: Path) -> None:
    """Every trial of an arm on the last bed: without them that bed would not be there."""
    slow = lambda trial, _attempt: trial > 12 and trial % 2 == 0  # noqa: E731 - a field of Made
    arms = {"http": {"protocol": "http/1.1"}, "h2": {"protocol": "h2", "tls": "1.3"}}
    made_of = {"beds": 3, "rounds": 9, "links": ({"rtt": "20ms"},), "arms": arms, "retries": 0}
    found = made(run_of(tmp_path, **made_of, fails=slow, reason="timeout", detail="60 s"))
    (row,) = [row for row in found.cells if row.cell.arm.name == "h2"]
    assert [one.n for one in row.numbers.beds] == [3, 3, 3]
    assert math.isinf(row.numbers.beds[2].value)
    assert row.numbers.low is None
    (change,) = found.changes
    assert math.isinf(change.numbers.beds[2].value)


def test_a_cell_that_is_refused_says_nothing_between_beds(tmp_path: Path) -> None:
    lost = {"told_packets_down": 2000.0, "lost_packets_down": 200.0, "overflowed_packets_down": 0.0}
    found = made(run_of(tmp_path, beds=3, rounds=9, links=({"rtt": "20ms"},), machine=lost))
    assert (found.cells, found.changes) == ((), ())
