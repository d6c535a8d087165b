"""What a run has to know of the loads of its experiment before anything starts."""

from __future__ import annotations

from pathlib import Path

from driver.experiment.model import Experiment
from driver.workloads.load.registry import GENERATORS
from model.errors import InputError, StoreError


def check_loads(experiment: Experiment) -> None:
    """Raises InputError where a generator cannot do what an arm asks for."""
    for cell in experiment.cells:
        load = cell.link.load
        if load is None:
            continue
        try:
            GENERATORS[load.generator].check(load, cell.arm)
        except InputError as error:
            raise InputError(error.what, error.remedy, key=f"arms.{cell.arm.name}: {error.key}") from None


def keep_scripts(experiment: Experiment, folder: Path) -> None:
    """Users' own scripts go into the run folder, where they are read when the run goes on."""
    for load in {cell.link.load for cell in experiment.cells if cell.link.load and cell.link.load.script_text}:
        path = folder / load.script
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(load.script_text, encoding="utf-8")
        except OSError as error:
            what = f"cannot keep the script {load.script} in {folder}: {error.strerror}"
            raise StoreError(what, "Give the script another name") from error
