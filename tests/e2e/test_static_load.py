"""A server under programs that ask as fast as they can: a run of each, killed and gone on with, read like any other."""

import csv
import io
import json
import shutil
import sqlite3
from pathlib import Path

import pytest

from tests.kit.handles import LanelabCommand
from tests.kit.machine import needs_namespaces

from .runs import Played, play, resume, share_programs
from .test_resume import await_trials

pytestmark = needs_namespaces

SPDY = """\
workload: {kind: load, generator: spdy-load, requests: 400, connections: 2, streams: 4, most: 2MB}
sites: [dummy/style/colours.css, dummy/images/20.png]
links: {path: direct}
defaults: {mpm: event}
arms: {clear: {protocol: spdy/3.1}, tls: {protocol: h2, tls: "1.3"}}
trials: 2
seed: 3
"""
OTHERS = """\
workload: {{kind: load, generator: {generator}, connections: [1, 20], {amount}}}
sites: {site}
links: {{path: direct}}
defaults: {{server: nginx}}
arms: {{clear: {{}}, tls: {{tls: "1.3"}}}}
trials: 1
retries: 4
seed: 3
"""
CELLS, ROUNDS = 4, 2
METRICS = {"requests_per_s", "latency_ms", "latency_90_ms", "latency_95_ms", "latency_99_ms", "latency_99_9_ms"}
REQUESTS = 1500
# A generator that was the limit is no mistake of a machine with few processors.
LIMITED = {"generator-limited"}


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Played:
    """Killed after some trials, at whatever moment that is, and gone on with."""
    folder = tmp_path_factory.mktemp("load")
    lanelab = LanelabCommand(folder / "build")
    share_programs(lanelab)
    file = folder / "experiment.yaml"
    file.write_text(SPDY)
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
    assert played.rows("SELECT ending FROM sessions ORDER BY session") == [("killed",), ("finished",)]


def test_each_trial_has_its_measures(played: Played) -> None:
    for arm in ("clear", "tls"):
        for measures in played.measures(arm):
            assert measures.keys() >= METRICS | {"bytes_per_s", "connections_opened", "cpu_server_s"}
            assert measures["requests_per_s"] > 0
            assert measures["latency_ms"] <= measures["latency_99_ms"]


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
    assert "equests per second" in (played.folder / "report.html").read_text()
    assert "Page load time" not in (played.folder / "report.html").read_text()


@pytest.mark.parametrize(
    ("generator", "site", "amount"),
    [
        ("wrk", "dummy/*", "duration: 1s"),
        ("h2load", "dummy/*", f"requests: {REQUESTS}"),
        ("ab", "dummy/images/20.png", f"requests: {REQUESTS}"),
    ],
)
def test_each_generator_loads_a_server_in_clear_and_over_tls(
    tmp_path: Path, generator: str, site: str, amount: str
) -> None:
    lanelab = LanelabCommand(tmp_path / "build")
    share_programs(lanelab)
    made = play(lanelab, tmp_path, OTHERS.format(generator=generator, site=site, amount=amount))
    for arm, tls in (("clear", "off"), ("tls", "1.3")):
        assert made.reasons(arm) <= LIMITED, made.done.stderr
        for record in made.records(arm):
            report = record["evidence"]["generator"]
            assert (report["generator"], report["tls"]) == (generator, tls)
            assert report["requests"]["failed"] == 0
            assert report["errors"] == {}
            assert report["requests"]["ended"] == (
                report["requests"]["ms"]["count"] if generator == "wrk" else REQUESTS
            )
            assert report["requests"]["ended"] > 0
        for measures in made.measures(arm):
            assert measures.keys() >= METRICS


def test_several_objects_are_too_many_for_ab(tmp_path: Path) -> None:
    lanelab = LanelabCommand(tmp_path / "build")
    made = play(lanelab, tmp_path, OTHERS.format(generator="ab", site="dummy/*", amount="requests: 100"))
    assert made.done.returncode == 2
    assert "ab asks for one object" in made.done.stderr


def test_a_run_of_a_workload_that_is_gone_says_which_lanelab_reads_it(played: Played, tmp_path: Path) -> None:
    old = tmp_path / "old"
    shutil.copytree(played.folder, old)
    with sqlite3.connect(old / "run.sqlite") as database:
        database.execute("UPDATE meta SET value = 'server_load' WHERE key = 'workload'")
    for words in (["show", str(old)], ["run", "--resume", str(old)]):
        done = LanelabCommand(tmp_path / "build").run(*words)
        assert done.returncode == 1
        assert "'server_load', which this lanelab does not know" in done.stderr
