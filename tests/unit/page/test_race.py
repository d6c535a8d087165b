"""A race: any two cells of a run on one clock, below what the statistics say of them."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import lanelab
from lanelab.analysis.results.comparisons import comparisons
from lanelab.driver.page.race_view import race_of, race_page
from tests.kit.changed_run import changing
from tests.kit.made_run import Made, make_run
from tests.kit.pages import Visitor, served


@pytest.fixture(scope="module")
def sample() -> lanelab.Run:
    return lanelab.sample_run()


@pytest.fixture(scope="module")
def owner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visitor]:
    folder = tmp_path_factory.mktemp("race") / "runs"
    shutil.copytree(lanelab.sample_run().folder, folder / "sample")
    make_run(folder / "short", Made(rounds=2))
    with served(folder) as visitor:
        visitor.enter(visitor.access.owner)
        yield visitor


def test_the_first_two_that_are_compared_race_by_their_latest_round(sample: lanelab.Run) -> None:
    race = race_of(sample.data, [])
    assert race is not None
    assert (race.one, race.other) == sample.data.plan.compared[0]
    page = race_page(sample.data, [], "")
    assert f"<h2>Round {max(race.pairs)}</h2>" in page
    trials = race.pairs[max(race.pairs)]
    for trial in trials:
        assert f'href="../trials/{trial.number}/"' in page
    assert len(set(re.findall(r'data-scale="(\d+)"', page))) == 1, "one clock"


def test_its_verdict_is_the_one_of_the_comparison(sample: lanelab.Run) -> None:
    for row in comparisons(sample.data):
        numbers = [str(row.base_cell.number), str(row.cell.number)]
        for order in (numbers, numbers[::-1]):  # whichever was chosen first
            race = race_of(sample.data, order)
            assert race is not None
            assert race.compared == row


def test_any_two_cells_race_and_only_arms_have_a_verdict(owner: Visitor) -> None:
    arms = owner.ask("/runs/sample/race/?cell=2&cell=3").text
    assert "HTTP/2 against HTTP: " in arms
    links = owner.ask("/runs/sample/race/?cell=1&cell=5").text
    assert "differ in more than their arm" in links
    assert len(re.findall(r"data-done=", links)) == 2


def test_too_few_rounds_are_said_to_be_too_few(owner: Visitor) -> None:
    assert "too few rounds (" in owner.ask("/runs/short/race/").text


@pytest.mark.parametrize("query", ["round=999", "round=x", "round=99999999999999999999", "cell=1", "cell=1&cell=1",
                                   "cell=1&cell=99", "cell=%3Cscript%3E&cell=2"])  # fmt: skip
def test_what_is_not_there_is_answered_by_what_is(owner: Visitor, query: str) -> None:
    answer = owner.ask(f"/runs/sample/race/?{query}")
    assert answer.status == 200
    assert "<h2>Round 8</h2>" in answer.text
    assert "<script>" not in answer.text


def test_a_chosen_round_is_shown(owner: Visitor) -> None:
    page = owner.ask("/runs/sample/race/?cell=1&cell=2&round=3").text
    assert "<h2>Round 3</h2>" in page
    assert '<option value="3" selected>' in page


def test_without_a_pair_it_says_what_it_waits_for_and_one_cell_is_no_race(tmp_path: Path) -> None:
    folder = make_run(tmp_path / "empty", Made(rounds=1))
    with changing(folder) as database:
        database.execute("DELETE FROM trials")
    empty = lanelab.open_run(folder)
    assert "No round has both yet" in race_page(empty.data, [], "")
    with changing(folder) as database:
        database.execute("DELETE FROM cells WHERE cell > 1")
        database.execute("UPDATE meta SET value = json_set(value, '$.compared', json('[]')) WHERE key = 'plan'")
    assert "one cell only" in race_page(lanelab.open_run(folder).data, [], "")
