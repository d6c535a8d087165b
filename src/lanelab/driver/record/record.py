"""What a trial leaves behind, whatever its workload was.

The bed process makes a record, the controller completes and judges it, and the run folder stores it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Self

from lanelab.driver.base.coded import Coded
from lanelab.driver.base.errors import RecordError
from lanelab.driver.record.evidence.browser import Request
from lanelab.driver.record.evidence.cross import CrossEvidence
from lanelab.driver.record.evidence.fetch import FetchEvidence
from lanelab.driver.record.evidence.journey import JourneyEvidence, StepEvidence
from lanelab.driver.record.evidence.load import LoadEvidence
from lanelab.driver.record.evidence.machine import MachineEvidence
from lanelab.driver.record.evidence.page_load import PageLoadEvidence
from lanelab.driver.record.evidence.server_series import ServerSeriesEvidence
from lanelab.driver.record.evidence.spoken import SpokenEvidence
from lanelab.driver.record.evidence.step_vitals import StepVitals, StepVitalsEvidence
from lanelab.driver.record.evidence.trace import TraceEvidence
from lanelab.driver.record.evidence.vitals import VitalsEvidence
from lanelab.driver.record.reasons import Failure, Flag, Reason
from lanelab.driver.record.series import Series

# The type of `evidence` by the workload's name. A new workload adds its own.
EVIDENCE: dict[str, type[Coded]] = {
    "page_load": PageLoadEvidence,
    "load": LoadEvidence,
    "fetch": FetchEvidence,
}
STEP_VITALS = "step_vitals"
# The type of what a recorder knows, by the recorder's name. Most recorders leave files and measures alone.
RECORDINGS: dict[str, type[Coded]] = {
    "cross": CrossEvidence,  # of links with cross traffic: no recorder that a user names
    "journey": JourneyEvidence,  # likewise, of trials that load several pages
    "machine": MachineEvidence,
    "server_series": ServerSeriesEvidence,
    "spoken": SpokenEvidence,  # likewise, of loads by HTTP/3
    STEP_VITALS: StepVitalsEvidence,  # of the recorder vitals, of trials that make a journey
    "trace": TraceEvidence,
    "vitals": VitalsEvidence,
}


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
    flags: tuple[Flag, ...] = ()  # reasons to doubt a trial that counts
    recordings: Mapping[str, Coded] = field(default_factory=dict)  # evidence of recorders, by the recorder's name

    @property
    def ok(self) -> bool:
        return not self.failures

    @property
    def page_load(self) -> PageLoadEvidence | None:
        """The evidence of a page load, or of a fetch, which leaves the same; None where this is another workload or
        there is none."""
        return self.evidence if isinstance(self.evidence, PageLoadEvidence) else None

    @property
    def fetch(self) -> FetchEvidence | None:
        """The evidence of a fetch; None where this is another workload or there is none."""
        return self.evidence if isinstance(self.evidence, FetchEvidence) else None

    @property
    def load(self) -> LoadEvidence | None:
        """The evidence of a load; None where this is another workload or there is none."""
        return self.evidence if isinstance(self.evidence, LoadEvidence) else None

    @property
    def server_program(self) -> str | None:
        """Return the name that the server gives itself; None where it did not say."""
        name = self.page_load.server if self.page_load else self.load.server if self.load else None
        return name.program if name else None

    @property
    def machine(self) -> MachineEvidence | None:
        """Return what the machines did; None where the recorder was off."""
        recorded = self.recordings.get("machine")
        return recorded if isinstance(recorded, MachineEvidence) else None

    @property
    def spoken(self) -> SpokenEvidence | None:
        """Return what others than the generator say of a load; None where nobody does."""
        recorded = self.recordings.get("spoken")
        return recorded if isinstance(recorded, SpokenEvidence) else None

    @property
    def cross(self) -> CrossEvidence | None:
        """Return what the link's cross traffic did; None where it has none."""
        recorded = self.recordings.get("cross")
        return recorded if isinstance(recorded, CrossEvidence) else None

    @property
    def steps(self) -> tuple[StepEvidence, ...]:
        """Return the steps of a journey; none where one page was loaded."""
        recorded = self.recordings.get("journey")
        return recorded.steps if isinstance(recorded, JourneyEvidence) else ()

    @property
    def step_vitals(self) -> tuple[StepVitals, ...]:
        """Return what the steps of a journey told of their vitals; none where they were not asked."""
        recorded = self.recordings.get(STEP_VITALS)
        return recorded.steps if isinstance(recorded, StepVitalsEvidence) else ()

    @property
    def trace(self) -> TraceEvidence | None:
        """Return what the browser's trace told; None where the recorder was off."""
        recorded = self.recordings.get("trace")
        return recorded if isinstance(recorded, TraceEvidence) else None

    @classmethod
    def not_started(cls, workload: str, started_utc: str, reason: Reason, detail: str) -> Self:
        """Return a trial that failed before its workload began."""
        return cls(workload, started_utc, {}, {}, (), (Failure(reason, detail),), (), {}, None)

    @classmethod
    def decoded(cls, data: object) -> Self:
        """Return a record with the evidence of its workload and of its recorders."""
        if not isinstance(data, Mapping):
            raise RecordError("the record is no mapping")
        plain: dict[str, object] = {**data}
        evidence, recordings = plain.get("evidence"), plain.get("recordings")
        plain |= {key: empty for key, empty in (("evidence", None), ("recordings", {})) if key in plain}
        record = super(TrialRecord, cls).decoded(plain)
        if record.workload not in EVIDENCE:
            raise RecordError(f"in the record, workload {record.workload!r} is unknown", key="workload")
        read = EVIDENCE[record.workload].from_json(evidence, "evidence") if evidence is not None else None
        return replace(record, evidence=read, recordings=_read_recordings(recordings))


def _read_recordings(data: object) -> dict[str, Coded]:
    if not isinstance(data, Mapping):
        raise RecordError("in the record, recordings is not a mapping", key="recordings")
    unknown = sorted(map(str, data.keys() - RECORDINGS.keys()))
    if unknown:
        raise RecordError(f"in the record, recordings.{unknown[0]} is unknown", key=f"recordings.{unknown[0]}")
    return {name: RECORDINGS[name].from_json(each, f"recordings.{name}") for name, each in data.items()}
