"""What the database of a run folder gets for a plan and for a trial."""

import hashlib
import json
import os
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lanelab.driver.experiment.model import Cell
from lanelab.driver.record.metrics import measured
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.run.folder.format import IN_TABLES

Listed = Sequence[tuple[str, int, str]]  # name, size and digest of each artifact of a trial
_REQUEST = (
    "url", "status", "protocol", "connection", "priority", "started_ms", "ended_ms", "wire_bytes", "body_bytes",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class TrialRow:
    """A trial with the numbers that this run folder has for what it belongs to."""

    trial: int
    session: int
    bed: int
    cell: int
    round: int
    attempt: int
    wall_s: float
    record: TrialRecord
    trial_key: str
    versions: str
    origin: str


def insert_trial(database: sqlite3.Connection, row: TrialRow, artifacts: Listed) -> None:
    """Insert a trial within a transaction of the caller's, who notes its digests."""
    record = row.record
    points_apart = {name: replace(series, points=()) for name, series in record.series.items()}
    data = replace(record, measures={}, requests=(), series=points_apart).to_json()
    values = {
        "trial": row.trial,
        "session": row.session,
        "bed": row.bed,
        "cell": row.cell,
        "round": row.round,
        "attempt": row.attempt,
        "started_utc": record.started_utc,
        "wall_s": row.wall_s,
        "status": "ok" if record.ok else "failed",
        "record": json.dumps({key: value for key, value in data.items() if key not in IN_TABLES}),
        "asked": row.trial_key,
        "versions": row.versions,
        "origin": row.origin,
    }
    names, marks = ", ".join(values), ", ".join("?" * len(values))
    database.execute(f"INSERT INTO trials ({names}) VALUES ({marks})", tuple(values.values()))  # noqa: S608
    _insert_details(database, row.trial, record, artifacts)


def _insert_details(database: sqlite3.Connection, trial: int, record: TrialRecord, artifacts: Listed) -> None:
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
            database.executemany(f"INSERT INTO {table} VALUES ({marks})", listed)  # noqa: S608


def insert_plan(database: sqlite3.Connection, meta: Mapping[str, str], cells: Sequence[Cell]) -> None:
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


def artifacts_in(folder: Path) -> Listed:
    """Name, size and digest of each file."""
    artifacts = []
    for path in sorted(folder.iterdir()):
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
            artifacts.append((path.name, os.fstat(file.fileno()).st_size, digest))
    return artifacts
