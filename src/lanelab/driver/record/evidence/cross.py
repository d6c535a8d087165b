"""Cross traffic of a trial, as its two ends saw it."""

from dataclasses import dataclass

from lanelab.driver.base.coded import Coded


@dataclass(frozen=True, slots=True)
class CrossFlow(Coded):
    """One bulk flow."""

    congestion_control: str  # that its sender's kernel used
    bytes_before: int  # that its receiver had before the load began
    bytes: int  # that its receiver got during the load
    retransmissions: int  # since the flow began
    rtt_ms: float | None  # median of its sender's smoothed round trips during the load; None: there was no sample
    ended: bool  # it was over before the load was


@dataclass(frozen=True, slots=True)
class ProbeTimes(Coded):
    """Round trips of small packets, one each 50 ms."""

    idle_ms: float  # the quickest before any flow began
    sent: int  # during the load
    answered: int
    median_ms: float | None  # None: none was answered during the load
    worst_95_ms: float | None  # that 95 of 100 stayed below


@dataclass(frozen=True, slots=True)
class CrossEvidence(Coded):
    way: str
    flows: tuple[CrossFlow, ...]
    settled_s: float  # from the flows' beginning to the load's
    load_s: float
    longest_silence_s: float  # of all flows together, during the load
    probes: ProbeTimes
