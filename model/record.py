"""What a trial leaves behind, whatever its workload was.

The bed process makes a record, the controller completes and judges it, and the run folder stores it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

from model.coded import Coded
from model.errors import RecordError
from model.evidence.browser import Request
from model.evidence.page_load import PageLoadEvidence
from model.reasons import Failure, Reason

# The type of `evidence` by the workload's name. A new workload adds its own.
EVIDENCE: dict[str, type[Coded]] = {"page_load": PageLoadEvidence}


@dataclass(frozen=True, slots=True)
class Series(Coded):
    """A number over time."""

    unit: str
    points: tuple[tuple[float, float], ...]  # ms from the start of the trial, value


@dataclass(frozen=True, slots=True)
class TrialRecord(Coded):
    """One trial."""

    workload: str
    started_utc: str
    measures: Mapping[str, float]  # by the name of the metric; one that could not be taken is not there
    series: Mapping[str, Series]
    requests: tuple[Request, ...]
    failures: tuple[Failure, ...]  # none: the trial counts
    artifacts: tuple[str, ...]  # names of files
    marks: Mapping[str, float]  # where the trial's time went, in s
    evidence: Coded | None  # of the workload; None: the trial did not get as far

    @property
    def ok(self) -> bool:
        return not self.failures

    @property
    def page_load(self) -> PageLoadEvidence | None:
        """The evidence of a page load; None where this is another workload or there is none."""
        return self.evidence if isinstance(self.evidence, PageLoadEvidence) else None

    @classmethod
    def not_started(cls, workload: str, started_utc: str, reason: Reason, detail: str) -> Self:
        """A trial that failed before its workload began."""
        return cls(workload, started_utc, {}, {}, (), (Failure(reason, detail),), (), {}, None)

    @classmethod
    def from_json(cls, data: object, where: str = "") -> Self:
        """As its workload says: an unknown or missing key is a RecordError."""
        if not isinstance(data, Mapping):
            raise RecordError("the record is no mapping")
        plain: dict[str, Any] = {**data}
        evidence = plain.get("evidence")
        if "evidence" in plain:
            plain["evidence"] = None
        record = super(TrialRecord, cls).from_json(plain, where)
        if record.workload not in EVIDENCE:
            raise RecordError(f"in the record, workload {record.workload!r} is unknown", key="workload")
        if evidence is None:
            return record
        read = EVIDENCE[record.workload].from_json(evidence, "evidence")
        return replace(record, evidence=read)
