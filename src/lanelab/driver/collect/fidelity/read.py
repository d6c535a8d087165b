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

TRIALS = (
    "SELECT trial, site, name, round, record FROM trials JOIN cells USING (cell) JOIN arms USING (arm) ORDER BY trial"
)


@dataclass(frozen=True, slots=True)
class KeptLoad:
    """One load of a run."""

    trial: int
    site: str  # or one of its pages
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


def read_loads(run: Path) -> dict[tuple[str, str], list[KeptLoad]]:
    """Read the loads by site and protocol: of each round the last load that shows something, else the last. Raises
    StoreError, RecordError."""
    chosen: dict[tuple[str, str, int], KeptLoad] = {}
    for load in _all(run):
        before = chosen.get((load.site, load.protocol, load.round))
        if before is None or problem_of(load.record) is None or problem_of(before.record) is not None:
            chosen[load.site, load.protocol, load.round] = load
    loads: dict[tuple[str, str], list[KeptLoad]] = {}
    for load in chosen.values():
        loads.setdefault((load.site, load.protocol), []).append(load)
    return loads


def _all(run: Path) -> Iterator[KeptLoad]:
    file = run / run_format.DATABASE
    try:
        with contextlib.closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as database:
            require_unchanged(database, run)
            for trial, site, protocol, number, text in database.execute(TRIALS).fetchall():
                record = whole_record(database, trial, text)
                folder = run / run_format.ARTIFACTS / f"{trial:06d}"
                yield KeptLoad(trial, site, protocol, number, record, folder)
    except (sqlite3.Error, ValueError) as error:
        raise StoreError(f"the run in {run} cannot be read: {error}", "Verify the site again") from error
