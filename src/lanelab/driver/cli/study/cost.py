"""What a study's figures are expected to take."""

from __future__ import annotations

from collections.abc import Mapping

from lanelab.driver.cli.experiments import minutes
from lanelab.driver.experiment.model import Experiment
from lanelab.driver.experiment.schedule.estimate import Estimate
from lanelab.driver.run.expected import expected


def costs(experiments: Mapping[int, Experiment]) -> dict[int, Estimate]:
    """Of each figure."""
    return {number: expected(experiment) for number, experiment in experiments.items()}


def time_words(least: float, most: float) -> str:
    """A length of time, or from which to which where it depends on the results."""
    return minutes(least) if minutes(least) == minutes(most) else f"{minutes(least)} to {minutes(most)}"
