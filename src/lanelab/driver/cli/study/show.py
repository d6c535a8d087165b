"""lanelab study show: what a study is, or how far a run of it is."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
from rich.text import Text

from lanelab.analysis.results.layout.terminal import on_terminal
from lanelab.analysis.results.sections.study import figures_section, verdicts_section
from lanelab.analysis.results.study.report import judge_study
from lanelab.analysis.results.study.run import read_study_run
from lanelab.analysis.results.study.runs import find_study_run
from lanelab.driver.api.plan_words import build_words
from lanelab.driver.api.study_data import checked_by, standing_json, study_json
from lanelab.driver.base.amounts import from_to, size
from lanelab.driver.base.errors import InputError
from lanelab.driver.base.settings.kinds import near_miss
from lanelab.driver.cli.common import json_option
from lanelab.driver.cli.output import console, note, print_json, table
from lanelab.driver.cli.study.report import claims_now, tell_unwritten
from lanelab.driver.experiment.model import Experiment
from lanelab.driver.experiment.read import STUDY_FILE
from lanelab.driver.experiment.schedule.estimate import Estimate
from lanelab.driver.run.built_programs import still_to_build
from lanelab.driver.run.study.figures import chosen_variant
from lanelab.driver.run.study.read import StudyFolder, is_here, read_study_folder, studies
from lanelab.driver.run.study.study_progress import costs


@click.command("show")
@click.argument("name")
@click.option("--variant", help="Which of the study's variants (default: the first)")
@json_option
def show_study(name: str, *, variant: str | None, as_json: bool) -> None:
    """Show what the study NAME claims, which experiment checks it, and what its figures take. Of a run, or `latest`:
    how far its figures are, and the verdicts so far.

    \b
    Examples:
      lanelab study show spdy-vs-http-2012
      lanelab study show spdy-vs-http-2012 --variant today --json
      lanelab study show latest
    """
    path = Path(name)
    if is_here(name) or path.name == STUDY_FILE:
        read = read_study_folder(name)
        chosen = chosen_variant(read.study, variant)
        _show_study(read, chosen, read.experiments(chosen), as_json=as_json)
        return
    folder = _run_of(name)
    if variant:
        raise InputError("a run has one variant", "Leave it out", key="--variant")
    _show_run(folder, as_json=as_json)


def _run_of(name: str) -> Path:

    try:
        return find_study_run(name)
    except InputError as error:
        if Path(name).exists():
            raise
        near = near_miss(name, studies())
        if near:
            raise InputError(f"there is no study {name!r}, and no run of one", f"{near}lanelab study list") from error
        raise


# --- a study


def _show_study(read: StudyFolder, variant: str, experiments: Mapping[int, Experiment], *, as_json: bool) -> None:
    estimates = costs(experiments)
    if as_json:
        print_json(study_json(read, variant, experiments, estimates))
        return
    study, out = read.study, console()
    out.print(Text(study.title, style="bold"))
    out.print(Text(study.source))
    if study.description:
        out.print(Text(f"\n{study.description}"))
    for name, meaning in study.variants.items():
        out.print(Text(f"variant {name}{' (shown here)' if name == variant else ''}: {meaning}"))
    out.print()
    out.print(_figures(read, experiments, estimates))
    out.print()
    checked = checked_by(experiments)
    rows = (
        (str(claim.number), claim.says, "\n".join(checked.get(claim.number, [])) or "-", claim.note)
        for claim in study.claims
    )
    out.print(table(("claim", "published", "checked by (figure: claim)", "note"), rows, right=("claim",)))
    if study.differences:
        out.print()
        each = ((one.what, one.then, one.now, one.effect) for one in study.differences)
        out.print(table(("difference", "then", "now", "effect"), each))
    out.print()
    seconds, most = sum(one.seconds for one in estimates.values()), sum(one.most_seconds for one in estimates.values())
    disk = sum(one.most_disk_bytes for one in estimates.values())
    first = still_to_build(experiments.values())
    time = from_to(seconds + first.seconds, most + first.seconds)
    built = f" ({build_words(first)} included)" if first.seconds else ""
    words = f"{sum(one.trials for one in estimates.values())} trials, about {time}{built}, {size(disk)}"
    out.print(Text(f"in all: {words}"))
    tell_unwritten(read.folder, study)
    note(f"run it: lanelab study run {study.name if study.name in studies() else read.folder}")


def _figures(read: StudyFolder, experiments: Mapping[int, Experiment], made: Mapping[int, Estimate]) -> Any:  # noqa: ANN401
    rows = []
    for figure in read.study.figures:
        one, cost = experiments[figure.number], made[figure.number]
        numbers = (str(len(one.cells)), str(cost.trials), str(cost.beds))
        time, disk = from_to(cost.seconds, cost.most_seconds), size(cost.most_disk_bytes)
        rows.append((str(figure.number), figure.title, figure.file, *numbers, time, disk))
    columns = ("figure", "title", "experiment", "cells", "trials", "beds", "time", "disk")
    return table(columns, rows, right=("figure", *columns[3:]))


# --- a run


def _show_run(folder: Path, *, as_json: bool) -> None:

    read = read_study_run(folder)
    judged = judge_study(read, claims_now(read.about))
    if as_json:
        print_json(standing_json(read, judged))
        return
    about = read.about
    variant = f", variant {about.variant}" if about.variant else ""
    note(f"{about.study.name}{variant}, begun {about.created_utc[:16].replace('T', ' ')} UTC, in {folder}")
    console().print(on_terminal([figures_section(read), verdicts_section(judged, read.caveats())]))
