"""A load made smaller, for a look: fewer users in less time, so that they come as fast as before. Pure."""

from __future__ import annotations

from dataclasses import replace

from lanelab.driver.base.errors import InputError
from lanelab.driver.base.units import Duration
from lanelab.driver.experiment.model import Cell, Experiment, LinkCase
from lanelab.driver.trial.load_settings import K6, LoadSettings, Stage

LEAST = 0.001


def over_scale(experiment: Experiment, scale: float, key: str = "--scale") -> Experiment:
    """The experiment with each number of users or arrivals, and each time of a ramp, multiplied by `scale`. How many
    come per second stays the same."""
    if scale == experiment.scale:
        return experiment
    loads = [cell.link.load for cell in experiment.cells]
    if not all(load and load.generator == K6 for load in loads):
        what = "only loads by users or arrivals have a scale"
        raise InputError(what, "Leave it out", key=key)
    if not LEAST <= scale <= 1:
        raise InputError(f"{scale:g} cannot be used", f"Write a number from {LEAST:g} to 1, like 0.2", key=key)
    saved_s = max(_saved_s(load, scale) for load in loads if load)
    return replace(
        experiment,
        scale=scale,
        cells=tuple(_cell(cell, scale) for cell in experiment.cells),
        links=tuple(_case(case, scale) for case in experiment.links),
        pairs=replace(
            experiment.pairs,
            made=tuple((_cell(base, scale), _cell(arm, scale)) for base, arm in experiment.pairs.made),
        ),
        timeout=Duration(experiment.timeout.ns - round(saved_s * 1e9)),
    )


def _cell(cell: Cell, scale: float) -> Cell:
    return replace(cell, link=_case(cell.link, scale))


def _case(case: LinkCase, scale: float) -> LinkCase:
    return replace(case, load=_load(case.load, scale)) if case.load else case


def _load(load: LoadSettings, scale: float) -> LoadSettings:
    return replace(load, users=_stages(load.users, scale), arrivals=_stages(load.arrivals, scale))


def _stages(stages: tuple[Stage, ...], scale: float) -> tuple[Stage, ...]:
    """At least one user stays of any."""
    return tuple(
        Stage(max(round(stage.target * scale), 1 if stage.target else 0), stage.over_s * scale) for stage in stages
    )


def _saved_s(load: LoadSettings, scale: float) -> float:
    return load.duration_s * (1 - scale)
