"""What an experiment would do, without doing it: lanelab.plan."""

import html
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import NotRequired, TypedDict

from lanelab.driver.api.claims_planned import claims_json
from lanelab.driver.api.plan_words import order_of_round, spread_words, summary
from lanelab.driver.base.amounts import size
from lanelab.driver.base.coded import Json
from lanelab.driver.base.errors import ArgumentError, InputError
from lanelab.driver.base.paths import build_folder
from lanelab.driver.base.settings.source import error_at_its_line
from lanelab.driver.experiment.figure import KeptFigure
from lanelab.driver.experiment.model import Experiment
from lanelab.driver.experiment.read import read_experiment
from lanelab.driver.experiment.scale import over_scale
from lanelab.driver.experiment.schedule.blocks import blocks
from lanelab.driver.experiment.schedule.estimate import Estimate, SpreadEstimate, estimate_spread
from lanelab.driver.experiment.schedule.portions import require_portions
from lanelab.driver.experiment.schedule.warnings import warnings
from lanelab.driver.record.metrics import PAGE_LOAD
from lanelab.driver.run.built_programs import FirstBuild, still_to_build
from lanelab.driver.run.loads import limits_told, scripts_told
from lanelab.driver.run.run_duration import expected, sites_of
from lanelab.driver.run.second_visits import has_second_visits, second_visits_told
from lanelab.driver.run.site_distances import HostsAt, planned_distances
from lanelab.driver.site.own_sites import own_sites_told

ROUNDS_SHOWN = 2


class PlannedCell(TypedDict):
    """A cell, and what each of its trials is expected to take."""

    id: str
    site: str
    link: str
    arm: str
    expected_plt_s: float
    expected_trial_s: float
    disk_bytes_per_trial: int


class WholeRange(TypedDict):
    least: int
    most: int


class TimeRange(TypedDict):
    least: float
    most: float


class LookJson(TypedDict):
    """A look at the results: after so many trials."""

    trials: int
    confidence: float


class FirstBuildJson(TypedDict):
    """The programs that are built once, before the first trial."""

    programs: list[str]
    seconds: int


class SpreadJson(TypedDict):
    """The time on several beds at once."""

    workers: int
    portions: int
    most_portions: int
    seconds: float
    most_seconds: float


class PlanJson(TypedDict):
    """The plan of an experiment, with all settings."""

    name: str
    description: str
    cells: list[PlannedCell]
    links: dict[str, dict[str, str]]
    arms: dict[str, dict[str, Json]]
    trials: WholeRange
    seconds: TimeRange
    disk_bytes: WholeRange
    first_build: FirstBuildJson
    self_tests: int
    beds: WholeRange
    looks: list[LookJson]
    compared: list[list[str]]
    not_compared: list[str]
    blocks: list[list[int]]
    order: str
    seed: int | None
    rounds: list[list[int]]
    variant: str
    variants: list[str]
    scale: float
    claims: list[dict[str, object]]
    figures: list[KeptFigure]
    warnings: list[str]
    spread: NotRequired[SpreadJson]


@dataclass(frozen=True, slots=True, repr=False)
class Plan:
    """Cells, order, time and disk of an experiment."""

    experiment: Experiment
    estimate: Estimate
    first: FirstBuild  # what has to be built before
    warnings: tuple[str, ...]
    spread: SpreadEstimate | None = None  # on several beds at once
    distances: tuple[HostsAt, ...] = ()  # of links that have any

    def words(self) -> list[str]:
        """Return what it comes to, for a person."""
        spread = spread_words(self.spread, self.estimate) if self.spread else []
        return [*summary(self.experiment, self.estimate, self.first), *spread]

    def __str__(self) -> str:
        return "\n".join([*self.words(), *(f"mind: {warning}" for warning in self.warnings)])

    def __repr__(self) -> str:
        return f"<plan of {self.experiment.name}: {self.words()[0]}>"

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"

    def arms(self) -> dict[str, dict[str, Json]]:
        """Return for each arm the settings that are not the defaults."""
        # In a load and in a fetch no gateway takes part: generator and fetcher speak every protocol themselves.
        hidden = set() if self.experiment.workload == PAGE_LOAD else {"via"}
        return {
            arm.name: {key: value for key, value in arm.changed().items() if key not in hidden}
            for arm in self.experiment.arms
        }

    def to_json(self) -> PlanJson:
        """Return everything that the table says, and all settings."""
        known = self.experiment.order == "sequential" or self.experiment.seed is not None
        whole: PlanJson = {
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
            "first_build": {"programs": list(self.first.programs), "seconds": self.first.seconds},
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
        }
        if self.spread:
            whole["spread"] = _spread_json(self.spread)
        return whole


def _spread_json(spread: SpreadEstimate) -> SpreadJson:
    return {
        "workers": spread.workers,
        "portions": spread.portions,
        "most_portions": spread.most_portions,
        "seconds": spread.seconds,
        "most_seconds": spread.most_seconds,
    }


def plan(
    file: str | Path, variant: str | None = None, *, scale: float | None = None, workers: int | None = None
) -> Plan:
    """Return the plan of an experiment file, on `workers` beds at once. Raises InputError."""
    experiment = read_experiment(Path(file), variant)
    try:
        return plan_of(experiment if scale is None else over_scale(experiment, scale), workers=workers)
    except InputError as error:  # what only the sites can judge
        raise error_at_its_line(error, experiment.text, str(file)) from error


def plan_of(experiment: Experiment, *, workers: int | None = None) -> Plan:
    """Return the plan of an experiment, on `workers` beds at once. Raises InputError."""
    if workers is not None and workers < 1:
        raise ArgumentError(f"{workers} is no number of beds", "Write 1 or more", key="workers")
    if workers:
        require_portions(experiment)
    estimate = expected(experiment)
    has_distances = any(cell.link.link.distances for cell in experiment.cells)
    distances = planned_distances(experiment, sites_of(experiment)) if has_distances else []
    notes = [*limits_told(experiment), *scripts_told(experiment), *own_sites_told(experiment.sites)]
    visits = second_visits_told(experiment, sites_of(experiment)) if has_second_visits(experiment) else []
    warned = (*warnings(experiment, estimate), *notes, *visits, *_disk_warnings(estimate))
    spread = estimate_spread(experiment, estimate, workers) if workers else None
    return Plan(experiment, estimate, still_to_build([experiment]), warned, spread, tuple(distances))


def _disk_warnings(estimate: Estimate) -> list[str]:
    folder = build_folder()
    while not folder.exists():
        folder = folder.parent
    free = shutil.disk_usage(folder).free
    if estimate.most_disk_bytes <= free:
        return []
    what = f"it may need {size(estimate.most_disk_bytes)} of disk, and {size(free)} are free"
    return [f"{what}: capture: {{snaplen: 96B}} or capture: off needs far less"]
