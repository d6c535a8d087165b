"""A server under load: command lines and reports of its clients, its verdict, its keys in an experiment file."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest

from driver.bed.node import Completed
from driver.bench import servers
from driver.experiment.arm import Arm
from driver.experiment.model import ServerLoadSettings
from driver.experiment.read import parse_experiment
from driver.recorders.machine import MachineOptions
from driver.run.needs import needs_of
from driver.run.start import load_target
from driver.workloads.registry import WORKLOADS
from driver.workloads.server_load import client
from driver.workloads.server_load.client import Target
from driver.workloads.server_load.on_bed import ServerLoadOnBed
from driver.workloads.server_load.verdict import judge
from driver.workloads.workload import TrialContext
from model.errors import InputError, RecordError
from model.evidence.machine import MachineEvidence
from model.evidence.server_load import (
    LoadAsked,
    LoadReport,
    Percentiles,
    SecondReport,
    ServedBy,
    ServerLoadEvidence,
)
from model.link import Link
from model.metrics import PRIMARY, SERVER_LOAD
from model.reasons import Reason
from model.record import TrialRecord
from sites.load import site_names

SIZE = 1000
LOAD = ServerLoadSettings(clients=8, streams=16, requests=500, most=300_000)
ASKED = 300  # as many answers of this size as `most` allows
ARM = Arm.parse("spdy", {"via": "gateway", "protocol": "spdy/3.1"})
TIMES = Percentiles(1.0, 2.0, 3.0, 4.0, 5.0, 2.5)
REPORT = LoadReport(
    load=LoadAsked("http://dummy.test/a", "spdy/3.1", False, 8, 16, ASKED, 0),
    seconds=0.3,
    succeeded=ASKED,
    failed=0,
    requests_per_second=1000.0,
    body_bytes=ASKED * SIZE,
    wire_bytes=ASKED * SIZE + 9000,
    megabytes_per_second=1.0,
    latency_ms=TIMES,
    first_byte_ms=TIMES,
    statuses={"200": ASKED},
    errors={},
    completions=(100, 100, 100),
    completions_every_ms=100.0,
)
EVIDENCE = ServerLoadEvidence(REPORT, SecondReport(1200.0, 0), True, ServedBy("Apache", "Listen 80", ()))
MACHINE = MachineEvidence((), 0.0)
RECORD = TrialRecord(
    SERVER_LOAD, "2026-01-01T00:00:00.000Z", {}, {}, (), (), (), {}, EVIDENCE, recordings={"machine": MACHINE}
)
TEXT = """
workload: server_load
sites: [dummy/index.html]
links: {label: loopback}
arms: {h2: {protocol: h2, tls: 1.3}}
"""
PAGES = "sites: dummy\nlinks: {rtt: 20ms}\narms: {h2: {protocol: h2, tls: 1.3}}\n"


def reasons(evidence: ServerLoadEvidence | None) -> list[Reason]:
    record = dataclasses.replace(RECORD, evidence=evidence)
    return [failure.reason for failure in judge(record, ARM, LOAD, [SIZE])]


def with_report(**changes: Any) -> ServerLoadEvidence:
    return dataclasses.replace(EVIDENCE, client=dataclasses.replace(REPORT, **changes))


def without(piece: str) -> ServerLoadEvidence:
    return ServerLoadEvidence.from_json({**EVIDENCE.to_json(), piece: None})


def test_a_sound_load_counts() -> None:
    assert reasons(EVIDENCE) == []


@pytest.mark.parametrize("piece", ["client", "second_client", "server"])
def test_a_piece_of_evidence_that_is_missing_is_named(piece: str) -> None:
    record = dataclasses.replace(RECORD, evidence=without(piece))
    (failure,) = judge(record, ARM, LOAD, [SIZE])
    assert failure.reason == Reason.EVIDENCE_MISSING
    assert f"evidence.{piece}" in failure.detail


def test_without_any_evidence_a_trial_fails() -> None:
    assert reasons(None) == [Reason.EVIDENCE_MISSING]


def test_a_second_client_that_was_not_asked_is_not_missed() -> None:
    assert reasons(dataclasses.replace(EVIDENCE, second_client=None, second_client_was_asked=False)) == []


@pytest.mark.parametrize(
    ("evidence", "reason"),
    [
        (with_report(failed=3, errors={"reset": 3}), Reason.FAILED_REQUESTS),
        (with_report(succeeded=299, completions=(299,), body_bytes=299 * SIZE), Reason.TOO_FEW_REQUESTS),
        (with_report(completions=(100, 100)), Reason.EVIDENCE_MISSING),
        (with_report(body_bytes=ASKED * SIZE - 1), Reason.FAILED_OBJECT),
        (with_report(load=dataclasses.replace(REPORT.load, protocol="h2")), Reason.PROTOCOL_FALLBACK),
        (with_report(load=dataclasses.replace(REPORT.load, tls=True)), Reason.PROTOCOL_FALLBACK),
        (dataclasses.replace(EVIDENCE, second_client=SecondReport(1.0, 2)), Reason.FAILED_REQUESTS),
        (dataclasses.replace(EVIDENCE, server=ServedBy("Apache", "", ("child died",))), Reason.SERVER_ERROR_LOG),
    ],
)
def test_what_is_wrong_fails_the_trial(evidence: ServerLoadEvidence, reason: Reason) -> None:
    assert reasons(evidence) == [reason]


def finished(data: object, folder: Path) -> TrialRecord:
    experiment = parse_experiment(TEXT, "made.yaml", ["dummy"])
    site = load_target("dummy/index.html")
    size = next(each.size for each in site.objects if each.path == "/index.html")
    asked = client.requests(experiment.load or LOAD, [size])
    if isinstance(data, dict) and data["evidence"]["client"]:
        report = data["evidence"]["client"]
        report |= {"succeeded": asked, "completions": [asked], "body_bytes": asked * size}
        report["load"] |= {"protocol": "h2", "tls": True}
    return WORKLOADS[SERVER_LOAD].finish(
        data, TrialContext(experiment.arms[0], site, Link.parse({}), experiment, folder)
    )


def test_measures_and_series_are_those_of_the_clients(tmp_path: Path) -> None:
    record = finished(json.loads(json.dumps(RECORD.to_json())), tmp_path)
    assert record.failures == ()
    assert record.measures == {
        "requests_per_s": 1000.0, "bytes_per_s": 1e6, "latency_ms": 2.0, "latency_99_ms": 4.0,
        "h2load_requests_per_s": 1200.0,
    }  # fmt: skip
    assert PRIMARY[SERVER_LOAD] in record.measures
    assert record.series["completions"].unit == "requests"
    assert TrialRecord.from_json(json.loads(json.dumps(record.to_json()))) == record


@pytest.mark.parametrize("key", [field.name for field in dataclasses.fields(LoadReport)])
def test_a_key_that_is_missing_in_the_record_fails_the_trial(tmp_path: Path, key: str) -> None:
    data = json.loads(json.dumps(RECORD.to_json()))
    record = finished(data, tmp_path)
    assert record.ok
    del data["evidence"]["client"][key]
    experiment = parse_experiment(TEXT, "made.yaml", ["dummy"])
    context = TrialContext(experiment.arms[0], load_target("dummy/index.html"), Link.parse({}), experiment, tmp_path)
    (failure,) = WORKLOADS[SERVER_LOAD].finish(data, context).failures
    assert failure.reason == Reason.EVIDENCE_MISSING
    assert key in failure.detail


def test_reports_of_clients_are_read() -> None:
    assert client.read_spdy_load(json.dumps(REPORT.to_json())) == REPORT
    assert client.read_spdy_load("") is None
    with pytest.raises(RecordError, match=r"evidence\.client\.succeeded is missing"):
        client.read_spdy_load(json.dumps(REPORT.to_json()).replace("succeeded", "done"))
    told = "finished in 1.50s, 12345.67 req/s, 1.2MB/s\nrequests: 5 total, 5 succeeded, 1 failed, 2 errored, 0 timeout"
    assert client.read_h2load(told) == SecondReport(12345.67, 3)
    assert client.read_h2load(told.replace("1.50s", "812us")) == SecondReport(12345.67, 3)
    assert client.read_h2load("h2load: no such host") is None


def test_a_report_that_lacks_a_key_fails_the_trial_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    side = ServerLoadOnBed(MagicMock())
    report = json.dumps(REPORT.to_json()).replace("succeeded", "done")
    monkeypatch.setattr(side, "_run", lambda *_: Completed(0, report, ""))
    assert side._load(LOAD, Target(("http://a.test/",), "127.0.0.1:80", "http/1.1", 100), 1.0) is None
    (failure,) = side._failures
    assert failure.reason is Reason.EVIDENCE_MISSING
    assert "evidence.client.succeeded is missing" in failure.detail


def test_of_large_objects_fewer_are_asked_for() -> None:
    assert client.requests(LOAD, [1]) == 500
    assert client.requests(LOAD, [1000]) == 300
    assert client.requests(LOAD, [500, 1500]) == 300
    assert client.requests(LOAD, [10**9]) == 1
    target = client.Target(("https://dummy.test/a", "https://dummy.test/b"), "127.0.0.1:443", "h2", 300)
    assert client.spdy_load("/x", LOAD, target)[-4:] == ["-connect", "127.0.0.1:443", *target.urls]
    assert "-n 300" in " ".join(client.h2load("/x", LOAD, target))


def test_what_an_experiment_of_a_load_says() -> None:
    experiment = parse_experiment(TEXT + "load: {clients: 2, most: 1kB}\n", "made.yaml", ["dummy"])
    assert experiment.load == ServerLoadSettings(clients=2, streams=16, requests=20_000, most=1000)
    assert [figure.y for figure in experiment.figures] == ["requests_per_s"]
    assert experiment.recorders == {"machine": MachineOptions()}


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("dummy/index.html", "dummy", "there is no site 'dummy'"),
        ("dummy/index.html", "shop/index.html", "there is no site 'shop/index.html'"),
        ("workload: server_load", "load: {clients: 2}", "it is of workload: server_load"),
        ("protocol: h2, tls: 1.3", "keepalive: off", "the load's client speaks HTTP/2 and SPDY"),
        ("sites:", "netlog: true\nsites:", "netlog: it means nothing with workload: server_load"),
        ("sites:", "figures: {x: arm, y: plt}\nsites:", "trials of a server_load have no plt"),
        ("sites:", "load: {most: 0B}\nsites:", "no request could be made"),
        ("{label: loopback}", "{rtt: [0ms, 20ms]}", "loopback, so the link 20ms would do nothing"),
    ],
)
def test_what_a_load_cannot_be_is_refused(old: str, new: str, words: str) -> None:
    with pytest.raises(InputError, match=re.escape(words)):
        parse_experiment(TEXT.replace(old, new), "made.yaml", ["dummy"])


def test_an_object_that_the_site_does_not_have_is_refused() -> None:
    with pytest.raises(InputError, match=r"no object /indx\.html.*Did you mean"):
        load_target("dummy/indx.html")


def test_no_browser_is_needed() -> None:
    names = {program.name for program in needs_of(parse_experiment(TEXT, "made.yaml", ["dummy"]))}
    pages = {program.name for program in needs_of(parse_experiment(PAGES, "made.yaml", ["dummy"]))}
    assert {"chromium", "chromedriver"} <= pages
    assert not {"chromium", "chromedriver", "tcpdump"} & names
    assert names < pages


def test_all_that_a_sites_host_has_is_asked_for_in_turn() -> None:
    site = load_target("dummy/*")
    sizes = client.sizes(site)
    assert len(sizes) == 24
    assert client.body_bytes(24 * 3 + 2, sizes) == 3 * sum(sizes) + sizes[0] + sizes[1]
    asked = client.requests(LOAD, sizes)
    body_bytes = client.body_bytes(asked, sizes)
    for more, wrong in ((0, []), (1, [Reason.FAILED_OBJECT])):
        evidence = with_report(succeeded=asked, completions=(asked,), body_bytes=body_bytes + more)
        failures = judge(dataclasses.replace(RECORD, evidence=evidence), ARM, LOAD, sizes)
        assert [failure.reason for failure in failures] == wrong


@pytest.mark.parametrize("quick", [True, False])
def test_the_benchmarks_experiments_can_be_read(quick: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(servers, "build_folder", lambda: tmp_path)
    archive = servers.make_archive()
    assert servers.make_archive() == archive, "a second time it is there"
    loads = servers.made_loads(archive)
    assert [(load.what, len(load.sizes), max(load.sizes)) for load in loads] == [
        ("small", 1, 340), ("mixed", 24, 195_700), ("large", 1, 4_000_000)
    ]  # fmt: skip
    for streams in servers.STREAMS:
        text = servers.experiment_text(loads, streams, quick=quick)
        experiment = parse_experiment(text, "servers.yaml", site_names(archive))
        assert len(experiment.cells) == 12
        assert experiment.load is not None
        assert experiment.load.streams == streams


def test_the_benchmark_compares_round_by_round() -> None:
    load = servers.Load("mixed", "dummy/*", (1_000_000, 3_000_000), "MB/s")
    assert load.rate(10) == 20
    assert load.cost(0.5, 10) == 25_000, "microseconds of processor time for each of 20 MB"
    values = [{1: 30.0, 2: 10.0, 3: 20.0}, {1: 10.0, 2: 10.0, 4: 1.0}]
    assert servers._compared(values, [1, 2], load.rate, "MB/s") == "2.00 (40 and 20 MB/s)"
    assert servers._compared([{}, {}], [1], load.rate, "MB/s") == "unknown"


def test_a_load_whose_machine_was_to_be_watched_and_was_not_does_not_count() -> None:
    record = dataclasses.replace(RECORD, recordings={})
    assert list(judge(record, ARM, LOAD, [SIZE], watched=False)) == []
    (failure,) = judge(record, ARM, LOAD, [SIZE], watched=True)
    assert failure.reason is Reason.EVIDENCE_MISSING
    assert "recordings.machine" in failure.detail
