"""Whether the router forwarded packets all the time. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass

from lanelab.driver.record.evidence.page_load import PageLoadEvidence
from lanelab.driver.record.reasons import Failure, Reason
from lanelab.driver.trial.page_load.judges.judge import Judge, Needs

LARGEST_SHARE = 0.05  # of the load time, in which the router may stand still, all such times together
LEAST_MS = 20.0  # what is shorter than that is no share of a short load


@dataclass(frozen=True, slots=True)
class RouterVerdict:
    evidence: PageLoadEvidence

    def failures(self) -> Iterator[Failure]:
        """A router that waits for a processor is flagged (`router-waited`). One that stands still without waiting is no
        link."""
        clock, plt_ms = self.evidence.clock, self.evidence.loaded_ms
        stalls = self.evidence.router.stalls or ()
        if clock is None or plt_ms is None:
            return
        begin_us = clock.asked
        end_us = begin_us + plt_ms * 1000
        inside = [each for each in stalls if each.to_us > begin_us and each.from_us < end_us]
        overlaps_us = [min(each.to_us, end_us) - max(each.from_us, begin_us) for each in inside]
        stood_ms = sum(min(each.stood_us, us) for each, us in zip(inside, overlaps_us, strict=True)) / 1000
        if stood_ms > max(LEAST_MS, plt_ms * LARGEST_SHARE):
            what = f"the router stood still for {stood_ms:.0f} ms of the load ({stood_ms / plt_ms:.0%})"
            longest = max(overlaps_us) / 1000
            yield Failure(Reason.ROUTER_STOPPED, f"{what}, and did not wait for a processor; longest: {longest:.0f} ms")


JUDGE = Judge(Needs.LOAD, lambda case: RouterVerdict(case.evidence).failures())
