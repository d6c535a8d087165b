"""Whether a load of a server counts. Pure: from its evidence to the reasons against it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from driver.experiment.arm import Arm
from driver.experiment.model import ServerLoadSettings
from driver.workloads.server_load.client import body_bytes, requests
from model.evidence.server_load import LoadReport, ServerLoadEvidence
from model.reasons import Failure, Reason
from model.record import TrialRecord

MOST_SHOWN = 3


def judge(
    record: TrialRecord, arm: Arm, load: ServerLoadSettings, sizes: Sequence[int], *, watched: bool = False
) -> Iterator[Failure]:
    """Every reason why the trial does not count; `sizes`: bytes of what was asked for, in turn; `watched`: the machine
    was to be."""
    yield from record.failures
    if record.failures:
        return
    evidence = record.evidence
    if not isinstance(evidence, ServerLoadEvidence):
        yield _missing("evidence")
        return
    yield from _second_client(evidence)
    if evidence.server is None:
        yield _missing("evidence.server")
    elif evidence.server.error_lines:
        yield Failure(Reason.SERVER_ERROR_LOG, _few([line.strip() for line in evidence.server.error_lines]))
    if watched and record.machine is None:
        yield _missing("recordings.machine")
    if evidence.client is None:
        yield _missing("evidence.client")
    else:
        yield from _client(evidence.client, arm, requests(load, sizes), sizes)


def _client(report: LoadReport, arm: Arm, asked: int, sizes: Sequence[int]) -> Iterator[Failure]:
    if report.load.protocol != arm.protocol or report.load.tls != (arm.tls != "off"):
        tls = "with TLS" if report.load.tls else "without TLS"
        yield Failure(Reason.PROTOCOL_FALLBACK, f"the client spoke {report.load.protocol} {tls}, not as the arm says")
    if report.failed:
        why = _few([f"{error} ({times} times)" for error, times in report.errors.items()])
        bad = _few([f"status {status} ({times} times)" for status, times in report.statuses.items() if status >= "400"])
        detail = "; ".join(part for part in (why, bad) if part)
        yield Failure(
            Reason.FAILED_REQUESTS, f"{report.failed} of {asked} requests failed: {detail or 'no reason given'}"
        )
    elif report.succeeded < asked:
        yield Failure(Reason.TOO_FEW_REQUESTS, f"{report.succeeded} of {asked} requests were made")
    if sum(report.completions) != report.succeeded:
        counted = f"{sum(report.completions)} completions over time, and {report.succeeded} requests that succeeded"
        yield Failure(Reason.EVIDENCE_MISSING, f"evidence.client.completions: {counted}")
    if (
        arm.compression in ("recorded", "off")
        and report.succeeded == asked
        and report.body_bytes != body_bytes(asked, sizes)
    ):
        detail = f"{report.succeeded} answers had {report.body_bytes} bytes in all, not {body_bytes(asked, sizes)}"
        yield Failure(Reason.FAILED_OBJECT, detail)


def _second_client(evidence: ServerLoadEvidence) -> Iterator[Failure]:
    if evidence.second_client_was_asked and evidence.second_client is None:
        yield _missing("evidence.second_client")
    if evidence.second_client and evidence.second_client.failed:
        yield Failure(Reason.FAILED_REQUESTS, f"{evidence.second_client.failed} requests of h2load failed")


def _missing(what: str) -> Failure:
    return Failure(Reason.EVIDENCE_MISSING, f"{what} is missing")


def _few(words: list[str]) -> str:
    more = f" and {len(words) - MOST_SHOWN} more" if len(words) > MOST_SHOWN else ""
    return ", ".join(words[:MOST_SHOWN]) + more
