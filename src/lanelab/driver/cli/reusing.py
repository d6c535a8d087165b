"""--reuse of `lanelab run`: which versions this run's trials would have, and what of other runs has them."""

from __future__ import annotations

from pathlib import Path

from lanelab.driver.base import paths
from lanelab.driver.base.errors import InputError
from lanelab.driver.cli.options import BedOptions
from lanelab.driver.cli.progress import watching
from lanelab.driver.record.metrics import primary_of
from lanelab.driver.run.built_programs import Programs
from lanelab.driver.run.channel.client import Bed
from lanelab.driver.run.events import Event
from lanelab.driver.run.folder.sources import found_in
from lanelab.driver.run.reuse import reuse
from lanelab.driver.run.start import BegunRun
from lanelab.driver.run.trial_keys import digest_of
from lanelab.driver.run.versions import versions_of


def check_reuse(store: Path | None) -> None:
    """Raises InputError where there is nothing of the kind, before a run folder is made."""

    if store and not found_in(store):
        raise InputError(f"there is no run in {store}", "Name a run, or a folder that has runs", key="--reuse")


def reuse_first(begun: BegunRun, store: Path, programs: Programs, made: BedOptions, *, as_json: bool) -> None:
    """Take what other runs have. A bed of this run says which versions its trials would have."""

    trials = begun.experiment.repeat.max * len(begun.experiment.cells)
    primary = primary_of(begun.store.workload)
    with watching(as_json=as_json, trials=trials, done=0, primary=primary) as tell:
        with paths.bed_folder() as folder, Bed(made.settings(folder)) as bed:
            versions = versions_of(begun.experiment, programs, bed, bed.facts())
        tell(Event("reuse", {"store": str(store)}))
        reuse(begun, store, {digest_of(versions): versions}, tell)
