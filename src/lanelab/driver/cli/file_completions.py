"""What a shell offers for the names of studies, and of what is in studies and experiments."""

from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from lanelab.driver.api.shipped_names import EXPERIMENTS, STUDY_FILE, experiment_file, shipped_names, studies
from lanelab.driver.cli.completions import argument, offer


def complete_experiment(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer lanelab's own experiments, and files."""
    return [*_complete_shipped(context, parameter, incomplete), CompletionItem(incomplete, type="file")]


@offer
def _complete_shipped(_context: click.Context, _incomplete: str) -> dict[str, str]:
    return dict.fromkeys(shipped_names(), "")


@offer
def complete_study(_context: click.Context, _incomplete: str) -> dict[str, str]:
    return dict.fromkeys(studies(), "")


@offer
def complete_study_or_run(_context: click.Context, _incomplete: str) -> dict[str, str]:
    from lanelab.driver.api.run_names import studies_run_here

    return {**dict.fromkeys(studies(), "study"), **studies_run_here()}


@offer
def complete_figure(context: click.Context, _incomplete: str) -> dict[str, str]:
    """Offer the figures of the study that was typed before."""
    return {str(number): row.get("title", "") for number, row in _written(argument(context))["figures"].items()}


@offer
def complete_variant(context: click.Context, _incomplete: str) -> dict[str, str]:
    """Offer the variants of the study, or of the experiment's file, that was typed before."""
    variants = _written(argument(context, "file")).get("variants") or {}
    return {name: words if isinstance(words, str) else "" for name, words in variants.items()}


def _written(name: str) -> dict[str, Any]:
    """Return what is written in a file, in a study's folder, or in a study in experiments/. It is not checked."""
    import yaml

    places = (Path(name), Path(name) / STUDY_FILE, EXPERIMENTS / name / STUDY_FILE)
    file = next((place for place in places if place.is_file()), None) or experiment_file(Path(name))
    return dict(yaml.safe_load(file.read_text(encoding="utf-8")))
