"""Records as the store takes them."""

from __future__ import annotations

from driver.experiment.model import Cell
from driver.run.store import Stored
from model.metrics import measured
from model.record import TrialRecord


def stored(trial: int, cell: Cell, record: TrialRecord, *, number: int = 1, attempt: int = 1) -> Stored:
    """A trial of that round and attempt."""
    return Stored(trial, cell, number, attempt, 1.5, measured(record), record.to_json())
