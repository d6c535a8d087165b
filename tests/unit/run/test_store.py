"""The run folder as a run writes it: whole trials only, whatever happens in between."""

import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from lanelab.driver.arm.arm import Arm
from lanelab.driver.base.errors import InputError, StoreError
from lanelab.driver.experiment.model import Cell, LinkCase
from lanelab.driver.experiment.schedule.results import Attempt
from lanelab.driver.link import Link
from lanelab.driver.record.evidence.browser import Request
from lanelab.driver.record.reasons import Failure, Flag, FlagName, Reason
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.record.series import Series
from lanelab.driver.run.folder import format as run_format
from lanelab.driver.run.folder.digests import differences
from lanelab.driver.run.folder.store import SCRATCH, Store, Stored
from lanelab.driver.run.this_machine import this_machine
from tests.kit.records import request

CELLS = [
    Cell("dummy", LinkCase(label, Link.parse({"rtt": label})), Arm.parse(name, settings))
    for label in ("20ms", "100ms")
    for name, settings in (("on", {}), ("off", {"keepalive": "false"}))
]
META = {"format": run_format.VERSION, "workload": "page_load", "name": "made", "seed": "7"}


def made(folder: Path) -> Store:
    store = Store.create(folder, "sites: [dummy]\n", META, CELLS)
    store.begin_session({"lanelab": "test"}, this_machine())
    return store


RECORD = TrialRecord(
    workload="page_load",
    started_utc="2026-01-01T00:00:00.000Z",
    measures={"plt_ms": 1000.0, "fcp_ms": 400.0},
    series={"load": Series("processes", ((0.0, 0.5), (100.0, 0.75)))},
    requests=(Request.from_json(request("a.test/index.html", 1, CELLS[0].arm)),),
    failures=(),
    artifacts=("page.har.gz",),
    marks={},
    evidence=None,
    flags=(Flag(FlagName.ROUTER_WAITED, "for long"),),
)


def add(store: Store, cell: Cell, number: int, *, attempt: int = 1, reason: Reason | None = None) -> int:
    trial, _ = store.begin_trial()
    add_as(store, trial, cell, number, attempt=attempt, reason=reason)
    return trial


def add_as(
    store: Store, trial: int, cell: Cell, number: int, *, attempt: int = 1, reason: Reason | None = None
) -> None:
    (store.folder / SCRATCH / f"{trial:06d}" / "page.har.gz").write_bytes(b"har")
    record = replace(RECORD, failures=(Failure(reason, "made"),), measures={}) if reason else RECORD
    store.add_trial(Stored(trial, cell, 1, number, attempt, 1.5, record))


def test_a_trial_is_stored_with_its_requests_and_artifacts(tmp_path: Path) -> None:
    store = made(tmp_path / "run")
    trial = add(store, CELLS[0], 1)
    assert (tmp_path / "run" / "trials" / f"{trial:06d}" / "page.har.gz").read_bytes() == b"har"
    assert store.history() == {(CELLS[0].id, 1): [Attempt(True, 1000.0)]}
    store.close()
    database = sqlite3.connect(tmp_path / "run" / "run.sqlite")
    assert database.execute("SELECT name, bytes FROM artifacts").fetchall() == [("page.har.gz", 3)]
    measures = database.execute("SELECT name, value FROM measures ORDER BY name").fetchall()
    assert measures == [("fcp_ms", 400.0), ("plt_ms", 1000.0), ("requests", 1.0)]
    assert database.execute("SELECT * FROM flags").fetchall() == [(trial, "router-waited", "for long")]
    points = database.execute("SELECT name, t_ms, value FROM series ORDER BY t_ms").fetchall()
    assert points == [("load", 0.0, 0.5), ("load", 100.0, 0.75)]
    (text,) = database.execute("SELECT record FROM trials").fetchone()
    assert json.loads(text)["series"] == {"load": {"unit": "processes", "points": []}}
    (data,) = database.execute("SELECT data FROM requests").fetchone()
    assert json.loads(data)["url"] == "http://a.test/index.html"


def test_what_was_under_way_is_gone_when_a_run_is_opened_again(tmp_path: Path) -> None:
    store = made(tmp_path / "run")
    kept = add(store, CELLS[0], 1)
    _, unfinished = store.begin_trial()
    (unfinished / "client.pcap").write_bytes(b"half")
    # Killed between the folder's name and the transaction:
    orphan = tmp_path / "run" / "trials" / "000009"
    orphan.mkdir()
    store.close()
    again = Store.open(tmp_path / "run")
    assert [path.name for path in (tmp_path / "run" / "trials").iterdir()] == [f"{kept:06d}"]
    assert not unfinished.exists()
    assert again.begin_trial()[0] == kept + 1
    again.close()


def test_a_failure_in_the_middle_of_storing_leaves_nothing(tmp_path: Path) -> None:
    store = made(tmp_path / "run")
    trial, folder = store.begin_trial()
    (folder / "page.har.gz").write_bytes(b"har")
    broken = replace(RECORD, measures={"plt_ms": cast(float, "many")})
    with pytest.raises(StoreError, match="cannot store TEXT"):
        store.add_trial(Stored(trial, CELLS[0], 1, 1, 1, 1.0, broken))
    assert store.history() == {}
    assert list((tmp_path / "run" / "trials").iterdir()) == []
    store.close()


def test_a_cell_has_one_counting_trial_in_a_round(tmp_path: Path) -> None:
    store = made(tmp_path / "run")
    add(store, CELLS[1], 1, reason=Reason.EXTRA_REQUEST)
    add(store, CELLS[1], 1, attempt=2)
    with pytest.raises(StoreError, match="UNIQUE"):
        add(store, CELLS[1], 1, attempt=3)
    assert store.history() == {(CELLS[1].id, 1): [Attempt(False), Attempt(True, 1000.0)]}
    store.close()


@pytest.mark.parametrize("reason", [Reason.BED_LOST, Reason.LINK_OUT_OF_TOLERANCE])
def test_what_no_trial_can_help_uses_up_no_retry(tmp_path: Path, reason: Reason) -> None:
    store = made(tmp_path / "run")
    add(store, CELLS[1], 1, reason=reason)
    assert store.history() == {(CELLS[1].id, 1): [Attempt(False, uses_retry=False)]}
    store.close()


def test_a_run_folder_has_one_writer(tmp_path: Path) -> None:
    store = made(tmp_path / "run")
    with pytest.raises(StoreError, match="another lanelab"):
        Store.open(tmp_path / "run")
    store.close()
    Store.open(tmp_path / "run").close()


def test_a_folder_with_something_in_it_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("ten years of work")
    with pytest.raises(InputError, match="not empty, and no run"):
        Store.create(tmp_path, "", META, CELLS)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_folder_without_a_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no run"):
        Store.open(tmp_path)


def test_another_format_is_refused(tmp_path: Path) -> None:
    store = made(tmp_path / "run")
    store.set_meta("format", "99")
    store.close()
    with pytest.raises(StoreError, match="format 99"):
        Store.open(tmp_path / "run")


def test_a_session_that_was_killed_says_so_in_the_next(tmp_path: Path) -> None:
    made(tmp_path / "run").close()
    store = Store.open(tmp_path / "run")
    store.begin_session({}, this_machine())
    store.end_session("finished")
    store.close()
    database = sqlite3.connect(tmp_path / "run" / "run.sqlite")
    assert database.execute("SELECT ending FROM sessions").fetchall() == [("killed",), ("finished",)]


def test_trials_that_are_forgotten_leave_nothing(tmp_path: Path) -> None:
    store = made(tmp_path / "run")
    kept = add(store, CELLS[0], 1)
    gone = [add(store, CELLS[0], 2), add(store, CELLS[1], 1)]
    assert store.last_trial() == gone[-1]
    assert store.trials_after(kept) == gone
    store.forget(gone)
    assert store.trials_after(0) == [kept]
    assert [path.name for path in (tmp_path / "run" / "trials").iterdir()] == [f"{kept:06d}"]
    database = sqlite3.connect(tmp_path / "run" / "run.sqlite")
    for table in ("measures", "series", "failures", "flags", "requests", "artifacts"):
        assert {trial for (trial,) in database.execute(f"SELECT trial FROM {table}")} <= {kept}  # noqa: S608
    assert add(store, CELLS[0], 2) == gone[-1] + 1  # made anew, with a number that no other had
    store.close()


def test_the_digest_of_a_growing_list_is_that_of_the_whole_list(tmp_path: Path) -> None:
    def assert_noted() -> None:
        with closing(sqlite3.connect(tmp_path / "run" / "run.sqlite")) as database:
            assert differences(database, "run", parts=["list of trials"]) == []
            assert differences(database) == []

    store = made(tmp_path / "run")
    numbers = [add(store, CELLS[0], number) for number in (1, 2, 3)]
    assert_noted()
    store.forget(numbers[1:2])
    numbers[1] = add(store, CELLS[0], 2)
    assert_noted()
    store.close()
    store = Store.open(tmp_path / "run")
    store.begin_session({}, this_machine())
    early, _ = store.begin_trial()
    add(store, CELLS[1], 1)
    add_as(store, early, CELLS[1], 2)  # after one with a higher number
    assert_noted()
    add(store, CELLS[1], 3)
    assert_noted()
    store.close()
