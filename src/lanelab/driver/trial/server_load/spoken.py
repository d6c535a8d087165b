"""What others than the generator say of what was spoken in a load: the server's log, and of QUIC the packets. Pure."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from lanelab.driver.arm.arm import Arm
from lanelab.driver.arm.quic_stacks import H3
from lanelab.driver.arm.servers.registry import SERVERS
from lanelab.driver.record.evidence.load import LoadReport
from lanelab.driver.record.evidence.server import Line, ServedRequest
from lanelab.driver.record.evidence.spoken import Datagrams, SpokenEvidence
from lanelab.driver.record.reasons import Failure, Flag, FlagName, Reason
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.record.series import Series
from lanelab.driver.trial.datagrams import drops_in_words, none_came, too_many_dropped
from lanelab.driver.trial.server_load.wire import judge_quic

# As servers write them; ApacheBench speaks HTTP/1.0 where an arm says HTTP/1.1.
WRITTEN = {"HTTP/3.0": H3, "HTTP/2.0": "h2", "HTTP/1.1": "http/1.1", "HTTP/1.0": "http/1.1"}
UNKNOWN = "unknown"
ANSWERS, ANSWER_MS = "requests_per_s", "request_ms"  # series of the generator
LEAST_S = 3.0  # a load of so long has a second of which the generator tells
EDGES_S = 2  # at the beginning and the end, since the clocks' seconds begin at different times
US_PER_S, MS_PER_S = 1_000_000, 1000


def served_by_protocol(lines: Sequence[Line]) -> dict[str, int]:
    """Return how many requests of a server's log came by each protocol, as an arm calls it."""
    return dict(Counter(WRITTEN.get(each.protocol or "", each.protocol or UNKNOWN) for each in lines))


def seconds_logged(lines: Sequence[Line]) -> tuple[int, ...]:
    """Return the seconds, from the first, in which a server logged a request: it does when it has answered."""
    ended = {(each.began_us + each.duration_us) // US_PER_S for each in lines if isinstance(each, ServedRequest)}
    return tuple(sorted(each - min(ended) for each in ended))


def judge_spoken(record: TrialRecord, arm: Arm, report: LoadReport, most_packets: int) -> Iterator[Failure]:
    """Yield a failure where the others do not agree with the arm, or say nothing although they should. A capture of
    `most_packets` has come to its end before the load."""
    spoken = record.spoken
    if spoken is None:
        if arm.protocol == H3 or arm.protocol in SERVERS[arm.server].sampled:
            yield Failure(Reason.EVIDENCE_MISSING, "recordings.spoken is missing")
        return
    yield from _served(spoken, arm, report, record.series)
    if arm.protocol == H3:
        yield from judge_quic(spoken.quic, arm, report.connections, most_packets)
        yield from _counted(spoken, report)
        if spoken.datagrams is not None:
            yield from _dropped(spoken.datagrams)
    elif spoken.quic and spoken.quic.begun:
        detail = f"by the capture {spoken.quic.begun} QUIC connections were begun"
        yield Failure(Reason.PROTOCOL_FALLBACK, detail)


def _counted(spoken: SpokenEvidence, report: LoadReport) -> Iterator[Failure]:
    """Yield a failure where a kernel did not count, or counted nothing though requests went there and back."""
    for name, datagrams in (("datagrams", spoken.datagrams), ("at_server", spoken.at_server)):
        if datagrams is None:
            yield Failure(Reason.EVIDENCE_MISSING, f"recordings.spoken.{name} is missing")
        elif report.requests.ended and none_came(datagrams):
            detail = f"recordings.spoken.{name}: no datagram came, and {report.requests.ended} requests ended"
            yield Failure(Reason.EVIDENCE_MISSING, detail)


def spoken_flags(spoken: SpokenEvidence | None) -> tuple[Flag, ...]:
    """Return a flag where the server's sockets dropped datagrams. A server that cannot keep up is what a load may be
    for, so the trial counts."""
    at_server = spoken.at_server if spoken else None
    if at_server is None:
        return ()
    detail = drops_in_words(at_server, "server", "server")
    return (Flag(FlagName.SERVER_DROPPED, detail),) if detail else ()


def _served(spoken: SpokenEvidence, arm: Arm, report: LoadReport, series: Mapping[str, Series]) -> Iterator[Failure]:
    for name in sorted(set(spoken.served) - {arm.protocol}):
        detail = f"by the server's log {spoken.served[name]} requests came by {name} instead of {arm.protocol}"
        yield Failure(Reason.PROTOCOL_FALLBACK, detail)
    if arm.protocol not in SERVERS[arm.server].sampled or not report.requests.ended:
        return
    if not spoken.served:
        detail = "recordings.spoken.served is missing: the server's log has no request"
        yield Failure(Reason.EVIDENCE_MISSING, detail)
    elif spoken.served_in_s is None:
        yield Failure(Reason.EVIDENCE_MISSING, "recordings.spoken.served_in_s is missing")
    else:
        yield from _throughout(spoken.served_in_s, report, series)


def _throughout(served_in_s: Sequence[int], report: LoadReport, series: Mapping[str, Series]) -> Iterator[Failure]:
    """Yield a failure where the server's log is silent while the generator has answers.

    The log has the first requests of each second, and such a second begins with the first of them, so it may end in the
    next one of the clock. An answer comes to the generator as much later as it takes on its way. So a second with a
    line stands for itself, for the next, and for as many more as answers took.
    """
    answered = sum(value > 0 for _, value in series[ANSWERS].points) if ANSWERS in series else 0
    if not answered and report.seconds >= LEAST_S:
        yield Failure(Reason.EVIDENCE_MISSING, f"series.{ANSWERS} is missing: {report.requests.ended} requests ended")
        return
    slowest_ms = max((value for _, value in series[ANSWER_MS].points), default=0.0) if ANSWER_MS in series else 0.0
    reach = 2 + math.ceil(slowest_ms / MS_PER_S)
    covered = {second + later for second in served_in_s for later in range(reach)}
    if len(covered) < answered - EDGES_S:
        detail = f"the server logged requests in {len(served_in_s)} seconds, and answers came in {answered}"
        yield Failure(Reason.EVIDENCE_MISSING, f"recordings.spoken.served_in_s: {detail}")


def _dropped(datagrams: Datagrams) -> Iterator[Failure]:
    came = datagrams.received + datagrams.dropped
    if too_many_dropped(datagrams):
        detail = f"of {came} datagrams that came for it its sockets dropped {datagrams.dropped}: it read them too late"
        yield Failure(Reason.GENERATOR_LIMITED, detail)
