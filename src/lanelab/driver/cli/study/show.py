"""lanelab study show: what a study is, or how far a run of it is."""

from collections.abc import Mapping
from pathlib import Path

import click

from lanelab.analysis.results.layout.terminal import on_terminal
from lanelab.analysis.results.sections.study import figures_section, verdicts_section
from lanelab.analysis.results.study.page import judge_study
from lanelab.analysis.results.study.run import read_study_run
from lanelab.analysis.results.study.runs import find_study_run
from lanelab.driver.api.study_data import standing_json, study_json, study_sections
from lanelab.driver.base.errors import InputError
from lanelab.driver.base.settings.kinds import near_miss
from lanelab.driver.cli.common import json_option
from lanelab.driver.cli.file_completions import complete_study_or_run, complete_variant
from lanelab.driver.cli.output import console, note, print_json
from lanelab.driver.cli.study.report import claims_now, tell_unwritten
from lanelab.driver.experiment.model import Experiment
from lanelab.driver.experiment.shipped import STUDY_FILE, studies
from lanelab.driver.run.study.figures import chosen_variant
from lanelab.driver.run.study.read import StudyFolder, is_here, read_study_folder
from lanelab.driver.run.study.study_progress import costs


@click.command("show")
@click.argument("name", shell_complete=complete_study_or_run)
@click.option("--variant", shell_complete=complete_variant, help="Which of the study's variants (default: the first)")
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
    console().print(on_terminal(study_sections(read.study, variant, experiments, estimates)))
    tell_unwritten(read.folder, read.study)
    note(f"run it: lanelab study run {read.study.name if read.study.name in studies() else read.folder}")


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
