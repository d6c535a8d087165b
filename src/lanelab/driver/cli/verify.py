"""lanelab verify: whether a run folder holds what was stored there."""

import sys

import click

from lanelab.driver.api.verify_run import verify as verify_run
from lanelab.driver.base.errors import EXIT_FAILED
from lanelab.driver.cli.common import json_option, run_argument
from lanelab.driver.cli.output import note, print_json

MOST = 20


@click.command("verify")
@run_argument
@json_option
def verify(name: str, *, as_json: bool) -> None:
    """Compare a run folder with what was stored there: records, measures, verdicts, self-tests, files, experiment.

    RUN is a folder, the name of a run in ./runs, or `latest`; of a study's run, every figure is verified. Says what was
    compared, and whether the sites are still what the run loaded.

    Exit status: 0; 1 where something is not what was stored.

    \b
    Examples:
      lanelab verify latest
      lanelab verify runs/20261120T101500Z-quickstart --json
    """
    verifications = verify_run(name)
    if as_json:
        print_json([verification.to_json() for verification in verifications])
    else:
        for verification in verifications:
            note(f"{verification.folder}:")
            for sentence in (*verification.sentences(), *verification.sites, *verification.verdict(MOST)):
                click.echo(f"  {sentence}")
    if any(verification.wrong for verification in verifications):
        sys.exit(EXIT_FAILED)
