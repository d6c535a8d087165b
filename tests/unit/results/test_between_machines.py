"""Runs of several machines: pairs are within one, machines that disagree are named, and nothing absolute is pooled
without saying so."""

import csv
import io
import json
import math
import random
import re
import statistics
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from lanelab.analysis import statistics as stats
from lanelab.analysis.results import comparisons, export, export_tables, pooled_places, tables
from lanelab.analysis.results.between_machines import nested
from lanelab.analysis.results.claims.judge import judge
from lanelab.analysis.results.machines import MachinesOfRun
from lanelab.analysis.results.model import Machine, Run
from lanelab.analysis.results.report.page import page
from lanelab.analysis.results.run_folder import read_run
from lanelab.analysis.results.sections.of_run import results_on_terminal as results
from lanelab.analysis.statistics.disagreement import apart, brunner_munzel, p_apart, welch
from lanelab.analysis.statistics.distributions import t_above
from lanelab.analysis.statistics.looks import Look
from lanelab.analysis.statistics.two_samples import innermost, p_of_shift, shift
from lanelab.driver.experiment.read import parse_experiment
from lanelab.driver.experiment.schedule.stopping import unknown_changes
from tests.kit.made_claims import made_claim, noise
from tests.kit.made_claims import made_run as made_run_of_claims
from tests.kit.made_run import Made, MadeMachine, make_run

THREE = (MadeMachine("alder"), MadeMachine("birch", pace=1.5, noise=0.02), MadeMachine("cedar", pace=0.8))


def run_of(folder: Path, machines: tuple[MadeMachine, ...] = THREE, **options: object) -> Run:
    more: dict[str, object] = {"rounds": 18, "beds": 2 * max(1, len(machines)), **options}
    number = len(list(folder.iterdir()))
    return read_run(make_run(folder / f"run{number}", Made(machines=machines, with_requests=False, **more)))  # type: ignore[arg-type]


def made(run: Run) -> MachinesOfRun:
    return tables.machines(run, tables.comparisons(run))


def printed(run: Run) -> str:
    console = Console(file=io.StringIO(), width=250)
    console.print(results(run))
    return console.file.getvalue()  # type: ignore[attr-defined,no-any-return]


UNTIL = (
    "sites: [dummy]\nlinks: {rtt: 20ms}\narms: {a: {}, b: {keepalive: false}}\nuntil: {of: change, ci: 2%, max: 30}\n"
)

# --- pairs


def test_pairs_are_within_a_machine_and_machines_are_strata() -> None:
    rng = random.Random(3)
    base = {n: (100 if n % 2 else 300) * rng.lognormvariate(0, 0.01) for n in range(20)}
    arm = {n: value * 0.9 * rng.lognormvariate(0, 0.01) for n, value in base.items()}
    on = {n: n % 2 for n in base}
    found = stats.compare(base, arm, machines=(on, on))
    assert found is not None
    assert (found.n, found.machines, found.across_machines, found.left_out) == (20, 2, 0, 0)
    assert found.ratio.value == pytest.approx(0.9, rel=0.01)
    averages = [
        (one + other) / 2
        for machine in (0, 1)
        for logs in [[math.log(arm[n] / base[n]) for n in base if on[n] == machine]]
        for i, one in enumerate(logs)
        for other in logs[: i + 1]
    ]
    assert math.log(found.ratio.value) == pytest.approx(statistics.median(averages))


def test_a_round_of_two_machines_is_no_pair() -> None:
    base, arm = dict.fromkeys(range(8), 100.0), {n: 90.0 + n / 10 for n in range(8)}
    on = dict.fromkeys(range(8), "one")
    found = stats.compare(base, {**arm, 0: 500.0}, machines=(on, {**on, 0: "another"}))
    assert found is not None
    assert (found.n, found.left_out, found.across_machines) == (7, 1, 1)
    assert found.higher == 0
    assert stats.compare(base, arm, machines=(on, dict.fromkeys(range(8), "another"))) is None


def test_one_machine_is_as_without_machines() -> None:
    rng = random.Random(5)
    base, arm = ({n: rng.lognormvariate(4, 0.1) for n in range(11)} for _ in range(2))
    on = dict.fromkeys(range(11), 7)
    assert stats.compare(base, arm, machines=(on, on)) == stats.compare(base, arm)
    assert stats.pool([(base, arm)], machines=[(on, on)]) == stats.pool([(base, arm)])
    assert stats.KNOWN.change(base, arm, 0.05, (on, on)) == stats.KNOWN.change(base, arm, 0.05)


def test_a_run_says_that_it_left_out_what_two_machines_shared(tmp_path: Path) -> None:
    run = run_of(tmp_path, fails=lambda _trial, _attempt: False, trials_on={(2, 5): 1, (2, 6): 1})
    row = tables.comparisons(run)[0]
    assert row.comparison is not None
    assert (row.comparison.n, row.comparison.across_machines) == (16, 2)
    assert row.to_json()["rounds_across_machines"] == 2
    assert "2 rounds whose two trials were made on different machines" in printed(run)
    assert "2 rounds whose two trials were made on different machines" in page(run)


def test_a_round_of_two_beds_of_one_machine_stays_a_pair(tmp_path: Path) -> None:
    run = run_of(tmp_path, fails=lambda _trial, _attempt: False, trials_on={(2, 1): 4})
    row = tables.comparisons(run)[0]
    assert row.comparison is not None
    assert (row.comparison.n, row.comparison.across_machines) == (18, 0)


def test_a_comparison_without_a_pair_says_why(tmp_path: Path) -> None:
    one, other = THREE[:2]
    moved = {(2, number): 1 + number % 2 for number in range(1, 19)}
    run = run_of(tmp_path, (one, other), beds=2, fails=lambda _trial, _attempt: False, trials_on=moved)
    row = tables.comparisons(run)[0]
    assert (row.comparison, row.why) == (None, comparisons.NO_PAIRS_ON_ONE)


def test_what_sites_and_links_show_together_is_within_machines(tmp_path: Path) -> None:
    words = [row.words() for row in pooled_places.pooled(run_of(tmp_path))]
    assert words
    assert all(sentence.startswith("Over all 2 sites and links together, within 3 machines, ") for sentence in words)


def test_a_run_that_ends_when_it_knows_enough_takes_pairs_within_machines() -> None:
    rng = random.Random(2)
    base = {n: (1 if n % 2 else 3) * 100 * rng.lognormvariate(0, 0.005) for n in range(1, 13)}
    arm = {n: value * 0.9 * rng.lognormvariate(0, 0.005) for n, value in base.items()}
    on = {n: 1 + n % 2 for n in base}
    repeat = parse_experiment(UNTIL, "made.yaml", ["dummy"]).repeat
    look, values = Look(12, 0.05), {"base": base, "arm": arm}
    assert not unknown_changes([("base", "arm")], values, repeat, look, stats.KNOWN, {"base": on, "arm": on})
    swapped = {n: 3 - machine for n, machine in on.items()}
    few = {**swapped, 1: on[1], 2: on[2], 3: on[3]}
    assert unknown_changes([("base", "arm")], values, repeat, look, stats.KNOWN, {"base": on, "arm": few})


# --- agreement


def test_p_belongs_to_the_interval_of_the_shift() -> None:
    rng = random.Random(8)
    for _ in range(200):
        first, other = ([rng.gauss(mean, 1) for _ in range(rng.randint(4, 12))] for mean in (0, rng.uniform(0, 2)))
        found = shift(first, other)
        if innermost(*sorted((len(first), len(other))))[1] >= 0.95:
            assert (p_of_shift(first, other) <= 0.05) == (not found.low <= 0 <= found.high)


def test_brunner_and_munzels_published_example() -> None:
    """Pain scores of 14 and 11 patients (Brunner and Munzel 2000, also in Neubert and Brunner 2007): p = 0.0058."""
    first = [1, 2, 1, 1, 1, 1, 1, 1, 1, 1, 2, 4, 1, 1]
    other = [3, 3, 4, 3, 1, 2, 3, 1, 1, 5, 4]
    assert brunner_munzel(first, other) == pytest.approx(0.005786, abs=1e-5)


def test_welchs_t_against_a_textbooks_numbers() -> None:
    """Snedecor and Cochran's way with unequal variances, worked out by hand: means 3 and 8, variances 2.5 and 10, five
    each, so t = 5 / sqrt(2.5) = 3.162 with 5.88 degrees of freedom."""
    own, others = [1.0, 2.0, 3.0, 4.0, 5.0], [4.0, 6.0, 8.0, 10.0, 12.0]
    assert welch(own, others) == pytest.approx(2 * t_above(3.16228, 5.88235), rel=1e-4)
    assert p_apart(own, others) >= welch(own, others)


def test_a_machine_whose_trials_time_out_is_off() -> None:
    late = {"a": [0.1 * n for n in range(12)], "b": [0.1 * n for n in range(12)], "c": [math.inf] * 11 + [0.3]}
    assert [one.group for one in apart(late, 3, 0.05)] == ["c"]


def test_the_one_that_is_off_is_named_and_not_those_that_are_held_against_it() -> None:
    rng = random.Random(1)
    groups = {name: [rng.gauss(4 if name == "c" else 0, 1) for _ in range(12)] for name in "abc"}
    named = apart(groups, 3, 0.05)
    assert [(one.group, one.others) for one in named] == [("c", ("a", "b"))]


def test_of_two_neither_can_be_said_to_be_off() -> None:
    groups = {"a": [float(n) for n in range(10)], "b": [100.0 + n for n in range(10)]}
    assert [one.group for one in apart(groups, 2, 0.05)] in (["a", "b"], ["b", "a"])


def test_a_machine_that_disagrees_is_named_with_its_change_and_the_others(tmp_path: Path) -> None:
    off = (MadeMachine("alder"), MadeMachine("birch", pace=1.4), MadeMachine("cedar", change=1.12))
    run = run_of(tmp_path, off, rounds=30)
    agreed = made(run).agreement
    assert agreed is not None
    assert agreed.machines_that_disagree == ["cedar"]
    assert all(each.others == ("alder", "birch") for each in agreed.found)
    for shows in (printed(run), page(run), json.dumps(export.results(run))):
        assert "cedar disagrees with the other machines in 6 of 6 comparisons" in shows


def test_machines_that_differ_in_speed_alone_agree(tmp_path: Path) -> None:
    run = run_of(tmp_path, rounds=24, seed=8)
    agreed = made(run).agreement
    assert agreed is not None
    assert (agreed.machines_that_disagree, agreed.tested, agreed.untested) == ([], 6, 0)
    assert "No machine is shown to disagree" in printed(run)


def test_few_rounds_cannot_tell(tmp_path: Path) -> None:
    agreed = made(run_of(tmp_path, rounds=9)).agreement
    assert agreed is not None
    assert (agreed.tested, agreed.untested) == (0, 6)
    assert "none can be judged" in agreed.words()[0]


# --- absolute numbers


def test_medians_are_by_machine_and_the_overall_one_says_over_how_many(tmp_path: Path) -> None:
    run = run_of(tmp_path)
    first = made(run).cells[0].numbers
    values = {
        machine: [t.value for t in run.ok if t.cell.number == 1 and t.machine == machine] for machine in (1, 2, 3)
    }
    assert [one.value for one in first.beds] == [statistics.median(filter(None, each)) for each in values.values()]
    assert first.low is not None
    for shows in (printed(run), page(run)):
        assert "over 3 machines" in shows
    assert made(run_of(tmp_path, THREE[:2])).cells[0].numbers.low is None


def test_speeds_are_ratios_with_intervals(tmp_path: Path) -> None:
    speeds = {speed.machine.name: speed for speed in made(run_of(tmp_path, rounds=30)).speeds}
    for name, factor in (("birch", 1.5), ("cedar", 0.8)):
        ratio = speeds[name].ratio
        assert ratio.low <= factor <= ratio.high
        assert ratio.value == pytest.approx(factor, rel=0.02)
        assert speeds[name].differs


def on_machines(run: Run, machines: int) -> Run:
    """Rounds are dealt to the machines in turn."""
    trials = [replace(trial, machine=1 + trial.round % machines, bed=1 + trial.round % 12) for trial in run.trials]
    named = tuple(Machine(number, f"m{number}", {}) for number in range(1, machines + 1))
    return replace(run, trials=tuple(trials), machines=named)


def test_a_machine_that_serves_more_is_not_said_to_take_longer() -> None:
    noisy = noise(0.01)
    run = made_run_of_claims(lambda arm, rtt, n: (200 if n % 2 else 100) * noisy(arm, rtt, n), rounds=24)
    times = " ".join(made(on_machines(run, 2)).sentences())
    assert re.search(r"Absolute times: m2 takes (1\.9|2\.0)\d\d \(.*\) times as long as m1", times)
    served = " ".join(made(on_machines(replace(run, workload="load"), 2)).sentences())
    assert re.search(r"Absolute numbers: m2 has (1\.9|2\.0)\d\d \(.*\) times the requests per second of m1", served)


def test_claims_about_absolute_numbers_say_over_how_many_machines() -> None:
    noisy = noise(0.01)
    value = made_claim("value", low=0.09, high=0.11, published=(0.1,))
    run = made_run_of_claims(lambda arm, rtt, number: 100 * noisy(arm, rtt, number), rounds=24, claims=[value])
    for machines, between in ((2, False), (3, True)):
        (judged,) = judge(on_machines(run, machines))
        effect = judged.places[0].effect
        assert effect is not None
        assert (effect.beds, effect.unit, effect.between_beds) == (machines, "machine", between)
        assert f"an absolute number over {machines} machines" in judged.places[0].detail
    assert "machine" not in judge(run)[0].places[0].detail


def test_claims_leave_out_rounds_of_two_machines() -> None:
    noisy = noise(0.01)

    def loads(arm: str, rtt: int, number: int) -> float:
        return (50.0 if arm == "b" else 100.0) * noisy(arm, rtt, number) * (3 if number % 2 else 1)

    change = made_claim("change", low=0.4, high=0.6, published=(0.5,))
    run = on_machines(made_run_of_claims(loads, rounds=20, claims=[change]), 2)
    (judged,) = judge(run)
    assert judged.verdict == "reproduced"
    moved = [replace(t, machine=3 - t.machine) if t.cell.arm.name == "b" and t.round < 5 else t for t in run.trials]
    (judged,) = judge(replace(run, trials=tuple(moved)))
    assert judged.places[0].effect is not None
    assert judged.places[0].effect.n == 16
    all_moved = [replace(t, machine=3 - t.machine) if t.cell.arm.name == "b" else t for t in run.trials]
    (judged,) = judge(replace(run, trials=tuple(all_moved)))
    assert (judged.verdict, judged.detail) == ("not tested", "no machine has all its trials in one round")


# --- levels


def test_nested_variances_by_hand() -> None:
    """Two machines of two beds of two trials: mean squares 1, 4 and 50 give the three variances."""
    groups = [[[9.0, 11.0], [11.0, 13.0]], [[14.0, 16.0], [16.0, 18.0]]]
    trials, beds, machines = nested(groups) or (0.0, None, None)
    assert trials == pytest.approx(2.0)
    assert beds == pytest.approx((4.0 - 2.0) / 2)
    assert machines == pytest.approx((50.0 - 4.0) / 4)
    assert nested([[[1.0], [2.0]]]) is None
    one_bed_each = nested([[[1.0, 2.0]], [[5.0, 6.0]]])
    assert one_bed_each is not None
    assert one_bed_each[1] is None


def test_nested_variances_are_unbiased_with_unequal_sizes() -> None:
    rng, sizes, sums = random.Random(6), [[3, 8, 5], [2, 9], [6]], [0.0, 0.0, 0.0]
    for _ in range(3000):
        groups = []
        for beds in sizes:
            machine = rng.gauss(0, 3)
            own = [machine + rng.gauss(0, 2) for _ in beds]
            groups.append([[rng.gauss(bed, 1) for _ in range(n)] for bed, n in zip(own, beds, strict=True)])
        for i, found in enumerate(nested(groups) or ()):
            sums[i] += found or 0.0
    assert [total / 3000 for total in sums] == [
        pytest.approx(1, rel=0.03), pytest.approx(4, rel=0.12), pytest.approx(9, rel=0.2),
    ]  # fmt: skip


# --- what is shown


def test_one_machine_shows_nothing_new(tmp_path: Path) -> None:
    run = run_of(tmp_path, (THREE[0],), beds=1)
    assert not made(run).sentences()
    for shows in (printed(run), page(run)):
        assert "machines" not in shows.split("</style>")[-1].split("Provenance")[0].lower()


def test_versions_that_differ_are_told_in_words(tmp_path: Path) -> None:
    newer = MadeMachine("cedar", versions={"chromium": "141.0.1", "kernel": "6.1.176"})
    run = run_of(tmp_path, (*THREE[:2], newer))
    words = "Versions differ, chromium: 140.0.7339.80 on alder and birch; 141.0.1 on cedar."
    assert made(run).versions == (words,)
    for shows in (printed(run), page(run)):
        assert words in shows


def test_trials_of_other_runs_are_counted_by_run(tmp_path: Path) -> None:
    run = run_of(tmp_path, fails=lambda _trial, _attempt: False, origins={1: "first/1", 2: "first/7", 3: "second/1"})
    words = "24 trials were taken from other runs: 16 from first and 8 from second."
    assert made(run).origin_words() == words
    assert words in page(run)


def test_links_that_a_machine_was_refused_for_are_in_its_row(tmp_path: Path) -> None:
    run = run_of(tmp_path, (*THREE[:2], MadeMachine("cedar", refused=("10mbit 100ms",))))
    assert made(run).rows[2].refused == ("10mbit 100ms",)
    assert "10mbit 100ms" in made(run).rows[2].refused


def test_exports_name_machine_origin_and_versions(tmp_path: Path) -> None:
    run = run_of(tmp_path, origins={1: "first/1"})
    file = io.StringIO()
    export_tables.write_csv(export.trial_rows(run), file)
    rows = list(csv.DictReader(io.StringIO(file.getvalue())))
    assert {row["machine"] for row in rows} == {"alder", "birch", "cedar"}
    assert {row["origin"] for row in rows} == {"", "first"}
    assert {row["versions"] for row in rows} == set(run.versions)
    exported = export.everything(run)
    assert exported["machines"]["machines"][1]["name"] == "birch"
    assert exported["trials"][0]["machine"] == "alder"
    json.dumps(exported, allow_nan=False)


def test_machines_of_unlike_speed_are_no_drift(tmp_path: Path) -> None:
    """The slow machine makes the later rounds."""
    slow_later = {(cell, number): 1 + (number > 9) for cell in range(1, 9) for number in range(1, 19)}
    run = run_of(tmp_path, (THREE[0], MadeMachine("birch", pace=1.5)), beds=2, trials_on=slow_later)
    assert not tables.run_drift(run).is_shown
