"""Run folders that trials are taken from: to be reused in another run, or merged into one. Nothing is written there."""

import contextlib
import fcntl
import json
import os
import shutil
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict

from lanelab.driver.base.coded import JsonObject, parsed
from lanelab.driver.base.errors import InputError
from lanelab.driver.record.reasons import timed_out
from lanelab.driver.run.folder import format as run_format
from lanelab.driver.run.folder.copies import SelfTestCopy, TrialCopy, self_test_copies, trial_copies
from lanelab.driver.run.folder.database import opened_database
from lanelab.driver.run.folder.digests import require_unchanged
from lanelab.driver.run.machines import BedFacts, MachineFacts

CLONE = 0x40049409  # FICLONE of Linux: both files share their content on the disk until one of them changes


@dataclass(frozen=True, slots=True)
class SourceTrial:
    """A trial in the folder of a run, without its record."""

    trial: int
    identity: str  # the run that made it and its number there: the same wherever it was copied to
    bed: int
    cell: str  # identifier
    round: int
    attempt: int
    trial_key: str
    versions: str
    ok: bool
    is_result: bool  # it counts, or it timed out


class KeptPlan(TypedDict, total=False):
    """The keys of a run's plan that are looked at here."""

    repeat: Mapping[str, object]
    looks: Sequence[object]
    compared: Sequence[Sequence[str]]
    order: str


class SourceRun:
    """One run folder, opened for reading. Close it."""

    def __init__(self, folder: Path, database: sqlite3.Connection, scratch: contextlib.ExitStack) -> None:
        self.folder, self._database, self._scratch = folder, database, scratch
        self.meta: dict[str, str] = dict(database.execute("SELECT key, value FROM meta"))
        self.id = self.meta[run_format.ID]

    @classmethod
    def open(cls, folder: Path) -> "SourceRun":
        """Raises StoreError for one that cannot be read, or of another format; InputError where there is no run."""
        with contextlib.ExitStack() as stack:
            database = stack.enter_context(opened_database(folder))
            require_unchanged(database, folder, "run")
            return cls(folder, database, stack.pop_all())

    def __enter__(self) -> "SourceRun":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._scratch.close()

    # --- what is there

    @property
    def plan(self) -> KeptPlan:
        return parsed(KeptPlan, json.loads(self.meta.get("plan") or "{}"), f"the plan of {self.folder}")

    @property
    def is_of_fixed_number(self) -> bool:
        """Return whether the number of its rounds was known before the first: no value ended it early."""
        return "ci" not in self.plan.get("repeat", {}) and len(self.plan.get("looks", ())) < 2

    def table(self, name: str) -> list[tuple[Any, ...]]:
        """Return all rows of a table, as they are."""
        return self._database.execute(f"SELECT * FROM {name}").fetchall()  # noqa: S608 - a name of the format's

    def trial_keys_by_cell(self) -> dict[str, set[str]]:
        """Return the digests of what was asked for in each cell that has trials."""
        by_cell: dict[str, set[str]] = {}
        query = "SELECT DISTINCT id, asked FROM trials JOIN cells USING (cell) WHERE asked != ''"
        for cell, trial_key in self._database.execute(query):
            by_cell.setdefault(cell, set()).add(trial_key)
        return by_cell

    def cells(self) -> dict[str, tuple[str, str]]:
        """Return label of its link, and name of its arm, of each cell by its identifier."""
        query = "SELECT id, label, name FROM cells JOIN links USING (link) JOIN arms USING (arm) ORDER BY cell"
        return {cell: (label, arm) for cell, label, arm in self._database.execute(query)}

    def links(self) -> dict[str, dict[str, str]]:
        """Return settings of each link by its label."""
        query = "SELECT label, settings FROM links ORDER BY link"
        return {label: json.loads(text) for label, text in self._database.execute(query)}

    def trials(self, trial_keys: Iterable[str] | None = None) -> Iterator[SourceTrial]:
        """Yield all of them by number, or those with one of these digests."""
        wanted = None if trial_keys is None else set(trial_keys)
        query = """
            SELECT trial, bed, id, round, attempt, asked, versions, origin, status, group_concat(reason)
            FROM trials JOIN cells USING (cell) LEFT JOIN failures USING (trial) GROUP BY trial ORDER BY trial
        """
        for row in self._database.execute(query):
            trial, bed, cell, number, attempt, trial_key, versions, origin, status, reasons = row
            if wanted is None or trial_key in wanted:
                ok, identity = status == "ok", origin or f"{self.id}/{trial}"
                result = ok or timed_out((reasons or "").split(","))
                yield SourceTrial(trial, identity, bed, cell, number, attempt, trial_key, versions, ok, result)

    def count(self) -> int:
        (number,) = self._database.execute("SELECT count(*) FROM trials").fetchone()
        return int(number)

    def copies(self, trials: Iterable[int]) -> list[TrialCopy]:
        return trial_copies(self._database, self.folder, trials)

    def self_tests(self) -> list[SelfTestCopy]:
        require_unchanged(self._database, self.folder, "self-test")
        return self_test_copies(self._database)

    def beds(self) -> dict[int, BedFacts]:
        rows = self._database.execute("SELECT bed, facts FROM beds ORDER BY bed")
        return {bed: BedFacts.from_json(json.loads(facts)) for bed, facts in rows}

    def machines(self) -> dict[str, MachineFacts]:
        rows = self._database.execute("SELECT name, facts FROM machines ORDER BY machine")
        return {name: MachineFacts.from_json(json.loads(facts)) for name, facts in rows}

    def versions(self) -> dict[str, dict[str, str]]:
        return {digest: json.loads(data) for digest, data in self._database.execute("SELECT * FROM versions")}

    def sessions(self) -> list[JsonObject]:
        query = "SELECT started_utc, ended_utc, ending, provenance FROM sessions ORDER BY session"
        return [
            {"started_utc": started, "ended_utc": ended, "ending": ending, "provenance": json.loads(provenance)}
            for started, ended, ending, provenance in self._database.execute(query)
        ]

    def copy_artifacts(self, trial: int, folder: Path) -> None:
        """Put the artifacts of a trial into a new folder on the same disk or another. They share their content with
        those that are here, where the file system can do that."""
        folder.mkdir(parents=True)
        there = self.folder / run_format.ARTIFACTS / f"{trial:06d}"
        for path in sorted(there.iterdir()) if there.is_dir() else ():
            copy_file(path, folder / path.name)


def copy_file(source: Path, target: Path) -> None:
    """Copy a file as a clone, a hard link or a copy, the first that is possible. Nothing ever writes into an
    artifact."""
    with source.open("rb") as from_file, target.open("xb") as to_file:
        try:
            fcntl.ioctl(to_file.fileno(), CLONE, from_file.fileno())
        except OSError:
            pass
        else:
            return
    target.unlink()
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)


def found_in(store: Path) -> list[Path]:
    """Return the run folders that a path means: itself, or the runs in it, those of studies' figures included."""
    if (store / run_format.DATABASE).is_file():
        return [store]
    if not store.is_dir():
        raise InputError(f"there is no folder {store}", "Name a run, or a folder that has runs")
    folders = {path.parent for depth in ("*", "*/*") for path in store.glob(f"{depth}/{run_format.DATABASE}")}
    return sorted(folder for folder in folders if not folder.name.endswith(run_format.MERGING))
