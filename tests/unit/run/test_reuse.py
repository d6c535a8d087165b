"""Trials of other runs become trials of this one, with all that belongs to them; nothing is written where they were."""

import hashlib
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from lanelab.driver.base.clock import utc_now
from lanelab.driver.base.errors import InputError
from lanelab.driver.experiment.model import Experiment
from lanelab.driver.link.results import SelfTest
from lanelab.driver.record.reasons import Reason
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.run.events import Event, NotReused, Reused
from lanelab.driver.run.folder import format as run_format
from lanelab.driver.run.folder.store import Store, Stored
from lanelab.driver.run.machines import BedFacts
from lanelab.driver.run.reuse import reuse
from lanelab.driver.run.served_sites import ServedSites
from lanelab.driver.run.start import BegunRun
from lanelab.driver.run.this_machine import this_machine
from lanelab.driver.run.trial_keys import AskedKeys, digest_of
from lanelab.driver.site.load import load_site
from tests.kit.changed_run import digest_all
from tests.kit.experiments import SMALL, read

EXPERIMENT = read(f"{SMALL}trials: 2\n")
META = {"format": run_format.VERSION, "workload": "page_load", "seed": "7", "plan": '{"repeat": {"trials": 2}}'}
OURS = {"client chromium": "156", "measuring code": "abc"}
FILE = "page.har.gz"


@pytest.fixture
def sites() -> ServedSites:
    return ServedSites.of(EXPERIMENT, {"dummy": load_site("dummy")})


def begin(folder: Path, experiment: Experiment, sites: ServedSites) -> BegunRun:
    store = Store.create(folder, "", {**META, run_format.ID: folder.name}, experiment.cells)
    store.begin_session({}, this_machine("lab"))
    return BegunRun(experiment, sites, store)


def made_run(folder: Path, sites: ServedSites, versions: Mapping[str, str] = OURS) -> Path:
    """A finished run of EXPERIMENT: every trial counts, and has an artifact."""
    begun = begin(folder, EXPERIMENT, sites)
    store, keys = begun.store, AskedKeys(EXPERIMENT, sites)
    store.add_machine(this_machine("lab"))
    bed = store.add_bed(BedFacts(f"bed of {folder.name}", "lab", "0", utc_now(), "uml", "6.1", 1.0))
    store.add_versions(digest_of(versions), versions)
    for case in EXPERIMENT.links:
        store.add_self_test(case.label, SelfTest((), 0.1), (), bed=bed)
    for number in (1, 2):
        for cell in EXPERIMENT.cells:
            trial, scratch = store.begin_trial()
            (scratch / FILE).write_text(f"{folder.name} {trial}")
            empty = TrialRecord.not_started("page_load", utc_now(), Reason.STOPPED, "")
            record = replace(empty, failures=(), measures={"plt_ms": 1000.0 + trial})
            store.add_trial(Stored(trial, cell, bed, number, 1, 1.0, record, keys.of(cell), digest_of(versions)))
    store.close()
    return folder


@pytest.fixture
def begun(tmp_path: Path, sites: ServedSites) -> Iterator[BegunRun]:
    """A run that begins, among the others."""
    made = begin(tmp_path / "store" / "new", EXPERIMENT, sites)
    yield made
    made.store.close()


def reused(begun: BegunRun, store: Path, events: list[Event] | None = None) -> Reused:
    told = [] if events is None else events
    return reuse(begun, store, {digest_of(OURS): OURS}, told.append)


def content(folder: Path) -> dict[str, str]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def damage(run: Path, trial: int) -> None:
    (run / run_format.ARTIFACTS / f"{trial:06d}" / FILE).write_text("damaged")


def test_all_that_there_is_comes_along_and_the_source_stays(
    begun: BegunRun, tmp_path: Path, sites: ServedSites
) -> None:
    source = made_run(tmp_path / "store" / "old", sites)
    before = content(source)
    made = reused(begun, tmp_path / "store")
    assert (made.trials, made.wanted, made.runs) == (8, 8, 1)
    assert content(source) == before
    copies = begun.store.copies(range(1, 9))
    assert {copy.origin for copy in copies} == {f"old/{trial}" for trial in range(1, 9)}
    for copy in copies:
        path = begun.store.folder / run_format.ARTIFACTS / f"{copy.trial:06d}" / FILE
        assert path.read_text() == copy.origin.replace("/", " ")
    assert {test.link for test in begun.store.self_test_copies()} == {case.label for case in EXPERIMENT.links}
    assert all(attempt.ok for attempts in begun.store.history().values() for attempt in attempts)


def test_what_was_reused_is_not_reused_again(begun: BegunRun, tmp_path: Path, sites: ServedSites) -> None:
    """A run that was killed and goes on with --reuse."""
    made_run(tmp_path / "store" / "old", sites)
    reused(begun, tmp_path / "store")
    assert reused(begun, tmp_path / "store").sentence == "reused 0 of 0 trials from 0 runs"
    assert len(begun.store.history()) == 8
    assert len(begun.store.self_test_copies()) == len(EXPERIMENT.links)


def test_a_damaged_artifact_costs_its_pair_and_is_told(begun: BegunRun, tmp_path: Path, sites: ServedSites) -> None:
    damage(made_run(tmp_path / "store" / "old", sites), 3)
    events: list[Event] = []
    made = reused(begun, tmp_path / "store", events)
    assert made.sentence == "reused 6 of 8 trials from 1 run; 2 not: 2 are damaged"
    told = [event.what for event in events if isinstance(event, NotReused)]
    assert len(told) == 1
    assert "trial 3" in told[0]


def test_other_versions_are_never_mixed_in(begun: BegunRun, tmp_path: Path, sites: ServedSites) -> None:
    made_run(tmp_path / "store" / "old", sites, {**OURS, "client chromium": "155"})
    made = reused(begun, tmp_path / "store")
    assert made.sentence == (
        "reused 0 of 8 trials from 0 runs; 8 not: 8 were made with another client chromium (155 -> 156)"
    )
    assert begun.store.history() == {}


def test_a_run_of_an_older_format_is_told_and_left(begun: BegunRun, tmp_path: Path, sites: ServedSites) -> None:
    old = made_run(tmp_path / "store" / "old", sites)
    database = sqlite3.connect(old / run_format.DATABASE)
    with database:
        database.execute("UPDATE meta SET value = '3' WHERE key = 'format'")
    database.close()
    events: list[Event] = []
    assert reused(begun, tmp_path / "store", events).trials == 0
    told = next(event.what for event in events if isinstance(event, NotReused))
    assert "format 3" in told


def test_a_folder_that_is_not_there_is_refused(begun: BegunRun, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no folder"):
        reused(begun, tmp_path / "nowhere")


def test_own_trials_do_not_come_back_from_a_run_that_has_copies_of_them(tmp_path: Path, sites: ServedSites) -> None:
    """A run that was stopped after two rounds, of which another run took both, and that goes on with --reuse."""
    own = made_run(tmp_path / "store" / "own", sites)
    taker = begin(tmp_path / "store" / "taker", EXPERIMENT, sites)
    assert reused(taker, own).trials == 8
    taker.store.close()
    longer = read(f"{SMALL}trials: 4\n")
    begun = BegunRun(longer, sites, Store.open(own))
    begun.store.begin_session({}, this_machine("lab"))
    try:
        assert reused(begun, tmp_path / "store").trials == 0
    finally:
        begun.store.close()


def test_rounds_of_one_cell_after_the_other_are_no_pairs_of_an_interleaved_run(
    begun: BegunRun, tmp_path: Path, sites: ServedSites
) -> None:
    old = made_run(tmp_path / "store" / "old", sites)
    database = sqlite3.connect(old / run_format.DATABASE)
    with database:
        plan = '{"repeat": {"trials": 2}, "order": "sequential"}'
        database.execute("UPDATE meta SET value = ? WHERE key = 'plan'", (plan,))
        digest_all(database)
    database.close()
    events: list[Event] = []
    assert reused(begun, tmp_path / "store", events).trials == 0
    assert "order: sequential" in next(event.what for event in events if isinstance(event, NotReused))
