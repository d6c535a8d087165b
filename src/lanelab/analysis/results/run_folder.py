"""Reads a run folder, also while the run goes on. Never writes into it.

A run is read in one transaction, so that what is read belongs together. What trial_content.py reads is not in it.
"""

import datetime
import gc
import json
import math
import os
import sqlite3
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypedDict, cast

from lanelab.analysis.results.model import (
    Arm,
    Cell,
    Failure,
    Figure,
    Flag,
    LinkCase,
    Machine,
    Plan,
    Run,
    SelfTest,
    Session,
    State,
    Trial,
)
from lanelab.analysis.results.optimal import with_optimal
from lanelab.analysis.statistics.looks import Look
from lanelab.driver.base.coded import parsed
from lanelab.driver.experiment import figure as experiment
from lanelab.driver.experiment.claim import Claim
from lanelab.driver.link.results import SelfTestData
from lanelab.driver.record.load_places import USERS, place_named
from lanelab.driver.record.load_series import SERIES
from lanelab.driver.record.metrics import GENERATOR_FULL_S, primary_of
from lanelab.driver.run.folder import format as run_format
from lanelab.driver.run.folder.database import opened_database
from lanelab.driver.run.folder.digests import MEASURES, OF_RESULTS, changed, require_unchanged
from lanelab.driver.run.folder.digests import SERIES as SERIES_PART
from lanelab.driver.run.folder.trial_content import series_of


class PlanText(TypedDict):
    """A plan as it is stored."""

    order: str
    looks: Sequence[tuple[int, float]]
    timeout_s: float
    compared: Sequence[tuple[str, str]]
    not_compared: Sequence[str]


PROC = Path("/proc")
LOCK = "in-use"  # held by the lanelab that writes
_STATES = ("running", "finished", "stopped", "failed")


def read_run(folder: Path) -> Run:
    """Return the run in this folder. InputError where there is none, StoreError where it cannot be read."""
    collects = gc.isenabled()
    gc.disable()  # what is read has no cycles, and of very many trials most of the time would go into looking for them
    try:
        run = _read_run(folder)
    finally:
        if collects:
            gc.enable()
    return with_optimal(with_places(run, run.claims))


def _read_run(folder: Path) -> Run:
    with opened_database(folder) as database:
        database.execute("BEGIN")
        meta = {str(key): str(value) for key, value in database.execute("SELECT key, value FROM meta")}
        links = _links(database)
        arms = _arms(database)
        try:
            cells = _cells(database, links, arms)
        except KeyError:
            raise changed(folder, "run: a link or an arm of its cells is gone") from None
        run_format.check_workload(folder, meta["workload"], meta.get("lanelab"))
        require_unchanged(database, folder, kind="run")
        measures: dict[int, dict[str, float]] = {}

        def take(trial: int, rows: Sequence[tuple[str, float]]) -> None:
            measures[trial] = dict(rows)

        require_unchanged(database, folder, parts=OF_RESULTS, takers={MEASURES: take})
        require_unchanged(database, folder, kind="self-test")
        workload = meta["workload"]
        return Run(
            folder=folder,
            workload=workload,
            name=meta.get("name") or folder.name,
            description=meta.get("description", ""),
            state=state_of(folder, meta),
            created_utc=meta.get("created_utc", ""),
            experiment=_experiment(folder),
            meta=meta,
            sessions=_sessions(database),
            links=tuple(links.values()),
            arms=tuple(arms.values()),
            cells=cells,
            trials=_trials(database, {cell.number: cell for cell in cells}, measures, primary_of(workload).name),
            self_tests=_self_tests(database, links),
            figures=_figures(meta.get("figures", "")),
            plan=_plan(meta["plan"], {cell.id: cell for cell in cells}),
            claims=tuple(map(Claim.from_json, json.loads(meta.get(run_format.CLAIMS, "[]")))),
            claims_digest=meta.get(run_format.CLAIMS_DIGEST, ""),
            variant=meta.get(run_format.VARIANT, ""),
            machines=_machines(database),
            versions=_versions(database),
        )


def read_meta(folder: Path) -> dict[str, str]:
    """Return what is known of the run as a whole."""
    with opened_database(folder) as database:
        return {str(key): str(value) for key, value in database.execute("SELECT key, value FROM meta")}


def changed_ns(folder: Path) -> int:
    """Return when the run was last written to; 0 for one that is gone."""
    try:
        return (folder / run_format.DATABASE).stat().st_mtime_ns
    except OSError:
        return 0


def state_of(folder: Path, meta: dict[str, str]) -> State:
    """Return the state that is noted. A run that is noted as running, and has no writer any more, was killed."""
    state = meta.get("state", "")
    if state == "running" and not has_writer(folder):
        return "killed"
    return cast(State, state) if state in _STATES else "stopped"


def has_writer(folder: Path) -> bool:
    """Look whether a run has a writer, without taking the lock, which could stop a run that is just about to begin."""
    try:
        lock = (folder / LOCK).stat()
        locks = (PROC / "locks").read_text()
    except OSError:
        return (folder / LOCK).exists()
    lines = (line.split() for line in locks.splitlines() if " FLOCK " in line and " WRITE " in line)
    return any(_is_of(lock, words) for words in lines if words[5].endswith(f":{lock.st_ino}"))


def _is_of(lock: os.stat_result, words: Sequence[str]) -> bool:
    """Return whether a lock of a file with this inode is of this file: another disk may have one, too. The kernel does
    not call the device of all file systems here as it does elsewhere, so then the process is looked at."""
    if words[5] == f"{os.major(lock.st_dev):02x}:{os.minor(lock.st_dev):02x}:{lock.st_ino}":
        return True
    try:
        files = [entry.stat() for entry in (PROC / words[4] / "fd").iterdir()]
    except OSError:  # it is somebody else's, or has left the lock to a child
        return True
    return (lock.st_dev, lock.st_ino) in {(file.st_dev, file.st_ino) for file in files}


def _experiment(folder: Path) -> str:
    try:
        return (folder / run_format.EXPERIMENT).read_text(errors="replace")
    except OSError:
        return ""


def _plan(text: str, cells: dict[str, Cell]) -> Plan:
    plan = parsed(PlanText, json.loads(text), "the plan of the run")
    return Plan(
        order=plan["order"],
        looks=tuple(Look(trials, alpha) for trials, alpha in plan["looks"]),
        timeout_s=plan["timeout_s"],
        compared=tuple((cells[base], cells[arm]) for base, arm in plan["compared"]),
        not_compared=tuple(plan["not_compared"]),
    )


def _figures(text: str) -> tuple[Figure, ...]:
    return tuple(_figure(experiment.Figure.from_json(kept)) for kept in (json.loads(text) if text else ()))


def _figure(kept: experiment.Figure) -> Figure:
    return Figure(
        title=kept.title,
        x=kept.x or "",
        y=kept.y,
        series=kept.series or "",
        facet=kept.facet or "",
        kind=kept.kind,
        scale=kept.scale,
        only=kept.only,
        published=kept.published.points if kept.published else (),
        every_s=kept.every_s,
        limit_ms=kept.limit_ms,
        published_axis=kept.published.axis if kept.published else None,
        published_source=kept.published.source if kept.published else "",
    )


def _links(database: sqlite3.Connection) -> dict[int, LinkCase]:
    rows = database.execute("SELECT link, label, settings FROM links ORDER BY link")
    return {number: LinkCase(number, label, json.loads(settings)) for number, label, settings in rows}


def _arms(database: sqlite3.Connection) -> dict[int, Arm]:
    rows = database.execute("SELECT arm, name, settings FROM arms ORDER BY arm")
    return {number: Arm(number, name, json.loads(settings)) for number, name, settings in rows}


def _cells(database: sqlite3.Connection, links: Mapping[int, LinkCase], arms: Mapping[int, Arm]) -> tuple[Cell, ...]:
    rows = database.execute("SELECT cell, id, site, link, arm FROM cells ORDER BY cell")
    return tuple(Cell(number, name, site, links[link], arms[arm]) for number, name, site, link, arm in rows)


def _sessions(database: sqlite3.Connection) -> tuple[Session, ...]:
    rows = database.execute("SELECT session, started_utc, ended_utc, ending, provenance FROM sessions ORDER BY session")
    return tuple(Session(number, start, end, how, json.loads(text)) for number, start, end, how, text in rows)


def _machines(database: sqlite3.Connection) -> tuple[Machine, ...]:
    """Return all that the run had. One that knows none has no trials yet."""
    rows = database.execute("SELECT machine, name, facts FROM machines ORDER BY machine").fetchall()
    return tuple(Machine(number, name, json.loads(facts)) for number, name, facts in rows) or (
        Machine(1, "the run's machine", {}),
    )


def _versions(database: sqlite3.Connection) -> dict[str, dict[str, str]]:
    return {digest: json.loads(data) for digest, data in database.execute("SELECT versions, data FROM versions")}


def _self_tests(database: sqlite3.Connection, links: dict[int, LinkCase]) -> tuple[SelfTest, ...]:
    query = "SELECT self_test, session, bed, link, moment, at_utc, passed, data FROM self_tests ORDER BY self_test"
    return tuple(
        SelfTest(number, session, bed, links[link], moment, at, _time(at), bool(passed), _self_test(data))
        for number, session, bed, link, moment, at, passed, data in database.execute(query)
    )


def _self_test(text: str) -> SelfTestData:
    return parsed(SelfTestData, json.loads(text), "a self-test of the run")


def _trials(
    database: sqlite3.Connection, cells: Mapping[int, Cell], measures: Mapping[int, dict[str, float]], primary: str
) -> tuple[Trial, ...]:
    failures: dict[int, list[Failure]] = {}
    for trial, reason, detail in database.execute("SELECT trial, reason, detail FROM failures ORDER BY rowid"):
        failures.setdefault(trial, []).append(Failure(reason, detail))
    flags: dict[int, list[Flag]] = {}
    for trial, name, detail in database.execute("SELECT trial, name, detail FROM flags ORDER BY rowid"):
        flags.setdefault(trial, []).append(Flag(name, detail))
    query = """
        SELECT trial, session, bed, cell, round, attempt, started_utc, wall_s, status,
          ifnull(machine, 1), versions, origin
        FROM trials LEFT JOIN beds USING (bed) ORDER BY trial
    """
    return tuple(
        Trial(
            number=number,
            session=session,
            bed=bed,
            cell=cells[cell],
            round=in_round,
            attempt=attempt,
            started=_time(started),
            wall_s=wall_s,
            ok=status == "ok",
            measures=measures.get(number, {}),
            value=measures.get(number, {}).get(primary),
            failures=tuple(failures.get(number, ())),
            flags=tuple(flags.get(number, ())),
            machine=machine,
            versions=sys.intern(versions),
            origin=sys.intern(origin.partition("/")[0]),  # behind it: its number there
        )
        for number, session, bed, cell, in_round, attempt, started, wall_s, status, machine, versions, origin in (
            database.execute(query)
        )
    )


def with_places(run: Run, claims: Iterable[Claim]) -> Run:
    """Return the run with what these claims ask of its series, as measures of its trials. Most claims ask nothing of
    them."""
    places = [place for name in dict.fromkeys(claim.metric for claim in claims) if (place := place_named(name))]
    if not places:
        return run
    names = dict.fromkeys(name for place in places for name in (place.series, USERS, SERIES[place.series].weight))
    with opened_database(run.folder) as database:
        require_unchanged(database, run.folder, parts=(SERIES_PART,))
        measured = []
        for trial in run.trials:
            series = series_of(database, trial.number, list(filter(None, names)))
            until_ms = 1000 * trial.measures.get(GENERATOR_FULL_S, math.inf)
            values = {place.name: place.value(series, until_ms) for place in places}
            known = {name: value for name, value in values.items() if value is not None}
            measured.append(replace(trial, measures={**trial.measures, **known}))
    return replace(run, trials=tuple(measured))


def browsers_of(run: Run) -> tuple[tuple[str, int], ...]:
    """Return each browser, as it names itself, and the first trial that it loaded. Records, which are large, have it:
    only who asks for it has them read, and those that say the same as the first are not taken apart."""
    last = run.trials[-1].number if run.trials else 0  # a run that goes on has more by now
    product = "json_extract(record, '$.evidence.browser.facts.product')"
    of_one = f"{product} AS product, trial FROM trials WHERE trial <= ? AND product NOT NULL ORDER BY trial LIMIT 1"
    of_others = f"{product}, min(trial) FROM trials WHERE trial <= ? AND NOT instr(record, ?) GROUP BY 1 ORDER BY 2"
    with opened_database(run.folder) as database:
        browsers = dict[str, int](database.execute(f"SELECT {of_one}", (last,)).fetchall())
        known = "".join(f'"product": {json.dumps(product)}' for product in browsers)
        for product, first in database.execute(f"SELECT {of_others}", (last, known)) if browsers else ():
            if product:
                browsers.setdefault(str(product), first)
    return tuple(browsers.items())


def _time(text: str) -> datetime.datetime:
    try:
        when = datetime.datetime.fromisoformat(text)
    except ValueError as error:
        raise TypeError(f"{text!r} is no time") from error
    return when if when.tzinfo else when.replace(tzinfo=datetime.UTC)
