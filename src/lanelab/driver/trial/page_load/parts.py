"""What the load time of a trial was made of: the decomposition, given what a trial's folder and record have."""

from dataclasses import replace

from lanelab.driver.record.evidence.parts import Parts
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.trial.page_load.captures import Captures
from lanelab.driver.trial.parts.decompose import Loaded, decompose
from lanelab.driver.trial.parts.exchanges import MS
from lanelab.driver.trial.parts.intervals import Interval
from lanelab.driver.trial.workload import TrialContext


def with_parts(record: TrialRecord, context: TrialContext, captures: Captures) -> TrialRecord:
    """The record with the parts of its load time, as evidence and as measures. A load that failed has none."""
    evidence = record.page_load
    if evidence is None or evidence.browser is None or evidence.browser.times.plt_ms is None:
        return record
    timeline, arm = captures.clients_or_why(evidence.packets), context.arm
    if isinstance(timeline, str):
        return replace(record, evidence=replace(evidence, parts=Parts((), timeline)))
    loaded = Loaded(record.requests, evidence, timeline, context.link, _main_thread(record))
    made = decompose(loaded, one_at_a_time=not arm.multiplexed and arm.pipelining == 1)
    evidence = replace(evidence, parts=made.parts)
    return replace(record, evidence=evidence, measures={**record.measures, **made.measures})


def _main_thread(record: TrialRecord) -> list[Interval] | None:
    """When it was busy, on the capture's clock."""
    browser = record.page_load.browser if record.page_load else None
    if record.trace is None or browser is None or browser.clock is None or browser.clock.navigation is None:
        return None
    zero = browser.clock.navigation * 1000
    return [(zero + round(begin * MS), zero + round(end * MS)) for begin, end in record.trace.main_thread]
