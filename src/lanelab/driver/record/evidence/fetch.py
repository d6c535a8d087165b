"""All that a fetch leaves for its judges: what a page load leaves, with a fetcher where that has a browser."""

from dataclasses import dataclass

from lanelab.driver.base.coded import Coded
from lanelab.driver.record.evidence.browser import LoadClock
from lanelab.driver.record.evidence.page_load import PageLoadEvidence

US_PER_MS = 1000


@dataclass(frozen=True, slots=True)
class FetchedObject(Coded):
    """One request of the fetcher and what came of it. Times are ms from the start of its log."""

    request: int  # its number in the fetcher's log
    url: str  # host, path and query
    measured: bool  # False: of the fetch before, which warms connections
    status: int | None  # None: there was no answer
    encoding: str | None  # of the body, as it came
    body_bytes: int
    sha256: str | None  # of the body; None: it did not come whole
    began_ms: float
    ended_ms: float | None  # when the body was whole; None: it did not come so far
    error: str | None


@dataclass(frozen=True, slots=True)
class FetchReport(Coded):
    """The report of a fetcher that ended by itself."""

    version: str
    at_once: int  # requests that were under way at most
    warm: bool  # whether all was fetched once before
    began_ms: float  # of what is measured, on the clock of its log
    ended_ms: float
    in_time: bool  # nothing was given up since the time was over
    objects: tuple[FetchedObject, ...]  # in the order of asking

    @property
    def total_ms(self) -> float:
        return self.ended_ms - self.began_ms

    @property
    def measured(self) -> tuple[FetchedObject, ...]:
        return tuple(each for each in self.objects if each.measured)


@dataclass(frozen=True, slots=True)
class FetchEvidence(PageLoadEvidence):
    """The evidence of a fetch. `browser` is None; `gateway` is the fetcher's log of what it did on the wire, which is
    written as a gateway's is; `parts` is None."""

    fetch: FetchReport | None = None  # None: the fetcher did not come to one

    @property
    def loaded_ms(self) -> float | None:
        """Return how long the fetch took; None where it came to no end."""
        return self.fetch.total_ms if self.fetch and self.fetch.in_time else None

    @property
    def broken_off(self) -> bool:
        return self.fetch is not None and self.loaded_ms is None

    @property
    def client(self) -> str:
        return "fetcher"

    @property
    def clock(self) -> LoadClock | None:
        """Put the fetch on the clock of captures and logs."""
        started_us = self.gateway.started_unix_us if self.gateway else None
        if started_us is None or self.fetch is None:
            return None
        began_us = started_us + round(self.fetch.began_ms * US_PER_MS)
        return LoadClock(began_us, began_us, began_us)
