"""Trials and self-tests on their way from one run folder into another: from a worker's to its controller's, from a run
that is reused, or from runs that are merged."""

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NotRequired, TypedDict

from lanelab.driver.base.coded import Coded
from lanelab.driver.base.errors import ChangedError
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.run.folder.digests import require_unchanged
from lanelab.driver.run.folder.rows import Listed, artifacts_in
from lanelab.driver.run.folder.trial_records import whole_record


@dataclass(frozen=True, slots=True)
class Artifact(Coded):
    name: str
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class TrialCopy(Coded):
    """A trial without the content of its artifacts."""

    trial: int  # its number where it was made: its artifacts are in a folder of that name
    bed: int  # its number there
    cell: str  # identifier
    round: int
    attempt: int
    wall_s: float
    record: TrialRecord
    artifacts: tuple[Artifact, ...]
    asked: str  # digest of what was asked for: driver/run/trial_keys.py
    versions: str  # digest of the versions that it was made with
    origin: str  # the run that made it, where that is another one


class StoredSelfTest(TypedDict):
    """A self-test as a run's folder has it: lanelab.driver.link.results.SelfTest, and the router's queues."""

    passed: bool
    took_s: float
    failures: Sequence[str]
    results: Sequence[Mapping[str, object]]
    tc: NotRequired[Sequence[object]]


@dataclass(frozen=True, slots=True)
class SelfTestCopy(Coded):
    bed: int
    link: str  # label
    moment: str
    at_utc: str
    passed: bool
    data: StoredSelfTest


_TRIAL = (
    "SELECT trial, bed, id, round, attempt, wall_s, record, asked, versions, origin "
    "FROM trials JOIN cells USING (cell) WHERE trial = ?"
)


def trial_copies(database: sqlite3.Connection, folder: Path, trials: Iterable[int]) -> list[TrialCopy]:
    """Return the trials of a run that knows its machines. Raises ChangedError for a trial that is not what was
    stored."""
    return [_trial_copy(database, folder, trial) for trial in trials]


def _trial_copy(database: sqlite3.Connection, folder: Path, trial: int) -> TrialCopy:
    require_unchanged(database, folder, numbers=(trial, trial))
    number, bed, cell, in_round, attempt, wall_s, text, trial_key, versions, origin = database.execute(
        _TRIAL, (trial,)
    ).fetchone()
    query = "SELECT name, bytes, sha256 FROM artifacts WHERE trial = ? ORDER BY name"
    artifacts = tuple(Artifact(*row) for row in database.execute(query, (trial,)))
    whole = whole_record(database, trial, text)
    where = (number, bed, cell, in_round, attempt, wall_s)
    return TrialCopy(*where, whole, artifacts, trial_key, versions, origin)


def self_test_copies(database: sqlite3.Connection, after: int = 0) -> list[SelfTestCopy]:
    """Return those of a run with a number above `after`."""
    query = (
        "SELECT bed, label, moment, at_utc, passed, data FROM self_tests JOIN links USING (link) "
        "WHERE self_test > ? ORDER BY self_test"
    )
    return [
        SelfTestCopy(bed, label, moment, at_utc, bool(passed), json.loads(data))
        for bed, label, moment, at_utc, passed, data in database.execute(query, (after,))
    ]


def require_artifacts(folder: Path, copy: TrialCopy) -> Listed:
    """Return those in the folder. Raises ChangedError unless they are just the artifacts of this trial."""
    listed = artifacts_in(folder)
    there = {name: digest for name, _, digest in listed}
    if there != {each.name: each.sha256 for each in copy.artifacts}:
        what = f"the artifacts of trial {copy.trial} in {folder} are not those that its record names"
        raise ChangedError(what, "They were changed or damaged on their way; copy the run again from where it was made")
    return listed
