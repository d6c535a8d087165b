"""Beginning a run, or going on with one: folder, seed, sites and cells, before any bed is made."""

import datetime
import hashlib
import itertools
import json
import secrets
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from lanelab.driver.arm.servers.certificates import Authority
from lanelab.driver.base.clock import utc_now
from lanelab.driver.base.errors import InputError, StoreError
from lanelab.driver.base.settings.kinds import LARGEST_SEED, near_miss
from lanelab.driver.experiment.claim import digest_of
from lanelab.driver.experiment.model import Experiment
from lanelab.driver.experiment.read import over_beds, over_trials, parse_experiment
from lanelab.driver.experiment.scale import over_scale
from lanelab.driver.run.folder import format as run_format
from lanelab.driver.run.folder.store import Store
from lanelab.driver.run.loads import check_loads, check_objects, keep_scripts
from lanelab.driver.run.second_visits import require_change
from lanelab.driver.run.served_sites import ServedSites, with_arm_named
from lanelab.driver.site.facts import about
from lanelab.driver.site.load import load_site, site_names
from lanelab.driver.site.site import Site
from lanelab.driver.trial.journey import pages_of
from lanelab.driver.trial.server_load.targets import ALL

AUTHORITY = "authority"


@dataclass(frozen=True, slots=True)
class BegunRun:
    """A run that has begun: what its runner needs besides a bed."""

    experiment: Experiment
    sites: ServedSites
    store: Store


def begin(
    experiment: Experiment, version: str, folder: Path | None, seed: int | None, bed: Mapping[str, object]
) -> BegunRun:
    """Begin a new run of an experiment, in a folder of its own. `bed`: how its beds are made, also when it goes on."""
    check_loads(experiment)
    sites = _served(experiment)
    check_objects(experiment, sites.site)
    for cell in experiment.cells:
        with with_arm_named(cell):
            require_change(cell, sites.site(cell))
    chosen = next(value for value in (seed, experiment.seed, secrets.randbelow(LARGEST_SEED + 1)) if value is not None)
    meta = {**_meta(experiment, sites, version, chosen), "bed": json.dumps(bed)}
    store = Store.create(folder or _new_folder(experiment.name), experiment.text, meta, experiment.cells)
    try:
        keep_scripts(experiment, store.folder)
        Authority.make(store.folder / AUTHORITY)
    except BaseException:
        store.close()
        raise
    return BegunRun(experiment, sites, store)


def resume(folder: Path) -> BegunRun:
    """A run that was interrupted; what it has stored is what it knows."""
    store = Store.open(folder)
    try:
        if store.meta(run_format.MERGED):
            what = f"the run in {folder} was merged of several, and none of them goes on in it"
            raise InputError(what, f"To add trials, make a run: lanelab run FILE --reuse {folder}")
        path = folder / run_format.EXPERIMENT
        experiment = read_back(path, store.all_meta(), site_names())
        if [cell.id for cell in experiment.cells] != store.cell_ids():
            what = f"this lanelab reads other cells from {path} than the one that began the run"
            script = f"Put the script in {folder} back if it was changed, go" if experiment.script else "Go"
            raise StoreError(what, f"{script} on with lanelab {store.meta('lanelab')}, or begin a new run")
        sites = _served(experiment)
        if json.loads(store.meta("sites")) != sites.digests():
            raise StoreError("a site has changed since this run began", "Begin a new run")
        Authority.make(store.folder / AUTHORITY)
    except BaseException:
        store.close()
        raise
    return BegunRun(experiment, sites, store)


def digests_now(folder: Path, meta: Mapping[str, str]) -> dict[str, str]:
    """Return the digests of the run's sites, as the archive has them now. `meta` is the run's."""
    return _served(read_back(folder / run_format.EXPERIMENT, meta, site_names())).digests()


def _served(experiment: Experiment) -> ServedSites:
    return ServedSites.of(experiment, {name: load_for(experiment, name) for name in experiment.sites})


def load_for(experiment: Experiment, name: str) -> Site:
    """Return what an experiment loads of a site: for a journey the whole; unless a script makes it, with the
    first step's page as its entry.
    Raises InputError where it lacks a page."""
    if not experiment.journey:
        return load_target(name)
    site = load_site(name)
    if experiment.script:
        return site
    return site.beginning_at(pages_of(experiment.journey, site)[0])


def load_target(name: str) -> Site:
    """Return a site, of one with several pages what its entry needs; of `site/path`, which a server under load is asked
    for, the site with that object as its entry, and of `site/*` with all that its host has."""
    site_name, slash, path = name.partition("/")
    site = load_site(site_name)
    if not slash:
        return site.of_page(site.entry_page) if site.entry_page else site
    paths = [each.path for each in site.objects if each.host == site.entry_host]
    if slash + path not in (*paths, ALL):
        near = near_miss(slash + path, paths)
        raise InputError(f"the site {site_name} has no object {slash}{path}", f"{near}See its manifest", key="sites")
    return replace(site, entry_path=slash + path)


def read_back(path: Path, meta: Mapping[str, str], sites: Collection[str]) -> Experiment:
    """Return the experiment of a run from the copy in its folder, which has the users' scripts beside it. `meta`: the
    run's; `sites`: names of those that there are."""
    text = _read_back(path)
    if hashlib.sha256(text.encode()).hexdigest() != meta.get("experiment_sha256"):
        what = f"{path} is not the experiment that this run began with"
        raise StoreError(what, "Put it back as it was, or begin a new run with the changed one")
    experiment = parse_experiment(text, str(path), sites, meta.get(run_format.VARIANT) or None)
    experiment = replace(experiment, name=meta["name"])
    experiment = over_scale(experiment, float(meta.get(run_format.SCALE) or 1))
    repeat = json.loads(meta["plan"])["repeat"]  # which may have other trials than the experiment says
    experiment = over_trials(experiment, repeat["trials"]) if "trials" in repeat else experiment
    return over_beds(experiment, _beds_of(path, meta))


def _beds_of(path: Path, meta: Mapping[str, str]) -> int:
    """Return the beds that the run was begun with, which may be others than its experiment's."""
    beds = meta.get("beds", "")
    if not beds.isdecimal():
        raise StoreError(f"the run in {path.parent} does not say over how many beds it goes", "Begin a new run")
    return int(beds)


def _read_back(path: Path) -> str:
    try:
        return path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        what = f"the run's own copy of its experiment cannot be read: {path}"
        raise StoreError(what, "Put the file back as it was, or begin a new run") from error


def _meta(experiment: Experiment, sites: ServedSites, version: str, seed: int) -> dict[str, str]:
    return {
        "format": run_format.VERSION,
        run_format.ID: secrets.token_hex(8),
        "workload": experiment.workload,
        "name": experiment.name,
        "description": experiment.description,
        "created_utc": utc_now(),
        "seed": str(seed),
        "beds": str(experiment.beds),
        "lanelab": version,
        "state": "running",
        run_format.VARIANT: experiment.variant,
        run_format.SCALE: repr(experiment.scale).removesuffix(".0"),  # all digits: identifiers of cells follow from it
        run_format.CLAIMS: json.dumps([claim.to_json() for claim in experiment.claims]),
        **({run_format.JOURNEY: json.dumps([step.name for step in experiment.journey])} if experiment.journey else {}),
        run_format.CLAIMS_DIGEST: digest_of(experiment.claims),
        "figures": json.dumps([figure.to_json() for figure in experiment.figures]),
        "plan": json.dumps(_plan(experiment)),
        "experiment_sha256": hashlib.sha256(experiment.text.encode()).hexdigest(),
        "sites": json.dumps(sites.digests()),
        run_format.ABOUT_SITES: json.dumps({name: about(site).to_json() for name, site in sites.archived.items()}),
    }


def _plan(experiment: Experiment) -> dict[str, object]:
    """What results are judged by: docs/reference/run-folder.md."""
    return {
        "cells": len(experiment.cells),
        "order": experiment.order,
        "repeat": _repeat(experiment),
        "looks": [[look.trials, look.alpha] for look in experiment.repeat.looks],
        "timeout_s": experiment.timeout.seconds,
        "compared": [[base.id, arm.id] for base, arm in experiment.pairs.cells],
        "not_compared": list(experiment.pairs.left_out),
    }


def _repeat(experiment: Experiment) -> dict[str, object]:
    repeat = experiment.repeat
    if repeat.trials is not None:
        return {"trials": repeat.trials}
    return {"ci": str(repeat.ci), "of": repeat.of, "min": repeat.min, "max": repeat.max}


def _new_folder(name: str) -> Path:
    """Make runs/DATE-NAME."""
    while True:
        folder = free_folder(run_format.RUNS, name)
        try:
            folder.mkdir(parents=True)
        except FileExistsError:  # of a run that has begun in the same moment
            continue
        except OSError as error:
            what = f"cannot make the run folder {folder}: {error.strerror}"
            raise StoreError(what, "Go to a folder that you may write to, or name one: --out DIR") from error
        return folder


def free_folder(runs: Path, name: str) -> Path:
    """Return a folder that is not there yet, DATE-NAME; numbered where two runs begin within a second."""
    stamp = datetime.datetime.now(datetime.UTC).strftime("%Y%m%dT%H%M%SZ")
    names = (f"{stamp}-{name}" if number == 1 else f"{stamp}-{name}-{number}" for number in itertools.count(1))
    return next(runs / each for each in names if not (runs / each).exists())
