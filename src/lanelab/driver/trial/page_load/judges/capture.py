"""The captures are whole, and begin with the trial."""

from collections.abc import Iterator

from lanelab.driver.record.reasons import Failure, Reason
from lanelab.driver.trial.page_load.answer_bytes import answer_bytes, captured_bytes, loaded
from lanelab.driver.trial.page_load.evidence import FAREWELL
from lanelab.driver.trial.page_load.judges.judge import Case, Judge, Needs
from lanelab.driver.trial.page_load.requests import few


def _lost(case: Case) -> Iterator[Failure]:
    lacks = "; ".join(_not_captured(case))
    if lacks:
        yield Failure(Reason.CAPTURE_LOST_PACKETS, lacks)
    lost = case.evidence.router.lost_at_input
    if lost:
        yield Failure(Reason.ROUTER_LOST_PACKETS, f"{lost} packets that the link did not take were lost")


def _not_captured(case: Case) -> Iterator[str]:
    for node, capture in case.evidence.capture.items():
        if capture.dropped:
            yield f"the kernel dropped {capture.dropped} packets of the capture on the {node}"
        read = case.evidence.packets.get(node)
        if read and not read.incomplete and read.packets < capture.captured:
            yield f"the capture on the {node} has {read.packets} of the {capture.captured} packets that were taken"
    if case.packets and case.packets.incomplete:
        yield case.packets.incomplete
    elif case.packets:
        answers, captured = answer_bytes(loaded(case.record), case.record), captured_bytes(case.packets)
        if captured < answers:
            yield f"the capture has {captured:,} bytes of answers; at the load event {answers:,} had come"


def _stray(case: Case) -> Iterator[Failure]:
    """Captures begin before the browser connects: what has no beginning there began before, and used the link."""
    connections = case.packets.by_connection if case.packets else ()
    stray = [each for each in connections if not each.syn and each.payload_down > FAREWELL]
    if stray:
        carried = [f"{each.payload_down} bytes to port {each.client_port}" for each in stray]
        yield Failure(Reason.STRAY_PACKETS, f"of connections from before the trial: {few(carried)}")


def _failures(case: Case) -> Iterator[Failure]:
    yield from _lost(case)
    yield from _stray(case)


JUDGE = Judge(Needs.TRIAL, _failures)
