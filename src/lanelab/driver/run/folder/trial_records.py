"""The records of trials in a run folder, with their requests, a trial at a time. Each is compared with its digest."""

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from lanelab.driver.base.errors import InputError
from lanelab.driver.record.evidence.browser import RequestData
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.run.folder.database import opened_database
from lanelab.driver.run.folder.digests import OF_RECORD, RECORD, REQUESTS, require_unchanged
from lanelab.driver.run.folder.trial_content import each_row


def read_record(folder: Path, trial: int) -> TrialRecord:
    """Return everything recorded about a trial, its requests included. RecordError where it is not as its format
    says."""
    with opened_database(folder) as database:
        row = database.execute("SELECT record FROM trials WHERE trial = ?", (trial,)).fetchone()
        if row is None:
            last = database.execute("SELECT max(trial) FROM trials").fetchone()[0]
            remedy = f"Its trials are numbered 1 to {last}" if last else "It has no trials yet"
            raise InputError(f"the run {folder} has no trial {trial}", remedy, key="--trial")
        require_unchanged(database, folder, numbers=(trial, trial), parts=OF_RECORD)
        return whole_record(database, trial, row[0])


def whole_record(database: sqlite3.Connection, trial: int, text: str) -> TrialRecord:
    """Return a trial's record with what tables of their own have of it; `text`: the rest. RecordError."""
    record = json.loads(text)
    series = {name: {**one, "points": []} for name, one in record["series"].items()}
    query = "SELECT name, t_ms, value FROM series WHERE trial = ? ORDER BY name, t_ms"
    for name, t_ms, value in database.execute(query, (trial,)):
        series[name]["points"].append([t_ms, value])
    measures = dict(database.execute("SELECT name, value FROM measures WHERE trial = ?", (trial,)))
    query = "SELECT data FROM requests WHERE trial = ? ORDER BY number"
    requests = [json.loads(data) for (data,) in database.execute(query, (trial,))]
    whole = {**record, "measures": measures, "series": series, "requests": requests}
    return TrialRecord.from_json(whole, f"trial {trial}")


def each_request(folder: Path) -> Iterator[tuple[int, int, RequestData]]:
    """Yield (trial, number, request) of all trials."""
    query = "SELECT trial, number, data FROM requests WHERE trial BETWEEN ? AND ? ORDER BY trial, number"
    for trial, number, data in each_row(folder, query, REQUESTS):
        yield trial, number, json.loads(data)


def each_record(folder: Path) -> Iterator[tuple[int, TrialRecord]]:
    """Yield (trial, record) of all trials, without requests, measures and the points of series."""
    query = "SELECT trial, record FROM trials WHERE trial BETWEEN ? AND ? ORDER BY trial"
    for trial, text in each_row(folder, query, RECORD):
        record = json.loads(text)
        series = {name: {**one, "points": []} for name, one in record["series"].items()}
        whole = {**record, "measures": {}, "series": series, "requests": []}
        yield trial, TrialRecord.from_json(whole, f"trial {trial}")
