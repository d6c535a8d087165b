"""The captures are whole, and begin with the trial."""

from collections.abc import Iterator

from lanelab.driver.record.reasons import Failure, Reason
from lanelab.driver.trial.page_load.answer_bytes import answer_bytes, captured_bytes, loaded
from lanelab.driver.trial.page_load.earlier import earlier
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
    """Yield a failure where connections from before the capture, which are no part of the load, used the link."""
    stray = [each for each in earlier(case.packets) if each.payload_down > FAREWELL] if case.packets else []
    if stray:
        carried = [f"{each.payload_down} bytes to port {each.client_port}" for each in stray]
        yield Failure(Reason.STRAY_PACKETS, f"of connections from before the trial: {few(carried)}")


def _failures(case: Case) -> Iterator[Failure]:
    yield from _lost(case)
    yield from _stray(case)


JUDGE = Judge(Needs.TRIAL, _failures)
