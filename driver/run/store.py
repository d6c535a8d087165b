"""The run folder, as a run writes it: a database of what happened, and a folder of artifacts for each trial.

A trial is stored in one transaction, after its artifacts have their final name; whatever is killed in between leaves a
folder that no row knows, which the next opening removes. The format is model/run_format.py's.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from driver.experiment.model import Cell
from driver.schedule.rounds import Attempt
from model import run_format
from model.clock import utc_now
from model.errors import InputError, StoreError
from model.metrics import PRIMARY, measured
from model.reasons import Reason, timed_out
from model.record import TrialRecord
from model.writing import writing

LOCK = "in-use"
SCRATCH = "unfinished"  # where artifacts of the trial that runs are; never part of the results
ENOUGH_MIB = 50
NOT_THE_TRIALS = {Reason.BED_LOST, Reason.LINK_OUT_OF_TOLERANCE, Reason.STOPPED}  # no retry is used up by these
IN_TABLES = ("requests", "measures")  # parts of a record that have tables of their own


Moment = Literal["before", "after"]  # the trials that used a link


def attempt_of(ok: bool, value: float | None, reasons: Collection[str]) -> Attempt:
    """An attempt as the schedule wants it."""
    return Attempt(ok, value if ok else None, not NOT_THE_TRIALS & set(reasons), timed_out(reasons))


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


class Store:
    """One run folder, opened for writing by one lanelab at a time."""

    def __init__(self, folder: Path, database: sqlite3.Connection, lock: int) -> None:
        self.folder = folder
        self.workload = ""
        self._database = database
        self._lock = lock
        self.session = 0
        self._cells: dict[str, int] = {}
        self._links: dict[str, int] = {}
        self._next = 1

    @classmethod
    def create(cls, folder: Path, text: str, meta: Mapping[str, str], cells: Sequence[Cell]) -> Store:
        """A new run folder. It has its database only when that is whole."""
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
                _insert_plan(database, meta, cells)
            database.close()
            part.with_name(part.name + "-journal").unlink(missing_ok=True)
            part.replace(folder / run_format.DATABASE)
        return cls._opened(folder, lock)

    @classmethod
    def open(cls, folder: Path) -> Store:
        """An existing run folder, to go on with it."""
        if not (folder / run_format.DATABASE).is_file():
            raise InputError(
                f"there is no run to go on with in {folder}", "Name the folder of a run: lanelab runs lists them"
            )
        with writing(f"open the run folder {folder}"):
            return cls._opened(folder, lock_folder(folder))

    @classmethod
    def _opened(cls, folder: Path, lock: int) -> Store:
        store = cls(folder, _connect(folder / run_format.DATABASE), lock)
        try:
            version = store.meta("format")
            if version != str(run_format.VERSION):
                raise run_format.other_format(folder, version)
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

    # --- what is there

    def meta(self, key: str) -> str:
        row = self._database.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return str(row[0]) if row else ""

    def cell_ids(self) -> list[str]:
        return [str(row[0]) for row in self._database.execute("SELECT id FROM cells ORDER BY cell")]

    def history(self) -> dict[tuple[str, int], list[Attempt]]:
        """(cell id, round) -> its attempts so far, in order, as the schedule wants them."""
        history: dict[tuple[str, int], list[Attempt]] = {}
        query = """
            SELECT id, round, status, value, group_concat(reason) FROM trials JOIN cells USING (cell)
            LEFT JOIN measures ON measures.trial = trials.trial AND name = ?
            LEFT JOIN failures ON failures.trial = trials.trial
            GROUP BY trials.trial ORDER BY cell, round, attempt
        """
        for cell, number, status, value, reasons in self._database.execute(query, (PRIMARY[self.workload],)):
            history.setdefault((cell, number), []).append(attempt_of(status == "ok", value, (reasons or "").split(",")))
        return history

    def reasons(self) -> dict[str, dict[str, int]]:
        """Cell id -> reason -> how many of its trials failed for it, the most frequent first."""
        query = """
            SELECT id, reason, count(DISTINCT trial) FROM failures JOIN trials USING (trial) JOIN cells USING (cell)
            GROUP BY id, reason ORDER BY id, 3 DESC, reason
        """
        found: dict[str, dict[str, int]] = {}
        for cell, reason, number in self._database.execute(query):
            found.setdefault(cell, {})[reason] = number
        return found

    def last_bed(self) -> int:
        """The number of the last bed that this run used; 0: none yet."""
        query = "SELECT max(bed) FROM (SELECT bed FROM trials UNION ALL SELECT bed FROM self_tests)"
        (last,) = self._database.execute(query).fetchone()
        return int(last or 0)

    # --- what is added

    def set_meta(self, key: str, value: str) -> None:
        with writing("note the state of the run"), self._database:
            self._database.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    def begin_session(self, provenance: Mapping[str, Any]) -> None:
        with writing("begin a session"), self._database:
            # One that was killed could not say how it ended.
            self._database.execute("UPDATE sessions SET ending = 'killed' WHERE ending IS NULL")
            query = "INSERT INTO sessions (started_utc, provenance) VALUES (?, ?) RETURNING session"
            (self.session,) = self._database.execute(query, (utc_now(), json.dumps(provenance))).fetchone()

    def add_provenance(self, key: str, value: Any) -> None:  # noqa: ANN401 - JSON
        with writing("note the provenance of the run"), self._database:
            query = "SELECT provenance FROM sessions WHERE session = ?"
            (text,) = self._database.execute(query, (self.session,)).fetchone()
            known = {**json.loads(text), key: value}
            query = "UPDATE sessions SET provenance = ? WHERE session = ?"
            self._database.execute(query, (json.dumps(known), self.session))

    def end_session(self, ending: str) -> None:
        with writing("end a session"), self._database:
            query = "UPDATE sessions SET ended_utc = ?, ending = ? WHERE session = ?"
            self._database.execute(query, (utc_now(), ending, self.session))

    def add_self_test(
        self, link: str, data: Mapping[str, Any], *, bed: int, passed: bool, moment: Moment = "before"
    ) -> None:
        """`moment`: before trials used the link on this bed, or after them."""
        with writing("store a self-test"), self._database:
            self._database.execute(
                "INSERT INTO self_tests (session, bed, link, moment, at_utc, passed, data)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                (self.session, bed, self._links[link], moment, utc_now(), int(passed), json.dumps(data)),
            )

    def begin_trial(self) -> tuple[int, Path]:
        """A number for the next trial and an empty folder for its artifacts."""
        scratch = self.folder / SCRATCH / f"{self._next:06d}"
        with writing("make room for a trial"):
            shutil.rmtree(scratch, ignore_errors=True)
            scratch.mkdir(parents=True)
            free_mib = shutil.disk_usage(scratch).free >> 20
            if free_mib < ENOUGH_MIB:
                raise StoreError(
                    f"the disk of {self.folder} is full ({free_mib} MiB free): stopped before the next trial",
                    f"Everything so far is stored. Free some space and go on with: --resume {self.folder}",
                )
        number, self._next = self._next, self._next + 1
        return number, scratch

    def add_trial(self, stored: Stored) -> None:
        """Store a whole trial: its artifacts get their final name, then one transaction makes it part of the run."""
        scratch = self.folder / SCRATCH / f"{stored.trial:06d}"
        final = self.folder / run_format.ARTIFACTS / f"{stored.trial:06d}"
        with writing(f"store trial {stored.trial}"):
            artifacts = _artifacts(scratch)
            scratch.replace(final)
            _sync(final.parent)
            try:
                with self._database:
                    self._insert_trial(stored)
                    self._insert_details(stored, artifacts)
            except Exception:  # not Ctrl-C, which may come when the row is there: the next opening sees which it was
                shutil.rmtree(final, ignore_errors=True)
                raise

    def _insert_trial(self, stored: Stored) -> None:
        record = stored.record
        points_apart = {name: replace(series, points=()) for name, series in record.series.items()}
        data = replace(record, measures={}, requests=(), series=points_apart).to_json()
        values = {
            "trial": stored.trial,
            "session": self.session,
            "bed": stored.bed,
            "cell": self._cells[stored.cell.id],
            "round": stored.round,
            "attempt": stored.attempt,
            "started_utc": record.started_utc,
            "wall_s": stored.wall_s,
            "status": "ok" if record.ok else "failed",
            "record": json.dumps({key: value for key, value in data.items() if key not in IN_TABLES}),
        }
        names, marks = ", ".join(values), ", ".join("?" * len(values))
        self._database.execute(f"INSERT INTO trials ({names}) VALUES ({marks})", tuple(values.values()))  # noqa: S608

    def _insert_details(self, stored: Stored, artifacts: Sequence[tuple[str, int, str]]) -> None:
        trial, record = stored.trial, stored.record
        rows: dict[str, Iterable[tuple[Any, ...]]] = {
            "measures": measured(record).items(),
            "series": ((name, *point) for name, series in record.series.items() for point in series.points),
            "failures": ((failure.reason.value, failure.detail) for failure in record.failures),
            "flags": ((flag.name, flag.detail) for flag in record.flags),
            "requests": (
                (number, *(getattr(request, key) for key in _REQUEST), json.dumps(request.to_json()))
                for number, request in enumerate(record.requests, 1)
            ),
            "artifacts": artifacts,
        }
        for table, values in rows.items():
            listed = [(trial, *row) for row in values]
            if listed:
                marks = ", ".join("?" * len(listed[0]))
                self._database.executemany(f"INSERT INTO {table} VALUES ({marks})", listed)  # noqa: S608


_REQUEST = (
    "url", "status", "protocol", "connection", "priority", "started_ms", "ended_ms", "wire_bytes", "body_bytes",
)  # fmt: skip


def _connect(path: Path) -> sqlite3.Connection:
    database = sqlite3.connect(path, check_same_thread=False)
    # Readers may look while a run goes on; a crash of the machine loses nothing that was reported as stored.
    database.execute("PRAGMA journal_mode = TRUNCATE")
    database.execute("PRAGMA synchronous = FULL")
    database.execute("PRAGMA foreign_keys = ON")
    database.execute("PRAGMA busy_timeout = 10000")
    return database


def _insert_plan(database: sqlite3.Connection, meta: Mapping[str, str], cells: Sequence[Cell]) -> None:
    database.executemany("INSERT INTO meta VALUES (?, ?)", meta.items())
    links = {cell.link.label: cell.link for cell in cells}
    arms = {cell.arm.name: cell.arm for cell in cells}
    link_number = {label: number for number, label in enumerate(links, 1)}
    arm_number = {name: number for number, name in enumerate(arms, 1)}
    database.executemany(
        "INSERT INTO links VALUES (?, ?, ?)",
        ((link_number[label], label, json.dumps(case.to_mapping())) for label, case in links.items()),
    )
    database.executemany(
        "INSERT INTO arms VALUES (?, ?, ?)",
        ((arm_number[name], name, json.dumps(arm.to_mapping())) for name, arm in arms.items()),
    )
    database.executemany(
        "INSERT INTO cells VALUES (?, ?, ?, ?, ?)",
        (
            (number, cell.id, cell.site, link_number[cell.link.label], arm_number[cell.arm.name])
            for number, cell in enumerate(cells, 1)
        ),
    )


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


def _artifacts(folder: Path) -> list[tuple[str, int, str]]:
    """Name, size and digest of each file; all of them on the disk when this returns."""
    artifacts = []
    for path in sorted(folder.iterdir()):
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
            os.fsync(file.fileno())
        artifacts.append((path.name, path.stat().st_size, digest))
    _sync(folder)
    return artifacts


def _sync(folder: Path) -> None:
    """See to it that the names in a folder are on the disk."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
