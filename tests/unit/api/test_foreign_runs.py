"""Runs that are not as one hopes: a folder of something else, one that is damaged, and a load of a server."""

import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

import lanelab
from tests.kit.made_load_run import make_load_run


def database(folder: Path, *statements: str) -> None:
    connection = sqlite3.connect(folder / "run.sqlite")
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


def cut(folder: Path) -> None:
    file = folder / "run.sqlite"
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


FOREIGN: dict[str, tuple[Callable[[Path], object], str]] = {
    "nothing": (lambda _: None, "is not the folder of a run. Name a run"),
    "text": (lambda folder: (folder / "run.sqlite").write_text("no database" * 99), "file is not a database"),
    "others": (lambda folder: database(folder, "CREATE TABLE x (a)"), "run.sqlite is not lanelab's"),
    "no format": (lambda folder: database(folder, "CREATE TABLE meta (key, value)"), "has format none"),
}
DAMAGED: dict[str, tuple[Callable[[Path], object], str]] = {
    "cut": (cut, "may be damaged or cut short: copy the folder again"),
    "later": (lambda folder: database(folder, "UPDATE meta SET value = '99' WHERE key = 'format'"), "has format 99"),
    "plan": (lambda folder: database(folder, "UPDATE meta SET value = '{' WHERE key = 'plan'"), "not what was stored"),
    "trials": (lambda folder: database(folder, "DROP TABLE trials"), "may be damaged or cut short"),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_a_folder_of_something_else_is_said_to_be_so(tmp_path: Path, name: str) -> None:
    make, words = FOREIGN[name]
    make(tmp_path)
    with pytest.raises(lanelab.LanelabError, match=words) as caught:
        lanelab.open_run(tmp_path)
    assert caught.value.remedy


@pytest.mark.parametrize("name", DAMAGED)
def test_a_run_that_is_damaged_is_not_read(tmp_path: Path, name: str) -> None:
    damage, words = DAMAGED[name]
    shutil.copytree(lanelab.sample_run().folder, tmp_path / "run")
    damage(tmp_path / "run")
    with pytest.raises(lanelab.LanelabError, match=words) as caught:
        lanelab.open_run(tmp_path / "run")
    assert caught.value.remedy


def test_a_load_of_a_server_has_what_it_has_and_says_what_it_lacks(tmp_path: Path) -> None:
    run = lanelab.open_run(make_load_run(tmp_path / "load"))
    assert (run.workload, run.loads_pages) == ("load", False)
    assert len(run.trials()) == len(run.data.trials)
    assert {row["trials"] for row in run.median("requests_per_s", by="arm").to_pylist()} != {0}
    assert run.compare(run.arms[1], run.arms[0]).rows
    trial = run.trial(1)
    lacking = {
        "no request of a browser": run.requests,
        "have no 'plt'": lambda: run.median("plt"),
        "has no claims": run.claims,
        "loaded no page": run.explain,
        "has no file": trial.har,
        "made no request": trial.page,
        "has no pictures": trial.filmstrip,
        "has no capture": trial.packets,
    }
    for words, method in lacking.items():
        with pytest.raises(lanelab.InputError, match=words) as caught:
            method()
        assert caught.value.remedy
