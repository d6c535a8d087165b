"""From what the fetcher tells to the requests of a record, and to its measures. Pure."""

from collections.abc import Mapping
from dataclasses import fields
from statistics import median

from lanelab.driver.record.evidence.browser import OnTheLink, Request, Timings
from lanelab.driver.record.evidence.fetch import FetchedObject, FetchEvidence
from lanelab.driver.record.evidence.gateway import GatewayRequest
from lanelab.driver.site.site import CONTENT_ENCODING

FETCH = "Fetch"  # the type of such a request
NOT_TOLD = -1.0


def carried_by_number(evidence: FetchEvidence) -> Mapping[int, GatewayRequest]:
    """Return the lines of the fetcher's log by their numbers."""
    return {each.request: each for each in evidence.gateway.requests} if evidence.gateway else {}


def requests_of(evidence: FetchEvidence, scheme: str) -> tuple[Request, ...]:
    """Return what was measured, in the order of asking. Times are from the beginning of what is measured."""
    if evidence.fetch is None:
        return ()
    carried, zero = carried_by_number(evidence), evidence.fetch.began_ms
    remote = {each.connection: each.remote for each in evidence.gateway.connections} if evidence.gateway else {}
    known = [(each, carried[each.request]) for each in evidence.fetch.measured if each.request in carried]
    return tuple(_request(each, wire, zero, scheme, remote.get(wire.connection or 0)) for each, wire in known)


def _request(fetched: FetchedObject, wire: GatewayRequest, zero_ms: float, scheme: str, remote: str | None) -> Request:
    answered = fetched.status is not None and fetched.ended_ms is not None
    return Request(
        url=f"{scheme}://{fetched.url}",
        method=wire.method,
        status=fetched.status,
        type=FETCH,
        mime="",
        protocol=wire.protocol,
        connection=wire.connection,
        reused=wire.reused,
        priority="",
        remote=remote,
        from_cache=False,
        started_ms=round(fetched.began_ms - zero_ms, 3),
        ended_ms=round(fetched.ended_ms - zero_ms, 3) if fetched.ended_ms is not None else None,
        timings=_timings(fetched, wire),
        request_headers=(),
        response_headers=((CONTENT_ENCODING, fetched.encoding),) if fetched.encoding else (),
        request_header_bytes=wire.request_header_bytes,
        response_header_bytes=wire.response_header_bytes,
        body_bytes=fetched.body_bytes,
        wire_bytes=wire.response_header_wire_bytes + wire.response_body_bytes,
        error=fetched.error,
        tls=wire.tls,
        initiator="",
        before_load=answered,
        wire=OnTheLink(**{field.name: getattr(wire, field.name) for field in fields(OnTheLink)}),
    )


def _timings(fetched: FetchedObject, wire: GatewayRequest) -> Timings:
    """Return the parts that are known: until it was sent, until the first byte, until the last."""

    def between(begin: float | None, end: float | None) -> float:
        return NOT_TOLD if begin is None or end is None else round(max(0.0, end - begin), 3)

    return Timings(
        blocked=between(fetched.began_ms, wire.sent_ms),
        dns=NOT_TOLD,
        connect=NOT_TOLD,
        ssl=NOT_TOLD,
        send=0.0,
        wait=between(wire.sent_ms, wire.first_byte_ms),
        receive=between(wire.first_byte_ms, fetched.ended_ms),
    )


def object_ms(fetched: FetchedObject) -> float | None:
    """Return how long an object took, from when it was asked for."""
    return None if fetched.ended_ms is None else fetched.ended_ms - fetched.began_ms


def measures_of(evidence: FetchEvidence) -> dict[str, float]:
    """Return the numbers of a fetch that came to an end."""
    report = evidence.fetch
    if report is None or not report.measured or not report.in_time:
        return {}
    carried = carried_by_number(evidence)
    pairs = [(each, carried[each.request]) for each in report.measured if each.request in carried]
    times = [ms for each in report.measured if (ms := object_ms(each)) is not None]
    first = [wire.first_byte_ms - each.began_ms for each, wire in pairs if wire.first_byte_ms is not None]
    waits = [
        wire.first_byte_ms - wire.sent_ms
        for _, wire in pairs
        if wire.first_byte_ms is not None and wire.sent_ms is not None
    ]
    measures = {
        "fetch_ms": report.total_ms,
        "objects": float(len(report.measured)),
        "object_bytes": float(sum(each.body_bytes for each in report.measured)),
        "object_connections": float(len({wire.connection for _, wire in pairs} - {None})),
    }
    for name, values, of in (
        ("object_ms", times, median),
        ("object_most_ms", times, max),
        ("object_ttfb_ms", first, median),
        ("object_wait_ms", waits, median),
    ):
        if values:
            measures[name] = of(values)
    return {name: round(value, 3) for name, value in measures.items()}
