"""What was stored is found changed by whoever reads it, and by lanelab verify."""

import gzip
import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from lanelab.analysis.results.conditions import caveats
from lanelab.analysis.results.run_folder import read_run
from lanelab.analysis.results.verification import verify
from lanelab.driver.base.errors import ChangedError, StoreError
from lanelab.driver.cli.main import lanelab
from lanelab.driver.run.folder import format as run_format
from lanelab.driver.run.folder.digests import (
    BEDS,
    MEASURES,
    OF_RESULTS,
    PLAN,
    SELF_TESTS,
    SESSIONS,
    TRIALS,
    VERSIONS,
    Difference,
    differences,
    note_digests,
)
from lanelab.driver.run.folder.sources import SourceRun
from lanelab.driver.run.folder.store import Store
from lanelab.driver.run.folder.trial_content import each_series, unchanged_artifacts
from lanelab.driver.run.folder.trial_records import each_record, each_request, read_record
from tests.kit.changed_run import changing
from tests.kit.made_run import Made, make_run

HAR = "page.har.gz"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_run(tmp_path_factory.mktemp("whole") / "run", Made(rounds=3, id="0123456789abcdef"))


@pytest.fixture
def folder(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(whole, tmp_path / "run"))


def edit(folder: Path, *statements: str) -> None:
    with closing(sqlite3.connect(folder / run_format.DATABASE)) as database, database:
        for statement in statements:
            database.execute(statement)


def test_what_nobody_changed_is_as_it_was_stored(folder: Path) -> None:
    made = verify(folder)
    assert made.wrong == []
    assert made.trials == len(read_run(folder).trials)
    assert made.files == made.trials
    assert made.experiment
    assert not any("verified" in sentence for sentence in caveats(read_run(folder)))


PLANS = {
    "plan": """UPDATE meta SET value = json_set(value, '$.compared', json('[]')) WHERE key = 'plan'""",
    "looks": """UPDATE meta SET value = json_set(value, '$.looks', json('[[1, 0.5]]')) WHERE key = 'plan'""",
    "scale": "INSERT OR REPLACE INTO meta VALUES ('scale', '1.5')",
    "figures": "UPDATE meta SET value = '[]  ' WHERE key = 'figures'",
}


@pytest.mark.parametrize("statement", PLANS.values(), ids=PLANS)
def test_what_verdicts_are_judged_by_is_refused_where_it_was_changed(folder: Path, statement: str) -> None:
    edit(folder, statement)
    assert verify(folder).wrong == ["run: its plan, figures or claims were changed"]
    for read in (read_run, SourceRun.open):
        with pytest.raises(ChangedError, match="its plan, figures or claims were changed"):
            read(folder)


RESULTS = {
    "measures were changed": "UPDATE measures SET value = value * 0.8 WHERE name = 'plt_ms' AND trial = 4",
    "failures were changed": "DELETE FROM failures WHERE trial = 7",
    "flags were changed": "INSERT INTO flags VALUES (4, 'router-waited', 'for long')",
    "cell, round or status": "UPDATE trials SET round = 9 WHERE trial = 4",
}


@pytest.mark.parametrize(("part", "statement"), RESULTS.items())
def test_a_changed_result_is_refused_and_names_the_trial(folder: Path, part: str, statement: str) -> None:
    edit(folder, statement)
    with pytest.raises(ChangedError, match=f"trial [47]: its .*{part.split(maxsplit=1)[0]}") as caught:
        read_run(folder)
    assert "lanelab verify" in caught.value.remedy
    for command in ("show", "report", "export --format csv"):
        ended = CliRunner().invoke(lanelab, [*command.split(), str(folder)])
        assert isinstance(ended.exception, ChangedError), command


def test_labels_of_arms_cannot_be_swapped(folder: Path) -> None:
    swap = "UPDATE arms SET name = CASE name WHEN 'h2' THEN 'http' ELSE 'h2' END || ' ' WHERE name IN ('h2', 'http')"
    edit(folder, swap)
    with pytest.raises(ChangedError):
        read_run(folder)


def test_a_trial_that_was_taken_out_is_missed(folder: Path) -> None:
    tables = ("measures", "series", "failures", "flags", "requests", "artifacts", "trials")
    edit(folder, *(f"DELETE FROM {table} WHERE trial = 9" for table in tables))  # noqa: S608
    assert verify(folder).wrong[:2] == ["run: its list of trials was changed", "trial 9 is gone"]
    with pytest.raises(ChangedError, match="its list of trials was changed"):
        read_run(folder)


def test_a_self_test_that_was_made_to_pass_is_refused(folder: Path) -> None:
    edit(folder, "UPDATE self_tests SET data = json_set(data, '$.results[0].achieved', 1) WHERE self_test = 2")
    with pytest.raises(ChangedError, match="self-test 2"):
        read_run(folder)


READERS: dict[str, tuple[str, Callable[[Path], object]]] = {
    "record": (
        "UPDATE trials SET record = json_set(record, '$.marks.prepare_s', 9) WHERE trial = 3",
        lambda folder: list(each_record(folder)),
    ),
    "requests": (
        "UPDATE requests SET data = json_set(data, '$.status', 500) WHERE trial = 3 AND number = 2",
        lambda folder: list(each_request(folder)),
    ),
    "series": ("UPDATE series SET value = 2 WHERE trial = 3", lambda folder: list(each_series(folder))),
}


@pytest.mark.parametrize("part", READERS)
def test_what_is_large_is_compared_when_it_is_read(folder: Path, part: str) -> None:
    statement, read = READERS[part]
    edit(folder, statement)
    read_run(folder)  # does not read it
    with pytest.raises(ChangedError, match=f"trial 3: its {part}"):
        read(folder)
    with pytest.raises(ChangedError, match=f"trial 3: its {part}"):
        read_record(folder, 3)
    assert read_record(folder, 2)


def test_trials_are_not_taken_from_a_run_that_was_changed(folder: Path) -> None:
    edit(folder, RESULTS["measures were changed"])
    with SourceRun.open(folder) as source:
        assert len(source.copies([3])) == 1
        with pytest.raises(ChangedError, match="trial 4: its measures were changed"):
            source.copies([3, 4])


def test_a_changed_file_is_found_when_it_is_read(folder: Path) -> None:
    path = folder / run_format.ARTIFACTS / "000002" / HAR
    path.write_bytes(gzip.compress(b"{}"))
    with pytest.raises(ChangedError, match=r"trial 2: its file page\.har\.gz was changed"):
        unchanged_artifacts(folder, 2)
    ended = CliRunner().invoke(lanelab, ["export", str(folder), "--format", "har", "--output", str(folder / "out")])
    assert isinstance(ended.exception, ChangedError)


def test_verify_lists_all_that_differs(folder: Path) -> None:
    edit(folder, RESULTS["measures were changed"], RESULTS["flags were changed"])
    trials = folder / run_format.ARTIFACTS
    (trials / "000001" / HAR).unlink()
    (trials / "000002" / HAR).write_bytes(b"text")
    (trials / "000003" / "other.txt").write_text("")
    (folder / run_format.EXPERIMENT).write_text("name: other\n")
    assert verify(folder).wrong == [
        "trial 4: its measures were changed",
        "trial 4: its flags were changed",
        "trial 4: it took 918.6 ms, and the link allows 987.5 ms or more",
        "trial 4: plt_ms is 918.556, and its evidence says 1148.2",
        "trial 1: its file page.har.gz is gone",
        "trial 2: its file page.har.gz was changed",
        "trial 3: other.txt in its folder is none of its files",
        "experiment.yaml was changed",
    ]


def test_a_load_that_took_less_than_the_link_allows_is_found_whatever_its_digest_says(folder: Path) -> None:
    with changing(folder) as database:
        database.execute("UPDATE measures SET value = 10 WHERE name = 'plt_ms' AND trial = 4")
    short, other = verify(folder).wrong
    assert short == "trial 4: it took 10.0 ms, and the link allows 987.5 ms or more"
    assert other == "trial 4: plt_ms is 10, and its evidence says 1148.2"


@pytest.mark.parametrize(("kind", "number"), [("trial", 3), ("self-test", 1)])
def test_what_has_lost_its_digest_is_refused(folder: Path, kind: str, number: int) -> None:
    edit(folder, f"DELETE FROM digests WHERE kind = '{kind}' AND number = {number}")  # noqa: S608 - from above
    assert verify(folder).wrong == [f"{kind} {number}: its digest is gone"]
    with pytest.raises(ChangedError, match=f"{kind} {number}: its digest is gone"):
        read_run(folder)


@pytest.mark.parametrize(
    ("part", "statement"),
    [
        ("sessions", "UPDATE sessions SET provenance = '{}'"),
        ("versions", "INSERT INTO versions VALUES ('other', '{}')"),
    ],
)
def test_what_trials_were_made_with_is_refused_where_it_was_changed(folder: Path, part: str, statement: str) -> None:
    edit(folder, statement)
    assert verify(folder).wrong == [f"run: its {part} were changed"]
    with pytest.raises(ChangedError, match=f"its {part} were changed"):
        read_run(folder)


def test_a_trial_that_was_taken_out_with_all_that_belongs_to_it_is_missed(folder: Path) -> None:
    tables = ("measures", "series", "failures", "flags", "requests", "artifacts")
    edit(folder, *(f"DELETE FROM {table} WHERE trial = 3" for table in tables))  # noqa: S608 - from above
    edit(folder, "DELETE FROM digests WHERE kind = 'trial' AND number = 3", "DELETE FROM trials WHERE trial = 3")
    assert verify(folder).wrong == ["run: its list of trials was changed"]
    with pytest.raises(ChangedError, match="its list of trials was changed"):
        read_run(folder)


@pytest.mark.parametrize("version", ["3", "5", "7"])
def test_a_run_of_another_format_is_read_by_nobody(folder: Path, version: str) -> None:
    edit(folder, f"UPDATE meta SET value = '{version}' WHERE key = 'format'")  # noqa: S608 - from above
    for open_it in (read_run, SourceRun.open, Store.open, verify):
        with pytest.raises(StoreError, match=f"has format {version}, and this lanelab reads format 6"):
            open_it(folder)


def test_the_command_says_what_was_compared(folder: Path) -> None:
    ended = CliRunner().invoke(lanelab, ["verify", str(folder)])
    assert (ended.exit_code, "nothing differs" in ended.output) == (0, True)
    assert "the run, 25 trials and 2 self-tests: compared with their digests" in ended.output
    assert "25 files" in ended.output
    edit(folder, RESULTS["measures were changed"])
    ended = CliRunner().invoke(lanelab, ["verify", str(folder), "--json"])
    assert ended.exit_code == 1
    (told,) = json.loads(ended.output)
    assert told["wrong"][0] == "trial 4: its measures were changed"


def test_the_parts_of_a_run_keep_the_names_that_are_stored_with_them() -> None:
    """Their digests are stored by these names: another one would refuse every run that there is."""
    names = {PLAN, BEDS, SESSIONS, VERSIONS, TRIALS, SELF_TESTS}
    lists = {"list of trials", "list of self-tests"}
    assert names == {"plan, figures or claims", "beds", "sessions", "versions", *lists}


# --- measures of very many trials


def names_read(folder: Path) -> tuple[int, dict[int, dict[str, float]]]:
    """For how many trials names of measures were read, and what was read."""
    measures: dict[int, dict[str, float]] = {}
    with closing(sqlite3.connect(folder / run_format.DATABASE)) as database:
        statements: list[str] = []
        database.set_trace_callback(statements.append)
        takers = {MEASURES: lambda trial, rows: measures.update({trial: dict(rows)})}
        assert differences(database, parts=OF_RESULTS, takers=takers) == []
    return sum(each.startswith("SELECT name FROM measures") for each in statements), measures


def stored_measures(folder: Path) -> dict[int, dict[str, float]]:
    measures: dict[int, dict[str, float]] = {}
    with closing(sqlite3.connect(folder / run_format.DATABASE)) as database:
        for trial, name, value in database.execute("SELECT trial, name, value FROM measures"):
            measures.setdefault(trial, {})[name] = value
    return measures


def test_names_of_measures_are_read_once_for_all_trials_that_have_the_same(folder: Path) -> None:
    stored = stored_measures(folder)
    sets = {tuple(sorted(each)) for each in stored.values()}
    assert len(sets) < len(stored) / 2
    assert names_read(folder) == (len(sets), stored)


def test_other_names_and_values_without_an_end_are_read_as_they_are(folder: Path) -> None:
    first, *others = stored_measures(folder)
    with changing(folder) as database:
        name, last = list(stored_measures(folder)[first])[:2]
        database.execute(
            "UPDATE measures SET name = 'a 100%s \"name\"' WHERE trial = ? AND name = ?", (others[0], name)
        )
        database.execute("UPDATE measures SET value = 9e999 WHERE trial = ? AND name = ?", (first, last))
        for trial in (first, others[0]):
            note_digests(database, "trial", trial, [MEASURES])
    stored = stored_measures(folder)
    assert stored[first][last] == float("inf")
    assert names_read(folder)[1] == stored


def test_who_reads_has_the_names_that_were_stored_and_who_compares_finds_another(folder: Path) -> None:
    stored = stored_measures(folder)
    trial = max(stored)
    edit(folder, f"UPDATE measures SET name = name || 'x' WHERE trial = {trial} AND name = '{max(stored[trial])}'")  # noqa: S608
    read = {each.number: each.measures for each in read_run(folder).trials}
    assert read[trial] == stored[trial]
    assert [str(each) for each in differences_of(folder)] == [f"trial {trial}: its measures were changed"]


def differences_of(folder: Path) -> list[Difference]:
    with closing(sqlite3.connect(folder / run_format.DATABASE)) as database:
        return differences(database)


def test_values_that_were_swapped_are_found(folder: Path) -> None:
    trial, measures = list(stored_measures(folder).items())[-1]
    one, other = next((one, other) for one in measures for other in measures if measures[one] != measures[other])
    for name, value in ((one, measures[other]), (other, measures[one])):
        edit(folder, f"UPDATE measures SET value = {value} WHERE trial = {trial} AND name = '{name}'")  # noqa: S608
    with pytest.raises(ChangedError, match=f"trial {trial}: its measures were changed"):
        read_run(folder)
