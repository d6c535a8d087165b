"""A run of a load test, in the format of run folders: a ramp to 1,000 users, of two arms. All of it is known."""

import hashlib
import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from lanelab.driver.arm.arm import Arm
from lanelab.driver.experiment.claim import Claim, Place, Point, digest_of
from lanelab.driver.experiment.model import Cell, LinkCase
from lanelab.driver.link import Link
from lanelab.driver.record.evidence.load import (
    ErrorCount,
    GeneratorUse,
    Latency,
    LoadEvidence,
    LoadReport,
    ScriptMetric,
    ServedBy,
    Tally,
    Threshold,
)
from lanelab.driver.record.load_series import SERIES
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.record.series import Series
from lanelab.driver.run.folder import format as run_format
from lanelab.driver.run.folder.copies import TrialCopy
from lanelab.driver.trial.load_settings import LoadSettings, Stage
from lanelab.driver.trial.server_load.capacity import derive
from lanelab.driver.trial.server_load.finish import measures_of
from tests.kit.stored_run import PROVENANCE, RunContent, artifacts_of, cell_of, kept_figure, stamp, store_run

TEXT = "name: ramp\n"
WORKERS = {"HTTP": 100.0, "SPDY": 600.0}  # users that each can carry
GAP = range(600, 660)  # seconds in which nothing was read of the server
SETTINGS = LoadSettings(
    generator="k6", script="page", script_text="", users=(Stage(0, 0), Stage(1000, 1200)), arrivals=(), think_s=5,
    limit_ms=3000, warm_up_s=0, request_timeout_s=60, parameters=(), thresholds=(), connections=1, streams=1,
    requests=0, lasts_s=0, most_bytes=0,
)  # fmt: skip
HISTOGRAM = ((100.0, 10), (1000.0, 80), (5000.0, 10))
FIGURES: Sequence[Mapping[str, Any]] = (
    {"title": "Page time", "x": "users", "y": "page_ms", "series": "arm", "kind": "series", "facet": None, "only": {},
     "every_s": 30.0, "limit_ms": 3000.0,
     "published": {"source": "figure 3", "axis": None, "points": [["HTTP", "120", 1400.0]]}},
    {"title": "Processors", "x": "time", "y": "cpu_idle", "series": "arm", "kind": "series", "facet": None, "only": {}},
)  # fmt: skip


def series_of(arm: str, number: int) -> dict[str, Series]:
    """Page times grow from 1 s when the workers are used up; the second trial is a tenth slower."""
    full, slower = WORKERS[arm], 1 + 0.1 * (number - 1)
    values: dict[str, list[tuple[float, float]]] = {}
    for second in range(1201):
        users = second / 1.2
        now = {
            "users": users,
            "pages_per_s": min(users, full) / 6,
            "page_ms": slower * (1000 if users <= full else 6000 * users / full - 5000),
            "page_all_ms": slower * (1000 if users <= full else 6000 * users / full - 5000),
            "errors_per_s": float(users >= 4 * full),
            "cpu_idle": 0.9,
        }
        for name, value in now.items():
            if name != "cpu_idle" or second not in GAP:
                values.setdefault(name, []).append((1000.0 * second, value))
    return {name: Series(SERIES[name].unit, tuple(points)) for name, points in values.items()}


def report_of() -> LoadReport:
    ms = Latency(100, 50, 900, 800, 1000, 2000, 4000, 4900, 5000, HISTOGRAM)
    return LoadReport(
        generator="k6 1.8.1", protocol="http/1.1", tls="off", seconds=1200,
        requests=Tally(5100, 5000, 60, 40, 40, 9000, ms), pages=Tally(130, 100, 7, 5, 23, 55_000, ms),
        parts_ms={"wait": ms}, errors={"time-out": ErrorCount(40, 60_000, 60_001)}, statuses={"200": 5000},
        body_bytes=10**7, connections=600, dropped=0,
        use=GeneratorUse(300, 1200, 1, 0.1, 2, 9, 700, 20_000, 28_000, 10**8), stopped="",
        crossed="thresholds on metrics 'my_ttfb' have been crossed",
        script=(ScriptMetric("my_ttfb", "trend", is_time=True, values={"med": 12.5, "p95": 40}),),
    )  # fmt: skip


def make_load_run(
    folder: Path, *, rounds: int = 2, claims: Sequence[Claim] = (), files: Mapping[str, bytes] = MappingProxyType({})
) -> Path:
    """`files`: those of each trial."""
    plan = {"order": "interleaved", "looks": [[rounds, 0.05]], "timeout_s": 3600.0,
            "compared": [[cell_id("HTTP"), cell_id("SPDY")]], "not_compared": []}  # fmt: skip
    meta = {
        "workload": "load", "name": "ramp", "description": "", "seed": "7", "state": "finished",
        "figures": json.dumps([kept_figure(figure) for figure in FIGURES]), "plan": json.dumps(plan),
        "experiment_sha256": hashlib.sha256(TEXT.encode()).hexdigest(), run_format.VARIANT: "",
        run_format.CLAIMS: json.dumps([claim.to_json() for claim in claims]),
        run_format.CLAIMS_DIGEST: digest_of(claims),
    }  # fmt: skip
    link = LinkCase("direct", Link.parse({"rtt": "85ms"}))
    cells = [cell_of(number, "icons", link, Arm.parse(name, {})) for number, name in enumerate(WORKERS, 1)]
    trials = [replace(each, artifacts=artifacts_of(files)) for each in _trials(cells, rounds)]
    store_run(folder, RunContent(TEXT, meta, cells, PROVENANCE, trials, files=files))
    return folder


def cell_id(arm: str) -> str:
    return f"{list(WORKERS).index(arm) + 1:016x}"


def _trials(cells: Sequence[Cell], rounds: int) -> Iterator[TrialCopy]:
    each = itertools.product(range(1, rounds + 1), cells)
    for trial, (in_round, cell) in enumerate(each, 1):
        series = series_of(cell.arm.name, in_round)
        thresholds = (Threshold("page_95", 3000, 2000.0 * in_round), Threshold("latency_95", 50, None))
        placement = {"client": "0", "server": "1"}
        record = TrialRecord(
            "load", stamp(trial), {**derive(series, SETTINGS), **measures_of(report_of())}, series, (), (), (), {},
            LoadEvidence(report_of(), ServedBy("Apache", "", ()), None, None, placement, thresholds),
        )  # fmt: skip
        yield TrialCopy(trial, 1, cell.id, in_round, 1, 1200.0, record, (), "", "", "")


def claim_of(metric: str, *, name: str = "made", low: float | None = 1.01, high: float | None = None) -> Claim:
    """SPDY against HTTP: higher."""
    at = Place("icons, direct", (Point("icons, direct", cell_id("SPDY"), cell_id("HTTP"), None),))
    return Claim(
        name=name, says="", source="", kind="change", of="SPDY against HTTP", metric=metric, over=None, published=(),
        margin="", because="", low=low, high=high, side=1, at_least=0.01, equivalent=False, quantifier="one",
        exceptions=0, places=(at,),
    )  # fmt: skip
