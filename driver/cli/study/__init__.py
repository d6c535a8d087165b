"""lanelab study: published works that are reproduced. One file for each command below it."""

from __future__ import annotations

import click

from driver.cli.study.artifact import artifact
from driver.cli.study.check import check
from driver.cli.study.compare import compare_runs_of_study
from driver.cli.study.list import list_studies
from driver.cli.study.new import new_study
from driver.cli.study.report import report_study
from driver.cli.study.run import run_study
from driver.cli.study.show import show_study


@click.group("study")
def group() -> None:
    """Studies, each of which reproduces a published work: look at them, run them, say which claims hold."""


# A new command is a file here and its name in this list.
COMMANDS = (list_studies, show_study, run_study, new_study, report_study, compare_runs_of_study, artifact, check)
for _command in COMMANDS:
    group.add_command(_command)
