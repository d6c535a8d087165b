"""The controller of a sweep, with workers that fail as a seed decides: no trial lost or doubled, pairs on one bed."""

import errno
import sqlite3
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lanelab.analysis.results.run_folder import read_run
from lanelab.analysis.statistics import KNOWN
from lanelab.driver.base.clock import seconds_between, utc_now
from lanelab.driver.base.coded import Coded
from lanelab.driver.base.errors import BedError, Interrupted, StoreError
from lanelab.driver.experiment.read import parse_experiment
from lanelab.driver.run.events import Event, Listener
from lanelab.driver.run.folder import store
from lanelab.driver.run.folder.copies import Artifact
from lanelab.driver.run.folder.digests import Kind, note_new_digests
from lanelab.driver.run.folder.syncing import sync_folders
from lanelab.driver.run.runner import StopRequest
from lanelab.driver.run.start import BegunRun, begin, resume
from lanelab.driver.run.sweep import controller, enrolment
from lanelab.driver.run.sweep.cluster import Away, Happening, JobName, Left
from lanelab.driver.run.sweep.controller import Controller, Patience
from lanelab.driver.run.sweep.events import PortionStored, PortionUndone, WorkerLeft
from lanelab.driver.run.sweep.messages import Delivery, Portion
from lanelab.driver.run.this_machine import this_machine
from tests.kit.scripted_cluster import Faults, KilledError, ScriptedCluster

TEXT = "sites: [dummy]\nlinks: {rtt: [20ms, 50ms, 100ms]}\narms: {a: {}, b: {keepalive: false}}\ntrials: 5\n"


class Sweep:
    """A run in a folder, gone on with as often as wanted."""

    def __init__(self, folder: Path, text: str = TEXT) -> None:
        self.folder, self.experiment = folder, parse_experiment(text, "made.yaml", ["dummy"])
        self.events: list[Event] = []
        self.tell: Listener = self.events.append
        self.stop = StopRequest()

    def play(self, cluster: ScriptedCluster, *, patience_s: float = 0.0) -> None:
        exists = (self.folder / "run.sqlite").exists()
        begun: BegunRun = resume(self.folder) if exists else begin(self.experiment, "test", self.folder, 7, {})
        begun.store.begin_session({}, this_machine())
        try:
            patience = Patience(patience_s, patience_s)
            Controller(begun, cluster, self.tell, self.stop, KNOWN, patience).run()
        finally:
            begun.store.close()

    def rows(self, query: str) -> list[tuple[object, ...]]:
        with sqlite3.connect(self.folder / "run.sqlite") as database:
            return database.execute(query).fetchall()

    def kinds(self) -> list[str]:
        return [event.kind for event in self.events]

    def assert_whole(self, rounds: int = 5) -> None:
        """Each trial of the experiment counts once, and those of a portion were made on one bed."""
        counts = self.rows("SELECT cell, round, count(*) FROM trials WHERE status = 'ok' GROUP BY cell, round")
        cells = len(self.experiment.cells)
        assert sorted(counts) == [(cell, number, 1) for cell in range(1, cells + 1) for number in range(1, rounds + 1)]
        beds = "SELECT count(DISTINCT bed) FROM trials JOIN cells USING (cell)"
        query = f"{beds} WHERE attempt = 1 GROUP BY site, link, round"
        assert {beds for (beds,) in self.rows(query)} == {1}


@pytest.fixture
def sweep(tmp_path: Path) -> Callable[..., Sweep]:
    return lambda text=TEXT: Sweep(tmp_path / "run", text)


def test_a_grid_is_made_by_all_workers(sweep: Callable[..., Sweep]) -> None:
    one = sweep()
    one.play(ScriptedCluster(one.experiment, 1))
    one.assert_whole()
    assert one.rows("SELECT count(*) FROM machines WHERE name LIKE 'machine-%'") == [(3,)]
    assert one.rows("SELECT count(DISTINCT machine) FROM trials JOIN beds USING (bed)") == [(3,)]
    assert one.rows("SELECT count(*) FROM versions") == [(1,)]
    assert one.rows("SELECT count(*) > 0 FROM self_tests JOIN beds USING (bed)") == [(1,)]


@pytest.mark.parametrize("seed", range(12))
def test_nothing_is_lost_or_doubled_whatever_fails(sweep: Callable[..., Sweep], seed: int) -> None:
    """Workers die, jobs raise, portions come undone, the network is cut, and the controller is killed, again and
    again; a run that goes on comes to its end."""
    one = sweep()
    faults = Faults(dies=0.1, raises=0.1, undone=0.1, trial_fails=0.1, away=0.03, kills_controller=0.02)
    for session in range(200):
        cluster = ScriptedCluster(one.experiment, 1000 * seed + session, faults=faults)
        with suppress(KilledError, BedError):
            one.play(cluster, patience_s=60)
            break
    query = "SELECT cell, round, count(*) FROM trials WHERE status = 'ok' GROUP BY cell, round HAVING count(*) > 1"
    assert one.rows(query) == []
    assert {"worker-left", "portion-undone", "portion-stored"} <= set(one.kinds())
    results = one.rows("SELECT DISTINCT cell, round FROM trials")
    assert len(results) == 6 * 5
    query = "SELECT cell, round, attempt, count(*) FROM trials GROUP BY cell, round, attempt HAVING count(*) > 1"
    assert one.rows(query) == []


@pytest.mark.parametrize("which", ["network", "machines"])
def test_a_run_goes_on_when_all_its_workers_were_away(sweep: Callable[..., Sweep], which: str) -> None:
    """In one session: each of them loses its portion, and none of these portions is to blame."""

    class Cut(ScriptedCluster):
        cuts = 0

        def wait(self, timeout_s: float) -> list[Happening]:
            if self.cuts < 2 and [name for _, _, name, _ in self.pending] == ["play"] * self.workers:
                there, self.there, self.pending = self.there, [], []
                self.cuts += 1
                return [Away("cut")] if which == "network" else [Left(worker, "no power") for worker in there]
            return super().wait(timeout_s)

    one = sweep()
    cluster = Cut(one.experiment, 2)
    one.play(cluster, patience_s=60)
    assert cluster.cuts == 2
    one.assert_whole()


def test_a_stop_lets_portions_finish_and_the_run_goes_on(sweep: Callable[..., Sweep]) -> None:
    one = sweep()
    asked: list[JobName] = []

    class Noting(ScriptedCluster):
        def answer(self, worker: str, name: JobName, payload: Coded) -> Any:
            asked.append(name)
            return super().answer(worker, name, payload)

    cluster = Noting(one.experiment, 3)

    def stop_after_the_first(event: Event) -> None:
        one.events.append(event)
        if event.kind == "portion-stored":
            one.stop.asked = True

    begun = begin(one.experiment, "test", one.folder, 7, {})
    begun.store.begin_session({}, this_machine())
    with pytest.raises(Interrupted):
        Controller(begun, cluster, stop_after_the_first, one.stop, KNOWN, Patience(0, 0)).run()
    begun.store.close()
    assert one.rows("SELECT count(*) % 2, count(*) > 1 FROM trials") == [(0, 1)]
    assert asked.count("end_run") == asked.count("qualify")  # links are measured again, and no bed stays behind
    one.stop.asked = False
    one.play(ScriptedCluster(one.experiment, 4))
    one.assert_whole()


def test_a_link_that_one_machine_cannot_have_is_made_by_the_others(sweep: Callable[..., Sweep]) -> None:
    one = sweep()
    label = one.experiment.cells[0].link.label
    one.play(ScriptedCluster(one.experiment, 5, refuses={label: "machine-1"}))
    one.assert_whole()


def test_a_link_that_no_machine_can_have_fails_its_trials_and_says_why(sweep: Callable[..., Sweep]) -> None:
    one = sweep()
    label = one.experiment.cells[0].link.label
    one.play(ScriptedCluster(one.experiment, 5, refuses={label: "all"}))
    assert one.rows("SELECT reason, count(*) FROM failures GROUP BY reason") == [("link-out-of-tolerance", 10)]
    assert one.rows("SELECT count(*) FROM trials WHERE status = 'ok'") == [(20,)]


def test_workers_that_are_all_unfit_end_the_run_with_their_reason(sweep: Callable[..., Sweep]) -> None:
    one = sweep()
    with pytest.raises(BedError, match="there is no room"):
        one.play(ScriptedCluster(one.experiment, 5, unfit="there is no room"))


def test_a_worker_that_hangs_is_given_up_and_its_portion_is_made_by_another(
    sweep: Callable[..., Sweep], monkeypatch: pytest.MonkeyPatch
) -> None:
    one = sweep()
    monkeypatch.setattr(controller, "longest_s", lambda _experiment, _portion: 0.2)
    cluster = ScriptedCluster(one.experiment, 8, silent="w2")
    one.play(cluster, patience_s=60)
    one.assert_whole()
    why = [event.why for event in one.events if isinstance(event, WorkerLeft) and event.worker == "w2"]
    assert why == ["it has not answered for longer than anything takes"]


def test_a_worker_that_fails_to_begin_tries_again_and_a_few_times_only(
    sweep: Callable[..., Sweep], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(enrolment, "REST_S", 0.0)
    one = sweep()
    one.play(ScriptedCluster(one.experiment, 9, workers=1, fails_to_begin=2), patience_s=60)
    one.assert_whole()
    other = sweep()
    other.folder = other.folder.with_name("other")
    with pytest.raises(BedError, match="no luck"):
        other.play(ScriptedCluster(one.experiment, 9, workers=1, fails_to_begin=99))


def test_stamps_of_a_machine_whose_clock_is_wrong_are_put_right(sweep: Callable[..., Sweep]) -> None:
    one = sweep()
    one.play(ScriptedCluster(one.experiment, 6, clock_ahead_s=3600.0))
    stamps = [
        str(stamp) for (stamp,) in one.rows("SELECT started_utc FROM trials UNION ALL SELECT at_utc FROM self_tests")
    ]
    assert all(abs(seconds_between(stamp, utc_now())) < 600 for stamp in stamps)
    ahead = one.rows("SELECT json_extract(facts, '$.clock_ahead_s') FROM machines WHERE name LIKE 'machine-%'")
    assert all(isinstance(each, float) and 3590 < each < 3610 for (each,) in ahead)


@pytest.mark.parametrize("odd", ["number", "bed", "artifact", "record", "shape"])
def test_an_answer_that_is_not_what_was_asked_for_costs_its_portion_alone(
    sweep: Callable[..., Sweep], odd: str
) -> None:
    """It is begun anew elsewhere: the run neither ends nor waits for ever."""

    class Odd(ScriptedCluster):
        was = False

        def answer(self, worker: str, name: JobName, payload: Coded) -> Any:
            answer = super().answer(worker, name, payload)
            if name != "play" or self.was:
                return answer
            self.was = True
            first = answer["trials"][0]
            match odd:
                case "number":
                    answer["portion"] += 100
                case "bed":
                    first["bed"] = 7
                case "artifact":
                    first["artifacts"] = [{"name": "page.har.gz", "bytes": 1, "sha256": "0" * 64}]
                case "record":
                    first["record"] = {**first["record"], "workload": 5}
                case "shape":
                    answer["more"] = 1
            return answer

    one = sweep()
    one.play(Odd(one.experiment, 8))
    one.assert_whole()
    assert one.kinds().count("portion-undone") == 1


def test_a_record_that_is_damaged_does_not_cost_the_self_tests_that_came_with_it(
    sweep: Callable[..., Sweep], monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (controller, enrolment):
        monkeypatch.setattr(module, "REST_S", 0.0)

    class Damaged(ScriptedCluster):
        sent = 0

        def answer(self, worker: str, name: JobName, payload: Coded) -> Any:
            answer = super().answer(worker, name, payload)
            if name == "play":
                self.sent += len(answer["self_tests"])
                answer["trials"][0]["record"] = "cut"
            return answer

    one = sweep()
    cluster = Damaged(one.experiment, 8)
    with pytest.raises(BedError, match=r"the last because its answer is of another lanelab: .*record"):
        one.play(cluster)
    assert cluster.sent
    assert one.rows("SELECT count(*) FROM self_tests") == [(cluster.sent,)]
    assert one.rows("SELECT count(*) FROM trials") == [(0,)]


def test_two_machines_of_one_name_are_two(sweep: Callable[..., Sweep]) -> None:
    class Cloned(ScriptedCluster):
        def answer(self, worker: str, name: JobName, payload: Coded) -> Any:
            answer = super().answer(worker, name, payload)
            if name == "qualify":
                answer["machine"]["name"] = "localhost"  # its identity is its own
            if "beds" in answer:
                answer["beds"]["1"]["machine"] = "localhost"
            return answer

    one = sweep()
    one.play(Cloned(one.experiment, 9))
    one.assert_whole()
    names = one.rows("SELECT DISTINCT name FROM trials JOIN beds USING (bed) JOIN machines USING (machine) ORDER BY 1")
    assert names == [("localhost",), ("localhost (2)",), ("localhost (3)",)]


class AtOnce(ScriptedCluster):
    """A cluster whose workers all answer at the same time."""

    def wait(self, timeout_s: float) -> list[Happening]:
        if len(self.there) < self.workers:
            return super().wait(timeout_s)
        return [each for _ in range(len(self.pending)) for each in self._next_answer()]


def test_what_comes_at_once_is_stored_at_once_and_told_when_it_is_stored(
    sweep: Callable[..., Sweep], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, order = sweep(), list[str]()
    real_sync, real_digest = sync_folders, note_new_digests

    def sync(whole: Path, folders: Sequence[Path]) -> None:
        order.append(f"{len(folders)} synced")
        real_sync(whole, folders)

    def note(database: sqlite3.Connection, kind: Kind, numbers: Collection[int]) -> None:
        order.extend([f"{len(numbers)} inserted"] * bool(numbers))  # none with self-tests
        real_digest(database, kind, numbers)

    def tell(event: Event) -> None:
        if isinstance(event, PortionStored):
            counted = one.rows("SELECT count(*) FROM trials")[0][0]
            order.append(f"{event.trials} of {counted} told")

    monkeypatch.setattr(store, "sync_folders", sync)
    monkeypatch.setattr(store, "note_new_digests", note)
    one.tell = tell
    one.play(AtOnce(one.experiment, 1))
    one.assert_whole()
    assert [line for line in order if "told" not in line] == ["6 synced", "6 inserted"] * 5
    assert order[:8] == ["6 synced", "6 inserted", *["2 of 6 told"] * 3, "6 synced", "6 inserted", "2 of 12 told"]


def test_a_group_that_cannot_be_stored_is_acknowledged_to_nobody(
    sweep: Callable[..., Sweep], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, real, syncs = sweep(), sync_folders, list[int]()

    def sync(whole: Path, folders: Sequence[Path]) -> None:
        syncs.append(len(folders))
        if len(syncs) == 3:
            raise OSError(errno.ENOSPC, "no space")
        real(whole, folders)

    monkeypatch.setattr(store, "sync_folders", sync)
    with pytest.raises(StoreError, match="disk is full"):
        one.play(AtOnce(one.experiment, 1))
    assert sum(event.trials for event in one.events if isinstance(event, PortionStored)) == 12
    assert one.rows("SELECT count(*) FROM trials") == [(12,)]
    assert len(list((one.folder / "trials").iterdir())) == 12
    one.play(AtOnce(one.experiment, 2))
    one.assert_whole()
    read_run(one.folder)


def test_of_what_comes_at_once_a_damaged_delivery_is_made_anew_alone(sweep: Callable[..., Sweep]) -> None:
    class Damaged(AtOnce):
        damaged = 0

        def delivery(self, worker: str, portion: Portion) -> Delivery:
            made = super().delivery(worker, portion)
            if worker == "w2" and not self.damaged:
                self.damaged = portion.number
                lacking = replace(made.trials[0], artifacts=(Artifact("page.har.gz", 1, "0" * 64),))
                return replace(made, trials=(lacking, *made.trials[1:]))
            return made

    one = sweep()
    cluster = Damaged(one.experiment, 1)
    one.play(cluster)
    one.assert_whole()
    assert cluster.damaged
    undone = [event.why for event in one.events if isinstance(event, PortionUndone)]
    assert len(undone) == 1
    assert "artifacts of trial 1" in undone[0]
    assert one.rows("SELECT count(*) FROM trials") == [(30,)]
