"""What a run that verifies a site has left: the record and the picture of each load."""

import contextlib
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lanelab.driver.base.errors import StoreError
from lanelab.driver.collect.fidelity.measure import problem_of
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.run.folder import format as run_format
from lanelab.driver.run.folder.digests import require_unchanged
from lanelab.driver.run.folder.trial_records import whole_record
from lanelab.driver.trial.recorders.screenshot import FILE as PICTURE

TRIALS = "SELECT trial, name, round, record FROM trials JOIN cells USING (cell) JOIN arms USING (arm) ORDER BY trial"


@dataclass(frozen=True, slots=True)
class KeptLoad:
    """One load of a run."""

    trial: int
    protocol: str  # the arm's name
    round: int
    record: TrialRecord
    folder: Path

    @property
    def picture(self) -> bytes | None:
        try:
            return (self.folder / PICTURE).read_bytes()
        except FileNotFoundError:
            return None


def read_loads(run: Path) -> dict[str, list[KeptLoad]]:
    """Read the loads by protocol: of each round the last load that shows something, else the last. Raises StoreError,
    RecordError."""
    chosen: dict[tuple[str, int], KeptLoad] = {}
    for load in _all(run):
        before = chosen.get((load.protocol, load.round))
        if before is None or problem_of(load.record) is None or problem_of(before.record) is not None:
            chosen[load.protocol, load.round] = load
    by_protocol: dict[str, list[KeptLoad]] = {}
    for load in chosen.values():
        by_protocol.setdefault(load.protocol, []).append(load)
    return by_protocol


def _all(run: Path) -> Iterator[KeptLoad]:
    file = run / run_format.DATABASE
    try:
        with contextlib.closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as database:
            require_unchanged(database, run)
            for trial, protocol, number, text in database.execute(TRIALS).fetchall():
                record = whole_record(database, trial, text)
                yield KeptLoad(trial, protocol, number, record, run / run_format.ARTIFACTS / f"{trial:06d}")
    except (sqlite3.Error, ValueError) as error:
        raise StoreError(f"the run in {run} cannot be read: {error}", "Verify the site again") from error
