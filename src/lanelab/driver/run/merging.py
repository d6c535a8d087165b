"""Makes one run of several runs of equal experiments. They stay as they are; the new run is whole, or not there."""

import itertools
import json
import os
import secrets
import shutil
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from lanelab.analysis.statistics.looks import only_look
from lanelab.driver.base.amounts import counted
from lanelab.driver.base.clock import utc_now
from lanelab.driver.base.coded import JsonObject
from lanelab.driver.base.errors import DiskFull, InputError, StoreError
from lanelab.driver.run.equal_runs import require_equal
from lanelab.driver.run.folder import format as run_format
from lanelab.driver.run.folder.sources import SourceRun, SourceTrial, copy_file
from lanelab.driver.run.folder.store import LOCK, SCRATCH, Store, lock_folder
from lanelab.driver.run.take_over import Taker, Wanted
from lanelab.driver.run.this_machine import this_machine

AT_ONCE = 50  # trials that are in memory
SECRET = ("authority", "cluster")  # folders of keys: whoever has those of a sweep may run programs on its machines
NOT_KEPT = (
    *SECRET, run_format.DATABASE, run_format.REPORT, run_format.ARTIFACTS, run_format.EXPERIMENT, LOCK, SCRATCH,
)  # fmt: skip
FINISHED = "finished"


@dataclass
class Merged:
    """Says what became of a merge."""

    folder: Path
    runs: int
    trials: int = 0
    twice: int = 0  # trials that several of the runs have
    rounds: int = 0
    beds: int = 0
    machines: int = 0
    state: str = FINISHED
    differences: list[str] = field(default_factory=list)  # what differs

    def sentence(self) -> str:
        sentence = f"merged {self.runs} runs: {counted(self.trials, 'trial')} in {counted(self.rounds, 'round')} on "
        sentence += f"{counted(self.beds, 'bed')} of {counted(self.machines, 'machine')}"
        return (
            f"{sentence}; {counted(self.twice, 'trial')} that several of them have came in once"
            if self.twice
            else sentence
        )


def merge(folders: Sequence[Path], out: Path, lanelab: str, tell: Callable[[str], None] = lambda _: None) -> Merged:
    """Merge runs into a new one in `out`, which must not be there. `lanelab`: the version of this one."""
    if out.exists():
        raise InputError(f"{out} is there already", "Remove it, or name another folder: --out DIR", key="--out")
    aside = out.with_name(out.name + run_format.MERGING)
    with ExitStack() as stack:
        sources = [stack.enter_context(SourceRun.open(folder)) for folder in folders]
        require_equal(sources)
        if aside.exists():
            _throw_away(aside)
        try:
            merged = _merge_aside(sources, aside, lanelab, tell)
            aside.rename(out)
        except BaseException as error:
            shutil.rmtree(aside, ignore_errors=True)
            if isinstance(error, DiskFull):
                raise DiskFull(error.what, "Free some space, and merge again: nothing of it was left") from error
            if isinstance(error, OSError):
                what = f"cannot make the run folder {out}: {error.strerror}"
                raise StoreError(what, "Name a folder that you may write to: --out DIR") from error
            raise
        merged.folder = out
    return merged


def _throw_away(aside: Path) -> None:
    """What a merge that was killed has left, and no other merge is making now."""
    lock = lock_folder(aside)
    try:
        shutil.rmtree(aside)
    finally:
        os.close(lock)


def _merge_aside(sources: Sequence[SourceRun], aside: Path, lanelab: str, tell: Callable[[str], None]) -> Merged:
    first = sources[0]
    merged = Merged(aside, len(sources))
    merged.state = FINISHED if all(each.meta.get("state") == FINISHED for each in sources) else "stopped"
    text = (first.folder / run_format.EXPERIMENT).read_text()
    store = Store.new(aside, text, lambda database: _fill(database, first, sources, lanelab))
    try:
        store.begin_session(
            {"lanelab": {"version": lanelab}, "merged": [_provenance(each) for each in sources]}, this_machine()
        )
        placed = Placed()
        taker = Taker(store, first.links())
        for source in sources:
            tell(f"taking {source.count()} trials of {source.folder}")
            _take(source, taker, placed, merged)
        merged.trials, merged.rounds = len(placed.rounds), placed.last
        merged.beds, merged.machines = store.last_bed(), len(store.machines())
        merged.differences = _differences(sources, store)
        plan: dict[str, object] = {**first.plan, "repeat": {"trials": merged.rounds}}
        plan["looks"] = [[look.trials, look.alpha] for look in only_look(merged.rounds)]
        store.set_meta("plan", json.dumps(plan))
        store.set_meta("state", merged.state)
        store.end_session(FINISHED)
        _keep_files(first.folder, aside)
    finally:
        store.close()
    return merged


def _fill(database: sqlite3.Connection, first: SourceRun, sources: Sequence[SourceRun], lanelab: str) -> None:
    meta = {
        **first.meta,
        run_format.ID: secrets.token_hex(8),
        run_format.MERGED: json.dumps([each.id for each in sources]),
        "format": run_format.VERSION,
        "created_utc": utc_now(),
        "lanelab": lanelab,
        "state": "running",
    }
    database.executemany("INSERT INTO meta VALUES (?, ?)", meta.items())
    for table in ("links", "arms", "cells"):
        rows = first.table(table)
        marks = ", ".join("?" * len(rows[0]))
        database.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)  # noqa: S608 - names from above


def _provenance(source: SourceRun) -> JsonObject:
    """Where a source was is nobody else's business; what it was made with is."""
    known = {key: source.meta.get(key, "") for key in ("name", "created_utc", "seed", "lanelab", "state", "beds")}
    return {"run": source.id, "folder": source.folder.name, **known, "sessions": source.sessions()}


# --- rounds


@dataclass
class Placed:
    """The places of trials in the merged run."""

    rounds: dict[str, int] = field(default_factory=dict)  # by the trial's identity
    attempts: Counter[tuple[str, int]] = field(default_factory=Counter)
    counting: set[tuple[str, int]] = field(default_factory=set)  # cell and round with a result
    last: int = 0

    def of_round(self, trials: Sequence[SourceTrial]) -> tuple[int, list[SourceTrial]]:
        """Return the round that these of one round of a source get, and those that are not here yet. A round that is
        here in part goes on, unless a cell has another result there: one that counts, or a time-out."""
        new = [trial for trial in trials if trial.identity not in self.rounds]
        here = {self.rounds[trial.identity] for trial in trials if trial.identity in self.rounds}
        if not new:
            return 0, []
        if len(here) == 1:
            (number,) = here
            if not any(trial.is_result and (trial.cell, number) in self.counting for trial in new):
                return number, new
        return self.last + 1, new

    def add(self, trial: SourceTrial, number: int) -> Wanted:
        self.last = max(self.last, number)
        self.rounds[trial.identity] = number
        self.attempts[trial.cell, number] += 1
        if trial.is_result:
            self.counting.add((trial.cell, number))
        attempt = self.attempts[trial.cell, number]
        return Wanted(trial.trial, trial.identity, trial.cell, number, attempt)


def _take(source: SourceRun, taker: Taker, placed: Placed, merged: Merged) -> None:
    origin = taker.from_run(source)
    rounds: dict[int, list[SourceTrial]] = {}
    for trial in source.trials():
        rounds.setdefault(trial.round, []).append(trial)
    for _, trials in sorted(rounds.items()):
        number, new = placed.of_round(trials)
        merged.twice += len(trials) - len(new)
        wanted = [placed.add(trial, number) for trial in sorted(new, key=lambda each: each.trial)]
        for some in _chunks(wanted, AT_ONCE):
            origin.take(some)


def _chunks(wanted: Sequence[Wanted], size: int) -> Iterable[Sequence[Wanted]]:
    for first in range(0, len(wanted), size):
        yield wanted[first : first + size]


# --- what differs


def _differences(sources: Sequence[SourceRun], store: Store) -> list[str]:
    """Sentences about what is not the same in all runs and does not keep them apart."""
    sentences = []
    if len({source.meta.get(run_format.CLAIMS_DIGEST, "") for source in sources}) > 1:
        sentences.append(f"claims differ: those of {sources[0].folder.name} are judged")
    names = {digest: data for source in sources for digest, data in source.versions().items()}
    order = [*names, *({digest for digests in store.versions_by_cell().values() for digest in digests} - names.keys())]
    cells = sources[0].cells()
    by_versions: dict[tuple[str, ...], list[str]] = {}
    for cell, digests in store.versions_by_cell().items():
        if len(digests) > 1:
            link, arm = cells[cell]
            by_versions.setdefault(tuple(sorted(digests, key=order.index)), []).append(f"{link} · {arm}")
    for several, labels in by_versions.items():
        known = [names.get(digest, {}) for digest in several]
        sentences.append(f"{_labels(labels)} have trials of {len(several)} versions: {_differing(known)}")
    return sentences


def _differing(known: Sequence[Mapping[str, str]]) -> str:
    names = sorted({name for one, other in itertools.combinations(known, 2) for name in one.keys() | other.keys()})
    differ = [(name, dict.fromkeys(one.get(name, "none") for one in known)) for name in names]
    names_and_values = [f"{name} ({', '.join(values)})" for name, values in differ if len(values) > 1]
    return "; ".join(names_and_values) or "of some nothing is known"


def _labels(labels: Sequence[str], most: int = 4) -> str:
    more = f" and {len(labels) - most} more" if len(labels) > most else ""
    return f"{', '.join(labels[:most])}{more}"


def _keep_files(source: Path, target: Path) -> None:
    """Copy the users' own scripts."""
    for path in sorted(source.rglob("*")):
        name = path.relative_to(source)
        if path.is_file() and name.parts[0] not in NOT_KEPT and not path.name.endswith("-journal"):
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            copy_file(path, target / name)
