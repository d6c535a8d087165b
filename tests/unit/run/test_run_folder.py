"""Reading run folders: whole ones, ones that are being written, damaged and foreign ones."""

import contextlib
import fcntl
import json
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lanelab.analysis.results import conditions
from lanelab.analysis.results.run_folder import read_run
from lanelab.analysis.results.runs import find_run, list_runs
from lanelab.driver.base.errors import InputError, StoreError
from lanelab.driver.record.series import Series
from lanelab.driver.run.folder import format as run_format
from lanelab.driver.run.folder.trial_content import read_artifacts
from lanelab.driver.run.folder.trial_records import each_record, each_request, read_record
from tests.kit.changed_run import changing
from tests.kit.made_run import TEXT, Made, make_run


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_run(tmp_path_factory.mktemp("runs") / "quick", Made(rounds=3))


def test_a_run_is_read_as_it_was_written(folder: Path) -> None:
    run = read_run(folder)
    assert (run.name, run.state, run.experiment) == ("quickstart", "finished", TEXT)
    assert (len(run.cells), len(run.links), len(run.arms), len(run.self_tests)) == (8, 2, 4, 2)
    assert len(run.ok) == 24
    assert [trial.number for trial in run.failed] == [7]
    assert run.failed[0].failures[0].reason == "router-stopped"
    assert run.cells[0].link.settings["rtt"] == "20ms"
    provenance: Any = run.sessions[0].provenance
    assert provenance["router"]["kind"] == "uml"
    assert run.figures[0].x == "rtt"
    assert {len(rounds) for rounds in run.values().values()} == {3}


def test_a_trial_has_its_record_requests_and_files(folder: Path) -> None:
    record = read_record(folder, 7)
    assert record.workload == "page_load"
    assert record.measures["requests"] == 24
    assert record.series == {"load": Series("processes", ((0, 0.5), (100, 0.5)))}
    assert len(record.requests) == 24
    assert [name for name, _, _ in read_artifacts(folder, 7)] == ["page.har.gz"]
    with pytest.raises(InputError, match=r"no trial 999.*1 to 25"):
        read_record(folder, 999)


def test_nothing_is_written_into_the_folder(folder: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    read_run(folder)
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before


def test_a_run_is_read_while_a_trial_is_being_stored(folder: Path, tmp_path: Path) -> None:
    there = Path(shutil.copytree(folder, tmp_path / "run"))
    writer = sqlite3.connect(there / run_format.DATABASE, isolation_level=None)
    writer.execute("PRAGMA journal_mode = TRUNCATE")
    writer.execute("BEGIN IMMEDIATE")
    writer.execute("DELETE FROM requests WHERE trial = 3")
    assert len(read_run(there).trials) == 25
    writer.execute("ROLLBACK")
    writer.close()


@pytest.mark.parametrize("each", [each_request, each_record])
def test_a_trial_is_stored_while_a_reader_pauses(
    folder: Path, tmp_path: Path, each: Callable[[Path], Iterator[tuple[Any, ...]]]
) -> None:
    there = Path(shutil.copytree(folder, tmp_path / "run"))
    reading = each(there)
    seen = [next(reading)]
    writer = sqlite3.connect(there / run_format.DATABASE, timeout=0)
    writer.execute("PRAGMA journal_mode = TRUNCATE")
    with writer:  # raises "database is locked" where the reader holds anything
        writer.execute("UPDATE trials SET wall_s = wall_s + 1")
    writer.close()
    seen += reading
    assert len(seen) == (25 * 24 if each is each_request else 25)


def test_what_a_killed_run_left_half_made_is_undone_in_a_copy(folder: Path, tmp_path: Path) -> None:
    there, killed = Path(shutil.copytree(folder, tmp_path / "run")), tmp_path / "killed"
    writer = sqlite3.connect(there / run_format.DATABASE, isolation_level=None)
    writer.execute("PRAGMA cache_size = 1")  # so that changes reach the file before their end
    writer.execute("BEGIN IMMEDIATE")
    writer.execute("UPDATE requests SET data = '{}'")
    writer.execute("UPDATE trials SET status = 'failed'")
    shutil.copytree(there, killed)  # as the disk is when the process is killed
    writer.execute("ROLLBACK")
    writer.close()
    assert (killed / (run_format.DATABASE + "-journal")).stat().st_size > 0
    run = read_run(killed)
    assert len(run.ok) == 24
    assert (killed / (run_format.DATABASE + "-journal")).stat().st_size > 0


@pytest.mark.parametrize("locked", [True, False])
def test_a_run_without_its_writer_was_killed(tmp_path: Path, locked: bool) -> None:
    there = make_run(tmp_path / "run", Made(state="running", rounds=1))
    lock = os.open(there / "in-use", os.O_CREAT | os.O_RDWR)
    if locked:
        fcntl.flock(lock, fcntl.LOCK_EX)
    assert read_run(there).state == ("running" if locked else "killed")
    os.close(lock)


def test_what_is_no_run_is_refused_in_words(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not the folder of a run"):
        read_run(tmp_path)
    with pytest.raises(InputError, match="there is no folder"):
        read_run(tmp_path / "none")


def test_a_foreign_database_is_refused(tmp_path: Path) -> None:
    database = sqlite3.connect(tmp_path / run_format.DATABASE)
    database.execute("CREATE TABLE x (y)")
    database.commit()
    database.close()
    with pytest.raises(StoreError, match="is not lanelab's"):
        read_run(tmp_path)


@pytest.mark.parametrize(
    "content", [b"not a database at all, but long enough for its header to be read" * 20, b"SQLite"]
)
def test_what_is_no_database_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / run_format.DATABASE).write_bytes(content)
    with pytest.raises(StoreError, match="cannot be read"):
        read_run(tmp_path)


def change(folder: Path, statement: str) -> None:
    with contextlib.closing(sqlite3.connect(folder / run_format.DATABASE)) as database, database:
        database.execute(statement)


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        (
            "UPDATE meta SET value = '1' WHERE key = 'format'",
            "has format 1, and this lanelab reads format 6",
        ),
        ("DELETE FROM meta WHERE key = 'format'", "has format none"),
        ("UPDATE arms SET settings = '{'", "cannot be read"),
        ("UPDATE trials SET started_utc = 'yesterday'", "trial 1: its cell, round or status were changed"),
        ("DROP TABLE failures", "cannot be read"),
        ("DROP TABLE measures", "cannot be read"),
        ("DELETE FROM meta WHERE key = 'workload'", "cannot be read"),
        ("UPDATE meta SET value = 'tea' WHERE key = 'workload'", "does not know"),
        ("DELETE FROM cells WHERE cell = 1", "is not what was stored: trial 1"),
    ],
)
def test_another_format_and_damage_are_told(folder: Path, tmp_path: Path, statement: str, words: str) -> None:
    there = Path(shutil.copytree(folder, tmp_path / "run"))
    change(there, statement)
    with pytest.raises(StoreError, match=words):
        read_run(there)


def test_a_file_cut_short_is_told(folder: Path, tmp_path: Path) -> None:
    there = Path(shutil.copytree(folder, tmp_path / "run"))
    os.truncate(there / run_format.DATABASE, 20_000)
    with pytest.raises(StoreError, match="cannot be read"):
        read_run(there)


def test_runs_are_listed_and_found_by_name(folder: Path, tmp_path: Path) -> None:
    make_run(tmp_path / "a", Made(name="first", rounds=1))
    make_run(tmp_path / "b", Made(name="second", rounds=1))
    with changing(tmp_path / "b") as database:
        database.execute("UPDATE meta SET value = '2027-01-01T00:00:00.000Z' WHERE key = 'created_utc'")
    make_run(tmp_path / "c", Made(rounds=1))
    change(tmp_path / "c", "UPDATE meta SET value = '9' WHERE key = 'format'")
    lines = list_runs(tmp_path)
    assert [(line.folder.name, line.state) for line in lines] == [
        ("c", "unreadable"),
        ("a", "finished"),
        ("b", "finished"),
    ]
    assert find_run("latest", tmp_path).name == "b"
    assert find_run("first", tmp_path).name == "a"
    assert find_run("a", tmp_path).name == "a"
    assert find_run(str(folder)) == folder
    with pytest.raises(InputError, match="Did you mean second"):
        find_run("secnd", tmp_path)
    with pytest.raises(InputError, match="no run in"):
        find_run("latest", tmp_path / "none")
    shutil.rmtree(tmp_path / "a")
    shutil.rmtree(tmp_path / "b")
    with pytest.raises(InputError, match=r"no run in .* can be read"):
        find_run("latest", tmp_path)
    assert list_runs(tmp_path / "none") == []


def test_what_changed_within_a_run_is_told(folder: Path, tmp_path: Path) -> None:
    assert conditions.changes(read_run(folder)) == []
    there = Path(shutil.copytree(folder, tmp_path / "run"))
    bed = {"client": {"kernel": "6.1"}, "bring_up_s": 1.0}
    first = {"bed_options": {"router": "auto", "pinned": {}}, "load": {"1min": 1}, "bed": bed}
    other = {"client": {"kernel": "6.2"}, "bring_up_s": 2.0}
    second = {
        "bed_options": {"router": "auto", "pinned": {"client": [1]}},
        "load": {"1min": 2},
        "bed": bed,
        "bed 2": other,
    }
    with changing(there) as database:
        database.execute("UPDATE sessions SET provenance = ?", (json.dumps(first),))
        row = (2, "2026-11-21T00:00:00.000Z", None, None, json.dumps(second))
        database.execute("INSERT INTO sessions VALUES (?, ?, ?, ?, ?)", row)
        product = "json_set(record, '$.evidence.browser.facts.product', 'Chromium/141.0')"
        database.execute(f"UPDATE trials SET record = {product} WHERE trial > 20")  # noqa: S608
    run = read_run(there)
    assert conditions.changes(run) == [
        (
            "The browser changed within the run: Chromium/140.0 from trial 1 on, Chromium/141.0 from trial 21 on. "
            "Comparisons by round may mix them."
        ),
        "Option pinned changed within the run: none in session 1, client [1] in session 2.",
        "The bed client kernel changed within the run: 6.1 in session 1, 6.2 in session 2 (bed 2).",
    ]


def test_browsers_of_arms_are_named_with_their_versions(folder: Path, tmp_path: Path) -> None:
    there = Path(shutil.copytree(folder, tmp_path / "run"))
    arm = read_run(there).arms[0]
    with changing(there) as database:
        settings = json.dumps({**arm.settings, "browser": "firefox"})
        database.execute("UPDATE arms SET settings = ? WHERE arm = ?", (settings, arm.number))
        product = "json_set(record, '$.evidence.browser.facts.product', 'Firefox 153.7.0esr')"
        cells = "SELECT cell FROM cells WHERE arm = ?"
        database.execute(f"UPDATE trials SET record = {product} WHERE cell IN ({cells})", (arm.number,))  # noqa: S608
    run = read_run(there)
    (sentence,) = conditions.changes(run)
    assert sentence.startswith("Arms differ in the browser: ")
    assert f"Firefox 153.7.0esr in {arm.name}" in sentence
    others = ", ".join(each.name for each in run.arms if each.number != arm.number)
    assert f"Chromium/140.0 in {others}" in sentence
