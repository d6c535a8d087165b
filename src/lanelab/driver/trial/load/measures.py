"""From what a load generator reports to the measures of a trial, by the names of driver/record/metrics.py. Pure."""

from lanelab.driver.record.evidence.load import Latency, LoadReport


def measures_of(report: LoadReport) -> dict[str, float]:
    """Numbers of the whole trial. One that the generator does not tell is not there."""
    seconds = report.seconds
    if seconds <= 0:  # which speaks against the trial
        return {}
    found = {
        "requests_per_s": report.requests.ended / seconds,
        "failed_requests": float(report.requests.failed),
        "dropped_arrivals": float(report.dropped),
        **_latency("latency", report.requests.ms),
    }
    if report.connections is not None:
        found["connections_opened"] = float(report.connections)
    if report.body_bytes is not None:
        found["bytes_per_s"] = report.body_bytes / seconds
    if report.pages:
        found |= {
            "pages_per_s": report.pages.ended / seconds,
            "failed_pages": float(report.pages.failed),
            "unfinished_pages": float(report.pages.unfinished),
            **_latency("page", report.pages.ms),
        }
    for metric in report.script:
        found |= metric.measures()
    return found


def _latency(name: str, found: Latency | None) -> dict[str, float]:
    """What takes longer than the generator waits is in no percentile: failed_ and unfinished_ count it."""
    if found is None:
        return {}
    return {
        f"{name}_ms": found.p50,
        f"{name}_90_ms": found.p90,
        f"{name}_95_ms": found.p95,
        f"{name}_99_ms": found.p99,
        f"{name}_99_9_ms": found.p99_9,
        f"{name}_most_ms": found.max,
    }
