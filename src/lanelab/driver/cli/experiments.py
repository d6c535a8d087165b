"""lanelab plan and lanelab new: what an experiment would do, and how to begin one."""

from __future__ import annotations

import math
import os
import shutil
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
from rich.text import Text

from lanelab.driver.base.amounts import minutes, seconds, size
from lanelab.driver.base.errors import InputError
from lanelab.driver.base.paths import build_folder
from lanelab.driver.cli.claims_planned import claims_json, claims_table
from lanelab.driver.cli.common import MOST_WORKERS, json_option
from lanelab.driver.cli.output import console, note, print_json, table
from lanelab.driver.experiment import Experiment, read_experiment
from lanelab.driver.experiment.scale import over_scale, words_of_scale
from lanelab.driver.experiment.schedule.blocks import blocks
from lanelab.driver.experiment.schedule.estimate import Estimate, SpreadEstimate, estimate_spread
from lanelab.driver.experiment.schedule.order import round_order
from lanelab.driver.experiment.schedule.portions import require_portions
from lanelab.driver.experiment.schedule.warnings import warnings
from lanelab.driver.experiment.schema import SCHEMA_FILE
from lanelab.driver.record.metrics import LOAD
from lanelab.driver.run.built_programs import FirstBuild, still_to_build
from lanelab.driver.run.expected import expected
from lanelab.driver.run.loads import limits_told, scripts_told

EXAMPLE = Path(__file__).resolve().parents[1] / "experiment" / "example.yaml"
ROUNDS_SHOWN = 2
PAIRS_SHOWN = 6
CELLS_SHOWN = 12  # of a round's order, in the table that people read


@click.command("plan")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--variant", help="Which of the experiment's variants (default: the first)")
@click.option("--workers", type=click.IntRange(1, MOST_WORKERS), help="How long it takes on so many beds at once")
@click.option("--scale", type=float, help="Of a load: so much of the users in so much of the time, as in lanelab run")
@json_option
def plan(file: Path, *, variant: str | None, workers: int | None, scale: float | None, as_json: bool) -> None:
    """Show what an experiment FILE would do, without doing it: cells, order, time and disk.

    \b
    Examples:
      lanelab plan experiments/quickstart.yaml
      lanelab plan experiments/rtt-bandwidth-grid.yaml --json
      lanelab plan experiments/rtt-bandwidth-grid.yaml --workers 8
    """
    experiment = read_experiment(file, variant)
    if scale is not None:
        experiment = over_scale(experiment, scale)
    if workers:
        require_portions(experiment)
    made = expected(experiment)
    spread = estimate_spread(experiment, made, workers) if workers else None
    told = [*limits_told(experiment), *scripts_told(experiment)]
    warned = [*warnings(experiment, made), *told, *_disk_warnings(made)]
    if as_json:
        print_json(_plan_json(experiment, made, warned) | ({"spread": asdict(spread)} if spread else {}))
        return
    out = console()
    rows = (
        (str(number), one.cell.site, one.cell.link.label, one.cell.arm.name, seconds(one.plt_s), size(one.disk_bytes))
        for number, one in enumerate(made.cells, 1)
    )
    columns = ("cell", "site", "link", "arm", "expected load", "disk per trial")
    out.print(table(columns, rows, right=("cell", "expected load", "disk per trial")))
    out.print()
    # In a load no gateway takes part: the generator speaks every protocol itself.
    hidden = {"via"} if experiment.workload == LOAD else set()
    arms = (
        (arm.name, _settings({key: value for key, value in arm.changed().items() if key not in hidden}))
        for arm in experiment.arms
    )
    out.print(table(("arm", "settings other than the defaults"), arms))
    out.print()
    if experiment.claims:
        out.print(claims_table(experiment))
        out.print()
    first = still_to_build([experiment])
    for line in [*_summary(experiment, made, first), *(_spread(spread, made) if spread else [])]:
        out.print(Text(line))
    for warning in warned:
        note(f"mind: {warning}")


def _settings(changed: dict[str, Any]) -> str:
    words = []
    for key, value in changed.items():
        shown = str(value).lower() if isinstance(value, bool) else value
        words.append(f"{key}: {'; '.join(value) if isinstance(value, list) else shown}")
    return ", ".join(words) or "none"


def _summary(experiment: Experiment, made: Estimate, first: FirstBuild) -> list[str]:
    repeat = experiment.repeat
    cells = f"{len(experiment.cells)} cell{'s' if len(experiment.cells) > 1 else ''}"
    if repeat.ci is None:
        trials = f"{cells} x {repeat.max} trials = {made.trials} trials"
        time, disk = minutes(made.seconds + first.seconds), size(made.disk_bytes)
    else:
        trials = (
            f"{cells} x {repeat.looks[0].trials} to {repeat.max} trials = {made.trials} to {made.most_trials}, "
            f"until each {repeat.of} is known to {repeat.ci}"
        )
        time = f"{minutes(made.seconds + first.seconds)} to {minutes(made.most_seconds + first.seconds)}"
        disk = f"{size(made.disk_bytes)} to {size(made.most_disk_bytes)}"
    links = "1 link" if made.self_tests == 1 else f"{made.self_tests} links"
    each = " on each bed" if made.most_beds > 1 else ""
    return [
        f"{experiment.name}: {trials}",
        *([_looks(experiment)] if repeat.ci else []),
        f"order: {_order(experiment)}",
        *([_variant(experiment)] if experiment.variant else []),
        *(_scale(experiment) if experiment.scale != 1 else []),
        *_comparisons(experiment),
        *([_beds(experiment, made)] if made.most_beds > 1 else []),
        f"time:  about {time}, without failures (self-tests of {links}{each}{_build_words(first)} included)",
        f"disk:  about {disk}",
    ]


def _build_words(first: FirstBuild) -> str:
    return f", and {build_words(first)}," if first.seconds else ""


def build_words(first: FirstBuild) -> str:
    """What is built here before the first trial, and how long that takes."""
    return f"once {minutes(first.seconds)} to build {', '.join(first.programs)}"


def _order(experiment: Experiment) -> str:
    if experiment.order == "sequential":
        return "sequential: all trials of cell 1, then of cell 2, and so on"
    if experiment.seed is None:
        return f"{experiment.order}, from a new seed for each run"
    shown = _round(experiment, 1)
    more = ", …" if len(shown) > CELLS_SHOWN else ""
    numbers = ", ".join(map(str, shown[:CELLS_SHOWN]))
    return f"{experiment.order}, seed {experiment.seed}; the first round is cells {numbers}{more}"


def _variant(experiment: Experiment) -> str:
    others = [name for name in experiment.variants if name != experiment.variant]
    return f"variant: {experiment.variant}" + (f", of {', '.join(experiment.variants)}" if others else "")


def _scale(experiment: Experiment) -> list[str]:
    claims = ["Claims are about the whole load, and are not tested."] if experiment.claims else []
    return [" ".join([words_of_scale(experiment.scale), *claims])]


def _looks(experiment: Experiment) -> str:
    """When the run may end, and how sure an interval has to be then."""
    each = [f"{look.trials} ({math.floor(1000 * (1 - look.alpha)) / 10:g}%)" for look in experiment.repeat.looks]
    return f"looks: after {', '.join(each)} trials of each cell, by intervals of that; all looks together hold 95%"


def _comparisons(experiment: Experiment) -> list[str]:
    """How many there are. What is compared with nothing is named."""
    pairs = experiment.pairs
    if experiment.order == "sequential":
        return ["compared: nothing, since arms are not interleaved"] if pairs.made else []
    if not pairs.made:
        return []
    bases = list(dict.fromkeys(base.arm.name for base, _ in pairs.made))
    number = len(pairs.made)
    words = f"compared: {number} pair{'s' if number > 1 else ''} of cells, by round, with {', '.join(bases)}"
    left_out = pairs.left_out[:PAIRS_SHOWN]
    more = len(pairs.left_out) - len(left_out)
    return [words, *(f"  not compared: {one}" for one in left_out), *([f"  and {more} more"] if more else [])]


def _beds(experiment: Experiment, made: Estimate) -> str:
    lengths = sorted(
        {last - first + 1 for first, last in blocks(experiment.repeat, experiment.beds)[: experiment.beds]}
    )
    rounds = "every round" if lengths == [1] else f"every {' or '.join(map(str, lengths))} rounds"
    number = str(made.beds) if made.beds == made.most_beds else f"{made.beds} to {made.most_beds}"
    return f"beds:  {number}, a fresh one for {rounds}"


def _spread(spread: SpreadEstimate, made: Estimate) -> list[str]:
    """What it takes on several beds at once."""
    portions, time = str(spread.portions), minutes(spread.seconds)
    faster = f"{made.seconds / spread.seconds:.1f}"
    if spread.most_portions > spread.portions:
        portions, time = f"{portions} to {spread.most_portions}", f"{time} to {minutes(spread.most_seconds)}"
    words = f"on {spread.workers} beds at once, all as fast as one alone: {portions} portions, about {time}"
    return [f"{words}, {faster} times as fast"]


def _round(experiment: Experiment, number: int) -> list[int]:
    """The numbers of the cells, in the order of that round."""
    of = {cell.id: place for place, cell in enumerate(experiment.cells, 1)}
    return [of[trial.cell.id] for trial in round_order(experiment, experiment.seed or 0, number)]


def _disk_warnings(made: Estimate) -> list[str]:
    folder = build_folder()
    while not folder.exists():
        folder = folder.parent
    free = shutil.disk_usage(folder).free
    if made.most_disk_bytes <= free:
        return []
    what = f"it may need {size(made.most_disk_bytes)} of disk, and {size(free)} are free"
    return [f"{what}: capture: {{snaplen: 96B}} or capture: off needs far less"]


def _plan_json(experiment: Experiment, made: Estimate, warned: list[str]) -> dict[str, object]:
    """Everything that the table says, and all settings."""
    known = experiment.order == "sequential" or experiment.seed is not None
    return {
        "name": experiment.name,
        "description": experiment.description,
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
            for one in made.cells
        ],
        "links": {case.label: case.link.to_mapping() for case in experiment.links},
        "arms": {arm.name: arm.settings() for arm in experiment.arms},
        "trials": {"least": made.trials, "most": made.most_trials},
        "seconds": {"least": round(made.seconds, 1), "most": round(made.most_seconds, 1)},
        "disk_bytes": {"least": made.disk_bytes, "most": made.most_disk_bytes},
        "first_build": asdict(still_to_build([experiment])),
        "self_tests": made.self_tests,
        "beds": {"least": made.beds, "most": made.most_beds},
        "looks": [{"trials": look.trials, "confidence": 1 - look.alpha} for look in experiment.repeat.looks],
        "compared": [[base.id, arm.id] for base, arm in experiment.pairs.made],
        "not_compared": list(experiment.pairs.left_out),
        "blocks": [list(rounds) for rounds in blocks(experiment.repeat, experiment.beds)],
        "order": experiment.order,
        "seed": experiment.seed,
        "rounds": [_round(experiment, number) for number in range(1, ROUNDS_SHOWN + 1)] if known else [],
        "variant": experiment.variant,
        "variants": list(experiment.variants),
        "scale": experiment.scale,
        "claims": claims_json(experiment),
        "figures": [figure.to_json() for figure in experiment.figures],
        "warnings": warned,
    }


@click.command("new")
@click.argument("file", type=click.Path(path_type=Path, allow_dash=True), default="experiment.yaml")
def new(file: Path) -> None:
    """Write a commented example to FILE (default: experiment.yaml), to be changed. - prints it.

    \b
    Examples:
      lanelab new my-experiment.yaml
      lanelab new -
    """
    if str(file) == "-":
        click.echo(example(SCHEMA_FILE), nl=False)
        return
    folder = file.absolute().parent
    beside = folder.is_relative_to(SCHEMA_FILE.parent.parent)
    schema = Path(os.path.relpath(SCHEMA_FILE, folder)) if beside else SCHEMA_FILE
    try:
        with file.open("x", encoding="utf-8") as written:
            written.write(example(schema))
    except FileExistsError:
        what = f"{file} is there already, and stays as it is"
        raise InputError(what, "Name another file, or remove it first", key="FILE") from None
    except OSError as error:
        what = f"cannot write {file}: {error.strerror}"
        raise InputError(what, "Name a file in a folder that is there and can be written", key="FILE") from error
    note(f"wrote {file}; what it would do: lanelab plan {file}")


def example(schema: Path) -> str:
    """The first line is for editors: completion and errors while typing."""
    return f"# yaml-language-server: $schema={schema}\n{EXAMPLE.read_text(encoding='utf-8')}"
