"""lanelab compare: whether two runs agree, and how often that is said wrongly."""

import collections
import itertools
import json
import math
import random
import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from lanelab.analysis.results.against import Against, sentences, status
from lanelab.analysis.results.compare_runs import against
from lanelab.analysis.results.conditions import differing
from lanelab.analysis.results.model import Run
from lanelab.analysis.results.run_folder import read_run
from lanelab.analysis.statistics.two_samples import innermost, shift
from lanelab.driver.base.errors import InputError, StoreError
from lanelab.driver.cli.compare import compare
from tests.kit.changed_run import changing, digest_all
from tests.kit.made_claims import made_run, noise
from tests.kit.made_run import Made, make_run

SMALL = {"http": {"protocol": "http/1.1"}, "h2": {"protocol": "h2", "tls": "1.3"}}
LOST = {"told_packets_down": 2000.0, "lost_packets_down": 200.0, "overflowed_packets_down": 0.0}
NEVER: Callable[[int, int], bool] = lambda _trial, _attempt: False  # noqa: E731 - a field of Made


@pytest.fixture
def made(tmp_path: Path) -> Callable[..., Path]:
    def make(name: str, **options: Any) -> Path:
        given = {"with_requests": False, "arms": SMALL, "rounds": 8, "fails": NEVER, **options}
        return make_run(tmp_path / name, Made(**given))

    return make


def compared(first: Path, other: Path, margin: float = 0.05) -> Against:
    one, two = read_run(first), read_run(other)
    return against(one, two, margin, differing(one, two))


def called(*words: object) -> Result:
    return CliRunner().invoke(compare, [str(word) for word in words], standalone_mode=False)


# --- the shift between two samples


@pytest.mark.parametrize(("m", "n"), [(1, 1), (1, 4), (3, 4), (4, 4), (3, 6)])
def test_the_distribution_is_what_counting_all_orders_gives(m: int, n: int) -> None:
    counts: collections.Counter[int] = collections.Counter()
    for places in itertools.combinations(range(m + n), m):
        others = [place for place in range(m + n) if place not in places]
        counts[sum(other > place for place in places for other in others)] += 1
    total = math.comb(m + n, m)
    for alpha in (0.05, 0.2, 0.5):
        k, confidence = innermost(m, n, alpha)
        outside = sum(counts[u] for u in range(k))
        assert confidence == pytest.approx(max(0, 1 - 2 * outside / total))
        assert k == 1 or 2 * outside / total <= alpha
        assert 2 * (outside + counts[k]) / total > alpha


@pytest.mark.parametrize(("m", "n", "k"), [(4, 4, 1), (5, 5, 3), (5, 8, 7), (10, 10, 24), (15, 20, 91), (20, 20, 128)])
def test_published_critical_values(m: int, n: int, k: int) -> None:
    """Two-sided 5%: the critical value of Mann and Whitney's U is one less."""
    assert innermost(m, n)[0] == k
    assert innermost(m, n)[1] >= 0.95


def test_large_samples_go_on_where_small_ones_end() -> None:
    exact, normal = innermost(100, 100)[0], innermost(100, 101)[0]
    assert abs(normal / (100 * 101) - exact / 100**2) < 0.001


def test_three_against_three_have_no_interval_of_95_percent() -> None:
    few = shift([1, 2, 3], [4, 5, 6])
    assert (few.low, few.high, few.is_enough) == (1, 5, False)
    assert few.confidence == pytest.approx(0.9)
    assert few.name == "90% interval"


def test_trials_that_timed_out_count_against_whatever_is_claimed() -> None:
    base = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]
    assert shift(base, [*base[:7], math.inf]).high < math.inf
    assert shift(base, [math.inf] * 8).low == math.inf
    unknown = shift([math.inf] * 3 + base[:2], [math.inf] * 3 + base[:2])
    assert (unknown.low, unknown.high) == (-math.inf, math.inf)


Draw = Callable[[random.Random], float]
SHAPES: Mapping[str, Draw] = {
    "normal": lambda rng: rng.gauss(0, 1),
    "skewed": lambda rng: rng.expovariate(1),
    "a time-out in 15%": lambda rng: rng.gauss(0, 1) + (20 if rng.random() < 0.15 else 0),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("m", "n"), [(4, 4), (5, 10), (12, 12)])
def test_the_interval_holds_the_true_shift_as_often_as_it_says(shape: str, m: int, n: int) -> None:
    rng, draw, held, repetitions = random.Random(f"{shape} {m} {n}"), SHAPES[shape], 0, 1500
    for _ in range(repetitions):
        one = shift([draw(rng) for _ in range(m)], [3 + draw(rng) for _ in range(n)])
        held += one.low <= 3 <= one.high
    allowed = 4 * math.sqrt(0.95 * 0.05 / repetitions)
    assert abs(held / repetitions - innermost(m, n)[1]) < allowed


@pytest.mark.parametrize(("factor", "agree", "differ"), [(1.05, 0.025, 0.025), (1.0, 1.0, 0.0), (1.15, 0.0, 1.0)])
def test_agreement_and_difference_are_said_wrongly_in_no_more_than_2_5_percent(
    factor: float, agree: float, differ: float
) -> None:
    """At the margin itself, where both are hardest, well within it, and well beyond. Noise as of real trials: 2%."""
    rng, repetitions = random.Random(f"margin {factor}"), 1500
    counts: collections.Counter[bool | None] = collections.Counter()
    for _ in range(repetitions):
        first = [rng.gauss(0, 0.02) for _ in range(10)]
        one = shift(first, [math.log(factor) + rng.gauss(0, 0.02) for _ in range(10)]).exponential()
        inside = one.low >= 1 / 1.05 and one.high <= 1.05
        counts[True if inside else False if one.low > 1.05 else None] += 1
    allowed = 4 * math.sqrt(0.025 * 0.975 / repetitions)
    if agree == differ:
        assert counts[True] / repetitions < 0.025 + allowed
        assert counts[False] / repetitions < 0.025 + allowed
    else:
        assert counts[bool(agree)] / repetitions > 0.95
        assert counts[not agree] == 0


# --- runs


def test_a_slower_machine_differs_in_its_times_and_agrees_in_its_changes(made: Callable[..., Path]) -> None:
    found = compared(made("a"), made("b", seed=8, pace=1.2))
    assert {row.verdict for row in found.cells} == {"differ"}
    assert {row.verdict for row in found.changes} == {"agree"}
    assert all(1.17 < row.ratio.value < 1.23 for row in found.cells)
    assert all(abs(row.points.value) < 3 for row in found.changes)
    words = sentences(found)
    assert words[0].startswith("Absolute page load times differ by ")
    assert "They agree within 5% in 0 of 4 cells, differ by more in 4." in words[0]
    assert "They agree within 5 points in 2 of 2 comparisons." in words[1]
    assert status([found]) == "differ"


def test_runs_alike_agree(made: Callable[..., Path]) -> None:
    found = compared(made("a"), made("b", seed=8, noise=0.01))
    assert status([found]) == "agree"
    assert [len(found.unlike), len(found.only_first), len(found.only_other)] == [0, 0, 0]


def test_noise_that_hides_an_answer_is_not_taken_for_agreement(made: Callable[..., Path]) -> None:
    found = compared(made("a", noise=0.15), made("b", seed=8, noise=0.15))
    assert set(found.verdicts) == {"not told"}
    assert status([found]) == "not told"
    assert "4 cannot be told apart: too few trials for how much they vary" in sentences(found)[0]


def noisy(factor: float, seed: int) -> Run:
    """A run of six cells whose trials vary by 2%."""
    varying = noise(0.02, seed)
    return made_run(lambda arm, rtt, number: 1000 * factor * varying(arm, rtt, number))


@pytest.mark.parametrize(("truth", "margin"), [(1.0, 0.001), (1.05, 0.05)])
def test_how_many_verdicts_chance_makes_wrong_is_said_and_holds(truth: float, margin: float) -> None:
    """Of six cells that are alike, and a margin of nearly nothing; and of six at the very edge of one."""
    pairs, wrong = 60, 0
    for seed in range(pairs):
        found = against(noisy(1.0, seed), noisy(truth, 1000 + seed), margin, ())
        assert "On average at most 0.3 of these 6 verdicts are wrong by chance." in " ".join(sentences(found))
        wrong += sum(verdict != "not told" for verdict in found.verdicts)
    assert wrong / pairs <= 0.3 + 4 * math.sqrt(6 * 0.05 * 0.95 / pairs)


def test_of_one_verdict_nothing_is_said_of_many(made: Callable[..., Path]) -> None:
    one = {"links": ({"rtt": "20ms"},), "arms": {"http": SMALL["http"]}}
    assert "by chance" not in " ".join(sentences(compared(made("a", **one), made("b", seed=8, **one))))


def test_too_few_trials_tell_nothing(made: Callable[..., Path]) -> None:
    found = compared(made("a", rounds=3), made("b", seed=8, rounds=3))
    assert set(found.verdicts) == {"not told"}
    assert "There is no 95% interval for 6 of them, with 3 trials in one run" in " ".join(sentences(found))


def test_cells_that_only_have_the_same_name_are_compared_with_a_warning(
    made: Callable[..., Path],
) -> None:
    first = made("a")
    later = {**SMALL, "h2": {**SMALL["h2"], "tls": "1.2"}}
    changed = renumbered(made("b", arms=later))
    found = compared(first, changed)
    assert len(found.cells) == 4
    assert [pair.settings for pair in found.unlike if pair.first.arm.name == "h2"] == [("arm tls: 1.3 and 1.2",)] * 2
    assert any("match by name only" in words and "arm tls: 1.3 and 1.2" in words for words in sentences(found))


def renumbered(folder: Path) -> Path:
    """The run with other ids of its cells, as they have where settings differ."""
    with changing(folder) as database:
        database.execute("UPDATE cells SET id = 'other' || id")
        database.execute(
            "UPDATE meta SET value = replace(value, '\"0000', '\"other0000') WHERE key != 'experiment_sha256'"
        )
    return folder


def test_cells_of_one_run_alone_are_counted(made: Callable[..., Path]) -> None:
    only = {"rate": "10mbit", "rtt": "20ms"}
    found = compared(made("a"), made("b", links=(only,), seed=8))
    assert len(found.cells) == 2
    assert len(found.only_first) == 2
    assert "Without a match: cells 2 of the first run." in sentences(found)


def test_runs_without_a_common_cell_are_refused_with_what_is_near(made: Callable[..., Path]) -> None:
    other = renumbered(made("b", links=({"rate": "10mbit", "rtt": "21ms"},)))
    with pytest.raises(InputError, match=r"no cell in common.*Did you mean dummy, .*21ms.*http"):
        compared(made("a"), other)


def test_what_differs_besides_is_listed(made: Callable[..., Path]) -> None:
    machine = {"machine": {"kernel": "6.1", "processors": 2}, "lanelab": {"version": "0.1.0", "commit": "abc"}}
    newer = {"machine": {"kernel": "6.12", "processors": 2}, "lanelab": {"version": "0.1.0", "commit": "def"}}
    found = compared(made("a", provenance=machine), made("b", seed=8, provenance=newer))
    assert ("machine kernel", "6.1", "6.12") in found.conditions
    assert ("lanelab commit", "abc", "def") in found.conditions
    assert not any(name == "machine processors" for name, _, _ in found.conditions)
    unnoted = compared(made("c", provenance=machine), made("d"))
    assert ("machine processors", "2", "not noted") in unnoted.conditions


# --- the command


def test_the_command_prints_tables_and_a_summary(made: Callable[..., Path]) -> None:
    done = called(made("a"), made("b", seed=8, pace=1.2), made("c", seed=9))
    assert done.exception is None
    assert "Absolute page load times differ by" in done.stdout
    assert "differ by more than 5%" in done.stdout
    assert "agree within 5 points" in done.stdout
    assert "C to A" in done.stdout
    assert "A: " in done.stderr


@pytest.mark.parametrize(
    ("options", "status_"),
    [({"pace": 1.2}, 4), ({"noise": 0.2}, 3), ({"noise": 0.005}, 0)],
)
def test_check_has_an_exit_status(made: Callable[..., Path], options: dict[str, float], status_: int) -> None:
    first, other = made("a", noise=options.get("noise", 0.01)), made("b", seed=8, **options)
    plain, checked = called(first, other), called(first, other, "--check")
    assert plain.exception is None
    assert (checked.exception.code if isinstance(checked.exception, SystemExit) else 0) == status_


def test_json_has_it_all(made: Callable[..., Path]) -> None:
    told = json.loads(called(made("a"), made("b", seed=8, pace=1.2), "--within", "2.5%", "--json").stdout)
    assert told["within"] == 0.025
    assert told["verdict"] == "differ"
    (one,) = told["compared"]
    assert {row["verdict"] for row in one["cells"]} == {"differ"}
    row = one["changes"][0]
    assert row["base"] == "http"
    assert row["difference_points"]["low"] < row["difference_points"]["value"] < row["difference_points"]["high"]
    assert one["words"][0].startswith("Absolute page load times")


def test_what_cannot_be_compared_is_refused_with_a_remedy(made: Callable[..., Path], tmp_path: Path) -> None:
    first = made("a")
    for words, expected in (
        ([first], "one run alone"),
        ([first, tmp_path / "a" / ".." / "a"], "the same run as"),
        ([first, tmp_path], "not the folder of a run"),
        ([first, made("b"), "--within", "0%"], "never agree within 0%"),
        ([first, made("c"), "--within", "five"], "within: 'five' is not a percentage"),
    ):
        error = called(*words).exception
        assert isinstance(error, InputError), words
        assert expected in str(error)
        assert error.remedy


def test_a_run_of_another_format_is_refused(made: Callable[..., Path]) -> None:
    first, old = made("a"), made("b")
    database = sqlite3.connect(old / "run.sqlite")
    with database:
        database.execute("UPDATE meta SET value = '1' WHERE key = 'format'")
    database.close()
    assert isinstance(called(first, old).exception, StoreError)


def test_a_load_of_a_server_is_not_compared_with_page_loads(made: Callable[..., Path]) -> None:
    first, load = made("a"), made("b")
    database = sqlite3.connect(load / "run.sqlite")
    with database:
        database.execute("UPDATE meta SET value = 'load' WHERE key = 'workload'")
        digest_all(database)
    database.close()
    error = called(first, load).exception
    assert isinstance(error, InputError)
    assert "measured different things" in str(error)


def test_what_timed_out_counts_in_both_runs(made: Callable[..., Path]) -> None:
    """Seven of eight loads of an arm timed out in the other run: without them one fast load would be left."""
    slow: Callable[[int, int], bool] = lambda trial, _attempt: trial % 2 == 0 and trial > 2  # noqa: E731
    links = ({"rtt": "20ms"},)
    first = made("first", links=links)
    other = made("other", links=links, fails=slow, reason="timeout", detail="60 s", retries=0)
    found = compared(first, other)
    (timed_out,) = [row for row in found.cells if row.cell.arm.name == "h2"]
    assert timed_out.other.n == 8
    assert math.isinf(timed_out.other.median)
    assert timed_out.verdict == "differ"
    (change,) = found.changes
    assert change.verdict == "differ"
    assert "more than can be told, where trials timed out" in sentences(found)[0]
    assert called(first, other).exit_code == called(first, other, "--json").exit_code
    assert json.loads(called(first, other, "--json").stdout)["compared"][0]["cells"][1]["ratio"]["value"] is None


def test_a_refused_cell_agrees_with_nothing(made: Callable[..., Path]) -> None:
    links = ({"rtt": "20ms"},)
    first, other = made("first", links=links), made("other", links=links, machine=LOST)
    found = compared(first, other, margin=10)
    assert (found.cells, found.changes) == ((), ())
    assert len(found.refused) == 2
    assert status([found]) == "not told"
    assert "Not compared: 2 cells are refused in one of the runs" in " ".join(sentences(found))


def test_arms_that_were_not_interleaved_change_nothing_that_could_be_compared(made: Callable[..., Path]) -> None:
    first, other = made("first"), made("other", order="sequential")
    for found in (compared(first, other), compared(other, first)):
        assert found.changes == ()
        assert "in one of the runs arms were not interleaved" in " ".join(sentences(found))


def test_a_run_that_is_not_finished_is_so_far(made: Callable[..., Path]) -> None:
    first, other = read_run(made("first")), read_run(made("other"))
    told = sentences(against(first, replace(other, state="running"), 0.05, ()))
    assert "The other run is not finished (running): all of this is so far." in told
