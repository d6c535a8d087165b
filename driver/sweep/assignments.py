"""What a worker has to know of a run, and where the controller has it from."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path

from driver.experiment.model import Cell
from driver.run.measuring_code import measuring_digest
from driver.run.start import BegunRun
from driver.run.store import Store
from driver.sweep.messages import VERSION, Assignment
from driver.sweep.permissions import asked_of
from model import run_format, version
from model.errors import StoreError


def assignment_of(begun: BegunRun) -> Assignment:
    store, experiment = begun.store, begun.experiment
    scripts = {cell.link.load.script for cell in experiment.cells if cell.link.load and cell.link.load.script_text}
    files = {name: _text(store.folder / name) for name in (run_format.EXPERIMENT, *sorted(scripts))}
    return Assignment(
        version=VERSION,
        run=store.run_id,
        lanelab=version.VERSION,
        measuring=measuring_digest(),
        files=files,
        meta=_meta(store),
        cells=cells_digest(experiment.cells),
        sites=begun.sites.digests(),
        asks=asked_of(experiment),
    )


def _meta(store: Store) -> dict[str, str]:
    """The run's, with links accepted where this session accepts them."""
    meta = store.all_meta()
    if not store.accepts_links:
        return meta
    return {**meta, "bed": json.dumps({**json.loads(meta.get("bed") or "{}"), "accept_links": True})}


def cells_digest(cells: Iterable[Cell]) -> str:
    """The same where both sides read the same cells from an experiment, in the same order."""
    return hashlib.sha256("\n".join(cell.id for cell in cells).encode()).hexdigest()


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        what = f"the run's own copy of {path.name} cannot be read: {error}"
        raise StoreError(what, "Put the file back as it was, or begin a new run") from error
