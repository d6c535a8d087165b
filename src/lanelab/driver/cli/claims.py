"""lanelab claims: what a run says of the claims of its experiment."""

from pathlib import Path

import click

from lanelab.driver.api.opened_run import open_run
from lanelab.driver.cli.check_options import CheckOptions, check_options
from lanelab.driver.cli.common import json_option, run_argument
from lanelab.driver.cli.output import console, print_json


@click.command("claims")
@run_argument
@click.option(
    "--file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="The experiment file as it is now: tell which of its claims were edited since the run began",
)
@check_options
@json_option
def claims(name: str, *, file: Path | None, checked: CheckOptions, as_json: bool) -> None:
    """Say which claims of the experiment the run reproduces: the effect, its interval, the trials behind it and why.

    A run is judged by the claims that it began with. With --file, one that was edited, added or taken out since then
    says so: "changed after the run". What a claim is: docs/reference/claims.md

    Exit status with --check: 0 where all claims hold, 4 where one does not, 3 where none fails and one is inconclusive,
    2 for bad input, 1 for a failure. What that is for: docs/continuous-integration.md

    \b
    Examples:
      lanelab claims latest
      lanelab claims latest --file experiments/my-experiment.yaml
      lanelab claims latest --check --junit claims.xml --markdown claims.md
    """

    judged = open_run(name).claims(file)
    if as_json:
        print_json(judged.to_json())
    else:
        console().print(judged.renderable())
    if checked.are_given:
        checked.finish(judged.check())
