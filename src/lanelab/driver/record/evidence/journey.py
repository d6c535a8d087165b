"""What a browser tells of the steps of a journey."""

from collections.abc import Mapping
from dataclasses import dataclass

from lanelab.driver.base.coded import Coded
from lanelab.driver.record.evidence.browser import LoadClock, PageTimes


@dataclass(frozen=True, slots=True)
class StepEvidence(Coded):
    """One navigation. Its requests are the next so many of the record's."""

    name: str
    page: str
    back: bool
    thought_ms: float  # from the end of the load before it until it began
    times: PageTimes
    clock: LoadClock
    navigation: Mapping[str, object] | None  # the browser's own entry; None: it showed the page as it was left
    requests: int


@dataclass(frozen=True, slots=True)
class JourneyEvidence(Coded):
    """The steps that were made, in order."""

    steps: tuple[StepEvidence, ...]
