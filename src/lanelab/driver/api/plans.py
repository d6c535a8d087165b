"""What an experiment would do, without doing it: lanelab.plan."""

import shutil
from dataclasses import asdict, dataclass
from pathlib import Path

from lanelab.driver.api.claims_planned import claims_json
from lanelab.driver.api.plan_words import order_of_round, spread_words, summary
from lanelab.driver.base.amounts import size
from lanelab.driver.base.paths import build_folder
from lanelab.driver.experiment.model import Experiment
from lanelab.driver.experiment.read import read_experiment
from lanelab.driver.experiment.scale import over_scale
from lanelab.driver.experiment.schedule.blocks import blocks
from lanelab.driver.experiment.schedule.estimate import Estimate, SpreadEstimate, estimate_spread
from lanelab.driver.experiment.schedule.portions import require_portions
from lanelab.driver.experiment.schedule.warnings import warnings
from lanelab.driver.run.built_programs import FirstBuild, still_to_build
from lanelab.driver.run.loads import limits_told, scripts_told
from lanelab.driver.run.run_duration import expected

ROUNDS_SHOWN = 2


@dataclass(frozen=True, slots=True)
class Plan:
    """Cells, order, time and disk of an experiment."""

    experiment: Experiment
    estimate: Estimate
    first: FirstBuild  # what has to be built before
    warnings: tuple[str, ...]
    spread: SpreadEstimate | None = None  # on several beds at once

    def words(self) -> list[str]:
        """Return what it comes to, for a person."""
        spread = spread_words(self.spread, self.estimate) if self.spread else []
        return [*summary(self.experiment, self.estimate, self.first), *spread]

    def to_json(self) -> dict[str, object]:
        """Return everything that the table says, and all settings."""
        known = self.experiment.order == "sequential" or self.experiment.seed is not None
        return {
            "name": self.experiment.name,
            "description": self.experiment.description,
            "cells": [
                {
                    "id": one.cell.id,
                    "site": one.cell.site,
                    "link": one.cell.link.label,
                    "arm": one.cell.arm.name,
                    "expected_plt_s": round(one.plt_s, 3),
                    "expected_trial_s": round(one.trial_s, 3),
                    "disk_bytes_per_trial": one.disk_bytes,
                }
                for one in self.estimate.cells
            ],
            "links": {case.label: case.link.to_mapping() for case in self.experiment.links},
            "arms": {arm.name: arm.settings() for arm in self.experiment.arms},
            "trials": {"least": self.estimate.trials, "most": self.estimate.most_trials},
            "seconds": {"least": round(self.estimate.seconds, 1), "most": round(self.estimate.most_seconds, 1)},
            "disk_bytes": {"least": self.estimate.disk_bytes, "most": self.estimate.most_disk_bytes},
            "first_build": asdict(self.first),
            "self_tests": self.estimate.self_tests,
            "beds": {"least": self.estimate.beds, "most": self.estimate.most_beds},
            "looks": [{"trials": look.trials, "confidence": 1 - look.alpha} for look in self.experiment.repeat.looks],
            "compared": [[base.id, arm.id] for base, arm in self.experiment.pairs.cells],
            "not_compared": list(self.experiment.pairs.left_out),
            "blocks": [list(rounds) for rounds in blocks(self.experiment.repeat, self.experiment.beds)],
            "order": self.experiment.order,
            "seed": self.experiment.seed,
            "rounds": [order_of_round(self.experiment, number) for number in range(1, ROUNDS_SHOWN + 1)]
            if known
            else [],
            "variant": self.experiment.variant,
            "variants": list(self.experiment.variants),
            "scale": self.experiment.scale,
            "claims": claims_json(self.experiment),
            "figures": [figure.to_json() for figure in self.experiment.figures],
            "warnings": list(self.warnings),
            **({"spread": asdict(self.spread)} if self.spread else {}),
        }


def plan(
    file: str | Path, variant: str | None = None, *, scale: float | None = None, workers: int | None = None
) -> Plan:
    """Return the plan of an experiment file, on `workers` beds at once. Raises InputError."""
    experiment = read_experiment(Path(file), variant)
    return plan_of(experiment if scale is None else over_scale(experiment, scale), workers=workers)


def plan_of(experiment: Experiment, *, workers: int | None = None) -> Plan:
    """Return the plan of an experiment, on `workers` beds at once. Raises InputError."""
    if workers:
        require_portions(experiment)
    estimate = expected(experiment)
    notes = [*limits_told(experiment), *scripts_told(experiment)]
    warned = (*warnings(experiment, estimate), *notes, *_disk_warnings(estimate))
    spread = estimate_spread(experiment, estimate, workers) if workers else None
    return Plan(experiment, estimate, still_to_build([experiment]), warned, spread)


def _disk_warnings(estimate: Estimate) -> list[str]:
    folder = build_folder()
    while not folder.exists():
        folder = folder.parent
    free = shutil.disk_usage(folder).free
    if estimate.most_disk_bytes <= free:
        return []
    what = f"it may need {size(estimate.most_disk_bytes)} of disk, and {size(free)} are free"
    return [f"{what}: capture: {{snaplen: 96B}} or capture: off needs far less"]
