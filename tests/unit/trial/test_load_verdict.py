"""Whether a load counts: each piece of evidence that is missing or false fails the trial by name."""

import dataclasses
from typing import Any

import pytest

from lanelab.driver.arm.arm import Arm
from lanelab.driver.record.evidence.load import (
    ErrorCount,
    GeneratorUse,
    Latency,
    LoadEvidence,
    LoadReport,
    ServedBy,
    Tally,
    WireWitness,
)
from lanelab.driver.record.evidence.machine import MachineEvidence, MachineUse
from lanelab.driver.record.metrics import LOAD
from lanelab.driver.record.reasons import Reason
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.trial.server_load.finish import measures_of
from lanelab.driver.trial.server_load.verdict import Expected, judge
from tests.kit.k6_loads import PAGES_OF_K6

OBJECTS = dataclasses.replace(PAGES_OF_K6, generator="ab", script="", users=(), requests=100, most_bytes=10**9)
ARM = Arm.parse("h2", {"protocol": "h2", "tls": "1.3"})
TIMES = Latency(90, 1, 2, 2, 3, 4, 5, 6, 7, ())
PAGE_TIMES = dataclasses.replace(TIMES, count=9)
USE = GeneratorUse(
    cpu_s=2, seconds=10, processors=1, lag_50_ms=0, lag_99_ms=1, lag_max_ms=3, files_most=60, files_allowed=1000,
    ports_allowed=28_000, memory_bytes_most=10**8,
)  # fmt: skip
REPORT = LoadReport(
    generator="k6 1.8.1", protocol="h2", tls="1.3", seconds=10,
    requests=Tally(100, 90, 6, 2, 4, 900, TIMES), pages=Tally(12, 9, 2, 1, 1, 900, PAGE_TIMES),
    parts_ms={}, errors={"timeout": ErrorCount(2, 60_000, 60_000), "reset": ErrorCount(4, 3, 9)},
    statuses={"200": 90}, body_bytes=90_000, connections=6, dropped=0, use=USE, stopped="",
)  # fmt: skip
SERVED = ServedBy("Apache/2.4.65", "Listen 80", ())
WIRE = WireWitness(6, {"tls": 6}, {"tls": 6}, {"TLS 1.3": 6}, {"h2": 6})
EVIDENCE = LoadEvidence(REPORT, SERVED, None, WIRE, {})
MACHINE = MachineEvidence(
    (
        MachineUse(
            ("client", "router", "server"), 2, 10.0, {"client": 2.0}, {}, 0.3, 0.0, 0.1, None, 0, 0.0, 0, 1.0, {}
        ),
    ),
    0.0,
)
RECORD = TrialRecord(
    LOAD, "2026-01-01T00:00:00.000Z", {}, {}, (), (), (), {}, EVIDENCE, recordings={"machine": MACHINE}
)
EXPECTED = Expected(ARM, PAGES_OF_K6, frozenset({"machine"}), 2, (1000,))
OF_OBJECTS = Expected(ARM, OBJECTS, frozenset({"machine"}), 1, (1000,))
# What ApacheBench would say of 100 answers: it tells nothing of itself.
BY_AB = dataclasses.replace(
    REPORT, requests=Tally(100, 100, 0, 0, 0, 0, dataclasses.replace(TIMES, count=100)), pages=None, errors={},
    body_bytes=100_000, use=None,
)  # fmt: skip


def reasons(record: TrialRecord, expected: Expected = EXPECTED) -> list[Reason]:
    return [failure.reason for failure in judge(record, expected)]


def with_report(base: LoadReport = REPORT, **changes: Any) -> TrialRecord:
    report = dataclasses.replace(base, **changes)
    return dataclasses.replace(RECORD, evidence=dataclasses.replace(EVIDENCE, generator=report))


def with_use(**changes: Any) -> TrialRecord:
    return with_report(use=dataclasses.replace(USE, **changes))


def test_requests_that_fail_are_a_result_where_users_load_a_server() -> None:
    assert reasons(RECORD) == []


def test_a_fixed_number_of_answers_counts_when_all_came() -> None:
    assert reasons(with_report(BY_AB), OF_OBJECTS) == []


@pytest.mark.parametrize("piece", ["generator", "server", "wire"])
def test_a_piece_of_evidence_that_is_missing_is_named(piece: str) -> None:
    evidence = LoadEvidence.from_json({**EVIDENCE.to_json(), piece: None})
    (failure,) = judge(dataclasses.replace(RECORD, evidence=evidence), EXPECTED)
    assert failure.reason is Reason.EVIDENCE_MISSING
    assert f"evidence.{piece}" in failure.detail


def test_without_any_evidence_a_trial_fails() -> None:
    assert reasons(dataclasses.replace(RECORD, evidence=None)) == [Reason.EVIDENCE_MISSING]


def test_a_recorder_that_left_nothing_is_missed() -> None:
    assert reasons(dataclasses.replace(RECORD, recordings={})) == [Reason.EVIDENCE_MISSING]


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (with_report(protocol="http/1.1"), Reason.PROTOCOL_FALLBACK),
        (with_report(tls="1.2"), Reason.TLS_FALLBACK),
        (with_report(stopped="SIGTERM"), Reason.GENERATOR_FAILED),
        (with_report(pages=None), Reason.EVIDENCE_MISSING),
        (with_report(seconds=0), Reason.EVIDENCE_MISSING),
        (with_report(errors={}), Reason.EVIDENCE_MISSING),
        (with_report(requests=dataclasses.replace(REPORT.requests, begun=101)), Reason.EVIDENCE_MISSING),
        (with_report(requests=dataclasses.replace(REPORT.requests, timed_out=7)), Reason.EVIDENCE_MISSING),
        (with_report(requests=dataclasses.replace(REPORT.requests, ms=None)), Reason.EVIDENCE_MISSING),
        (
            with_report(pages=dataclasses.replace(REPORT.pages or REPORT.requests, unfinished=0)),
            Reason.EVIDENCE_MISSING,
        ),
        (with_report(errors={**REPORT.errors, "body": ErrorCount(1, 1, 1)}), Reason.FAILED_OBJECT),
        (with_use(cpu_s=9.1), Reason.GENERATOR_LIMITED),
        (with_use(lag_99_ms=101), Reason.GENERATOR_LIMITED),
        (with_use(lag_99_ms=21), Reason.GENERATOR_LIMITED),  # the median request took 5 ms
        (with_use(files_most=1000), Reason.GENERATOR_LIMITED),
        (with_use(files_allowed=30_000, files_most=28_000), Reason.GENERATOR_LIMITED),
        (
            dataclasses.replace(
                RECORD,
                evidence=dataclasses.replace(EVIDENCE, server=dataclasses.replace(SERVED, error_lines=("child died",))),
            ),
            Reason.SERVER_ERROR_LOG,
        ),
    ],
)
def test_what_is_wrong_fails_the_trial(record: TrialRecord, reason: Reason) -> None:
    assert reasons(record) == [reason]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"connections": 0}, Reason.EVIDENCE_MISSING),
        ({"spoken_up": {"tls": 5, "http/1.1": 1}}, Reason.PROTOCOL_FALLBACK),
        ({"spoken_down": {"other": 1}}, Reason.PROTOCOL_FALLBACK),
        ({"tls": {"TLS 1.2": 6}}, Reason.TLS_FALLBACK),
        ({"offered": {"http/1.1": 6}}, Reason.PROTOCOL_FALLBACK),
    ],
)
def test_the_wire_is_a_witness_too(changes: dict[str, Any], reason: Reason) -> None:
    evidence = dataclasses.replace(EVIDENCE, wire=dataclasses.replace(WIRE, **changes))
    assert reasons(dataclasses.replace(RECORD, evidence=evidence)) == [reason]


def test_nothing_that_was_answered_fails_the_trial() -> None:
    requests = Tally(6, 0, 6, 2, 0, 0, None)
    assert Reason.FAILED_REQUESTS in reasons(with_report(requests=requests, pages=Tally(2, 0, 2, 2, 0, 0, None)))


def test_a_server_that_says_it_has_no_worker_left_is_what_a_load_is_for() -> None:
    line = "[mpm_worker:error] AH00287: server reached MaxRequestWorkers setting, consider raising it"
    served = dataclasses.replace(SERVED, error_lines=(line,))
    assert reasons(dataclasses.replace(RECORD, evidence=dataclasses.replace(EVIDENCE, server=served))) == []


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"requests": Tally(100, 99, 1, 0, 0, 0, dataclasses.replace(TIMES, count=99)),
          "errors": {"reset": ErrorCount(1, 1, 1)}}, Reason.FAILED_REQUESTS),
        ({"requests": Tally(99, 99, 0, 0, 0, 0, dataclasses.replace(TIMES, count=99))}, Reason.TOO_FEW_REQUESTS),
        ({"requests": Tally(100, 0, 100, 0, 0, 0, None), "errors": {"body": ErrorCount(100, None, None)}},
         Reason.FAILED_OBJECT),
        ({"requests": Tally(100, 99, 1, 0, 0, 0, None), "errors": {"reset": ErrorCount(1, None, None)}},
         Reason.FAILED_REQUESTS),
    ],
)  # fmt: skip
def test_a_fixed_number_of_answers_has_to_be_whole(changes: dict[str, Any], reason: Reason) -> None:
    assert reasons(with_report(BY_AB, **changes), OF_OBJECTS) == [reason]


def test_apachebench_speaks_http_1_0_where_the_arm_says_http_1_1() -> None:
    arm = Arm.parse("http", {"tls": "1.3"})
    expected = dataclasses.replace(OF_OBJECTS, arm=arm)
    assert reasons(with_report(BY_AB, protocol="http/1.0"), expected) == []
    assert reasons(with_report(BY_AB, protocol="http/1.0"), OF_OBJECTS) == [Reason.PROTOCOL_FALLBACK]


def test_measures_are_of_what_ended_well_and_count_the_rest() -> None:
    measures = measures_of(REPORT)
    assert measures["requests_per_s"] == 9.0
    assert measures["pages_per_s"] == 0.9
    assert (measures["failed_pages"], measures["unfinished_pages"]) == (2, 1)
    assert (measures["page_ms"], measures["latency_99_9_ms"]) == (2, 6)
    assert "bytes_per_s" not in measures_of(dataclasses.replace(REPORT, body_bytes=None))


def test_rates_are_of_what_ended_in_their_time() -> None:
    """A download of 2 s, again and again, from 0.5 s before the end of the warm-up on: five end in the 10 s after it,
    of which four were begun there. The rate is one in 2 s."""
    four = dataclasses.replace(TIMES, count=4)
    tally = Tally(5, 4, 0, 0, 1, 500, four, ended_after_warm_up=5)
    measures = measures_of(dataclasses.replace(REPORT, requests=tally, pages=tally, body_bytes=5_000_000))
    assert (measures["requests_per_s"], measures["pages_per_s"], measures["bytes_per_s"]) == (0.5, 0.5, 500_000)


def test_a_record_from_before_a_count_was_kept_is_read() -> None:
    old = REPORT.requests.to_json()
    del old["ended_after_warm_up"]
    assert Tally.from_json(old) == REPORT.requests


def test_a_record_is_read_back_as_it_was_written() -> None:
    assert TrialRecord.from_json(RECORD.to_json()) == RECORD


def test_a_proxy_that_says_nothing_is_missed() -> None:
    proxied = dataclasses.replace(EXPECTED, arm=Arm.parse("arm", {**ARM.changed(), "proxy": "nginx"}))
    (failure,) = judge(RECORD, proxied)
    assert failure.reason is Reason.EVIDENCE_MISSING
    assert "evidence.proxy" in failure.detail
    said = dataclasses.replace(EVIDENCE, proxy=ServedBy("nginx/1.22.1", "", ()))
    assert list(judge(dataclasses.replace(RECORD, evidence=said), proxied)) == []
    complains = dataclasses.replace(EVIDENCE, proxy=ServedBy("nginx/1.22.1", "", ("it is broken",)))
    (failure,) = judge(dataclasses.replace(RECORD, evidence=complains), proxied)
    assert failure.reason is Reason.SERVER_ERROR_LOG
    assert "of the proxy: it is broken" in failure.detail
