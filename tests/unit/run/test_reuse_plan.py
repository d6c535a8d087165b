"""What is reused is what was compared, whole and once: properties of the planner, over made runs."""

from collections import defaultdict
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from lanelab.driver.experiment.model import Experiment
from lanelab.driver.experiment.schedule.blocks import blocks
from lanelab.driver.run.folder.sources import SourceTrial
from lanelab.driver.run.reuse_plan import Available, Plan, Planner, components, difference
from tests.kit.experiments import PATIENT, SMALL, read

ARMS = ("http", "h2")
OURS = "ours"
OUTCOMES = ("ok", "ok", "ok", "timeout", "failed", "failed then ok", "none")
# Two links, two arms that are compared with each other: two components of two cells.
COUNTED = read(f"{SMALL}trials: 4\n")
OVER_BEDS = read(f"{SMALL}trials: 4\nbeds: 2\n")
UNTIL = read(f"{SMALL}until: {{ci: 5%, min: 3, max: 6}}\n")


def asked(experiment: Experiment) -> dict[str, str]:
    return {cell.id: f"{cell.link.label} {cell.arm.name}" for cell in experiment.cells}


class Maker:
    """Makes the trials of a run."""

    def __init__(self, run: str, *, fixed: bool = True, beds: int = 2) -> None:
        self.run, self.fixed, self.beds = run, fixed, beds
        self.trials: list[SourceTrial] = []

    def add(
        self, cell: str, number: int, outcome: str, *, bed: int = 1, versions: str = OURS, origin: str = ""
    ) -> None:
        attempts = {"failed then ok": ("failed", "ok"), "none": ()}.get(outcome, (outcome,))
        for attempt, each in enumerate(attempts, 1):
            trial = len(self.trials) + 1
            identity = f"{origin or self.run}/{trial}"
            ok, result = each == "ok", each in ("ok", "timeout")
            self.trials.append(
                SourceTrial(trial, identity, bed, f"there {cell}", number, attempt, cell, versions, ok, result)
            )

    def made(self) -> Available:
        uids = {bed: f"{self.run} bed {bed}" for bed in range(1, self.beds + 1)}
        return Available(self.run, self.fixed, uids, self.trials)


@st.composite
def stores(draw: st.DrawFn, experiment: Experiment = COUNTED) -> list[Available]:
    """Runs of the same cells, with holes, failures, several beds, other versions, and copies of others' trials."""
    made = []
    for name in draw(st.lists(st.sampled_from("abcd"), max_size=3, unique=True)):
        maker = Maker(name, fixed=draw(st.booleans()))
        copied = draw(st.sampled_from(["", "", "a"]))
        for number in range(1, draw(st.integers(0, 4)) + 1):
            for cell in asked(experiment).values():
                bed, versions = draw(st.sampled_from([1, 1, 2])), draw(st.sampled_from([OURS, OURS, "others"]))
                maker.add(cell, number, draw(st.sampled_from(OUTCOMES)), bed=bed, versions=versions, origin=copied)
        made.append(maker.made())
    return made


def planned(experiment: Experiment, available: Sequence[Available], begun: set[tuple[str, int]] | None = None) -> Plan:
    return Planner(experiment, asked(experiment), {OURS}, begun or set()).plan(available)


@PATIENT
@given(stores())
def test_what_is_compared_comes_from_one_round_on_one_bed_with_the_same_versions(store: list[Available]) -> None:
    groups = {frozenset(cell.id for cell in component) for component in components(COUNTED)}
    for taken in planned(COUNTED, store).taken:
        assert frozenset(cell.id for _, cell, _ in taken.trials) in groups
        assert len({(trial.round, trial.bed, trial.versions) for trial, _, _ in taken.trials}) == 1
        assert {trial.versions for trial, _, _ in taken.trials} == {OURS}
        assert all(trial.trial_key == asked(COUNTED)[cell.id] for trial, cell, _ in taken.trials)


@PATIENT
@given(stores())
def test_every_cell_of_it_ends_with_a_result_and_its_attempts_are_numbered(store: list[Available]) -> None:
    for taken in planned(COUNTED, store).taken:
        attempts = defaultdict(list)
        for trial, cell, attempt in taken.trials:
            attempts[cell.id].append((attempt, trial.is_result))
        for made in attempts.values():
            assert [number for number, _ in made] == list(range(1, len(made) + 1))
            assert [result for _, result in made] == [False] * (len(made) - 1) + [True]


@PATIENT
@given(stores())
def test_no_trial_is_used_twice_and_no_round_of_a_cell_filled_twice(store: list[Available]) -> None:
    plan = planned(COUNTED, store)
    used = [trial.identity for taken in plan.taken for trial, _, _ in taken.trials]
    assert len(used) == len(set(used))
    places = [(cell.id, taken.round) for taken in plan.taken for _, cell, attempt in taken.trials if attempt == 1]
    assert len(places) == len(set(places))
    assert all(1 <= taken.round <= COUNTED.repeat.max for taken in plan.taken)


@PATIENT
@given(stores(), st.sets(st.tuples(st.sampled_from(sorted(asked(COUNTED))), st.integers(1, 4))))
def test_nothing_is_put_where_a_round_has_begun(store: list[Available], begun: set[tuple[str, int]]) -> None:
    plan = planned(COUNTED, store, begun)
    for taken in plan.taken:
        assert not any((cell.id, taken.round) in begun for _, cell, _ in taken.trials)
    assert plan.reused <= plan.wanted


@PATIENT
@given(stores())
def test_what_is_not_reused_is_counted_whole(store: list[Available]) -> None:
    plan = planned(COUNTED, store)
    assert plan.wanted == COUNTED.repeat.max * len(COUNTED.cells)
    assert sum(plan.why_not.values()) <= plan.wanted - plan.reused
    assert plan.sentence().startswith(f"reused {plan.reused} of {plan.wanted} trials from ")


@PATIENT
@given(stores(OVER_BEDS))
def test_each_block_of_rounds_keeps_beds_of_its_own(store: list[Available]) -> None:
    block_of: dict[int, int] = {}
    for number, (first, last) in enumerate(blocks(OVER_BEDS.repeat, OVER_BEDS.beds), 1):
        block_of |= dict.fromkeys(range(first, last + 1), number)
    found = defaultdict(set)
    for taken in planned(OVER_BEDS, store).taken:
        found[taken.bed].add(block_of[taken.round])
    assert all(len(numbers) == 1 for numbers in found.values())


@PATIENT
@given(stores(UNTIL))
def test_a_run_with_until_takes_nothing_of_runs_that_chose_when_to_stop(store: list[Available]) -> None:
    fixed = {each.run for each in store if each.is_of_fixed_number}
    assert {taken.run for taken in planned(UNTIL, store).taken} <= fixed


def whole(run: str = "a", rounds: int = 4, origin: str = "") -> Maker:
    maker = Maker(run)
    for number in range(1, rounds + 1):
        for cell in asked(COUNTED).values():
            maker.add(cell, number, "ok", origin=origin)
    return maker


def test_a_whole_run_is_reused_whole() -> None:
    plan = planned(COUNTED, [whole().made()])
    assert plan.sentence() == "reused 16 of 16 trials from 1 run"


def test_two_runs_fill_one_and_a_copy_of_one_adds_nothing() -> None:
    copy = whole("b", 2, origin="a")
    assert planned(COUNTED, [whole("a", 2).made(), copy.made()]).reused == 8
    assert planned(COUNTED, [whole("a", 2).made(), whole("b", 2).made()]).reused == 16


def test_why_trials_are_not_reused_is_said_with_how_many() -> None:
    maker = whole(rounds=1)
    for number in (2, 3):
        for cell in asked(COUNTED).values():
            maker.add(cell, number, "ok", versions="others")
    for cell in asked(COUNTED).values():
        maker.add(cell, 4, "ok" if cell.endswith("http") else "failed")
    planner = Planner(COUNTED, asked(COUNTED), {OURS}, set())
    says = {"others": difference({"client chromium": "155", "x": "1"}, [{"client chromium": "156", "x": "1"}])}
    assert planner.plan([maker.made()], says).sentence() == (
        "reused 4 of 16 trials from 1 run; 12 not: 8 were made with another client chromium (155 -> 156), "
        "2 have no partner for arm h2, 2 were never made"
    )


def test_what_is_compared_directly_or_by_others_belongs_together() -> None:
    text = SMALL.replace("}}\n", "}, h2c: {}}\n").replace("h2c: {}", "slow: {keepalive: false}")
    pairs = "compare: [{of: h2, to: http}]\n"
    assert sorted(len(each) for each in components(COUNTED)) == [2, 2]
    assert sorted(len(each) for each in components(read(f"{text}{pairs}"))) == [1, 1, 2, 2]
    assert sorted(len(each) for each in components(read(text))) == [3, 3]


def test_a_difference_names_the_nearest_versions_and_browsers_first() -> None:
    theirs = {"a": "1", "b": "1", "client chromium": "155"}
    said = difference(theirs, [{"a": "2", "b": "2", "client chromium": "156"}, {"a": "2", "b": "1"}])
    assert said == "were made with another client chromium (155 -> none) and another a (1 -> 2)"


def test_digests_are_shown_short() -> None:
    said = difference({"measuring code": "a" * 64}, [{"measuring code": "b" * 64}])
    assert said == "were made with another measuring code (aaaaaaaaaaaa -> bbbbbbbbbbbb)"
