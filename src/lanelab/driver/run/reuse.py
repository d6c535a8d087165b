"""Reusing what other runs have measured: trials of equal keys are copied, and not made again."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from lanelab.driver.base.errors import ChangedError, LanelabError
from lanelab.driver.experiment.model import Cell
from lanelab.driver.run.events import Listener, NotReused, Reused, Reusing
from lanelab.driver.run.folder.sources import SourceRun, SourceTrial, found_in
from lanelab.driver.run.reuse_plan import Available, Plan, Planner, Taken, difference
from lanelab.driver.run.start import BegunRun
from lanelab.driver.run.take_over import Taker, Wanted
from lanelab.driver.run.trial_keys import AskedKeys

SEQUENTIAL = "sequential"
Versions = Mapping[str, Mapping[str, str]]  # by digest


def reuse(begun: BegunRun, store: Path, versions: Versions, tell: Listener) -> Reused:
    """Take from the runs in `store` what this run would make just so. `versions`: those that its own trials would have,
    on any of its machines. Called in a session of the run, before its schedule is made."""
    keys = AskedKeys(begun.experiment, begun.sites, accept_links=begun.store.accepts_links)
    keys_wanted = {cell.id: keys.of(cell) for cell in begun.experiment.cells}
    identities = {
        f"{begun.store.run_id}/{trial}" for trial in begun.store.trials_after(0)
    }  # other runs may have copies
    used = identities | begun.store.origins()
    planner = Planner(begun.experiment, keys_wanted, versions, set(begun.store.history()), used)
    available: list[Available] = []
    folders: dict[str, Path] = {}
    says: dict[str, str] = {}
    for folder in found_in(store):
        available_of_run = _available(begun, folder, set(keys_wanted.values()), tell)
        if available_of_run is None:
            continue
        one, theirs = available_of_run
        if one.run in folders:
            tell(NotReused(f"{folder} is a copy of {folders[one.run]}"))
            continue
        folders[one.run] = folder
        available.append(one)
        says |= {digest: difference(theirs[digest], versions.values()) for digest in theirs if digest not in versions}
    plan = planner.plan(available, says)
    _take(begun, plan, folders, tell)
    reused = Reused(plan.reused, plan.wanted, plan.runs, plan.sentence())
    begun.store.add_provenance("reused", {**asdict(reused), "store": str(store)})
    tell(reused)
    return reused


def _available(
    begun: BegunRun, folder: Path, trial_keys: set[str], tell: Listener
) -> tuple[Available, dict[str, dict[str, str]]] | None:
    """What of a run could be reused, and the versions of these trials; None: it is this run, or cannot be read."""
    try:
        with SourceRun.open(folder) as source:
            if source.id == begun.store.run_id:
                return None
            if source.plan.get("order") == SEQUENTIAL != begun.experiment.order:
                what = (
                    f"{folder} has order: {SEQUENTIAL}: trials of one round of it were made far apart, and are no pairs"
                )
                tell(NotReused(what))
                return None
            trials = list(source.trials(trial_keys))
            beds = {number: facts.uid for number, facts in source.beds().items()}
            known = source.versions()
            one = Available(source.id, source.is_of_fixed_number, beds, trials)
            return one, {trial.versions: known.get(trial.versions, {}) for trial in trials}
    except LanelabError as error:
        tell(NotReused(error.what))
        return None


def _take(begun: BegunRun, plan: Plan, folders: Mapping[str, Path], tell: Listener) -> None:
    """A run after the other; what is damaged is left out and told."""
    taker = Taker(begun.store, {case.label: case.link.to_mapping() for case in begun.experiment.links})
    kept: list[Taken] = []
    for run in dict.fromkeys(each.run for each in plan.taken):
        with SourceRun.open(folders[run]) as source:
            origin = taker.from_run(source)
            for each in (taken for taken in plan.taken if taken.run == run):
                try:
                    origin.take([_wanted(each, *one) for one in each.trials])
                except ChangedError as error:
                    plan.why_not["are damaged"] += each.results
                    tell(NotReused(error.what))
                    continue
                kept.append(each)
                _tell_taken(each, plan, kept, tell)
    plan.taken[:] = kept


def _wanted(taken: Taken, trial: SourceTrial, cell: Cell, attempt: int) -> Wanted:
    return Wanted(trial.trial, trial.identity, cell.id, taken.round, attempt)


def _tell_taken(taken: Taken, plan: Plan, kept: list[Taken], tell: Listener) -> None:
    done = sum(each.results for each in kept)
    tell(Reusing(taken.round, taken.results, done, plan.reused))
