"""The run folder, as a run writes it: a database of what happened, and a folder of artifacts for each trial.

A trial is stored in one transaction, after its artifacts have their final name; whatever is killed in between leaves a
folder that no row knows, which the next opening removes. The format is driver/run/folder/format.py's.
"""

import contextlib
import fcntl
import json
import math
import os
import shutil
import sqlite3
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lanelab.driver.base.clock import utc_now
from lanelab.driver.base.coded import JsonObject
from lanelab.driver.base.errors import DiskFull, InputError, StoreError
from lanelab.driver.base.writing import writing
from lanelab.driver.experiment.model import Cell
from lanelab.driver.link.results import SelfTest
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.run.events import Moment
from lanelab.driver.run.folder import format as run_format
from lanelab.driver.run.folder.content import Content
from lanelab.driver.run.folder.copies import SelfTestCopy, TrialCopy, require_artifacts
from lanelab.driver.run.folder.digests import (
    BEDS,
    PLAN,
    SELF_TESTS,
    SESSIONS,
    THE_RUN,
    TRIALS,
    VERSIONS,
    GrowingList,
    note_digests,
    note_new_digests,
)
from lanelab.driver.run.folder.rows import Listed, TrialRow, artifacts_in, insert_plan, insert_trial
from lanelab.driver.run.folder.syncing import sync_folders
from lanelab.driver.run.machines import BedFacts, MachineFacts

LOCK = "in-use"
SCRATCH = "unfinished"  # where artifacts of the trial that runs are; never part of the results
ENOUGH_MIB = 50


@dataclass(frozen=True, slots=True)
class Stored:
    """A trial as it goes into the database."""

    trial: int
    cell: Cell
    bed: int  # which of the run's beds: the first is 1
    round: int
    attempt: int
    wall_s: float
    record: TrialRecord
    trial_key: str = ""  # digest of what was asked for: driver/run/trial_keys.py
    versions: str = ""  # digest of the versions that it was made with
    origin: str = ""  # the run that made it, where that is another one


@dataclass(frozen=True, slots=True)
class Adoption:
    """Trials that were made elsewhere."""

    trials: Sequence[TrialCopy]
    content: Path  # has a folder of artifacts for each, named by its old number, on the disk of the run folder
    beds: Mapping[int, int]  # numbers there -> here


class Store(Content):
    """One run folder, opened for writing by one lanelab at a time."""

    def __init__(self, folder: Path, database: sqlite3.Connection, lock: int) -> None:
        super().__init__(folder, database)
        self.workload = ""
        self._lock = lock
        self.session = 0
        self._accepts_links = False  # in this session
        self.machine: MachineFacts | None = None  # that this session's own beds are on
        self._cells: dict[str, int] = {}
        self._links: dict[str, int] = {}
        self._next = 1
        self._listed: GrowingList | None = None  # the trials in the database; None: as it has them

    @classmethod
    def create(cls, folder: Path, text: str, meta: Mapping[str, str], cells: Sequence[Cell]) -> "Store":
        """Make a new run folder. It has its database only when that is whole."""
        return cls.new(folder, text, lambda database: insert_plan(database, meta, cells))

    @classmethod
    def new(cls, folder: Path, text: str, fill: Callable[[sqlite3.Connection], None]) -> "Store":
        """Return a new store with what `fill` puts into it in one transaction: facts of the run, its links, arms and
        cells."""
        with writing(f"make the run folder {folder}"):
            folder.mkdir(parents=True, exist_ok=True)
            names = {path.name for path in folder.iterdir()}
            if names and not (folder / run_format.DATABASE).exists():
                raise InputError(f"the folder {folder} is not empty, and no run", "Remove it, or name another one")
            if names:
                raise InputError(f"there is a run in {folder}", f"Name another folder, or go on: --resume {folder}")
            lock = lock_folder(folder)
            (folder / run_format.EXPERIMENT).write_text(text)
            (folder / run_format.ARTIFACTS).mkdir()
            part = folder / (run_format.DATABASE + ".part")
            database = _connect(part)
            database.executescript(run_format.SCHEMA)
            with database:
                fill(database)
                note_digests(database, "run", THE_RUN)
            database.close()
            part.with_name(part.name + "-journal").unlink(missing_ok=True)
            part.replace(folder / run_format.DATABASE)
        return cls._opened(folder, lock)

    @classmethod
    def open(cls, folder: Path) -> "Store":
        """Open an existing run folder, to go on with it."""
        if not (folder / run_format.DATABASE).is_file():
            raise InputError(
                f"there is no run to go on with in {folder}", "Name the folder of a run: lanelab runs lists them"
            )
        with writing(f"open the run folder {folder}"):
            return cls._opened(folder, lock_folder(folder))

    @classmethod
    def _opened(cls, folder: Path, lock: int) -> "Store":
        store = cls(folder, _connect(folder / run_format.DATABASE), lock)
        try:
            run_format.check_version(folder, store.meta("format"))
            store._load()
            store._forget_unfinished()
        except BaseException:
            store.close()
            raise
        return store

    def _load(self) -> None:
        self.workload = self.meta("workload")
        run_format.check_workload(self.folder, self.workload, self.meta("lanelab"))
        self._cells = dict(self._database.execute("SELECT id, cell FROM cells"))
        self._links = dict(self._database.execute("SELECT label, link FROM links"))
        (last,) = self._database.execute("SELECT max(trial) FROM trials").fetchone()
        self._next = (last or 0) + 1

    def _forget_unfinished(self) -> None:
        """Remove the artifacts of trials that were under way when the last session was killed."""
        shutil.rmtree(self.folder / SCRATCH, ignore_errors=True)
        known = {f"{trial:06d}" for (trial,) in self._database.execute("SELECT trial FROM trials")}
        for entry in (self.folder / run_format.ARTIFACTS).iterdir():
            if entry.name not in known:
                shutil.rmtree(entry, ignore_errors=True)

    def close(self) -> None:
        shutil.rmtree(self.folder / SCRATCH, ignore_errors=True)
        self._database.close()
        os.close(self._lock)

    @contextlib.contextmanager
    def _changing(self, what: str, part: str) -> Iterator[None]:
        """Change the folder within one transaction, which ends with a digest of the part of the run that it changes."""
        with writing(what), self._database:
            yield
            note_digests(self._database, "run", THE_RUN, (part,))

    def set_meta(self, key: str, value: str) -> None:
        with self._changing("note the state of the run", PLAN):
            self._database.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    @property
    def accepts_links(self) -> bool:
        """Return whether links that are out of tolerance are used: since the run began, or in this session."""
        return self._accepts_links or bool(json.loads(self.meta("bed") or "{}").get("accept_links"))

    def begin_session(self, provenance: JsonObject, machine: MachineFacts, *, accepts_links: bool = False) -> None:
        """Begin a session on this `machine`."""
        self.machine = machine
        self._accepts_links = accepts_links
        with self._changing("begin a session", SESSIONS):
            # One that was killed could not say how it ended.
            self._database.execute("UPDATE sessions SET ending = 'killed' WHERE ending IS NULL")
            query = "INSERT INTO sessions (started_utc, provenance) VALUES (?, ?) RETURNING session"
            (self.session,) = self._database.execute(query, (utc_now(), json.dumps(provenance))).fetchone()

    def add_provenance(self, key: str, value: Any) -> None:  # noqa: ANN401 - JSON
        with self._changing("note the provenance of the run", SESSIONS):
            query = "SELECT provenance FROM sessions WHERE session = ?"
            (text,) = self._database.execute(query, (self.session,)).fetchone()
            known = {**json.loads(text), key: value}
            query = "UPDATE sessions SET provenance = ? WHERE session = ?"
            self._database.execute(query, (json.dumps(known), self.session))

    def end_session(self, ending: str) -> None:
        with self._changing("end a session", SESSIONS):
            query = "UPDATE sessions SET ended_utc = ?, ending = ? WHERE session = ?"
            self._database.execute(query, (utc_now(), ending, self.session))

    def add_machine(self, facts: MachineFacts) -> None:
        """Note a machine, or what a known one has become."""
        with self._changing("note a machine", BEDS):
            self._database.execute(_MACHINE, (facts.name, json.dumps(facts.to_json())))

    def add_bed(self, facts: BedFacts) -> int:
        """The number of a bed within this run; one that is known keeps its own. Its machine has to be known."""
        known = self._database.execute("SELECT bed FROM beds WHERE uid = ?", (facts.uid,)).fetchone()
        if known:
            return int(known[0])
        with self._changing("note a bed", BEDS):
            number = self.last_bed() + 1
            (machine,) = self._database.execute(
                "SELECT machine FROM machines WHERE name = ?", (facts.machine,)
            ).fetchone()
            row = (number, machine, facts.uid, json.dumps(facts.to_json()))
            self._database.execute("INSERT INTO beds VALUES (?, ?, ?, ?)", row)
            return number

    def add_versions(self, digest: str, versions: Mapping[str, str]) -> None:
        if self._database.execute("SELECT 1 FROM versions WHERE versions = ?", (digest,)).fetchone():
            return
        with self._changing("note versions", VERSIONS):
            self._database.execute("INSERT INTO versions VALUES (?, ?)", (digest, json.dumps(versions)))

    def add_self_test(
        self, link: str, result: SelfTest, tc: Sequence[object], *, bed: int, moment: Moment = "before"
    ) -> None:
        """Store a self-test. `tc` has the router's queues; `moment` says whether it was made before trials used the
        link on this bed, or after them."""
        with self._changing("store a self-test", SELF_TESTS):
            place, data = (self.session, bed, self._links[link]), {**result.to_json(), "tc": tc}
            self._insert_self_test((*place, moment, utc_now(), int(result.passed), json.dumps(data)))

    def begin_trial(self) -> tuple[int, Path]:
        """Make an empty folder for the artifacts of the next trial; returns its number and the folder."""
        scratch = self.folder / SCRATCH / f"{self._next:06d}"
        with writing("make room for a trial"):
            shutil.rmtree(scratch, ignore_errors=True)
            scratch.mkdir(parents=True)
            free_mib = shutil.disk_usage(scratch).free >> 20
            if free_mib < ENOUGH_MIB:
                raise DiskFull(
                    f"the disk of {self.folder} is full ({free_mib} MiB free): stopped before the next trial",
                    f"Everything so far is stored. Free some space and go on with: --resume {self.folder}",
                )
        number, self._next = self._next, self._next + 1
        return number, scratch

    def give_back(self, number: int) -> None:
        """The trial that was begun last will not be made: the next one that begins has its number."""
        if number == self._next - 1:
            self._next = number

    def add_trial(self, stored: Stored) -> None:
        """Store a whole trial: its artifacts get their final name, then one transaction makes it part of the run."""
        record, cell = stored.record, self._cells[stored.cell.id]
        numbers = (stored.trial, self.session, stored.bed, cell, stored.round, stored.attempt)
        row = TrialRow(*numbers, stored.wall_s, record, stored.trial_key, stored.versions, stored.origin)
        with writing(f"store trial {stored.trial}"):
            scratch = self.folder / SCRATCH / f"{stored.trial:06d}"
            self._store([(row, scratch, artifacts_in(scratch))])

    def forget(self, trials: Collection[int]) -> None:
        """Remove trials, with their artifacts: they are part of another run, or shall be of none."""
        with writing("remove trials"):
            self._listed = None
            with self._database:
                for table in (*_DETAILS, "trials"):
                    query = f"DELETE FROM {table} WHERE trial = ?"  # noqa: S608 - our own names
                    self._database.executemany(query, [(trial,) for trial in trials])
                query = "DELETE FROM digests WHERE kind = 'trial' AND number = ?"
                self._database.executemany(query, [(trial,) for trial in trials])
            for trial in trials:
                shutil.rmtree(self.folder / run_format.ARTIFACTS / f"{trial:06d}", ignore_errors=True)

    def last_trial(self) -> int:
        """The number of the last one that was begun; 0: none was."""
        return self._next - 1

    def adopt(
        self, trials: Sequence[TrialCopy], content: Path, beds: Mapping[int, int], tests: Sequence[SelfTestCopy] = ()
    ) -> list[int]:
        """Make trials part of this run that were made elsewhere, all or none of them: their new numbers. `content` has
        a folder of artifacts for each, named by its old number, on the same disk: they are moved. `beds`: numbers there
        -> here. Cells and links have to be known; the round and the attempt are those of the copies."""
        return self.adopt_all([Adoption(trials, content, beds)], [self._self_test_row(test, beds) for test in tests])

    def adopt_all(self, adoptions: Sequence[Adoption], self_tests: Sequence[tuple[Any, ...]] = ()) -> list[int]:
        """Make the trials of several adoptions part of this run in one transaction: all of them or none."""
        rows = []
        with writing("store trials"):
            for one in adoptions:
                for copy in one.trials:
                    folder = one.content / f"{copy.trial:06d}"
                    artifacts = require_artifacts(folder, copy)
                    number, self._next = self._next, self._next + 1
                    numbers = (number, self.session, one.beds[copy.bed], self._cells[copy.cell])
                    row = TrialRow(
                        *numbers,
                        copy.round,
                        copy.attempt,
                        copy.wall_s,
                        copy.record,
                        copy.asked,
                        copy.versions,
                        copy.origin,
                    )
                    rows.append((row, folder, artifacts))
            self._store(rows, self_tests)
        return [row.trial for row, *_ in rows]

    def _store(self, rows: Sequence[tuple[TrialRow, Path, Listed]], self_tests: Sequence[tuple[Any, ...]] = ()) -> None:
        """Store all of them or none; each with the folder of its artifacts, and what is in it. Artifacts have their
        final name and are on the disk before the transaction."""
        artifacts, moved = self.folder / run_format.ARTIFACTS, list[Path]()
        try:
            for row, scratch, _ in rows:
                final = artifacts / f"{row.trial:06d}"
                scratch.replace(final)
                moved.append(final)
            if moved:
                sync_folders(artifacts, moved)
            with self._database:
                for test in self_tests:
                    self._insert_self_test(test)
                for row, _, listed in rows:
                    insert_trial(self._database, row, listed)
                numbers = [row.trial for row, *_ in rows]
                note_new_digests(self._database, "trial", numbers)
                trials = {TRIALS: self._digest_with(numbers)}
                note_digests(self._database, "run", THE_RUN, (SELF_TESTS,) if self_tests else (), trials)
        except BaseException as error:
            self._listed = None
            if isinstance(error, Exception):  # not Ctrl-C, which may come when the row is there: opening sees it
                for final in moved:
                    shutil.rmtree(final, ignore_errors=True)
            raise

    def _digest_with(self, numbers: Sequence[int]) -> str:
        """Return the digest of the list of trials with these, which were just inserted."""
        if self._listed is None or min(numbers, default=math.inf) <= self._listed.last:
            known = self._database.execute("SELECT trial FROM trials ORDER BY trial")
            self._listed = GrowingList(number for (number,) in known)
        else:
            self._listed.add(numbers)
        return self._listed.digest

    def _insert_self_test(self, row: tuple[Any, ...]) -> None:
        (number,) = self._database.execute(_SELF_TEST, row).fetchone()
        note_digests(self._database, "self-test", number)

    def _self_test_row(self, test: SelfTestCopy, beds: Mapping[int, int]) -> tuple[Any, ...]:
        place = (self.session, beds[test.bed], self._links[test.link])
        return *place, test.moment, test.at_utc, int(test.passed), json.dumps(test.data)


_DETAILS = ("measures", "series", "failures", "flags", "requests", "artifacts")  # tables of what belongs to a trial
_MACHINE = "INSERT INTO machines (name, facts) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET facts = excluded.facts"
_SELF_TEST = (
    "INSERT INTO self_tests (session, bed, link, moment, at_utc, passed, data) VALUES (?, ?, ?, ?, ?, ?, ?) "
    "RETURNING self_test"
)


def _connect(path: Path) -> sqlite3.Connection:
    database = sqlite3.connect(path, check_same_thread=False)
    # Readers may look while a run goes on; a crash of the machine loses nothing that was reported as stored.
    database.execute("PRAGMA journal_mode = TRUNCATE")
    database.execute("PRAGMA synchronous = FULL")
    database.execute("PRAGMA foreign_keys = ON")
    database.execute("PRAGMA busy_timeout = 10000")
    return database


def lock_folder(folder: Path) -> int:
    """Keeps every other lanelab out, until what it returns is closed or this process ends."""
    lock = os.open(folder / LOCK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        raise StoreError(
            f"another lanelab is using the run folder {folder}", "Wait for its end, or run into another folder"
        ) from None
    return lock
