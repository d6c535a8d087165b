"""What a run does next, and what it counts: order, retries, resume. The bed is a stand-in that answers at once; real
ones are in tests/e2e."""

import contextlib
import json
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path
from typing import cast

import pytest
from click.testing import CliRunner

from lanelab.driver.api import beds as api_beds
from lanelab.driver.api import run_experiment, session
from lanelab.driver.base.errors import BedLost, HostAway, HostError, Interrupted, NamespaceError
from lanelab.driver.cli import runs
from lanelab.driver.experiment.read import parse_experiment
from lanelab.driver.experiment.schedule.order import PlannedTrial
from lanelab.driver.experiment.schedule.results import Attempt
from lanelab.driver.experiment.schedule.rounds import Schedule
from lanelab.driver.run import open_beds as beds
from lanelab.driver.run.built_programs import Programs
from lanelab.driver.run.channel.client import Bed
from lanelab.driver.run.events import LinkTested, TrialStored
from lanelab.driver.run.folder.store import Store
from lanelab.driver.run.runner import StopRequest
from lanelab.driver.run.this_machine import this_machine
from tests.kit.played_runs import META, TWO_ARMS, Play, StandIn
from tests.kit.played_runs import _judged_as_recorded as _judged_as_recorded  # noqa: PLC0414 - a fixture


@pytest.fixture
def play(tmp_path: Path) -> Callable[[str], Play]:
    return lambda text: Play(tmp_path / "run", parse_experiment(text, "made.yaml", ["dummy"]))


def test_every_cell_is_loaded_as_often_as_asked(play: Callable[[str], Play]) -> None:
    bed = StandIn(lambda _arm, _number: 100.0)
    assert play(f"{TWO_ARMS}trials: 3\n").on(bed) == {"a": [True] * 3, "b": [True] * 3}
    assert all(set(bed.loads[at : at + 2]) == {"a", "b"} for at in (0, 2, 4)), bed.loads
    assert bed.self_tests == 1


@pytest.mark.parametrize("order", ["interleaved", "random", "sequential"])
def test_a_bed_hears_of_each_trial_while_the_one_before_is_played(play: Callable[[str], Play], order: str) -> None:
    """The first of the next round included, and none whose link needs a self-test: that one must have the bed alone."""
    bed = StandIn(lambda _arm, _number: 100.0)
    play(f"{TWO_ARMS}trials: 3\norder: {order}\n").on(bed)
    heard = [at for at in range(1, 6) if order != "sequential" or at != 3]  # there another cell begins
    assert bed.expected == [bed.loads[at] for at in heard]
    refused = StandIn(lambda _arm, _number: 100.0, right_from=2)
    play(f"{TWO_ARMS}trials: 2\nretries: 1\n").on(refused)
    assert set(refused.expected) <= set(refused.loads[1:])


def test_a_trial_that_was_prepared_and_does_not_come_leaves_no_gap(play: Callable[[str], Play]) -> None:
    """A failed trial is made again before the next round, whose first trial was prepared by then."""
    bed = StandIn(lambda _arm, number: "protocol-fallback" if number == 1 else 100.0)
    run = play(f"{TWO_ARMS}trials: 2\nretries: 1\n")
    assert run.on(bed) == {"a": [False, True, True], "b": [False, True, True]}
    assert [event.trial for event in run.events if isinstance(event, TrialStored)] == list(range(1, 7))


def test_a_failed_trial_is_tried_again_and_no_more_often_than_allowed(play: Callable[[str], Play]) -> None:
    bed = StandIn(lambda arm, number: "protocol-fallback" if arm == "b" or number == 1 else 100.0)
    found = play(f"{TWO_ARMS}trials: 1\nretries: 2\n").on(bed)
    assert found == {"a": [False, True], "b": [False, False, False]}


def test_a_run_goes_on_with_what_is_missing(play: Callable[[str], Play]) -> None:
    run = play(f"{TWO_ARMS}trials: 3\n")
    broken = StandIn(lambda _arm, number: 100.0 if number < 2 else RuntimeError("stand-in for a kill"))
    with pytest.raises(RuntimeError):
        run.on(broken)
    bed = StandIn(lambda _arm, _number: 100.0)
    assert run.on(bed) == {"a": [True] * 3, "b": [True] * 3}
    assert len(bed.loads) == 4


def test_lost_beds_use_up_no_retries(play: Callable[[str], Play]) -> None:
    run = play(f"{TWO_ARMS}trials: 1\nretries: 0\n")
    lost = StandIn(lambda _arm, _number: BedLost("the bed process died"))
    good = StandIn(lambda _arm, _number: 100.0)
    found = run.on(lost, good)
    assert [sum(ok) for ok in found.values()] == [1, 1]
    assert [event.kind for event in run.events].count("bed-lost") == 1


def test_three_beds_lost_in_a_row_end_the_run_and_it_can_go_on(play: Callable[[str], Play]) -> None:
    run = play(f"{TWO_ARMS}trials: 1\nretries: 0\n")
    lost = StandIn(lambda _arm, _number: BedLost("the bed process died"))
    with pytest.raises(NamespaceError):
        run.on(lost, *(NamespaceError("not now") for _ in range(2)))
    found = run.on(StandIn(lambda _arm, _number: 100.0))
    assert [sum(ok) for ok in found.values()] == [1, 1]


def test_a_refused_link_is_measured_once_in_each_round_and_not_for_every_trial(play: Callable[[str], Play]) -> None:
    run = play(f"{TWO_ARMS}trials: 10\nretries: 2\n")
    refused = StandIn(lambda _arm, _number: 100.0, link_is_right=False)
    found = run.on(refused)
    assert not any(found["a"] + found["b"])
    assert refused.loads == []
    assert refused.self_tests == 20  # and once more when all rounds are over
    good = run.on(StandIn(lambda _arm, _number: 100.0))
    assert [sum(ok) for ok in good.values()] == [10, 10]


@pytest.mark.parametrize("trials", [1, 5])
def test_a_machine_that_was_busy_when_a_run_began_costs_no_trial(play: Callable[[str], Play], trials: int) -> None:
    """What was refused then is made when all other trials are."""
    run = play(f"{TWO_ARMS}trials: {trials}\n")
    bed = StandIn(lambda _arm, _number: 100.0, right_from=2)
    assert [sum(ok) for ok in run.on(bed).values()] == [trials, trials]
    assert bed.self_tests == 2


def test_a_link_out_of_tolerance_is_used_where_that_was_asked_for_and_is_stored_as_it_was(
    play: Callable[[str], Play], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(META, "bed", json.dumps({"router": "auto", "pinned": {}, "accept_links": True}))
    run = play(f"{TWO_ARMS}trials: 2\n")
    bed = StandIn(lambda _arm, _number: 100.0, link_is_right=False)
    assert run.on(bed) == {"a": [True] * 2, "b": [True] * 2}
    assert (bed.self_tests, bed.after) == (1, 0)
    assert [event.passed for event in run.events if isinstance(event, LinkTested)] == [False]


def test_a_session_may_accept_links_that_the_run_did_not_begin_with(play: Callable[[str], Play]) -> None:
    run = play(f"{TWO_ARMS}trials: 2\n")
    wrong = [StandIn(lambda _arm, _number: 100.0, link_is_right=False) for _ in range(3)]
    assert not any(any(ok) for ok in run.on(wrong[0]).values())
    assert {arm: ok.count(True) for arm, ok in run.on(wrong[1], accepts_links=True).items()} == {"a": 2, "b": 2}
    store = Store.open(run.folder)
    store.begin_session({}, this_machine())
    assert not store.accepts_links
    store.close()


def test_a_machine_that_is_away_for_a_while_costs_beds_and_not_the_run(play: Callable[[str], Play]) -> None:
    run = play(f"{TWO_ARMS}trials: 1\nretries: 0\n")
    away = HostError("the clock of client could not be set: no answer within 30 s")
    lost = StandIn(lambda _arm, _number: BedLost("the connection to client1 was lost"))
    found = run.on(lost, away, StandIn(lambda _arm, _number: 100.0))
    assert [sum(ok) for ok in found.values()] == [1, 1]
    assert [event.kind for event in run.events].count("bed-lost") == 2


def test_machines_that_were_there_are_waited_for_and_no_trial_fails_meanwhile(
    play: Callable[[str], Play], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(beds, "PAUSES_S", (0, 0.01, 0.01, 0.01, 0.01))
    run = play(f"{TWO_ARMS}trials: 2\nretries: 0\n")
    lost = StandIn(lambda _arm, number: 100.0 if number == 1 else BedLost("the connection to client1 was lost"))
    away = [HostAway("client1 (client): it does not answer") for _ in range(5)]
    found = run.on(lost, *away, StandIn(lambda _arm, _number: 100.0))
    assert [sum(ok) for ok in found.values()] == [2, 2]
    assert sum(not ok for each in found.values() for ok in each) == 1
    assert [event.kind for event in run.events].count("bed-lost") == 1
    assert [event.kind for event in run.events].count("bed-awaited") == 5


@pytest.mark.parametrize("error", [HostAway("client1: there is no way to it"), NamespaceError("not here")])
def test_where_there_never_was_a_bed_nothing_is_waited_for_and_no_trial_fails(
    play: Callable[[str], Play], error: Exception
) -> None:
    run = play(f"{TWO_ARMS}trials: 1\nretries: 0\n")
    with pytest.raises(type(error)):
        run.on(error)
    assert run.outcome == {"a": [], "b": []}
    assert not run.events


def test_a_stop_ends_the_wait_for_machines(play: Callable[[str], Play]) -> None:
    stop = StopRequest()

    def lost_and_stopped(_arm: str, _number: int) -> BedLost:
        threading.Timer(0.3, stop.__setattr__, ["asked", True]).start()
        return BedLost("the connection to client1 was lost")

    run = play(f"{TWO_ARMS}trials: 1\n")
    with pytest.raises(Interrupted, match="while machines were away"):
        run.on(StandIn(lost_and_stopped), HostAway("client1 (client): it does not answer"), stop=stop)


def test_until_finishes_a_round_that_a_kill_cut_in_two(play: Callable[[str], Play]) -> None:
    """Arms are compared by round: what one arm has of a round, the others get too."""
    plts = {"a": [100.0, 130, 100, 130, 100, 130], "b": [100.0] * 9}
    run = play(f"{TWO_ARMS}until: {{ci: 20%, min: 6, max: 9}}\n")

    def killed(arm: str, number: int) -> float | Exception:
        if number <= 6:
            return plts[arm][number - 1]
        return 115.0 if bed.loads.count("a") + bed.loads.count("b") == 13 else RuntimeError("stand-in for a kill")

    bed = StandIn(killed)
    with contextlib.suppress(RuntimeError):
        run.on(bed)
    run.on(StandIn(lambda _arm, _number: 115.0))
    assert len(run.outcome["a"]) == len(run.outcome["b"])


def test_a_run_that_other_machines_began_knows_which_trials_are_this_ones(
    play: Callable[[str], Play], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Trials of two machines are no pair, also where `until` looks at them."""
    run = play(f"{TWO_ARMS}trials: 1\n")
    store = Store.create(run.folder, "", META, run.experiment.cells)
    store.begin_session({}, this_machine())
    store.add_machine(this_machine("another"))
    store.close()
    noted: list[int] = []
    add = Schedule.add

    def noting(schedule: Schedule, planned: PlannedTrial, attempt: Attempt) -> None:
        noted.append(attempt.machine)
        add(schedule, planned, attempt)

    monkeypatch.setattr(Schedule, "add", noting)
    run.on(StandIn(lambda _arm, _number: 100.0))
    assert noted == [2, 2]


def test_a_stop_between_trials_begins_no_other(play: Callable[[str], Play]) -> None:
    stop = StopRequest()

    def last(_arm: str, _number: int) -> float:
        stop.asked = True
        return 100.0

    run = play(f"{TWO_ARMS}trials: 3\n")
    with pytest.raises(Interrupted):
        run.on(StandIn(last), stop=stop)
    assert sum(map(len, run.outcome.values())) == 1


def test_a_new_run_without_a_bed_leaves_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(_settings: object) -> Bed:
        raise HostAway("client1 (client): there is no way to it")

    monkeypatch.setattr(api_beds, "Bed", away)
    monkeypatch.setattr(run_experiment, "ready", lambda *_: Programs())
    file, folder = tmp_path / "made.yaml", tmp_path / "out"
    file.write_text(TWO_ARMS)
    with pytest.raises(HostAway):
        CliRunner().invoke(runs.run, [str(file), "--out", str(folder)], catch_exceptions=False, standalone_mode=False)
    assert not folder.exists()


@pytest.mark.parametrize(("option", "status"), [([], 3), (["--allow-missing"], 0)])
def test_a_run_that_ends_without_all_that_was_asked_for_has_a_status_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, option: list[str], status: int
) -> None:
    monkeypatch.setattr(run_experiment, "ready", lambda *_: Programs())
    monkeypatch.setattr(session, "_play_one_bed", lambda *_: None)  # as if every trial had failed
    file = tmp_path / "made.yaml"
    file.write_text(TWO_ARMS)
    done = CliRunner().invoke(runs.run, [str(file), "--out", str(tmp_path / "out"), *option], catch_exceptions=False)
    assert done.exit_code == status
    assert "fewer than 5 trials count in 2 of 2 cells" in done.stderr
    assert "dummy · 20ms · b: 0 of 5" in done.stderr
    assert f"10 trials are made by going on: lanelab run --resume {tmp_path / 'out'}" in done.stderr
    assert (tmp_path / "out" / "report.html").exists()


def again(run: Play) -> list[tuple[bool, str]]:
    """What became of links that were measured after their trials."""
    return [
        (event.passed, event.moment)
        for event in run.events
        if isinstance(event, LinkTested) and event.moment == "after"
    ]


def test_links_that_trials_used_are_measured_again_when_the_run_ends(play: Callable[[str], Play]) -> None:
    run = play("sites: [dummy]\nlinks: {rtt: [20ms, 40ms]}\narms: {a: {}}\ntrials: 2\n")
    bed = StandIn(lambda _arm, _number: 100.0, still_right=False)
    run.on(bed)
    assert (bed.self_tests, bed.after) == (2, 2)
    assert again(run) == [(False, "after")] * 2
    with contextlib.closing(sqlite3.connect(run.folder / "run.sqlite")) as database:
        stored = database.execute("SELECT bed, link, moment, passed FROM self_tests ORDER BY self_test").fetchall()
    assert [row[:1] + row[2:] for row in stored] == [(1, "before", 1)] * 2 + [(1, "after", 0)] * 2
    assert {row[1] for row in stored[:2]} == {row[1] for row in stored[2:]} == {1, 2}


def test_each_bed_measures_its_links_again_before_the_next_takes_over(play: Callable[[str], Play]) -> None:
    run = play(f"{TWO_ARMS}trials: 2\nbeds: 2\n")
    first, second = StandIn(lambda _arm, _number: 100.0), StandIn(lambda _arm, _number: 100.0)
    run.on(first, second)
    assert (first.after, second.after) == (1, 1)


def test_a_stop_after_a_trial_still_measures_links_again(play: Callable[[str], Play]) -> None:
    run, stop = play(f"{TWO_ARMS}trials: 3\n"), StopRequest()

    def stopped(_arm: str, _number: int) -> float:
        stop.asked = True
        return 100.0

    bed = StandIn(stopped)
    with pytest.raises(Interrupted):
        run.on(bed, stop=stop)
    assert (len(bed.loads), bed.after) == (1, 1)


def test_a_second_stop_ends_the_measuring_at_once_and_keeps_the_trials(play: Callable[[str], Play]) -> None:
    run = play(f"{TWO_ARMS}trials: 1\n")
    bed = StandIn(lambda _arm, _number: 100.0, after_fails=cast(Exception, KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        run.on(bed)
    assert run.outcome == {"a": [True], "b": [True]}
    assert again(run) == []


def test_a_bed_that_fails_while_links_are_measured_again_costs_no_trial(play: Callable[[str], Play]) -> None:
    run = play(f"{TWO_ARMS}trials: 1\n")
    bed = StandIn(lambda _arm, _number: 100.0, after_fails=BedLost("the bed process died"))
    assert run.on(bed) == {"a": [True], "b": [True]}
    assert [event.kind for event in run.events if "links" in event.kind] == ["links-not-measured-again"]


def test_no_link_is_measured_again_that_no_trial_used(play: Callable[[str], Play]) -> None:
    refused = StandIn(lambda _arm, _number: 100.0, link_is_right=False)
    play(f"{TWO_ARMS}trials: 1\n").on(refused)
    assert refused.after == 0


def test_a_lost_bed_measures_nothing_again(play: Callable[[str], Play]) -> None:
    lost = StandIn(lambda _arm, number: 100.0 if number == 1 else BedLost("the bed process died"))
    good = StandIn(lambda _arm, _number: 100.0)
    play(f"{TWO_ARMS}trials: 2\n").on(lost, good)
    assert (lost.after, good.after) == (0, 1)
