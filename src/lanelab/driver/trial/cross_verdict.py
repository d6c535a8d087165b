"""Whether a link's cross traffic was there while something was loaded. Pure."""

from collections.abc import Iterator

from lanelab.driver.link import Link
from lanelab.driver.record.evidence.cross import CrossEvidence
from lanelab.driver.record.reasons import Failure, Reason
from lanelab.driver.record.record import TrialRecord

LONGEST_SILENCE_S, SILENT_TRIPS = 3.0, 4  # a lost end waits for its timeout, which grows with the round trip


def cross_failures(record: TrialRecord, link: Link) -> Iterator[Failure]:
    """Yield the failures of a trial whose link has cross traffic."""
    if not link.cross:
        return
    seen = record.cross
    if seen is None:
        if not record.failures:
            yield Failure(Reason.EVIDENCE_MISSING, "the record lacks recordings.cross")
        return
    missing = "; ".join(_missing(seen, link))
    if missing:
        yield Failure(Reason.CROSS_MISSING, missing)
    limit = LONGEST_SILENCE_S + SILENT_TRIPS * link.rtt.ns / 1e9
    if seen.longest_silence_s > limit:
        what = f"for {seen.longest_silence_s:.1f} s of the load no flow delivered anything (limit: {limit:.1f} s)"
        yield Failure(Reason.CROSS_STALLED, what)


def _missing(seen: CrossEvidence, link: Link) -> Iterator[str]:
    cross = link.cross
    if seen.way != cross.way:
        yield f"the flows went {seen.way} instead of {cross.way}"
    if len(seen.flows) != cross.flows:
        yield f"there were {len(seen.flows)} flows instead of {cross.flows}"
    empty = sum(not flow.bytes_before for flow in seen.flows)
    if empty:
        yield f"{empty} of {len(seen.flows)} flows had delivered nothing when the load began"
    ended = sum(flow.ended for flow in seen.flows)
    if ended:
        yield f"{ended} of {len(seen.flows)} flows ended before the load did"
    others = sorted({flow.congestion_control for flow in seen.flows} - {cross.congestion_control})
    if others:
        yield f"flows used {' and '.join(others)} instead of {cross.congestion_control}"
