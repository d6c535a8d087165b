"""Runs of equal experiments become one run: each trial once, with all that it left, and the sources as they were."""

import hashlib
import json
import shutil
import sqlite3
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from lanelab.analysis.results.run_folder import read_run
from lanelab.analysis.results.runs import list_runs
from lanelab.driver.base.errors import DiskFull, InputError, LanelabError, StoreError
from lanelab.driver.run import merging
from lanelab.driver.run.folder import format as run_format
from lanelab.driver.run.folder.store import Store
from lanelab.driver.run.merging import Merged, merge
from lanelab.driver.run.start import resume
from tests.kit.changed_run import changing
from tests.kit.made_run import Made, MadeMachine, make_run

ROUNDS = 3


def made_run(folder: Path, name: str, **changes: Any) -> Path:
    """A run whose identifier is its name."""
    machine = MadeMachine("lab", **{key: changes.pop(key) for key in ("identity", "versions") if key in changes})
    known = {"id": name, "machines": (machine,), "asked": lambda cell: f"asked {cell}"}
    changes = {"rounds": ROUNDS, "with_requests": False, "seed": len(name), **known, **changes}
    return make_run(folder / name, Made(**changes))


def merged(folder: Path, *runs: Path) -> Merged:
    return merge(runs, folder / "both", "0.1.0")


def content(folder: Path) -> dict[str, str]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def rows(folder: Path, query: str) -> list[Any]:
    database = sqlite3.connect(folder / run_format.DATABASE)
    try:
        return database.execute(query).fetchall()
    finally:
        database.close()


def test_all_trials_are_there_once_with_their_rounds_numbered_on(tmp_path: Path) -> None:
    one, other = made_run(tmp_path, "one"), made_run(tmp_path, "other", rounds=2)
    made = merged(tmp_path, one, other)
    run, sources = read_run(made.folder), [read_run(one), read_run(other)]
    assert made.rounds == ROUNDS + 2
    assert len(run.trials) == made.trials == sum(len(each.trials) for each in sources)
    values = Counter((trial.cell.id, trial.round, trial.value) for trial in run.trials)
    expected = Counter(
        (trial.cell.id, trial.round + base, trial.value)
        for each, base in zip(sources, (0, ROUNDS), strict=True)
        for trial in each.trials
    )
    assert values == expected
    assert {trial.origin.partition("/")[0] for trial in run.trials} == {"one", "other"}
    assert run.state == "finished"


def test_artifacts_come_along_and_the_sources_stay_as_they_were(tmp_path: Path) -> None:
    one, other = made_run(tmp_path, "one"), made_run(tmp_path, "other")
    before = content(one), content(other)
    made = merged(tmp_path, one, other)
    assert (content(one), content(other)) == before
    for trial, name, size, digest in rows(made.folder, "SELECT trial, name, bytes, sha256 FROM artifacts"):
        data = (made.folder / run_format.ARTIFACTS / f"{trial:06d}" / name).read_bytes()
        assert (len(data), hashlib.sha256(data).hexdigest()) == (size, digest)


def test_beds_and_machines_are_told_apart_by_what_they_are(tmp_path: Path) -> None:
    one = made_run(tmp_path, "one", beds=3)
    same = made_run(tmp_path, "same")
    other = made_run(tmp_path, "other", identity="4567")
    made = merged(tmp_path, one, same, other)
    assert (made.beds, made.machines) == (5, 2)
    run = read_run(made.folder)
    names = dict(rows(made.folder, "SELECT machine, name FROM machines"))
    of_run = {trial.origin.partition("/")[0]: names[trial.machine] for trial in run.trials}
    assert of_run == {"one": "lab", "same": "lab", "other": "lab (2)"}
    assert len({(test.bed, test.link.label) for test in run.self_tests}) == 2 * 3  # those of each run's first bed


def test_a_trial_that_is_in_two_of_them_comes_in_once(tmp_path: Path) -> None:
    one, other, third = (made_run(tmp_path, name) for name in ("one", "other", "third"))
    first = merge([one, other], tmp_path / "first", "0.1.0")
    made = merge([first.folder, other, third], tmp_path / "second", "0.1.0")
    run = read_run(made.folder)
    assert made.twice == len(read_run(other).trials)
    assert rows(made.folder, "SELECT count(DISTINCT origin) FROM trials") == [(len(run.trials),)]
    assert {trial.origin.partition("/")[0] for trial in run.trials} == {"one", "other", "third"}
    assert made.rounds == 3 * ROUNDS


def test_a_round_that_was_merged_in_part_goes_on_in_its_place(tmp_path: Path) -> None:
    """Pairs stay pairs, also where a run went on after it was merged."""
    whole = made_run(tmp_path, "whole", fails=lambda _trial, _attempt: False)
    begun = tmp_path / "begun"
    shutil.copytree(whole, begun)
    last = rows(whole, "SELECT max(trial) FROM trials")[0][0]
    with changing(begun) as database:
        for table in ("measures", "series", "failures", "flags", "requests", "artifacts", "trials"):
            database.execute(f"DELETE FROM {table} WHERE trial > ?", (last - 2,))  # noqa: S608
    other = made_run(tmp_path, "other", fails=lambda _trial, _attempt: False)
    first = merge([begun, other], tmp_path / "first", "0.1.0")
    made = merge([first.folder, whole], tmp_path / "second", "0.1.0")
    run = read_run(made.folder)
    cells = len(run.cells)
    assert Counter(trial.round for trial in run.trials) == dict.fromkeys(range(1, 2 * ROUNDS + 1), cells)
    for number in range(1, made.rounds + 1):
        assert len({trial.origin.partition("/")[0] for trial in run.trials if trial.round == number}) == 1


def test_other_versions_are_told_cell_by_cell(tmp_path: Path) -> None:
    one = made_run(tmp_path, "one")
    other = made_run(tmp_path, "other", versions={"chromium": "141", "kernel": "6.1.176"})
    made = merged(tmp_path, one, other)
    (told,) = made.differences
    assert "20ms" in told
    assert "chromium (140.0.7339.80, 141)" in told
    assert len({trial.versions for trial in read_run(made.folder).trials}) == 2
    assert len(read_run(made.folder).versions) == 2


def test_an_unfinished_run_makes_an_unfinished_one(tmp_path: Path) -> None:
    made = merged(tmp_path, made_run(tmp_path, "one"), made_run(tmp_path, "other", state="stopped"))
    assert read_run(made.folder).state == "stopped"


UNEQUAL: Mapping[str, tuple[Mapping[str, Any], str]] = {
    "cells": ({"arms": {"http": {}, "h2": {"protocol": "h2", "tls": "1.3"}}}, "only .*one has"),
    "the order": ({"order": "random"}, "they differ in order"),
    "what is compared": ({"compared": []}, "they differ in compare"),
    "what was asked for": ({"asked": lambda cell: f"other {cell}"}, "were asked for with other"),
    "until": ({"repeat": {"ci": "5%", "min": 3, "max": 9}}, "chose when to stop"),
}


@pytest.mark.parametrize("what", UNEQUAL)
def test_runs_that_are_not_equal_are_refused_with_what_differs(tmp_path: Path, what: str) -> None:
    changes, words = UNEQUAL[what]
    one, other = made_run(tmp_path, "one"), made_run(tmp_path, "other", **changes)
    with pytest.raises(InputError, match=words):
        merged(tmp_path, one, other)
    assert {path.name for path in tmp_path.iterdir()} == {"one", "other"}


def test_a_run_that_is_named_twice_is_refused(tmp_path: Path) -> None:
    one = made_run(tmp_path, "one")
    copied = Path(shutil.copytree(one, tmp_path / "copied"))
    with pytest.raises(InputError, match="are the same run"):
        merged(tmp_path, one, copied)
    with pytest.raises(InputError, match="two runs or more"):
        merged(tmp_path, one)


def test_what_is_there_is_never_written_over(tmp_path: Path) -> None:
    one, other = made_run(tmp_path, "one"), made_run(tmp_path, "other")
    with pytest.raises(InputError, match="is there already"):
        merge([one, other], one, "0.1.0")


def test_runs_of_an_older_format_are_refused_by_name(tmp_path: Path) -> None:
    one, old = made_run(tmp_path, "one"), made_run(tmp_path, "old")
    database = sqlite3.connect(old / run_format.DATABASE)
    with database:
        database.execute("UPDATE meta SET value = '3' WHERE key = 'format'")
    database.close()
    with pytest.raises(StoreError, match="format 3"):
        merged(tmp_path, one, old)


def test_damaged_artifacts_end_a_merge_and_leave_nothing(tmp_path: Path) -> None:
    one, other = made_run(tmp_path, "one"), made_run(tmp_path, "other")
    next((other / run_format.ARTIFACTS).rglob("*.gz")).write_bytes(b"damaged")
    with pytest.raises(StoreError, match="are not those that its record names"):
        merged(tmp_path, one, other)
    assert {path.name for path in tmp_path.iterdir()} == {"one", "other"}


def test_a_full_disk_ends_a_merge_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = made_run(tmp_path, "one"), made_run(tmp_path, "other")

    def full(*_: object) -> None:
        raise DiskFull("the disk is full: cannot store 4 trials", "Free some space and go on with --resume")

    monkeypatch.setattr(Store, "adopt", full)
    with pytest.raises(StoreError, match="merge again"):
        merged(tmp_path, one, other)
    assert {path.name for path in tmp_path.iterdir()} == {"one", "other"}


def test_a_killed_merge_is_no_run_and_the_next_one_begins_anew(tmp_path: Path) -> None:
    runs = [made_run(tmp_path, "one"), made_run(tmp_path, "other")]
    shutil.copytree(runs[0], tmp_path / "both.merging")
    assert [line.folder.name for line in list_runs(tmp_path)] == ["one", "other"]
    merged(tmp_path, *runs)
    assert {path.name for path in tmp_path.iterdir()} == {"one", "other", "both"}


def test_a_merged_run_does_not_go_on(tmp_path: Path) -> None:
    made = merged(tmp_path, made_run(tmp_path, "one"), made_run(tmp_path, "other"))
    with pytest.raises(LanelabError, match="--reuse"):
        resume(made.folder)


def test_where_sources_came_from_is_in_the_provenance_and_no_path_of_this_machine(tmp_path: Path) -> None:
    made = merged(tmp_path, made_run(tmp_path, "one"), made_run(tmp_path, "other"))
    ((text,),) = rows(made.folder, "SELECT provenance FROM sessions")
    provenance = json.loads(text)
    assert [each["run"] for each in provenance["merged"]] == ["one", "other"]
    assert provenance["merged"][0]["sessions"][0]["provenance"]["programs"]["chromium"]
    assert str(tmp_path) not in text


def test_a_few_trials_at_a_time_are_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = made_run(tmp_path, "one"), made_run(tmp_path, "other")
    monkeypatch.setattr(merging, "AT_ONCE", 3)
    seen: list[int] = []
    adopt = Store.adopt

    def counted(self: Store, trials: Any, *rest: Any) -> list[int]:
        seen.append(len(trials))
        return adopt(self, trials, *rest)

    monkeypatch.setattr(Store, "adopt", counted)
    merged(tmp_path, *runs)
    assert max(seen) == 3


def test_keys_of_a_sweep_stay_where_they_are(tmp_path: Path) -> None:
    """Whoever has them may run programs on its machines; users' own scripts come along."""
    one, other = made_run(tmp_path, "one"), made_run(tmp_path, "other")
    (one / "cluster").mkdir()
    (one / "cluster" / "invitation.json").write_text("secret")
    (one / "script.js").write_text("own")
    both = merged(tmp_path, one, other).folder
    assert not (both / "cluster").exists()
    assert (both / "script.js").read_text() == "own"
