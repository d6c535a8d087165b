"""A server under load: a run without a browser, that is killed, resumed and read like any other."""

from __future__ import annotations

import csv
import io
import json

import pytest

from tests.kit.handles import LanelabCommand
from tests.kit.machine import needs_namespaces

from .runs import Played, resume, share_programs
from .test_resume import await_trials

pytestmark = needs_namespaces

EXPERIMENT = """\
workload: server_load
load: {requests: 400, most: 2MB, clients: 2}
sites: [dummy/style/colours.css, dummy/images/20.png]
links: {label: loopback}
defaults: {via: gateway, mpm: event}
arms: {clear: {protocol: h2}, tls: {protocol: h2, tls: "1.3"}}
trials: 2
seed: 3
"""
CELLS, ROUNDS = 4, 2
METRICS = {"requests_per_s", "bytes_per_s", "latency_ms", "latency_99_ms", "cpu_server_s"}


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Played:
    """Killed after some trials, at whatever moment that is, and gone on with."""
    folder = tmp_path_factory.mktemp("load")
    lanelab = LanelabCommand(folder / "build")
    share_programs(lanelab)
    file = folder / "experiment.yaml"
    file.write_text(EXPERIMENT)
    run = lanelab.start("run", str(file), "--out", str(folder / "run"), "--json")
    told = await_trials(run, 3)
    run.kill()
    run.communicate()
    assert len(told) == 3
    return resume(lanelab, folder / "run")


def test_every_cell_has_its_trials_once(played: Played) -> None:
    assert played.done.returncode == 0, played.done.stderr
    ok = played.rows("SELECT cell, round FROM trials WHERE status = 'ok' ORDER BY cell, round")
    assert ok == [(cell, number) for cell in range(1, CELLS + 1) for number in range(1, ROUNDS + 1)]
    assert played.rows("SELECT reason FROM failures") == []
    assert played.rows("SELECT ending FROM sessions ORDER BY session") == [("killed",), ("finished",)]


def test_each_trial_has_its_measures_and_its_completions_over_time(played: Played) -> None:
    for arm in ("clear", "tls"):
        for measures in played.measures(arm):
            assert measures.keys() >= METRICS
            assert measures["requests_per_s"] > 0
            assert measures["latency_ms"] <= measures["latency_99_ms"]
    counts = played.rows("SELECT trial, sum(value) FROM series WHERE name = 'completions' GROUP BY trial")
    asked = {evidence["client"]["load"]["requests"] for arm in ("clear", "tls") for evidence in played.evidence(arm)}
    assert {count for _, count in counts} == asked
    assert len(counts) == CELLS * ROUNDS


def test_no_link_was_measured_since_none_is_crossed(played: Played) -> None:
    assert played.rows("SELECT count(*) FROM self_tests") == [(0,)]


def test_it_is_shown_exported_and_reported_like_any_run(played: Played) -> None:
    lanelab = LanelabCommand(played.folder.parent / "build")
    shown = json.loads(lanelab.run("show", str(played.folder), "--json").stdout)
    assert [cell["requests_per_s"]["n"] for cell in shown["cells"]] == [ROUNDS] * CELLS
    exported = lanelab.run("export", str(played.folder), "--format", "csv").stdout
    rows = list(csv.DictReader(io.StringIO(exported)))
    assert all(float(row["requests_per_s"]) > 0 for row in rows)
    assert "plt_ms" not in rows[0]
    for words in (["har"], ["csv", "--requests"]):
        refused = lanelab.run("export", str(played.folder), "--format", *words)
        assert (refused.returncode, "load of a server" in refused.stderr) == (2, True)
    assert "Requests per second" in (played.folder / "report.html").read_text()
    assert "Page load time" not in (played.folder / "report.html").read_text()
    assert "links measured" not in (played.folder / "report.html").read_text()
