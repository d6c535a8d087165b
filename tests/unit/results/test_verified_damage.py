"""Runs from which rows or tables were taken: what verify lists, and what opening one says."""

import sqlite3
from pathlib import Path

import pytest

import lanelab
from lanelab.driver.base.errors import ChangedError
from lanelab.driver.run.folder.format import DATABASE
from tests.kit.made_run import Made, make_run


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        ("DELETE FROM trials WHERE trial BETWEEN 3 AND 5", "run: its list of trials was changed"),
        ("DROP TABLE series", "run: its table series is gone"),
        ("DROP TABLE self_tests", "run: its table self_tests is gone"),
        ("UPDATE trials SET record = 'x' WHERE trial = 2", "trial 2: its record cannot be read"),
        ("DELETE FROM meta WHERE key = 'plan'", "run: its plan, figures or claims were changed"),
        ("DELETE FROM links WHERE link = 1", "trial 1: its cell, round or status were changed"),
    ],
)
def test_verify_lists_what_differs_whatever_is_missing(tmp_path: Path, damage: str, sentence: str) -> None:
    folder = _damaged(tmp_path, damage)
    (verification,) = lanelab.verify(folder)
    assert sentence in verification.wrong


@pytest.mark.parametrize("damage", ["DELETE FROM links", "DELETE FROM arms"])
def test_a_run_without_a_link_or_an_arm_says_so_in_words(tmp_path: Path, damage: str) -> None:
    folder = _damaged(tmp_path, damage)
    with pytest.raises(ChangedError, match=r"a link or an arm of its cells is gone.*lanelab verify"):
        lanelab.open_run(folder)


def _damaged(tmp_path: Path, damage: str) -> Path:
    folder = make_run(tmp_path / "run", Made(rounds=1))
    database = sqlite3.connect(folder / DATABASE)
    database.execute("PRAGMA foreign_keys = OFF")
    database.execute(damage)
    database.commit()
    database.close()
    return folder
