"""Whether a run folder holds what was stored there.

Compares parts of trials with their digests, measures with the evidence that they come from, files with their SHA-256,
the experiment and its claims with those that the run began with.
"""

import hashlib
import html
import json
import math
import re
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypedDict

from lanelab.driver.base.amounts import counted
from lanelab.driver.base.errors import ChangedError, RecordError
from lanelab.driver.experiment.claim import Claim, digest_of
from lanelab.driver.record.metrics import PRIMARY, measured
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.run.folder import format as run_format
from lanelab.driver.run.folder.database import opened_database
from lanelab.driver.run.folder.digests import differences, file_digest
from lanelab.driver.run.folder.trial_content import artifact_path
from lanelab.driver.run.folder.trial_records import whole_record
from lanelab.driver.trial.fetch.requests import measures_of

TABLE = re.compile(r"CREATE TABLE (\w+)")
BOUND = "bound_ms"
SITES_UNKNOWN = "whether sites are still what the run loaded cannot be said"
NEARLY = 1e-9  # of a number, in which two that were worked out from the same evidence may differ


class VerificationJson(TypedDict):
    """The files and parts that were compared, and sentences on what is wrong."""

    folder: str
    trials: int
    self_tests: int
    files: int
    bytes: int
    experiment: bool
    sites: list[str]  # sentences
    wrong: list[str]  # sentences


@dataclass(repr=False)
class Verification:
    """Says what was compared in a run folder, and what is wrong."""

    folder: Path
    trials: int = 0
    self_tests: int = 0
    files: int = 0
    bytes: int = 0
    experiment: bool = False  # whether the run says which experiment it began with
    wrong: list[str] = field(default_factory=list)
    sites: list[str] = field(default_factory=list)  # what became of them, where it was asked

    def require(self, remedy: str) -> None:
        """Raises ChangedError where something is wrong."""
        if self.wrong:
            more = f", and {counted(len(self.wrong) - 1, 'other difference')}" if len(self.wrong) > 1 else ""
            what = f"the run in {self.folder} is not what was stored: {self.wrong[0]}{more}"
            raise ChangedError(what, remedy)

    def sentences(self) -> list[str]:
        """Return what was compared."""
        texts = []
        if self.trials or self.self_tests:
            trials, tests = counted(self.trials, "trial"), counted(self.self_tests, "self-test")
            texts.append(f"the run, {trials} and {tests}: compared with their digests")
        if self.trials:
            texts.append(f"measures of {counted(self.trials, 'trial')}: compared with the evidence")
        if self.files:
            texts.append(f"{counted(self.files, 'file')}, {self.bytes / 1e6:.1f} MB: compared with their SHA-256")
        if self.experiment:
            texts.append(f"{run_format.EXPERIMENT} and the claims: compared with those that the run began with")
        return texts

    def verdict(self, most: int) -> Iterator[str]:
        """Yield what is wrong, in sentences: so many at most."""
        if not self.wrong:
            yield "nothing differs"
            return
        yield f"{counted(len(self.wrong), 'differs', 'differ')}:"
        yield from (f"  {what}" for what in self.wrong[:most])
        if len(self.wrong) > most:
            yield f"  and {len(self.wrong) - most} more (--json lists all)"

    def __str__(self) -> str:
        return "\n".join([str(self.folder), *self.sentences(), *self.sites, *self.verdict(len(self.wrong))])

    def __repr__(self) -> str:
        return f"<verification of {self.folder}: {next(self.verdict(0)).removesuffix(':')}>"

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"

    def to_json(self) -> VerificationJson:
        return {
            "folder": str(self.folder),
            "trials": self.trials,
            "self_tests": self.self_tests,
            "files": self.files,
            "bytes": self.bytes,
            "experiment": self.experiment,
            "sites": self.sites,
            "wrong": self.wrong,
        }


def verify(folder: Path, *, files: bool = True) -> Verification:
    """Compare everything; `files`: those of the trials, too, which may be large."""
    verification = Verification(folder)
    with opened_database(folder) as database:
        verification.wrong += [f"run: its table {name} is gone" for name in _replaced_tables(database)]
        database.execute("BEGIN")
        (verification.trials,) = database.execute("SELECT count(*) FROM trials").fetchone()
        (verification.self_tests,) = database.execute("SELECT count(*) FROM self_tests").fetchone()
        verification.wrong += map(str, differences(database, "run"))
        verification.wrong += map(str, differences(database))
        verification.wrong += map(str, differences(database, "self-test"))
        for trial, status, text in database.execute("SELECT trial, status, record FROM trials ORDER BY trial"):
            verification.wrong += _of_trial(database, trial, status, text)
        if files:
            verification.wrong += _of_files(database, verification)
        verification.wrong += _of_experiment(database, verification)
    return verification


def _replaced_tables(database: sqlite3.Connection) -> list[str]:
    """Return the tables that are gone. In their place there are empty ones, for this connection alone: all else can be
    compared."""
    there = {name for (name,) in database.execute("SELECT name FROM sqlite_master")}
    schema = {TABLE.search(each): each for each in run_format.SCHEMA.split(";")}
    gone = {match[1]: each for match, each in schema.items() if match and match[1] not in there}
    for statement in gone.values():
        database.execute(statement.replace("CREATE TABLE", "CREATE TEMP TABLE", 1))
    return list(gone)


# --- measures and verdicts


def _of_trial(database: sqlite3.Connection, trial: int, status: str, text: str) -> Iterator[str]:
    stored = dict(database.execute("SELECT name, value FROM measures WHERE trial = ?", (trial,)))
    reasons = [reason for (reason,) in database.execute("SELECT reason FROM failures WHERE trial = ?", (trial,))]
    try:
        data = json.loads(text)
    except ValueError:
        yield f"trial {trial}: its record cannot be read"
        return
    noted = [failure["reason"] for failure in data["failures"]]
    if (status == "ok") == bool(reasons) or sorted(noted) != sorted(reasons):
        words = ", ".join(noted) or "that it counts"
        yield f"trial {trial} is {status} for {', '.join(reasons) or 'no reason'}, and its record says {words}"
    bound = stored.get(BOUND)
    primary = stored.get(PRIMARY.get(data["workload"], ""))
    if status == "ok" and bound and primary is not None and primary < bound * (1 - NEARLY):
        yield f"trial {trial}: it took {primary:.1f} ms, and the link allows {bound:.1f} ms or more"
    try:
        record = whole_record(database, trial, text)
    except RecordError as error:
        yield f"{error}"
        return
    for name, value in _from_evidence(record).items():
        if name in stored and not math.isclose(stored[name], value, rel_tol=NEARLY):
            yield f"trial {trial}: {name} is {stored[name]:g}, and its evidence says {value:g}"


def _from_evidence(record: TrialRecord) -> dict[str, float]:
    """Return the measures that are evidence's own."""
    evidence = record.page_load
    if record.fetch:
        return measured(replace(record, measures=measures_of(record.fetch)))
    times = evidence.browser.times.to_json() if evidence and evidence.browser else {}
    return measured(replace(record, measures={name: value for name, value in times.items() if value is not None}))


# --- files


def _of_files(database: sqlite3.Connection, verification: Verification) -> Iterator[str]:
    listed: dict[int, dict[str, tuple[int, str]]] = {}
    for (trial,) in database.execute("SELECT trial FROM trials"):
        listed[trial] = {}
    for trial, name, size, sha256 in database.execute("SELECT trial, name, bytes, sha256 FROM artifacts"):
        listed.setdefault(trial, {})[name] = size, sha256  # a trial that is gone has its files still
    for trial, files in sorted(listed.items()):
        for name, (size, sha256) in sorted(files.items()):
            path = artifact_path(verification.folder, trial, name)
            if not path.is_file():
                yield f"trial {trial}: its file {name} is gone"
                continue
            verification.files, verification.bytes = verification.files + 1, verification.bytes + path.stat().st_size
            if path.stat().st_size != size or file_digest(path) != sha256:
                yield f"trial {trial}: its file {name} was changed"
        folder = artifact_path(verification.folder, trial, ".")
        for path in sorted(folder.iterdir()) if folder.is_dir() else ():
            if path.name not in files:
                yield f"trial {trial}: {path.name} in its folder is none of its files"


# --- the experiment


def _of_experiment(database: sqlite3.Connection, verification: Verification) -> Iterator[str]:
    meta = dict(database.execute("SELECT key, value FROM meta"))
    claims = tuple(map(Claim.from_json, json.loads(meta.get(run_format.CLAIMS, "[]"))))
    noted = meta.get(run_format.CLAIMS_DIGEST)
    if noted and digest_of(claims) != noted:
        yield "its claims were changed"
    sha256, path = meta.get("experiment_sha256"), verification.folder / run_format.EXPERIMENT
    verification.experiment = bool(sha256)
    if sha256 and not path.is_file():
        yield f"{run_format.EXPERIMENT} is gone"
    elif sha256 and hashlib.sha256(path.read_bytes()).hexdigest() != sha256:
        yield f"{run_format.EXPERIMENT} was changed"
