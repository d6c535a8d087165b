"""A run in formats that other programs read: CSV, Parquet, JSON. Tidy: one row for each trial, or each request."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NotRequired, TypedDict, cast

from lanelab.analysis.results import (
    axes,
    comparisons,
    conditions,
    load_reports,
    machine,
    model,
    tables,
)
from lanelab.analysis.results.between_beds import BedsOfRun
from lanelab.analysis.results.export_tables import WHOLE, Cell, Row
from lanelab.analysis.results.gateway_cost import CostRow
from lanelab.analysis.results.layout.data import Fields, data_of
from lanelab.analysis.results.machines import MachinesOfRun
from lanelab.analysis.results.model import Identity, Run, State, Trial
from lanelab.analysis.results.pooled_places import PooledRow
from lanelab.analysis.results.refusals import Refusal, refusals
from lanelab.analysis.results.sections.claims import lines_of
from lanelab.analysis.results.sections.doubts import about_sites
from lanelab.analysis.results.sections.seen import Seen
from lanelab.analysis.results.study.claim_verdicts import StudyVerdict
from lanelab.analysis.results.text import visible_everywhere
from lanelab.driver.base.coded import Coded, Json
from lanelab.driver.link.results import SelfTestData
from lanelab.driver.record.evidence.browser import Request, RequestData
from lanelab.driver.record.metrics import LOAD, metrics_of
from lanelab.driver.record.reasons import Failure, Flag
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.record.series import Series
from lanelab.driver.run.folder.format import IN_TABLES
from lanelab.driver.run.folder.trial_content import each_series
from lanelab.driver.run.folder.trial_records import each_record, each_request
from lanelab.driver.site.site_notes import AboutSite


def trial_rows(run: Run) -> Iterator[Row]:
    """Yield what is known of each trial: where it belongs, what came out, every setting of its link and arm."""
    link_keys = list(dict.fromkeys(key for link in run.links for key in link.settings))
    arm_keys = [key for key in dict.fromkeys(key for arm in run.arms for key in arm.settings) if key != "name"]
    fit, slow = conditions.in_tolerance(run), {each.number: conditions.emulated(each) for each in run.sessions}
    names, named = _measured(run), {machine.number: machine.name for machine in run.machines}
    left_out, refused = load_reports.left_out_of_scripts(run), refusals(run)
    of_cells = {cell.number: _settings(cell, link_keys, arm_keys) for cell in run.cells}  # each is of many trials
    for trial in run.trials:
        cell = trial.cell
        of_script = {"script_left_out": left_out.get(trial.number)} if run.workload == LOAD else {}
        yield {
            "run": run.name,
            **_identity(trial),
            "session": trial.session,
            "bed": trial.bed,
            "machine": named.get(trial.machine, ""),
            "origin": trial.origin,
            "versions": trial.versions,
            "started": trial.started,
            "wall_s": trial.wall_s,
            "status": "ok" if trial.ok else "failed",
            "failures": ";".join(dict.fromkeys(failure.reason for failure in trial.failures)),
            "flags": ";".join(dict.fromkeys(flag.name for flag in trial.flags)),
            "refused": ";".join(refusal.reason for refusal in refused.get(cell.number, ())),
            "link_in_tolerance": fit.get(trial.number),
            "emulated": slow.get(trial.session),
            **of_script,
            **{name: _number(name, trial.measures.get(name)) for name in names},
            **of_cells[cell.number],
        }


def _settings(cell: model.Cell, link_keys: Sequence[str], arm_keys: Sequence[str]) -> Row:
    return {
        **axes.link_numbers(dict(cell.link.settings)),
        **{f"link.{key}": flat(cell.link.settings.get(key)) for key in link_keys},
        **{f"arm.{key}": flat(cell.arm.settings.get(key)) for key in arm_keys},
    }


def _measured(run: Run) -> list[str]:
    """Names of what trials of the run may have measured: metrics in the table's order, then what it does not know."""
    known = [metric.name for metric in metrics_of(run.workload)]
    return list(dict.fromkeys([*known, *sorted(name for trial in run.trials for name in trial.measures)]))


def _number(name: str, value: float | None) -> float | int | None:
    return int(value) if value is not None and name in WHOLE else value


def series_rows(run: Run) -> Iterator[Row]:
    """Yield each point of each series of each trial."""
    trials, fit, refused = {trial.number: trial for trial in run.trials}, conditions.in_tolerance(run), refusals(run)
    for number, name, t_ms, value in each_series(run.folder):
        if number in trials:
            yield {
                "run": run.name,
                **_identity(trials[number]),
                **_standing(trials[number], fit, refused),
                "series": name,
                "t_ms": t_ms,
                "value": value,
            }


def request_rows(run: Run) -> Iterator[Row]:
    """Yield each request of each trial, with its timings."""
    trials, fit, refused = {trial.number: trial for trial in run.trials}, conditions.in_tolerance(run), refusals(run)
    for number, position, request in each_request(run.folder):
        trial = trials.get(number)
        if trial is None:  # stored after the run was read
            continue
        timings = request.get("timings") or {}
        yield {
            "run": run.name,
            **_identity(trial),
            **_standing(trial, fit, refused),
            "number": position,
            **{name: visible_everywhere(request.get(key)) for name, key in _REQUEST.items()},
            **_on_the_wire(request),
            **{f"{phase}_ms": _applicable(timings.get(phase)) for phase in _PHASES},
        }


_PHASES = ("blocked", "dns", "connect", "ssl", "send", "wait", "receive")
_REQUEST = {
    "url": "url", "method": "method", "http_status": "status", "type": "type", "mime": "mime", "protocol": "protocol",
    "connection": "connection", "reused": "reused", "priority": "priority", "remote": "remote",
    "from_cache": "from_cache", "started_ms": "started_ms", "ended_ms": "ended_ms",
    "request_header_bytes": "request_header_bytes", "response_header_bytes": "response_header_bytes",
    "body_bytes": "body_bytes", "wire_bytes": "wire_bytes", "before_load": "before_load", "error": "error",
}  # fmt: skip


# What the browser spoke with is the gateway, where there is one: this is what was on the link then.
_WIRE = ("connection", "stream", "reused", "in_flight", "queued_ms", "sent_ms", "first_byte_ms", "last_byte_ms")


def _on_the_wire(request: RequestData) -> Row:
    wire = request.get("wire")
    if wire is None:
        spoken = {"protocol": request.get("protocol"), "connection": request.get("connection")}
        wire = {**spoken, "reused": request.get("reused")}
    return {f"wire_{name}": wire.get(name) for name in ("protocol", *_WIRE)}


def _identity(trial: Trial) -> Row:
    cell = trial.cell
    return {
        "trial": trial.number,
        "cell": cell.id,
        "site": cell.site,
        "link": cell.link.label,
        "arm": cell.arm.name,
        "round": trial.round,
        "attempt": trial.attempt,
    }


def place_of(trial: Trial, refused: Mapping[int, Sequence[Refusal]]) -> Row:
    """Return which trial something is of, and whether it counts."""
    standing = _standing(trial, {}, refused)
    return {**_identity(trial), **{name: standing[name] for name in ("status", "refused")}}


def _standing(trial: Trial, fit: Mapping[int, bool | None], refused: Mapping[int, Sequence[Refusal]]) -> Row:
    """Return whether the trial counts: whoever works with these rows alone has to leave others out."""
    return {
        "status": "ok" if trial.ok else "failed",
        "refused": ";".join(refusal.reason for refusal in refused.get(trial.cell.number, ())),
        "link_in_tolerance": fit.get(trial.number),
    }


def flat(value: Json) -> Cell:
    """Return a value for a field of a table; lists and mappings as JSON."""
    return json.dumps(value) if isinstance(value, Sequence | Mapping) and not isinstance(value, str) else value


def _applicable(value: float | None) -> float | None:
    return None if value is None or value < 0 else value


# The change of a run from its beginning to its end.
DriftJson = TypedDict("DriftJson", {"found": bool, "n": int, "change_percent": float, "p": float | None, "words": str})  # noqa: UP013 - a key is no name here


class ResultsJson(TypedDict):
    """The numbers that tables and report show."""

    cells: list[tables.Row]
    comparisons: list[comparisons.ComparisonRow]
    pooled: list[PooledRow]
    not_compared: list[str]
    between_beds: BedsOfRun
    machines: MachinesOfRun
    claims: list[StudyVerdict]
    gateway_cost: Sequence[CostRow]
    failures: Mapping[str, int]
    flags: Mapping[str, int]
    script_left_out: list[str]
    drift: DriftJson
    sites: Mapping[str, AboutSite]
    caveats: list[str]
    changes: list[str]


class ShowJson(ResultsJson):
    """A run, as `lanelab show` tells of it."""

    name: str
    state: State
    created_utc: str


class ExportedSession(TypedDict):
    """A time in which the run was made."""

    session: int
    started_utc: str
    ended_utc: str | None
    ending: str | None
    provenance: Mapping[str, object]


class ExportedLink(TypedDict):
    """A link, with every setting."""

    label: str
    settings: Fields


class ExportedArm(TypedDict):
    """An arm, with every setting."""

    name: str
    settings: Fields


class ExportedSelfTest(SelfTestData):
    """A self-test of a link, and when it was made."""

    link: str
    bed: int
    moment: str
    at_utc: str
    session: int
    tc: NotRequired[Json]  # what tc said of the router's queues then, as it says it


class ExportedRecord(TypedDict, total=False):
    """The record of a trial without what has keys of its own; empty where it was stored after the others were read."""

    workload: str
    started_utc: str
    series: Mapping[str, Series]
    failures: Sequence[Failure]
    artifacts: Sequence[str]
    marks: Mapping[str, float]
    evidence: Coded | None
    flags: Sequence[Flag]
    recordings: Mapping[str, Coded]


class ExportedTrial(Identity):
    """A trial. Besides these keys it has one for each metric that the run has: a number, or null."""

    trial: int
    round: int
    attempt: int
    session: int
    bed: int
    machine: str
    origin: str
    versions: str
    wall_s: float
    status: str
    record: ExportedRecord
    requests_made: NotRequired[Sequence[Request]]  # with --requests


class ExportJson(ShowJson):
    """A whole run."""

    format: int
    workload: str
    description: str
    meta: Fields
    experiment: str
    sessions: list[ExportedSession]
    links: list[ExportedLink]
    arms: list[ExportedArm]
    self_tests: list[ExportedSelfTest]
    versions: Mapping[str, Mapping[str, str]]
    trials: list[ExportedTrial]


def everything(run: Run, *, requests: bool = False) -> dict[str, Any]:
    """Return the run as one JSON object."""
    exported: ExportJson = {
        "format": 2,
        "workload": run.workload,
        "name": run.name,
        "description": run.description,
        "state": run.state,
        "created_utc": run.created_utc,
        "meta": {key: _parsed(value) for key, value in run.meta.items()},
        "experiment": run.experiment,
        "sessions": [
            {"session": s.number, "started_utc": s.started_utc, "ended_utc": s.ended_utc, "ending": s.ending,
             "provenance": s.provenance}
            for s in run.sessions
        ],
        "links": [{"label": link.label, "settings": link.settings} for link in run.links],
        "arms": [{"name": arm.name, "settings": arm.settings} for arm in run.arms],
        "self_tests": cast("list[ExportedSelfTest]", [
            {"link": t.link.label, "bed": t.bed, "moment": t.moment, "at_utc": t.at_utc, "session": t.session, **t.data}
            for t in run.self_tests
        ]),
        "versions": {digest: dict(versions) for digest, versions in run.versions.items()},
        **cast("ResultsJson", results(run)),
        "trials": cast("list[ExportedTrial]", list(_exported_trials(run, requests=requests))),
    }  # fmt: skip
    return dict(exported)


def results(run: Run) -> dict[str, Any]:
    """Return the numbers that tables and report show, as JSON has them."""
    seen, drift = Seen(run), tables.run_drift(run)
    whole: ResultsJson = {
        "cells": seen.rows,
        "comparisons": seen.compared,
        "pooled": seen.pooled,
        "not_compared": comparisons.not_compared(run),
        "between_beds": seen.beds,
        "machines": seen.machines,
        "claims": lines_of(seen.judged),
        "gateway_cost": seen.gateway.rows,
        "failures": dict(tables.failure_counts(run).most_common()),
        "flags": machine.flag_counts(run),
        "script_left_out": load_reports.left_out_sentences(seen.loads),
        "drift": {"found": drift.is_shown, "n": drift.n, "change_percent": drift.change_percent, "p": drift.p,
                  "words": drift.words()},
        "sites": about_sites(run),
        "caveats": conditions.caveats(run),
        "changes": conditions.changes(run),
    }  # fmt: skip
    return dict(data_of(whole))


def _exported_trials(run: Run, *, requests: bool) -> Iterator[Fields]:
    records, names = {number: _without_tables(record) for number, record in each_record(run.folder)}, _measured(run)
    named = {machine.number: machine.name for machine in run.machines}
    for number, name, t_ms, value in each_series(run.folder):
        if number in records:  # else it was stored after the records were read
            records[number]["series"][name]["points"].append([t_ms, value])
    requests_of: dict[int, list[RequestData]] = {}
    for number, _, request in each_request(run.folder) if requests else ():
        requests_of.setdefault(number, []).append(request)
    for trial in run.trials:
        exported = {
            **_identity(trial),
            "session": trial.session,
            "bed": trial.bed,
            "machine": named.get(trial.machine, ""),
            "origin": trial.origin,
            "versions": trial.versions,
            "wall_s": trial.wall_s,
            "status": "ok" if trial.ok else "failed",
            **{name: _number(name, trial.measures.get(name)) for name in names},
            "record": records.get(trial.number, {}),
        }
        yield {**exported, "requests_made": requests_of.get(trial.number, [])} if requests else exported


def _without_tables(record: TrialRecord) -> dict[str, Any]:
    """Measures and requests have columns and rows of their own."""
    return {name: value for name, value in record.to_json().items() if name not in IN_TABLES}


def _parsed(text: str) -> Any:  # noqa: ANN401 - JSON
    """A meta value is text; where that is JSON, its value."""
    if text[:1] not in "[{":
        return text
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text
