"""The checks of tests/kit/sweep_checks.py find what they are for: a made run is spoilt in one way at a time."""

import hashlib
import json
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.kit.made_run import Made, make_run
from tests.kit.sweep_checks import problems

ROUNDS = 4
MACHINES = """
DELETE FROM beds; DELETE FROM machines; DELETE FROM versions; DELETE FROM self_tests;
INSERT INTO machines VALUES (1, 'one', '{}'), (2, 'two', '{}');
INSERT INTO beds VALUES (1, 1, 'a', '{}'), (2, 2, 'b', '{}');
INSERT INTO versions VALUES ('v', '{}');
UPDATE trials SET versions = 'v';
INSERT INTO self_tests
    SELECT NULL, 1, bed, link, 'before', '2026-11-20T09:30:01.000Z', 1, '{}' FROM beds, links;
"""


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Of two machines, with a trial that had to be made again."""
    made = Made(rounds=ROUNDS, beds=2, with_requests=False, fails=lambda trial, attempt: trial == 7 and attempt == 1)
    folder = make_run(tmp_path / "run", made)
    digests = [
        (hashlib.sha256(path.read_bytes()).hexdigest(), int(path.parent.name), path.name)
        for path in (folder / "trials").glob("*/*")
    ]
    database = sqlite3.connect(folder / "run.sqlite")
    database.executescript(MACHINES)
    with database:
        database.executemany("UPDATE artifacts SET sha256 = ? WHERE trial = ? AND name = ?", digests)
    database.close()
    return folder


def test_a_sound_run_has_no_problems(run: Path) -> None:
    assert problems(run, ROUNDS) == []


def sql(text: str) -> Callable[[Path], None]:
    def spoil(folder: Path) -> None:
        database = sqlite3.connect(folder / "run.sqlite")
        database.executescript(text)
        database.close()

    return spoil


def doubled(folder: Path) -> None:
    """As if nothing had kept the second one out."""
    sql(
        "DROP INDEX one_ok_per_round;"
        "INSERT INTO trials SELECT 999, session, bed, cell, round, 2, started_utc, wall_s, status, record, asked,"
        " versions, origin FROM trials WHERE trial = 1;"
        "INSERT INTO artifacts SELECT 999, name, bytes, sha256 FROM artifacts WHERE trial = 1"
    )(folder)
    (folder / "trials" / "000999").mkdir()
    path = folder / "trials" / "000001" / "page.har.gz"
    (folder / "trials" / "000999" / path.name).write_bytes(path.read_bytes())


def changed(name: str) -> Callable[[Path], None]:
    """A file of a trial that is there, or comes to be there."""

    def spoil(folder: Path) -> None:
        (folder / "trials" / "000002" / name).write_text("x")

    return spoil


def forgotten(folder: Path) -> None:
    sql("DELETE FROM measures; DELETE FROM series; DELETE FROM artifacts WHERE trial = 3;"
        "DELETE FROM trials WHERE trial = 3")(folder)  # fmt: skip


SPOILT: dict[str, tuple[Callable[[Path], None], str]] = {
    "a trial is lost": (sql("UPDATE trials SET round = 99 WHERE trial = 1"), "has no trial in round 1"),
    "a trial that nobody asked for": (sql("UPDATE trials SET round = 99 WHERE trial = 1"), "nobody asked for"),
    "a trial is doubled": (doubled, "2 trials that count"),
    "a trial does not count": (sql("UPDATE trials SET status = 'failed' WHERE trial = 1"), "0 trials that count"),
    "an attempt is missing": (sql("UPDATE trials SET attempt = 3 WHERE trial = 8"), "attempts [1, 3]"),
    "made again after it counted": (
        sql("UPDATE trials SET attempt = 9 WHERE trial = 7; UPDATE trials SET attempt = 1 WHERE trial = 8;"
            "UPDATE trials SET attempt = 2 WHERE trial = 7"),
        "again after it counted",
    ),
    "a row is gone, its folder is not": (forgotten, "000003 is of no trial"),
    "an artifact is missing": (
        lambda run: (run / "trials" / "000002" / "page.har.gz").unlink(), "page.har.gz is missing",
    ),
    "an artifact too many": (
        changed("more"), "more is of no trial",
    ),
    "an artifact is damaged": (
        changed("page.har.gz"), "not what the database says",
    ),
    "a trial without artifacts": (sql("DELETE FROM artifacts WHERE trial = 2"), "names no artifact"),
    "a trial without evidence": (
        sql("UPDATE trials SET record = json_remove(record, '$.evidence') WHERE trial = 2"), "has no evidence",
    ),
    "packs are left": (lambda run: (run / "incoming").mkdir(), "incoming is left"),
    "arms of a round on two machines": (sql("UPDATE trials SET bed = 2 WHERE trial = 1"), "is of beds [1, 2]"),
    "a bed of no machine": (sql("PRAGMA foreign_keys = OFF; DELETE FROM beds WHERE bed = 2"), "bed 2 is of no machine"),
    "versions unknown": (sql("UPDATE trials SET versions = 'w' WHERE trial = 1"), "versions 'w'"),
    "a link without self-test": (
        sql("DELETE FROM self_tests WHERE bed = 2 AND link = 1"), "link 1 was used on bed 2",
    ),
    "a link whose self-test failed": (
        sql("UPDATE self_tests SET passed = 0 WHERE bed = 1 AND link = 2"), "link 2 was used on bed 1",
    ),
    "a session that was killed": (sql("UPDATE sessions SET ending = 'killed', ended_utc = NULL"), "ended killed"),
    "a session that never ended": (sql("UPDATE sessions SET ended_utc = NULL"), "said to have ended finished, at None"),
    "a run that goes on": (sql("UPDATE meta SET value = 'running' WHERE key = 'state'"), "the run is running"),
    "a clock an hour off": (
        sql("UPDATE trials SET started_utc = '2026-11-20T10:30:00.000Z' WHERE trial = 2"), "trial 2 is said",
    ),
    "a row that names nothing": (
        sql("PRAGMA foreign_keys = OFF; INSERT INTO flags VALUES (12345, 'x', 'y')"), "names no row of trials",
    ),
}  # fmt: skip


@pytest.mark.parametrize("how", SPOILT)
def test_what_is_wrong_is_found(run: Path, how: str) -> None:
    spoil, told = SPOILT[how]
    spoil(run)
    found = problems(run, ROUNDS)
    assert any(told in each for each in found), json.dumps(found, indent=1)


def test_sessions_that_were_killed_are_no_problem_where_they_were(run: Path) -> None:
    sql("UPDATE sessions SET session = 2; UPDATE trials SET session = 2;"
        "INSERT INTO sessions VALUES (1, '2026-11-20T09:00:00.000Z', NULL, 'killed', '{}')")(run)  # fmt: skip
    assert problems(run, ROUNDS, ("killed", "finished")) == []
    assert problems(run, ROUNDS, None) == []
    assert problems(run, ROUNDS) != []
