"""How the series of the server node came about: the evidence of the recorder `server_series`."""

from collections.abc import Mapping
from dataclasses import dataclass

from lanelab.driver.base.coded import Coded


@dataclass(frozen=True, slots=True)
class ServerSeriesEvidence(Coded):
    """Says what was looked at during a load, and how much that took."""

    seconds: float  # from the first look to the end
    samples: int
    samples_missed: int  # they came too late, and are left out: gaps of the series
    sampler_cpu_s: float | None  # processor time that looking took; None: the sampler did not end as it should
    longest_ms: float  # that one look took
    processes_before: Mapping[str, int]  # of each role, before the load
    memory_before_bytes: Mapping[str, int]  # likewise; a role whose memory the kernel does not tell is not there
    most_workers: int | None  # that the web server may have; None: it has no workers, or they cannot be read
    absent: Mapping[str, str]  # what could not be read -> why
    stopped: str  # why the sampler ended before the load; "": it did not
