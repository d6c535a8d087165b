"""A study's artifact: what is in it, what is not, and what check makes of it."""

import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from lanelab.driver.cli.main import lanelab
from lanelab.driver.run.study.archive import unpack, write_archive
from lanelab.driver.run.study.private import private_of
from lanelab.driver.run.study.study import STUDY_RUN_FILE
from tests.kit.changed_run import digest_all
from tests.kit.made_run import Made
from tests.kit.made_study import make_packable_run, make_study_run, study

PROVENANCE = {
    "command": ["run", "/home/jdoe-1734/secret/x.yaml"],
    "python": {"program": "/home/jdoe-1734/lab/bin/python"},
}


def made_run(folder: Path) -> Path:
    """With the copies that a real run keeps, and paths of jdoe-1734's."""
    place = make_packable_run(folder, lambda _: Made(rounds=8, provenance=PROVENANCE, id="of a lab"))
    (place / "figure-1" / "authority").mkdir()
    (place / "figure-1" / "authority" / "authority.key").write_text("secret")
    data = json.loads((place / STUDY_RUN_FILE).read_text())
    data["bed"]["inventory"] = "/home/jdoe-1734/machines.yml"
    (place / STUDY_RUN_FILE).write_text(json.dumps(data))
    with closing(sqlite3.connect(place / "figure-1" / "run.sqlite")) as database, database:
        facts = json.dumps({"name": "jdoe-1734-laptop", "identity": "jdoe-1734-id", "kernel": "6.1"})
        database.execute("INSERT OR REPLACE INTO machines VALUES (1, 'jdoe-1734-laptop', ?)", (facts,))
        bed = json.dumps({"uid": "u", "machine": "jdoe-1734-laptop"})
        database.execute("INSERT OR REPLACE INTO beds VALUES (1, 1, 'u', ?)", (bed,))
        digest_all(database)
    return place


def invoke(*words: str | Path) -> Result:
    return CliRunner().invoke(lanelab, ["study", *map(str, words)])


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("artifact")
    done = invoke("artifact", made_run(folder / "run"), "--output", folder / "a.tar.gz")
    assert done.exit_code == 0, done.output + repr(done.exception)
    return folder / "a.tar.gz"


def test_it_has_what_another_lab_needs_and_no_keys_or_captures(packed: Path, tmp_path: Path) -> None:
    unpack(packed, tmp_path / "out")
    names = {str(path.relative_to(tmp_path / "out")) for path in (tmp_path / "out").rglob("*") if path.is_file()}
    assert names >= {
        "ARTIFACT.md", "SHA256SUMS", "artifact.json", "claims.csv", "locks/requirements.lock", "run/study.json",
        "run/report.html", "run/study/made-study/figure-1.yaml", "run/figure-1/run.sqlite",
        "run/figure-1/trials.sha256", "sites/dummy/site.yaml",
    }  # fmt: skip
    assert not [name for name in names if "authority" in name or "/trials/" in name or "in-use" in name]


def test_the_same_run_gives_the_same_bytes(packed: Path, tmp_path: Path) -> None:
    run = packed.parent / "run"
    invoke("artifact", run, "--output", tmp_path / packed.name)
    assert (tmp_path / packed.name).read_bytes() == packed.read_bytes()


def test_captures_come_along_when_they_are_asked_for(packed: Path, tmp_path: Path) -> None:
    invoke("artifact", packed.parent / "run", "--output", tmp_path / "a.tar.gz", "--captures")
    unpack(tmp_path / "a.tar.gz", tmp_path / "out")
    assert (tmp_path / "out/run/figure-1/trials/000001/page.har.gz").is_file()


def test_folders_of_the_user_stay_out_of_every_file(packed: Path, tmp_path: Path) -> None:
    unpack(packed, tmp_path / "out")
    for path in (tmp_path / "out").rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            assert b"jdoe-1734" not in content, path
            assert str(packed.parent).encode() not in content, path
    with closing(sqlite3.connect(tmp_path / "out/run/figure-1/run.sqlite")) as database:
        (text,) = database.execute("SELECT provenance FROM sessions").fetchone()
        machines = database.execute("SELECT name, facts FROM machines").fetchall()
    assert json.loads(text)["command"] == ["run", "PATH/x.yaml"]
    assert [(name, json.loads(facts)["kernel"]) for name, facts in machines] == [("machine 1", "6.1")]


def test_names_of_machines_and_addresses_are_taken_out_of_provenance() -> None:
    facts = {"inventory": "/x/y.yml", "bed": {"client": {"address": "192.0.2.1", "kernel": "6.1"}}, "what": "lab7 did"}
    private = private_of([facts], (), ("lab7",))
    assert private.hide_facts(facts) == {
        "inventory": "(removed)",
        "bed": {"client": {"address": "(removed)", "kernel": "6.1"}},
        "what": "(removed) did",
    }
    assert private.hide("lab7x and /x/y.yml and /x/yz") == "lab7x and PATH/y.yml and PATH/yz"


def test_a_site_that_was_changed_since_is_refused(tmp_path: Path) -> None:
    place = made_run(tmp_path / "run")
    with closing(sqlite3.connect(place / "figure-1" / "run.sqlite")) as database, database:
        database.execute("UPDATE meta SET value = ? WHERE key = 'sites'", (json.dumps({"dummy": "0" * 64}),))
        digest_all(database)
    done = invoke("artifact", place, "--output", tmp_path / "a.tar.gz")
    assert "the site dummy is not what figure 1 has loaded" in str(done.exception)
    assert not (tmp_path / "a.tar.gz").exists()


def test_a_check_compares_with_a_run_that_is_there_and_says_so_by_its_status(packed: Path, tmp_path: Path) -> None:
    run = packed.parent / "run"
    same = invoke("check", packed, "--no-run", run, "--out", tmp_path / "same")
    assert same.exit_code == 0, same.output + repr(same.exception)
    assert "2 agree" in (tmp_path / "same" / "check.md").read_text()
    few = make_study_run(
        tmp_path / "few", about=replace(study(1), variants={"": ""}), made=lambda _: Made(rounds=1, id="of another")
    )
    assert invoke("check", packed, "--no-run", few, "--out", tmp_path / "same").exit_code == 3


def test_a_folder_of_another_check_and_a_changed_archive_are_refused(packed: Path, tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "thesis.txt").write_text("mine")
    taken = invoke("check", packed, "--no-run", packed.parent / "run", "--out", tmp_path / "taken")
    assert "is not empty, and no check" in str(taken.exception)
    assert [path.name for path in (tmp_path / "taken").iterdir()] == ["thesis.txt"]
    write_archive(tmp_path / "b.tar.gz", {"artifact.json": b"[]"})
    wrong = invoke("check", tmp_path / "b.tar.gz", "--out", tmp_path / "out")
    assert "has format None" in str(wrong.exception)


def test_a_program_of_the_archive_is_not_run_without_being_asked(packed: Path, tmp_path: Path) -> None:
    """A site that is not here would be made by it."""
    unpack(packed, tmp_path / "in")
    files: dict[str, bytes | Path] = {
        str(path.relative_to(tmp_path / "in")): path
        for path in (tmp_path / "in").rglob("*")
        if path.is_file() and path.name != "SHA256SUMS"
    }
    about = json.loads((tmp_path / "in/artifact.json").read_text())
    files["artifact.json"] = json.dumps({**about, "sites": {"dummy": "1" * 64}}).encode()
    files["sites/dummy/generate.py"] = f"open({str(tmp_path / 'ran')!r}, 'w')".encode()
    write_archive(tmp_path / "b.tar.gz", files)
    done = invoke("check", tmp_path / "b.tar.gz", "--out", tmp_path / "out")
    assert "made by a program of the archive" in str(done.exception)
    assert not (tmp_path / "ran").exists()
