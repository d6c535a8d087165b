"""What others than the generator say of what was spoken in a load: the server's log, and of QUIC the packets. Pure."""

from collections import Counter
from collections.abc import Iterator, Sequence

from lanelab.driver.arm.arm import Arm
from lanelab.driver.arm.servers.registry import SERVERS
from lanelab.driver.record.evidence.load import LoadReport
from lanelab.driver.record.evidence.server import Line
from lanelab.driver.record.evidence.spoken import Datagrams, SpokenEvidence
from lanelab.driver.record.reasons import Failure, Flag, FlagName, Reason
from lanelab.driver.trial.server_load.wire import H3, judge_quic

# As servers write them; ApacheBench speaks HTTP/1.0 where an arm says HTTP/1.1.
WRITTEN = {"HTTP/3.0": H3, "HTTP/2.0": "h2", "HTTP/1.1": "http/1.1", "HTTP/1.0": "http/1.1"}
UNKNOWN = "unknown"
MOST_DROPPED = 0.001  # of the datagrams that came: each lost one slows its connection down


def served_by_protocol(lines: Sequence[Line]) -> dict[str, int]:
    """Return how many requests of a server's log came by each protocol, as an arm calls it."""
    return dict(Counter(WRITTEN.get(each.protocol or "", each.protocol or UNKNOWN) for each in lines))


def judge_spoken(spoken: SpokenEvidence | None, arm: Arm, report: LoadReport) -> Iterator[Failure]:
    """Yield a failure where the others do not agree with the arm, or say nothing although they should."""
    if spoken is None:
        if arm.protocol == H3 or arm.protocol in SERVERS[arm.server].sampled:
            yield Failure(Reason.EVIDENCE_MISSING, "recordings.spoken is missing")
        return
    yield from _served(spoken, arm, report)
    if arm.protocol == H3:
        yield from judge_quic(spoken.quic, arm)
        if spoken.datagrams is None:
            yield Failure(Reason.EVIDENCE_MISSING, "recordings.spoken.datagrams is missing")
        else:
            yield from _dropped(spoken.datagrams)
        if spoken.at_server is None:
            yield Failure(Reason.EVIDENCE_MISSING, "recordings.spoken.at_server is missing")
    elif spoken.quic and spoken.quic.begun:
        detail = f"by the capture {spoken.quic.begun} QUIC connections were begun"
        yield Failure(Reason.PROTOCOL_FALLBACK, detail)


def spoken_flags(spoken: SpokenEvidence | None) -> tuple[Flag, ...]:
    """Return a flag where the server's sockets dropped datagrams. A server that cannot keep up is what a load may be
    for, so the trial counts."""
    at_server = spoken.at_server if spoken else None
    if at_server is None:
        return ()
    came = at_server.received + at_server.dropped
    if at_server.dropped <= MOST_DROPPED * came:
        return ()
    late = f"{at_server.without_room} of them since the server read too late"
    detail = f"of {came} datagrams that came for the server its sockets dropped {at_server.dropped}, {late}"
    return (Flag(FlagName.SERVER_DROPPED, detail),)


def _served(spoken: SpokenEvidence, arm: Arm, report: LoadReport) -> Iterator[Failure]:
    for name in sorted(set(spoken.served) - {arm.protocol}):
        detail = f"by the server's log {spoken.served[name]} requests came by {name} instead of {arm.protocol}"
        yield Failure(Reason.PROTOCOL_FALLBACK, detail)
    if not spoken.served and report.requests.ended and arm.protocol in SERVERS[arm.server].sampled:
        detail = "recordings.spoken.served is missing: the server's log has no request"
        yield Failure(Reason.EVIDENCE_MISSING, detail)


def _dropped(datagrams: Datagrams) -> Iterator[Failure]:
    came = datagrams.received + datagrams.dropped
    if datagrams.dropped > MOST_DROPPED * came:
        detail = f"of {came} datagrams that came for it its sockets dropped {datagrams.dropped}: it read them too late"
        yield Failure(Reason.GENERATOR_LIMITED, detail)
