"""Rounds spread over beds: every portion whole on one bed, none lost, none twice, whatever becomes of the beds."""

import random
from collections import Counter
from collections.abc import Mapping, Sequence

import pytest

from lanelab.driver.base.errors import InputError
from lanelab.driver.experiment.model import Cell, Experiment
from lanelab.driver.experiment.read import parse_experiment
from lanelab.driver.experiment.schedule.order import PlannedTrial
from lanelab.driver.experiment.schedule.portions import PlannedPortion, PortionAgenda, Spread, portions_of_round
from lanelab.driver.experiment.schedule.results import Attempt

TEXT = "sites: [dummy]\nlinks: {rtt: [20ms, 50ms, 100ms]}\narms: {a: {}, b: {keepalive: false}}\n"


class Narrow:
    """Medians are known from eight values on."""

    def median(self, values: Sequence[float], _alpha: float) -> tuple[float, float, float]:
        wide = 0.0 if len(values) >= 8 else 1e9
        return values[0] - wide, values[0], values[0] + wide

    def change(
        self,
        base: Mapping[int, float],
        _arm: Mapping[int, float],
        alpha: float,
        _machines: tuple[Mapping[int, object], Mapping[int, object]] | None = None,
    ) -> tuple[float, float, float] | None:
        return self.median(list(base.values()), alpha)


def read(more: str) -> Experiment:
    return parse_experiment(TEXT + more, "made.yaml", ["dummy"])


def anything(_cell: Cell) -> bool:
    return True


def play(spread: Spread, chance: random.Random, beds: int = 3, loses: float = 0.3) -> dict[PlannedTrial, list[str]]:
    """Until nothing is left: the machine that made each trial. Beds finish in any order and lose some portions."""
    made: dict[PlannedTrial, list[str]] = {}
    under_way: list[tuple[str, PlannedPortion]] = []
    while True:
        for number in range(beds):
            machine = f"m{number}"
            if all(machine != name for name, _ in under_way) and (portion := spread.next(machine, anything)):
                under_way.append((machine, portion))
        if not under_way:
            return made
        machine, portion = under_way.pop(chance.randrange(len(under_way)))
        if chance.random() < loses:
            spread.lose(portion)
            continue
        for planned in portion.trials:
            made.setdefault(planned, []).append(machine)
            spread.add(planned, Attempt(True, 100.0))
        spread.finish(portion, machine)


@pytest.mark.parametrize("order", ["interleaved", "random"])
@pytest.mark.parametrize("seed", range(5))
def test_every_trial_is_made_once_and_its_portion_on_one_machine(order: str, seed: int) -> None:
    experiment = read(f"trials: 7\norder: {order}\n")
    made = play(Spread(experiment, 3, Narrow(), {}), random.Random(seed))
    assert {(each.cell.id, each.round) for each in made} == {
        (cell.id, number) for cell in experiment.cells for number in range(1, 8)
    }
    assert all(len(machines) == 1 for machines in made.values())
    for number in range(1, 8):
        for portion in portions_of_round(experiment, 3, number, 1):
            assert len({made[planned][0] for planned in portion.trials}) == 1


def test_a_run_that_goes_on_makes_what_is_missing_and_no_more() -> None:
    experiment = read("trials: 4\n")
    first, second = experiment.cells[:2]
    history = {(first.id, 1): [Attempt(True, 5.0)], (second.id, 2): [Attempt(False, timed_out=True)]}
    made = play(Spread(experiment, 3, Narrow(), history), random.Random(0))
    assert len(made) == 4 * 6 - 2
    assert PlannedTrial(first, 1) not in made
    assert PlannedTrial(second, 2) not in made


def test_a_run_ends_at_a_planned_look_and_not_in_the_middle_of_one() -> None:
    experiment = read("until: {ci: 5%, min: 5, max: 40}\n")
    made = play(Spread(experiment, 3, Narrow(), {}), random.Random(1))
    rounds = Counter(each.round for each in made)
    looks = [look.trials for look in experiment.repeat.looks]
    assert max(rounds) == next(look for look in looks if look >= 8)
    assert set(rounds.values()) == {6}


def test_no_round_after_a_look_begins_before_all_up_to_it_is_there() -> None:
    experiment = read("until: {ci: 5%, min: 5, max: 40}\n")
    spread = Spread(experiment, 3, Narrow(), {})
    taken = []
    while portion := spread.next("m", anything):
        taken.append(portion)
    assert max(portion.round for portion in taken) == experiment.repeat.looks[0].trials


def test_a_machine_makes_what_it_has_made_least_often() -> None:
    spread = Spread(read("trials: 6\n"), 3, Narrow(), {})
    by_machine: dict[str, Counter[str]] = {"one": Counter(), "other": Counter()}
    for number in range(18):
        machine = ("one", "other")[number % 2]
        portion = spread.next(machine, anything)
        assert portion
        by_machine[machine][portion.cells[0].link.label] += 1
        for planned in portion.trials:
            spread.add(planned, Attempt(True, 1.0))
        spread.finish(portion, machine)
    assert all(2 <= count <= 4 for counts in by_machine.values() for count in counts.values())


def test_a_bed_that_cannot_have_a_link_makes_the_others_and_the_rest_is_given_up() -> None:
    experiment = read("trials: 2\n")
    spread = Spread(experiment, 3, Narrow(), {})

    def able(cell: Cell) -> bool:
        return "100 ms" not in cell.link.label and "100ms" not in cell.link.label

    made = []
    while portion := spread.next("m", able):
        made.append(portion)
        for planned in portion.trials:
            spread.add(planned, Attempt(True, 1.0))
        spread.finish(portion, "m")
    assert len(made) == 4
    assert spread.is_waiting
    assert sum(len(portion.cells) for portion in spread.give_up(able)) == 4
    assert not spread.is_waiting


def test_what_failed_is_made_again_at_the_end_of_its_portion_while_it_has_retries() -> None:
    experiment = read("trials: 1\nretries: 1\n")
    one, other = portions_of_round(experiment, 3, 1, 1)[0].trials
    agenda = PortionAgenda([one, other], 1, 1, {one.cell.id: (3, 1)})
    assert agenda.batch() == [one, other]
    assert agenda.attempts(one) == 3
    agenda.add(one, Attempt(False))
    agenda.add(other, Attempt(False))
    assert agenda.batch() == [other]
    agenda.add(other, Attempt(True, 1.0))
    assert agenda.batch() == []


def test_a_sequential_order_is_refused() -> None:
    with pytest.raises(InputError, match="sequential"):
        Spread(read("trials: 2\norder: sequential\n"), 3, Narrow(), {})
