"""lanelab study show: what a study is, or how far a run of it is."""

from pathlib import Path

import click

from lanelab.driver.api.study import Study, is_study, studies, study
from lanelab.driver.api.study_run import StudyRun, open_study_run
from lanelab.driver.base.errors import InputError
from lanelab.driver.base.settings.kinds import near_miss
from lanelab.driver.cli.common import json_option
from lanelab.driver.cli.file_completions import complete_study_or_run, complete_variant
from lanelab.driver.cli.output import console, note, print_json
from lanelab.driver.cli.study.report import judge, tell_unwritten


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
    if is_study(name):
        _show_study(study(name, variant), as_json=as_json)
        return
    run = _run_of(name)
    if variant:
        raise InputError("a run has one variant", "Leave it out", key="--variant")
    _show_run(run, as_json=as_json)


def _run_of(name: str) -> StudyRun:
    try:
        return open_study_run(name)
    except InputError as error:
        if Path(name).exists():
            raise
        near = near_miss(name, studies())
        if near:
            raise InputError(f"there is no study {name!r}, and no run of one", f"{near}lanelab study list") from error
        raise


def _show_study(shown: Study, *, as_json: bool) -> None:
    if as_json:
        print_json(shown.to_json())
        return
    console().print(shown.result().renderable())
    tell_unwritten(shown.unwritten)
    note(f"run it: lanelab study run {shown.place}")


def _show_run(run: StudyRun, *, as_json: bool) -> None:
    verdicts = judge(run)
    if as_json:
        print_json(verdicts.to_json())
        return
    note(f"{run.title}, in {run.folder}")
    console().print(verdicts.standing().renderable())
