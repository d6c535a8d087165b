"""The table of metrics: one line is all that a new metric takes."""

import dataclasses
import json
import subprocess
import sys
from pathlib import Path

import pytest

from lanelab.driver.record import metrics
from lanelab.driver.record.metrics import METRICS, PRIMARY, measured, metric_named, primary_of
from lanelab.driver.record.record import TrialRecord
from tests.kit.machine import ROOT

RECORD = TrialRecord("page_load", "2026-01-01T00:00:00.000Z", {}, {}, (), (), (), {}, None)

# A lanelab with one line more in its table. Everything else is as it is.
WITH_A_NEW_METRIC = """
import dataclasses, io, json, sys
from pathlib import Path
from lanelab.driver.record import metrics
from lanelab.driver.record.metrics import Metric

metrics.METRICS = (
    *metrics.METRICS,
    Metric("tea_ms", "time for tea", "ms", of=lambda record: 2 * record.measures["plt_ms"], column="tea"),
)

from click.testing import CliRunner

from lanelab.analysis.results import export, export_tables
from lanelab.analysis.results.drawing import draw
from lanelab.analysis.results.model import Figure
from lanelab.analysis.results.run_folder import read_run
from lanelab.driver.cli.main import lanelab
from lanelab.driver.experiment.read import parse_experiment
from lanelab.driver.run.folder import format as run_format
from lanelab.driver.run.folder.store import Store, Stored
from lanelab.driver.run.this_machine import this_machine
from lanelab.driver.record.record import TrialRecord
from tools.experiment_schema import experiment_schema

folder = Path(sys.argv[1])
text = "sites: [dummy]\\nlinks: {rtt: 20ms}\\narms: {a: {}}\\nfigures: {x: arm, y: tea}\\n"
experiment = parse_experiment(text, "made.yaml", ["dummy"])
figures = json.dumps([figure.to_json() for figure in experiment.figures])
plan = {"order": "interleaved", "looks": [[1, 0.05]], "timeout_s": 60, "compared": [], "not_compared": []}
meta = {"format": run_format.VERSION, "workload": "page_load", "name": "made", "seed": "7", "state": "finished",
        "figures": figures, "lanelab": "0.1.0",
        "plan": json.dumps(plan)}
store = Store.create(folder, text, meta, experiment.cells)
store.begin_session({}, this_machine())
record = TrialRecord("page_load", "2026-01-01T00:00:00.000Z", {"plt_ms": 210.0}, {}, (), (), (), {}, None)
trial, _ = store.begin_trial()
store.add_trial(Stored(trial, experiment.cells[0], 1, 1, 1, 1.5, record))
store.close()

run = read_run(folder)
csv = io.StringIO()
export_tables.write_csv(export.trial_rows(run), csv)
export_tables.write_parquet(export.trial_rows(run), folder / "trials.parquet")
import pyarrow.parquet as pq

def shown(*words):
    return CliRunner().invoke(lanelab, ["show", str(folder), *words], catch_exceptions=False).stdout

drawing = draw(run, run.figures[0])
json.dump({
    "stored": run.trials[0].measures,
    "csv": csv.getvalue(),
    "parquet": pq.read_table(folder / "trials.parquet").column("tea_ms").to_pylist(),
    "json": export.everything(run)["trials"][0]["tea_ms"],
    "figure": [run.figures[0].title, drawing.measured.title, next(iter(drawing.points())).mark.middle],
    "schema": experiment_schema()["definitions"]["figure"]["properties"]["y"]["anyOf"][0]["enum"],
    "table": shown(),
    "cells": json.loads(shown("--json"))["cells"],
    "trial": shown("--trial", "1"),
}, sys.stdout)
"""


def test_a_new_metric_is_one_line(tmp_path: Path) -> None:
    argv = [sys.executable, "-c", WITH_A_NEW_METRIC, str(tmp_path / "run")]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert seen["stored"] == {"plt_ms": 210.0, "tea_ms": 420.0}
    head, row = (line.split(",") for line in seen["csv"].splitlines())
    assert dict(zip(head, row, strict=True))["tea_ms"] == "420.0"
    assert seen["parquet"] == [420.0]
    assert seen["json"] == 420.0
    assert seen["figure"] == ["Time for tea over arm", "Time for tea (ms)", 420.0]
    assert "tea" in seen["schema"]
    assert "tea" in seen["table"].split()
    assert seen["cells"][0]["tea_ms"] == 420.0
    assert "time for tea" in seen["trial"]


def test_names_and_keys_of_metrics_are_unique() -> None:
    assert len({metric.name for metric in METRICS}) == len(METRICS)
    assert len({metric.key for metric in METRICS}) == len(METRICS)
    assert all(metric_named(metric.key) is metric for metric in METRICS)


@pytest.mark.parametrize("workload", PRIMARY)
def test_each_workload_has_its_primary_metric_in_the_table(workload: str) -> None:
    assert workload in primary_of(workload).workloads


def test_what_the_table_does_not_know_is_measured_all_the_same() -> None:
    record = dataclasses.replace(RECORD, measures={"plt_ms": 210.0, "tea_ms": 3.0})
    assert measured(record) == {"plt_ms": 210.0, "tea_ms": 3.0}


def test_what_was_not_measured_is_not_there() -> None:
    assert measured(RECORD) == {}
    assert "plt_ms" in {metric.name for metric in metrics.metrics_of("page_load")}
