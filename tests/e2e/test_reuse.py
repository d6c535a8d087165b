"""What was measured is not measured again: reuse of runs, and one run made of several."""

import hashlib
from pathlib import Path

import pytest

from lanelab.analysis.results.run_folder import read_run
from lanelab.driver.run.folder import format as run_format
from tests.kit.handles import LanelabCommand

from .runs import ACCEPT_LINKS, Played, share_programs

EXPERIMENT = """\
sites: [dummy]
links: {rtt: 10ms}
arms: {http: {}, closing: {keepalive: false}}
defaults: {start: fresh-context}
trials: 2
retries: 9
capture: off
"""
ONE_MORE_LINK = EXPERIMENT.replace("rtt: 10ms", "rtt: [10ms, 30ms]")
Runs = dict[str, Played]


def run_id(played: Played) -> str:
    ((name,),) = played.rows("SELECT value FROM meta WHERE key = 'id'")
    return str(name)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    """A run, the same with --reuse, one with a link more that may reuse both, and the first and the last as one."""
    folder = tmp_path_factory.mktemp("reuse")
    lanelab, store = LanelabCommand(folder / "build"), folder / "store"
    share_programs(lanelab)
    made = {}
    for name, text in (("first", EXPERIMENT), ("again", EXPERIMENT), ("more", ONE_MORE_LINK)):
        file = folder / f"{name}.yaml"
        file.write_text(text)
        reuse = () if name == "first" else ("--reuse", str(store))
        done = lanelab.run("run", str(file), "--out", str(store / name), ACCEPT_LINKS, *reuse)
        made[name] = Played(store / name, done)
    words = (str(store / "first"), str(store / "again"), "--out", str(store / "both"))
    made["both"] = Played(store / "both", lanelab.run("merge", *words))
    return made


def test_a_run_that_was_made_before_measures_nothing(runs: Runs) -> None:
    first, again = runs["first"], runs["again"]
    assert first.done.returncode == again.done.returncode == 0, first.done.stderr + again.done.stderr
    assert "reused 4 of 4 trials from 1 run" in again.done.stderr
    origins = {origin for (origin,) in again.rows("SELECT origin FROM trials")}
    assert {origin.partition("/")[0] for origin in origins} == {run_id(first)}
    query = "SELECT id, value FROM trials JOIN cells USING (cell) JOIN measures USING (trial) WHERE name = 'plt_ms'"
    assert sorted(again.rows(query)) == sorted(first.rows(query))


def test_beds_versions_and_self_tests_come_along(runs: Runs) -> None:
    for query in (
        "SELECT uid FROM beds",
        "SELECT name FROM machines",
        "SELECT versions, data FROM versions",
        "SELECT label, moment, at_utc, data FROM self_tests JOIN links USING (link)",
        "SELECT DISTINCT id, asked, versions FROM trials JOIN cells USING (cell)",
    ):
        found = sorted(runs["again"].rows(query))
        assert found
        assert found == sorted(runs["first"].rows(query))


def test_of_a_run_with_one_more_link_only_that_is_measured(runs: Runs) -> None:
    more = runs["more"]
    assert more.done.returncode == 0, more.done.stderr
    assert "reused 4 of 8 trials from 1 run; 4 not: 4 were never made" in more.done.stderr
    labels = more.rows("SELECT DISTINCT label, origin = '' FROM trials JOIN cells USING (cell) JOIN links USING (link)")
    assert sorted(labels) == [("10ms", 0), ("30ms", 1)]
    ((tests,),) = runs["first"].rows("SELECT count(*) FROM self_tests")  # of a link that was called otherwise there
    query = "SELECT count(*) FROM self_tests JOIN links USING (link) JOIN beds USING (bed) WHERE label = '10ms'"
    assert more.rows(query) == [(tests,)]
    assert len(read_run(more.folder).ok) == 8


def test_the_same_trials_in_two_runs_are_in_the_merged_run_once(runs: Runs) -> None:
    both = runs["both"]
    assert both.done.returncode == 0, both.done.stderr
    assert "came in once" in both.done.stderr
    assert len(read_run(both.folder).ok) == 4
    assert (both.folder / run_format.REPORT).stat().st_size > 10_000


def test_artifacts_are_what_their_records_say(runs: Runs) -> None:
    for played in (runs["again"], runs["more"], runs["both"]):
        for trial, name, digest in played.rows("SELECT trial, name, sha256 FROM artifacts"):
            path: Path = played.folder / run_format.ARTIFACTS / f"{trial:06d}" / name
            assert hashlib.sha256(path.read_bytes()).hexdigest() == digest
